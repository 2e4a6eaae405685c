//! The router of ABC, Accel-Brake Control (Goyal, Agarwal, Netravali, Alizadeh, Balakrishnan: "ABC: A Simple Explicit
//! Congestion Controller for Wireless Networks", NSDI 2020, §3.1.2). It tells each packet's sender to accelerate or to
//! brake, so that packets arrive at the target rate a round trip later.
//!
//! ```text
//!     tr(t) = η·µ(t) − µ(t)/δ · (x(t) − d_t)⁺         (1)   µ: the link's capacity, x: queueing delay
//!     f(t)  = min(½ · tr(t)/cr(t), 1)                 (2)   cr: rate at which packets leave the queue
//! ```
//!
//! A sender that sends two packets for an acceleration and none for a brake sends at 2·f(t)·cr(t), which is tr(t). A
//! token bucket, not a random draw, chooses the packets that accelerate (Algorithm 1).
//!
//! Where the paper leaves something open, this follows its authors' emulator (`cellular_packet_queue.cc`): a brake is
//! CE, an acceleration keeps the ECN-capable codepoint that the packet came with; rates are measured over the last 20
//! ms; the queueing delay is the backlog divided by the link's capacity; the bucket holds five tokens at most, and
//! starts with five. Packets that are not ECN-capable are left alone.

use super::backlog::{Backlog, Queued};
use super::guard::Guard;
use super::marking::Signals;
use crate::{Capacity, Ecn, Instant, Packet, Rate};
use std::collections::VecDeque;
use std::time::Duration;

/// Time over which both rates are measured.
const WINDOW: Duration = Duration::from_millis(20);
/// Tokens that the bucket holds at most, and at the start.
const TOKENS: f64 = 5.0;

/// Parameters of ABC's router.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AbcPolicy {
    /// η: the part of the capacity that is aimed at.
    pub utilisation: f64,
    /// d_t: a shorter queueing delay is left alone.
    pub threshold: Duration,
    /// δ: time to drain the queue beyond the threshold; more than 2/3 of the longest round trip is stable (Theorem
    /// 3.1).
    pub drain: Duration,
    /// The rate that the target is compared with.
    pub feedback: AbcFeedback,
}

impl Default for AbcPolicy {
    /// 0.98, 50 ms, 133 ms, and the dequeue rate, as in the authors' experiments over cellular links.
    fn default() -> Self {
        Self {
            utilisation: 0.98,
            threshold: Duration::from_millis(50),
            drain: Duration::from_millis(133),
            feedback: AbcFeedback::Dequeue,
        }
    }
}

/// The rate that ABC's target is compared with.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    schemars::JsonSchema,
    serde::Deserialize,
    serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum AbcFeedback {
    /// That at which packets leave the queue, cr(t), which a round trip later is the rate of the senders' ACKs.
    #[default]
    Dequeue,
    /// That at which they arrive, as XCP and RCP do, which the paper shows to be worse (Fig. 2).
    Enqueue,
}

/// The router's state.
#[derive(Debug)]
pub(super) struct Abc {
    policy: AbcPolicy,
    offered: Offered,
    history: History,
    tokens: f64,
}

impl Abc {
    /// In front of a link of that rate.
    pub(super) fn new(policy: AbcPolicy, rate: &Rate) -> Self {
        Self {
            policy,
            offered: Offered {
                ahead: Capacity::new(rate),
                behind: Capacity::new(rate),
            },
            history: History::default(),
            tokens: TOKENS,
        }
    }

    /// f(t) when a packet of `bytes` leaves at `at` and `waiting` bytes stay in the queue (equations 1 and 2).
    fn fraction(&mut self, at: Instant, bytes: usize, waiting: usize) -> f64 {
        let since = at - WINDOW.min(at - Instant::ZERO);
        let capacity = self.offered.bytes(since, at);
        let [left, arrived] = self.history.note(since, at, bytes, waiting);
        if capacity == 0 {
            return 0.0;
        }
        let compared = match self.policy.feedback {
            // Packets are whole: with few in a window, one more can have begun to leave than the link carries in it.
            AbcFeedback::Dequeue => left.min(capacity),
            AbcFeedback::Enqueue => arrived,
        };
        let mu = capacity as f64;
        let wait = seconds(at - since) * (bytes + waiting) as f64 / mu;
        let excess = (wait - seconds(self.policy.threshold)).max(0.0);
        let target = mu * (self.policy.utilisation - excess / seconds(self.policy.drain));
        (0.5 * target / compared.max(1) as f64).clamp(0.0, 1.0)
    }

    /// Algorithm 1: whether this packet accelerates, if every router before this one let it.
    fn accelerates(&mut self, fraction: f64) -> bool {
        self.tokens = (self.tokens + fraction).min(TOKENS);
        let accelerates = self.tokens > 1.0;
        self.tokens -= f64::from(u8::from(accelerates));
        accelerates
    }
}

fn seconds(duration: Duration) -> f64 {
    duration.as_nanos() as f64 / 1e9
}

/// Acts when a packet leaves.
impl<P: Packet> Guard<P> for Abc {
    fn pop(
        &mut self,
        at: Instant,
        backlog: &mut Backlog<P>,
        signals: &mut Signals,
    ) -> Option<Queued<P>> {
        let mut queued = backlog.pop(at)?;
        let fraction = self.fraction(at, queued.packet.wire_bytes(), backlog.bytes());
        match queued.packet.ecn() {
            Ecn::NotEct => {}
            // Another router has already set a brake: this packet's token stays for the next one.
            Ecn::Ce => self.tokens = (self.tokens + fraction).min(TOKENS),
            Ecn::Ect0 | Ecn::Ect1 => {
                if !self.accelerates(fraction) {
                    signals.mark(&mut queued.packet);
                }
            }
        }
        Some(queued)
    }
}

/// What the link could have carried, µ. Two meters, since each moves forward in time only.
#[derive(Debug)]
struct Offered {
    ahead: Capacity,
    behind: Capacity,
}

impl Offered {
    /// Bytes after `since` up to and including `at`; neither goes backwards.
    fn bytes(&mut self, since: Instant, at: Instant) -> u64 {
        let instant = Duration::from_nanos(1);
        self.ahead.before(at + instant) - self.behind.before(since + instant)
    }
}

/// Bytes that have left and that have arrived, recorded at each departure.
#[derive(Debug, Default)]
struct History {
    /// Time of each departure, and both sums of bytes up to it, that packet included.
    departures: VecDeque<(Instant, [u64; 2])>,
    left: u64,
    /// The sums at the beginning of the window.
    before: [u64; 2],
}

impl History {
    /// A packet of `bytes` leaves at `at` and `waiting` bytes stay: returns the bytes that left and that arrived after
    /// `since`.
    fn note(&mut self, since: Instant, at: Instant, bytes: usize, waiting: usize) -> [u64; 2] {
        self.left += bytes as u64;
        let sums = [self.left, self.left + waiting as u64];
        self.departures.push_back((at, sums));
        while let Some(&(_, old)) = self.departures.front().filter(|(when, _)| *when <= since) {
            self.before = old;
            self.departures.pop_front();
        }
        [0, 1].map(|nth: usize| sums[nth] - self.before[nth])
    }
}

#[cfg(test)]
mod tests;
