//! The receiver's side of adaptive flow control: how fast the application reads, and ACKs that tell
//! it unasked (AFC §4.1.3, §4.2.2).
//!
//! ```text
//!            the rate is far from what was told, or the window has doubled
//!   Quiet ────────────────────────────────────────────────────────────────▶ Waiting
//!     ▲                                                                        │
//!     └── an ACK leaves: of data that arrived, or when DELAY has passed ◀──────┘
//! ```

use super::Receiver;
use std::time::Duration;
use tidegate_laws::afc::ReadRate;
use tidegate_time::Instant;

/// How long a proactive ACK waits for one that data bring (AFC §4.1.3: "a constant amount of time",
/// which is not given). Segments follow each other faster at more than about 1 Mbit/s.
const DELAY: Duration = Duration::from_millis(10);

/// What the peer is told of the application.
#[derive(Clone, Copy, Debug)]
pub(super) struct Feedback {
    rate: ReadRate,
    /// When a proactive ACK leaves.
    due: Option<Instant>,
}

impl Feedback {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            rate: ReadRate::new(micros(now)),
            due: None,
        }
    }

    /// The application has read `bytes` (Algorithm 3); `opened`: the window has doubled meanwhile.
    /// The pseudocode looks at the rate only, §4.1.3 at the buffer too.
    pub(super) fn read(&mut self, now: Instant, bytes: u64, opened: bool) {
        self.rate.read(bytes, micros(now));
        if opened || self.rate.changed() {
            self.due.get_or_insert(now + DELAY);
        }
    }

    /// Data arrive while other data wait unread (Algorithm 1, line 29).
    pub(super) fn arrived(&mut self, now: Instant) {
        self.rate.arrived(micros(now));
    }

    /// An ACK leaves: the rate in kbit/s.
    pub(super) fn tell(&mut self) -> u32 {
        self.due = None;
        self.rate.tell()
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

    /// First offset that there is no room for. What AFC lets the peer send beyond the window is taken
    /// as far as the buffer goes (Algorithm 1, line 2), and what the window's scale rounded up as far
    /// as was promised.
    pub(super) fn edge(&self) -> u64 {
        let promised = self.window.edge();
        match self.feedback {
            Some(_) => promised.max(self.copied + self.memory.limit()),
            None => promised,
        }
    }

    pub(super) fn note_arrival(&mut self, now: Instant) {
        let waiting = self.unread() > 0;
        if let Some(feedback) = self.feedback.as_mut().filter(|_| waiting) {
            feedback.arrived(now);
        }
    }
}

#[cfg(test)]
mod tests;
