//! The receiving end: what has arrived, what is missing, and what the sender is told about it.

mod paths;
mod reassembly;
#[cfg(test)]
mod tests;

use crate::{Data, Feedback, ReceiverConfig};
use paths::Paths;
use reassembly::Reassembly;
use tidegate_basics::time::Instant;

/// What the receiver did with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is new: keep its payload.
    New,
    /// It has arrived before.
    Duplicate,
    /// It lies beyond what the sender was allowed, or beyond the stream's end.
    Refused,
}

/// The receiving end.
///
/// After every call call [`Self::transmit`] until it returns none; then wait for the next packet, for
/// the application or for [`Self::timeout`], whichever is first.
#[derive(Debug)]
pub struct Receiver {
    config: ReceiverConfig,
    stream: Reassembly,
    paths: Paths,
    /// Packets since the last feedback.
    unacknowledged: u32,
    /// When the acknowledgement is sent at the latest.
    acknowledge_by: Option<Instant>,
    /// A feedback is to be sent at once.
    urgent: bool,
    /// The limit that the sender has been told.
    told_limit: u64,
}

impl Receiver {
    /// An end that has received nothing.
    pub fn new(config: ReceiverConfig) -> Self {
        Self {
            config,
            stream: Reassembly::new(config.buffer),
            paths: Paths::default(),
            unacknowledged: 0,
            acknowledge_by: None,
            urgent: false,
            told_limit: config.buffer,
        }
    }

    /// A packet arrives.
    pub fn receive(&mut self, now: Instant, data: &Data) -> Arrival {
        // "PNACKs are sent as soon as packet losses are detected" (section 3.1.2).
        self.urgent |= self.paths.arrive(now, data.path, data.path_seq);
        self.unacknowledged += 1;
        self.acknowledge_by
            .get_or_insert(now + self.config.feedback_delay);
        self.stream.arrive(now, data)
    }

    /// Packets in order that have not been read.
    pub fn readable(&self) -> u64 {
        self.stream.readable()
    }

    /// The application reads up to `max` packets; returns how many.
    pub fn read(&mut self, max: u64) -> u64 {
        let count = self.stream.read(max);
        // A sender that had little room left is told when there is much (in the spirit of RFC 9293 §3.8.6.2.2: no silly
        // windows).
        let room = |limit: u64| limit.saturating_sub(self.stream.next());
        let half = self.config.buffer / 2;
        self.urgent |= room(self.told_limit) < half / 2 && room(self.stream.limit()) >= half;
        count
    }

    /// The stream's first number that is missing.
    pub fn next(&self) -> u64 {
        self.stream.next()
    }

    /// Whether a feedback should be sent at once: after reading, to say that there is room again.
    pub fn is_urgent(&self) -> bool {
        self.urgent
    }

    /// Numbers of the stream below this one are taken.
    pub fn limit(&self) -> u64 {
        self.stream.limit()
    }

    /// Whether the stream has ended and everything has been read.
    pub fn finished(&self) -> bool {
        self.stream.finished()
    }

    /// Packets that wait for those before them, or to be read.
    pub fn waiting(&self) -> u64 {
        self.stream.waiting()
    }

    /// The most packets that have ever waited.
    pub fn most_waiting(&self) -> u64 {
        self.stream.most_waiting()
    }

    /// The next feedback to be sent at `now`, on the direct path.
    pub fn transmit(&mut self, now: Instant) -> Option<Feedback> {
        if !self.is_due(now) {
            return None;
        }
        self.unacknowledged = 0;
        self.acknowledge_by = None;
        self.told_limit = self.stream.limit();
        let feedback = Feedback {
            next: self.stream.next(),
            limit: self.told_limit,
            reports: self.paths.reports(now),
            lost: self.paths.lost(),
            missing: self.stream.missing(now),
        };
        self.urgent = self.paths.has_news();
        Some(feedback)
    }

    /// When to call [`Self::transmit`] again; none: not unless something happens.
    pub fn timeout(&self) -> Option<Instant> {
        let asks = self.stream.next_request();
        [self.acknowledge_by, asks].into_iter().flatten().min()
    }

    fn is_due(&mut self, now: Instant) -> bool {
        self.urgent
            || self.unacknowledged >= self.config.packets_per_feedback
            || self.acknowledge_by.is_some_and(|at| at <= now)
            || self.stream.is_asking(now)
    }
}
