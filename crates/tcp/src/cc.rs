//! Congestion control: one file an algorithm, behind one face.
//!
//! The face is that of Linux (`struct tcp_congestion_ops`), so that each algorithm can be held
//! against its source there. Windows are counted in segments, as Linux counts them, and the
//! arithmetic is Linux's integers: the same on every machine and in every build.
//!
//! What the sender calls, in `tcp_ack`'s order:
//!
//! ```text
//!  every ACK ──▶ pkts_acked ──▶ [ssthresh, event, set_state] ──▶ cong_avoid │ PRR │ control
//! ```
//!
//! * Entering recovery: `ssthresh`, then `set_state(Recovery)`. A timeout: `ssthresh`, which the
//!   sender stores, `event(Timeout)`, which may store another, then `set_state(Loss)`.
//! * Leaving recovery: `set_state(Open)`, then the window becomes the threshold, then
//!   `event(CompleteRecovery)`.
//!
//! An algorithm of the caller's own implements [`CongestionControl`] and goes into a connection's
//! [`Config`](crate::Config) as a [`Factory`], which has an example.

mod abc;
mod algorithm;
pub mod bbr;
pub mod bbr3;
mod bic;
mod copa;
mod cubic;
mod dctcp;
mod factory;
mod highspeed;
mod htcp;
mod jiffies;
mod ledbat;
mod manual;
mod path;
mod prague;
mod reno;
mod vegas;
mod view;
mod westwood;

#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;
use tidegate_basics::time::Instant;

pub use algorithm::{Algorithm, UnknownAlgorithm};
pub use factory::{Build, Factory};
pub use manual::Manual;
pub use view::{Flight, RateSample};

/// What an algorithm steers. The sender owns it and caps `cwnd` at `clamp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Congestion window in segments, at least 1.
    pub cwnd: u32,
    /// Slow-start threshold in segments; [`Window::NO_SSTHRESH`] until the first loss.
    pub ssthresh: u32,
    /// Segments acknowledged towards the next increase (Linux's `snd_cwnd_cnt`).
    pub count: u32,
    /// The window is never larger than this, in segments.
    pub clamp: u32,
    /// `cwnd` before the last reduction, for undoing it.
    pub prior_cwnd: u32,
    /// Bytes a second at which to send; None: as fast as the window allows.
    pub pacing_rate: Option<u64>,
}

impl Window {
    /// No threshold yet (`TCP_INFINITE_SSTHRESH`).
    pub const NO_SSTHRESH: u32 = 0x7fff_ffff;

    /// Whether the sender is in slow start.
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start (RFC 5681 §3.1, Linux's `tcp_slow_start`): grows by `acked` up to the threshold
    /// and returns what is left of `acked`.
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let left = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd.min(self.clamp);
        left
    }

    /// Congestion avoidance (Linux's `tcp_cong_avoid_ai`): one segment for every `per` acknowledged.
    pub fn additive_increase(&mut self, per: u32, acked: u32) {
        let per = per.max(1);
        // Credits of a time when `per` was larger.
        if self.count >= per {
            self.count = 0;
            self.cwnd += 1;
        }
        self.count += acked;
        if self.count >= per {
            let more = self.count / per;
            self.count -= more * per;
            self.cwnd += more;
        }
        self.cwnd = self.cwnd.min(self.clamp);
    }
}

/// State of loss recovery (Linux's `tcp_ca_state`), the graver the greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recovery {
    /// Nothing is known to be wrong.
    #[default]
    Open,
    /// Duplicate ACKs or SACKs have come, nothing is believed lost yet.
    Disorder,
    /// The window is being reduced, under PRR, for congestion that was marked (RFC 3168 §6.1.2).
    Cwr,
    /// Fast recovery (RFC 6675), under PRR.
    Recovery,
    /// After a retransmission timeout.
    Loss,
}

/// What an ACK acknowledged (Linux's `struct ack_sample`).
#[derive(Clone, Copy, Debug)]
pub struct AckSample {
    /// Segments that this ACK acknowledged cumulatively, whether or not a SACK had come before: 0
    /// for a duplicate.
    pub acked: u32,
    /// The round trip of the latest segment acknowledged or reported by SACK that was sent only
    /// once, or else by the timestamps.
    pub rtt: Option<Duration>,
    /// Segments delivered since the latest of them was sent, itself included.
    pub in_flight: u32,
    /// The ACK's timestamps, in milliseconds of the peer's clock and of ours.
    pub timestamps: Option<crate::Timestamps>,
}

/// A segment that is believed lost, as it stood when it was sent.
#[derive(Clone, Copy, Debug)]
pub struct LostSegment {
    /// Segments in flight right after it was sent, itself included.
    pub tx_in_flight: u32,
    /// Segments marked lost since it was sent, itself included.
    pub lost: u64,
    /// Whether it was sent while the application limited the rate.
    pub app_limited: bool,
}

/// Something that happened (Linux's `tcp_ca_event`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// First transmission with nothing in flight.
    TransmitStart,
    /// The window is restarted after idling (RFC 5681 §4.1).
    WindowRestart,
    /// Fast recovery is over.
    CompleteRecovery,
    /// A retransmission timeout.
    Timeout,
}

/// A congestion control. `f` is the sender's view of what is in flight.
pub trait CongestionControl: fmt::Debug + Send {
    /// The connection is established.
    fn init(&mut self, _w: &mut Window, _f: &Flight) {}

    /// The threshold after a loss, in segments (`ssthresh`).
    fn ssthresh(&mut self, w: &Window, f: &Flight) -> u32;

    /// An ACK that delivered `acked` segments may raise the window (`cong_avoid`): not called while PRR reduces it. The
    /// algorithm itself has to check whether the window limits what is sent.
    fn cong_avoid(&mut self, w: &mut Window, f: &Flight, acked: u32);

    /// Every ACK that arrives while data are outstanding, duplicates included (`pkts_acked`), before
    /// the window or recovery's state changes; `f` already counts what it acknowledged.
    fn pkts_acked(&mut self, _w: &mut Window, _f: &Flight, _sample: &AckSample) {}

    /// A segment has been marked lost (draft-ietf-ccwg-bbr §5.2.4, BBRv3's `skb_marked_lost`):
    /// called for each, before recovery is entered.
    fn segment_lost(&mut self, _w: &mut Window, _f: &Flight, _lost: &LostSegment) {}

    /// Recovery's state is about to become `state` (`set_state`).
    fn set_state(&mut self, _w: &mut Window, _f: &Flight, _state: Recovery) {}

    /// `cwnd_event`.
    fn event(&mut self, _w: &mut Window, _f: &Flight, _event: Event) {}

    /// The window to return to when a reduction proves to have been spurious (`undo_cwnd`).
    fn undo_cwnd(&mut self, w: &Window, _f: &Flight) -> u32 {
        w.cwnd.max(w.prior_cwnd)
    }

    /// Whether [`Self::control`] sets window and rate on every ACK, in place of `cong_avoid` and of
    /// PRR.
    fn controls_rate(&self) -> bool {
        false
    }

    /// An ACK, for an algorithm that [controls its rate](Self::controls_rate) (`cong_control`).
    fn control(&mut self, _w: &mut Window, _f: &Flight, _sample: &RateSample) {}

    /// The most segments that leave together, if the algorithm sets this itself (`tso_segs`).
    fn train_segments(&self) -> Option<u32> {
        None
    }

    /// When [`Self::step`] is to be called; none: never. Asked after [`Self::init`] and after each step. Linux has no such
    /// timer: its algorithms act when something happens.
    fn next_step(&self) -> Option<Instant> {
        None
    }

    /// The time of [`Self::next_step`] has come.
    fn step(&mut self, _w: &mut Window, _f: &Flight) {}
}
