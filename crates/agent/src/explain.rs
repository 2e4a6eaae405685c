//! Explains what limits a flow, or why it is left alone, from what the kernel program shows.

use crate::{Clock, Direction, FlowView, Holding, Kind, Reason, RecordView};
use serde::Serialize;
use tidegate_laws::{Law, PathState};

/// A flow that uses less than this part of its window in a round trip is not limited by it.
const USED: f64 = 0.5;
/// A sender that is silent for longer than this, and than two round trips, had nothing to send.
const PAUSE_US: u64 = 500_000;

/// What limits a flow, or why it is left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The law's window.
    Law,
    /// An earlier promise, from before the law wanted less.
    Promised,
    /// Another machine's traffic, beside which the law competes for an even share.
    Competing,
    /// The law tries whether the path has become shorter.
    Rechecking,
    /// The window that the kernel advertises by itself.
    Kernel,
    /// The sender, which sends less than the window allows.
    Sender,
    /// The sending application.
    Application,
    /// The reading application.
    Reader,
    /// The law does not know the link yet.
    Starting,
    /// The law wants no less than the kernel.
    Open,
    /// No law is in force.
    NoLaw,
    /// Left alone: no timestamps.
    NoTimestamps,
    /// The data are over.
    Closed,
    /// Left alone, for the reason that its packets count under.
    #[serde(untagged)]
    LeftAlone(Reason),
    /// Left alone: it is of a kind that has no window.
    #[serde(untagged)]
    Windowless(Kind),
    /// It has no window, and the hold is in force.
    #[serde(untagged)]
    Hold(Holding),
}

/// What an explanation needs beside the flow itself.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The law in force.
    pub law: Law,
    /// How `tide` sees the flow's queue.
    pub record: Option<&'a RecordView>,
    /// Payload bytes a second, if they have been watched for long enough.
    pub bytes_per_s: Option<f64>,
    /// µs of CLOCK_MONOTONIC.
    pub now_us: u64,
}

impl Limit {
    /// What limits `flow`.
    pub fn of(flow: &FlowView, at: Situation) -> Self {
        if flow.closed {
            return Self::Closed;
        }
        left_alone(flow, at)
            .or_else(|| ends(flow, at))
            .unwrap_or_else(|| window(flow, at))
    }

    /// In two or three words, for a column.
    pub const fn short(self) -> &'static str {
        match self {
            Self::Law => "law's window",
            Self::Promised => "promised before",
            Self::Competing => "another machine",
            Self::Rechecking => "rechecking",
            Self::Kernel => "kernel's window",
            Self::Sender => "sender",
            Self::Application => "nothing to send",
            Self::Reader => "reader",
            Self::Starting => "starting",
            Self::Open => "law is open",
            Self::NoLaw => "no law",
            Self::NoTimestamps => "no timestamps",
            Self::Closed => "closed",
            Self::LeftAlone(reason) => reason.short(),
            Self::Windowless(kind) => kind.short(),
            Self::Hold(holding) => holding.short(),
        }
    }

    /// In a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Law => "its sender fills the law's window",
            Self::Promised => {
                "the law wants a smaller window than its sender was already told; it shrinks as data arrive, since no promise is taken back"
            }
            Self::Competing => {
                "another machine fills the link, or the path has become longer: the window leaves room to compete for an even share"
            }
            Self::Rechecking => {
                "the law has closed the window for a moment to see whether there is a queue under the smallest delay it knows"
            }
            Self::Kernel => {
                "the kernel's own window is smaller than the law's, so it passes unchanged"
            }
            Self::Sender => {
                "its sender sends less than the window allows: its congestion control, or the application behind it"
            }
            Self::Application => "its sender has sent nothing for a while",
            Self::Reader => {
                "the application that receives does not read: the kernel's own window is nearly shut"
            }
            Self::Starting => {
                "the law waits until a queue has stood for a round trip; until then the kernel's window stays"
            }
            Self::Open => "the law does not limit this flow yet; the kernel's window stays",
            Self::NoLaw => "no law is in force; the flow is only measured",
            Self::NoTimestamps => {
                "without TCP timestamps this law, and any law for uploads, cannot measure the queueing delay"
            }
            Self::Closed => "it has ended: FIN or RST was seen",
            Self::LeftAlone(reason) => reason.about(),
            Self::Windowless(kind) => kind.about(),
            Self::Hold(holding) => holding.words(),
        }
    }

    /// Whether the flow is out of the law's reach.
    pub const fn is_left_alone(self) -> bool {
        match self {
            Self::NoTimestamps | Self::LeftAlone(_) | Self::Windowless(_) => true,
            Self::Hold(holding) => holding.is_left_alone(),
            _ => false,
        }
    }
}

/// Whether the law wants a window for a flow without usable timestamps, as tide does if configured to.
fn is_steered_by_rounds(flow: &FlowView, at: Situation) -> bool {
    at.law == Law::Tide && flow.direction == Direction::Down && flow.wanted_bytes.is_some()
}

/// Why the law leaves the flow alone.
fn left_alone(flow: &FlowView, at: Situation) -> Option<Limit> {
    let stamps = at.law.needs_timestamps() || flow.direction == Direction::Up;
    if flow.denied {
        Some(Limit::LeftAlone(Reason::Denied))
    } else if flow.window_scale.is_none() {
        Some(Limit::LeftAlone(Reason::NoScale))
    } else if at.law == Law::None {
        Some(Limit::NoLaw)
    } else if !flow.timestamps && stamps && !is_steered_by_rounds(flow, at) {
        Some(Limit::NoTimestamps)
    } else if flow.clock == Clock::Unknown
        && at.law.needs_clock()
        && !is_steered_by_rounds(flow, at)
    {
        Some(Limit::LeftAlone(Reason::NoClock))
    } else {
        None
    }
}

/// Whether an application at one of the two ends limits the flow.
fn ends(flow: &FlowView, at: Situation) -> Option<Limit> {
    if flow.kernel_bytes < 2 * flow.mss_bytes {
        return Some(Limit::Reader);
    }
    let pause_us = at.now_us.saturating_sub(flow.arrived_us);
    let rtt_us = u64::from(flow.rtt_us.unwrap_or(0));
    (pause_us > PAUSE_US.max(2 * rtt_us)).then_some(Limit::Application)
}

/// Which window limits the flow.
fn window(flow: &FlowView, at: Situation) -> Limit {
    // A record's state is that of a law which steers by it.
    let record = at.record.filter(|_| at.law.is_on_path());
    let state = record.map(|record| record.state);
    if flow.wanted_bytes.is_none() {
        return if at.law.is_on_path() {
            Limit::Starting
        } else {
            Limit::Open
        };
    }
    let under_way = at
        .bytes_per_s
        .zip(flow.rtt_us)
        .map(|(rate, rtt_us)| rate * f64::from(rtt_us) * 1e-6);
    if state == Some(PathState::Competing) {
        Limit::Competing
    } else if under_way.is_some_and(|bytes| bytes < USED * f64::from(flow.window_bytes)) {
        Limit::Sender
    } else if state == Some(PathState::Rechecking) {
        Limit::Rechecking
    } else if flow.window_bytes >= flow.kernel_bytes {
        Limit::Kernel
    } else if flow.held {
        Limit::Promised
    } else {
        Limit::Law
    }
}

#[cfg(test)]
mod tests;
