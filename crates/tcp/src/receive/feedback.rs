//! The receiver's side of adaptive flow control: how fast the application reads, and ACKs that tell
//! it unasked (AFC §4.1.3, §4.2.2).
//!
//! ```text
//!            the rate is far from what was told, or the window has doubled
//!   Quiet ────────────────────────────────────────────────────────────────▶ Waiting
//!     ▲                                                                        │
//!     └── an ACK leaves: of data that arrived, or when its time has come ◀──────┘
//! ```

use super::Receiver;
use crate::ReadReport;
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_laws::afc::ReadRate;

/// How long a proactive ACK waits for one that data cause, in parts of a round trip (AFC §4.1.3: "a constant amount of
/// time", which is not given; a time that is short on one path is long on another).
const DELAY_PART: u32 = 64;

/// What the peer is told about the application.
#[derive(Clone, Copy, Debug)]
pub(super) struct Feedback {
    rate: ReadRate,
    /// Segments that found no room.
    refused: u8,
    /// When a proactive ACK leaves.
    due: Option<Instant>,
}

impl Feedback {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            rate: ReadRate::new(micros(now)),
            refused: 0,
            due: None,
        }
    }

    /// The application has read `bytes` (Algorithm 3); `opened`: the window has doubled meanwhile.
    /// The pseudocode looks at the rate only, §4.1.3 at the buffer too.
    pub(super) fn read(&mut self, now: Instant, bytes: u64, opened: bool, rtt_us: u32) {
        self.rate.read(bytes, micros(now), rtt_us);
        if opened || self.rate.changed() {
            let delay = Duration::from_micros((rtt_us / DELAY_PART).into());
            self.due.get_or_insert(now + delay);
        }
    }

    /// Data arrive while other data wait unread (Algorithm 1, line 29).
    pub(super) fn arrived(&mut self, now: Instant, rtt_us: u32) {
        self.rate.arrived(micros(now), rtt_us);
    }

    /// A segment found no room.
    pub(super) fn refuse(&mut self) {
        self.refused = self.refused.wrapping_add(1);
    }

    /// An ACK leaves. Returns its report.
    pub(super) fn tell(&mut self) -> ReadReport {
        self.due = None;
        ReadReport {
            kbps: self.rate.tell(),
            refused: self.refused,
        }
    }

    pub(super) fn timeout(&self) -> Option<Instant> {
        self.due
    }

    /// Whether the time has come.
    pub(super) fn expire(&mut self, now: Instant) -> bool {
        self.due.take_if(|at| *at <= now).is_some()
    }
}

fn micros(now: Instant) -> u64 {
    now.as_nanos() / 1000
}

impl Receiver {
    /// AFC was agreed on: from now on the peer is told how fast the application reads, and may send
    /// more than the window has room for.
    pub fn tell_read_rate(&mut self, now: Instant) {
        self.feedback = Some(Feedback::new(now));
    }

    /// The first offset for which there is no room. Data that AFC lets the peer send beyond the window are accepted up
    /// to the end of the buffer (Algorithm 1, line 2), and up to the edge that was promised, which the window's scale
    /// rounds up.
    pub(super) fn edge(&self) -> u64 {
        let promised = self.window.edge();
        match self.feedback {
            Some(_) => promised.max(self.copied + self.memory.limit()),
            None => promised,
        }
    }

    pub(super) fn note_arrival(&mut self, now: Instant) {
        let waiting = self.unread() > 0;
        let rtt_us = self.rtt_us();
        if let Some(feedback) = self.feedback.as_mut().filter(|_| waiting) {
            feedback.arrived(now, rtt_us);
        }
    }

    /// The round trip as far as the receiver knows it, in µs.
    pub(super) fn rtt_us(&self) -> u32 {
        let rtt = self.autotune.rtt().or(self.terms.rtt).unwrap_or_default();
        u32::try_from(rtt.as_micros()).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests;
