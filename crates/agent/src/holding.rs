//! What becomes of flows without a window while the hold is in force, and why.

use serde::{Deserialize, Serialize};
use tidegate_laws::AckClocking;

/// Whether leaving packets of such a flow wait, or why they do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Holding {
    /// They wait.
    Held,
    /// The sender's window is small enough by itself.
    Sender,
    /// It is not known yet whether its sender is clocked by the packets that leave here.
    Watched,
    /// Echoes were sent, and the first has not been answered yet.
    Asked,
    /// Left alone: it is too short so far, or as much goes the other way.
    NotBulk,
    /// Left alone: its sender is not clocked by the packets that leave here.
    NotClocked,
    /// Left alone: echoes are not answered, or not any more.
    Unanswered,
    /// Left alone: it is not HTTP/3 whose handshake was seen, and no rule matches it.
    NotHttp3,
    /// Left alone: a rule says so.
    Denied,
    /// Left alone: there is no place for it.
    TableFull,
    /// Left alone: the gate's process has ended.
    GateGone,
}

impl Holding {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Held,
        Self::Sender,
        Self::Watched,
        Self::Asked,
        Self::NotBulk,
        Self::NotClocked,
        Self::Unanswered,
        Self::NotHttp3,
        Self::Denied,
        Self::TableFull,
        Self::GateGone,
    ];

    /// As JSON and metrics spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Sender => "sender",
            Self::Watched => "watched",
            Self::Asked => "asked",
            Self::NotBulk => "not_bulk",
            Self::NotClocked => "not_clocked",
            Self::Unanswered => "unanswered",
            Self::NotHttp3 => "not_http3",
            Self::Denied => "denied",
            Self::TableFull => "table_full",
            Self::GateGone => "gate_gone",
        }
    }

    /// In a word or two, for a column that also says what the flow is.
    pub const fn short(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Sender => "sender",
            Self::Watched => "watched",
            Self::Asked => "asked",
            Self::NotBulk => "not bulk",
            Self::NotClocked => "unclocked",
            Self::Unanswered => "no answer",
            Self::NotHttp3 => "not HTTP/3",
            Self::Denied => "denied",
            Self::TableFull => "no place",
            Self::GateGone => "no gate",
        }
    }

    /// In a sentence.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Held => {
                "its leaving packets wait here, so that its sender's excess waits here and not in the queue"
            }
            Self::Sender => {
                "its sender has no more in flight than the law allows, so nothing waits: its congestion control or its application limits it"
            }
            Self::Watched => {
                "it is not known yet whether its sender slows down when congestion is signalled; nothing is delayed before it has"
            }
            Self::Asked => "echoes have been sent to measure its delay, and none has come back yet",
            Self::NotBulk => {
                "too little of it has passed to be worth it, or about as much goes the other way, as in a call"
            }
            Self::NotClocked => {
                "its sender did not slow down when congestion was signalled: it sends at its own rate, as calls, live video and BBR do"
            }
            Self::Unanswered => {
                "the echoes that measure its delay are not answered, or not any more"
            }
            Self::NotHttp3 => {
                "it is not QUIC to port 443 whose handshake was seen: `udp = \"hold\"` or a rule holds other UDP"
            }
            Self::Denied => "a rule of the configuration says so",
            Self::TableFull => "the table of held flows is full",
            Self::GateGone => {
                "the process behind the packet queue has ended, so nothing can be delayed"
            }
        }
    }

    /// Whether the law does all that it may.
    pub const fn is_steered(self) -> bool {
        matches!(self, Self::Held | Self::Sender)
    }

    /// Whether the flow is out of its reach.
    pub const fn is_left_alone(self) -> bool {
        !matches!(
            self,
            Self::Held | Self::Sender | Self::Watched | Self::Asked
        )
    }
}

/// What the hold knows of a flow without a window, and does to it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq)]
pub struct HoldView {
    /// What becomes of it, and why.
    pub state: Holding,
    /// What is known of its sender. This and all that follow are absent for a flow without a record.
    pub sender: Option<AckClocking>,
    /// Queueing delay by the last echo, in µs; absent before the first answer.
    pub queue_us: Option<u32>,
    /// Round trip of the last echo, in µs.
    pub rtt_us: Option<u32>,
    /// The round trip without a queue, in µs.
    pub rtt_min_us: Option<u32>,
    /// Bytes that the law wants its sender to have in flight.
    pub wanted_bytes: Option<u32>,
    /// Its sender's window, in bytes: as arrivals show it; for an upload, what is in flight and what waits.
    pub sender_bytes: Option<u32>,
    /// Bytes of that window that wait here.
    pub here_bytes: u32,
    /// How long a packet that leaves now waits because of them, in µs.
    pub wait_us: u32,
    /// Packets that wait now.
    pub waiting: u64,
    /// Packets that have waited so far.
    pub held: u64,
    /// Packets that were marked or dropped so far.
    pub signalled: u32,
    /// The group of flows that it shares a queue with.
    pub group: Option<u32>,
}

impl HoldView {
    /// For a flow that has no record.
    pub const fn without_record(state: Holding) -> Self {
        Self {
            state,
            sender: None,
            queue_us: None,
            rtt_us: None,
            rtt_min_us: None,
            wanted_bytes: None,
            sender_bytes: None,
            here_bytes: 0,
            wait_us: 0,
            waiting: 0,
            held: 0,
            signalled: 0,
            group: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_spelt_alike_everywhere() {
        for state in Holding::ALL {
            let word = serde_json::to_value(state).unwrap();
            assert_eq!(word, state.name());
        }
        let names: std::collections::BTreeSet<_> = Holding::ALL.map(Holding::short).into();
        assert_eq!(names.len(), Holding::ALL.len());
    }

    #[test]
    fn what_is_steered_is_not_left_alone() {
        let both = |state: &Holding| state.is_steered() && state.is_left_alone();
        assert!(!Holding::ALL.iter().any(both));
    }
}
