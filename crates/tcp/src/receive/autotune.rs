//! Dynamic right-sizing as Linux has it since 6.16: the buffer follows what the application reads
//! in a round trip, as the receiver sees round trips.

use super::memory::Memory;
use super::window::Window;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// The round trip, seen from the side that only receives (`rcv_rtt_est`).
#[derive(Clone, Copy, Debug, Default)]
struct RoundTrip {
    /// Eight times the estimate in µs; 0: none yet.
    us_x8: u64,
    /// Tick of the last echo that was looked at.
    echo: Option<u32>,
    /// A window's worth began then, and ends at this offset.
    round: Option<(Instant, u64)>,
}

/// Ages above this are not those of an echo (`INT_MAX / USEC_PER_MSEC`).
const MAX_AGE_MS: u32 = i32::MAX as u32 / 1000;

impl RoundTrip {
    /// A sample (`tcp_rcv_rtt_update`). A smaller one counts at once, a larger one only a little,
    /// and only if it may be taken for the network's.
    fn sample(&mut self, us: u64, network: bool) {
        if self.us_x8 == 0 || us * 8 < self.us_x8 {
            self.us_x8 = us * 8;
        } else if network {
            self.us_x8 = self.us_x8 - self.us_x8 / 8 + us;
        }
    }
}

/// The state of the right-sizing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Autotune {
    rtt: RoundTrip,
    /// Most bytes that were read in a round trip (`rcvq_space.space`).
    space: u64,
    /// This round trip's beginning, and the bytes read before it.
    since: Instant,
    from: u64,
}

impl Autotune {
    /// `window`: what the peer may send in the first round trip, at most.
    pub(super) fn new(now: Instant, window: u64) -> Self {
        Self {
            rtt: RoundTrip::default(),
            space: window,
            since: now,
            from: 1,
        }
    }

    /// The receiver's round trip.
    pub(super) fn rtt(&self) -> Option<Duration> {
        (self.rtt.us_x8 > 0).then(|| Duration::from_micros(self.rtt.us_x8 / 8))
    }

    /// A segment echoes a timestamp of `age` ms ago (`tcp_rcv_rtt_measure_ts`). Each echo counts
    /// once, and only on a full segment; what is above the estimate counts only if the application
    /// had read everything, or a slow reader would be taken for a long path.
    pub(super) fn echoed(&mut self, now: Instant, age: u32, full: bool, all_read: bool) {
        let tick = (now.as_nanos() / 1_000_000) as u32;
        let echo = Some(tick.wrapping_sub(age));
        if self.rtt.echo == echo {
            return;
        }
        self.rtt.echo = echo;
        if full && age < MAX_AGE_MS {
            self.rtt.sample(u64::from(age.max(1)) * 1000, all_read);
        }
    }

    /// Data have arrived up to `next` (`tcp_rcv_rtt_measure`): a window's worth takes a round trip
    /// or more, so that only the smallest counts.
    pub(super) fn arrived(&mut self, now: Instant, next: u64, window: u64) {
        if let Some((began, end)) = self.rtt.round {
            if next < end {
                return;
            }
            let us = (now - began).as_micros() as u64;
            self.rtt.sample(us.max(1), false);
        }
        self.rtt.round = Some((now, next + window));
    }

    /// Whether a round trip has passed since the last was looked at.
    pub(super) fn is_over(&self, now: Instant) -> bool {
        let elapsed = (now - self.since).as_micros() as u64;
        self.rtt.us_x8 > 0 && elapsed >= self.rtt.us_x8 / 8
    }

    /// A round trip [is over](Self::is_over): the application has read up to `copied`, data have arrived up to `next`
    /// (`tcp_rcv_space_adjust`). Returns the bytes of that round trip, if they are more than in any before.
    pub(super) fn read(&mut self, now: Instant, copied: u64, next: u64) -> Option<u64> {
        // Data that have not been read yet came too late to count.
        let bytes = (copied - self.from).saturating_sub(next - copied);
        self.since = now;
        self.from = copied;
        (bytes > self.space).then_some(bytes)
    }

    /// Makes the buffer large enough for a sender that doubles its rate each round trip, now that
    /// `bytes` were read in one (`tcp_rcvbuf_grow`); `out_of_order`: from the first hole to the end
    /// of what has arrived.
    pub(super) fn grow(
        &mut self,
        memory: &mut Memory,
        window: &mut Window,
        bytes: u64,
        out_of_order: u64,
    ) {
        let before = std::mem::replace(&mut self.space, bytes);
        // The measurement is a round trip late; and if it grew, it goes on growing.
        let mut wanted = 2 * bytes;
        if bytes > before {
            wanted += 2 * (wanted * (bytes - before) / before);
        }
        if memory.raise(wanted + out_of_order) {
            window.follow(memory);
        }
    }

    /// Data are out of order, up to `out_of_order` bytes beyond the hole: they must fit on top.
    pub(super) fn provide(&mut self, memory: &mut Memory, window: &mut Window, out_of_order: u64) {
        self.grow(memory, window, self.space, out_of_order);
    }

    /// The window has become smaller than what was taken for a round trip's bytes.
    pub(super) fn limit(&mut self, clamp: u64) {
        self.space = self.space.min(clamp);
    }

    /// Most bytes read in a round trip.
    pub(super) fn space(&self) -> u64 {
        self.space
    }
}

#[cfg(test)]
mod tests;
