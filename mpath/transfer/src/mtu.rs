//! How large packets may be: found out with padded pings on the direct path (RFC 8899). Data use the base size until a
//! larger one has been answered.

use std::time::Duration;
use tidegate_mpath::Instant;

/// UDP payload that every path carries (RFC 9000 §14), in bytes.
pub const BASE: usize = 1200;

/// The UDP payload that Ethernet's 1500 bytes allow in an IPv6 packet, in bytes.
pub const ETHERNET: usize = 1452;

/// Sizes to be tried, the smallest first: tunnels, Ethernet, jumbo frames.
const SIZES: [usize; 4] = [BASE, 1372, ETHERNET, 8952];

/// Tries of each size (RFC 8899 §5.1.2).
const TRIES: u32 = 3;

/// Time between tries.
const INTERVAL: Duration = Duration::from_millis(500);

/// The search.
#[derive(Debug)]
pub struct Mtu {
    /// The largest size that has been answered.
    size: usize,
    largest: usize,
    tries: u32,
    next: Instant,
}

impl Mtu {
    /// The base size, and nothing known of larger ones.
    pub fn new(largest: usize) -> Self {
        Self {
            size: BASE,
            largest,
            tries: 0,
            next: Instant::ZERO,
        }
    }

    /// UDP payload that is known to arrive, in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    fn untried(&self) -> impl Iterator<Item = usize> {
        let (size, largest) = (self.size, self.largest);
        SIZES.into_iter().filter(move |&s| s > size && s <= largest)
    }

    /// Sizes to be tried at `now`: all at once, so that the search costs no extra round trips.
    pub fn probes(&mut self, now: Instant) -> Vec<usize> {
        if self.timeout().is_none_or(|at| at > now) {
            return Vec::new();
        }
        self.tries += 1;
        self.next = now + INTERVAL;
        self.untried().collect()
    }

    /// A packet of `size` has been answered.
    pub fn answered(&mut self, size: usize) {
        if self.untried().any(|tried| tried == size) {
            self.size = size;
        }
    }

    /// Only small packets still arrive: back to the base size for good. Returns whether the size changed.
    pub fn reset(&mut self) -> bool {
        self.largest = BASE;
        std::mem::replace(&mut self.size, BASE) > BASE
    }

    /// When to ask for [`Self::probes`].
    pub fn timeout(&self) -> Option<Instant> {
        let more = self.tries < TRIES && self.untried().next().is_some();
        more.then_some(self.next)
    }
}

/// Timeouts of the direct path in a row after which a black hole may swallow its large packets (RFC 8899 §4.3): about
/// 3 s, or 15 s before there is a round trip.
const BLACK_HOLE_TIMEOUTS: u64 = 4;

/// What the timeouts show about the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathCheck {
    /// Nothing new.
    Unchanged,
    /// Another timeout: probe the path with a small packet.
    Probe,
    /// Small packets arrive and large ones do not.
    BlackHole,
}

/// Tells a path that has stopped carrying large packets from one that carries none.
#[derive(Debug, Default)]
pub struct BlackHoleDetector {
    /// Packets that the direct path has delivered.
    delivered: u64,
    /// Timeouts when it last delivered something.
    timeouts_at_delivery: u64,
    /// Timeouts at the last check.
    checked: u64,
    /// Whether a small packet has been answered since.
    answered: bool,
}

impl BlackHoleDetector {
    /// The direct path has delivered `delivered` packets so far, and had `timeouts` timeouts.
    pub fn note(&mut self, delivered: u64, timeouts: u64) {
        if delivered > self.delivered {
            self.delivered = delivered;
            self.timeouts_at_delivery = timeouts;
            self.answered = false;
        }
    }

    /// A small packet has been answered.
    pub fn answered(&mut self) {
        self.answered = true;
    }

    /// Checks after `timeouts` timeouts in all. The probe and the data that the last timeout sent again left together:
    /// if only the probe has been answered by now, its smaller size is the reason.
    pub fn check(&mut self, timeouts: u64) -> PathCheck {
        if timeouts == self.checked {
            return PathCheck::Unchanged;
        }
        self.checked = timeouts;
        let answered = std::mem::take(&mut self.answered);
        match answered && timeouts - self.timeouts_at_delivery >= BLACK_HOLE_TIMEOUTS {
            true => PathCheck::BlackHole,
            false => PathCheck::Probe,
        }
    }
}

#[cfg(test)]
mod tests;
