//! What both ends tell each other while they measure.

use tidegate_time::Instant;

/// Bytes of IP, UDP and the seal in front of a message: sizes here are those of IPv4 packets, as the thesis counts them (§4.1).
pub const HEADERS: usize = 28 + SEAL;

/// Bytes of the seal: version, kind, session, counter, tag.
pub const SEAL: usize = 34;

/// One packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// One of a train.
    Data(Data),
    /// What of a train has arrived.
    Report(Report),
    /// A question for the time.
    Ping(Ping),
    /// Its answer.
    Pong(Pong),
}

/// What a train's packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// A few, far apart: the delay of an empty queue.
    Quiet,
    /// More than the link carries: the queue fills and overflows.
    Fill,
    /// Less than it carries: the queue empties.
    Drain,
}

/// One packet of a train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// The train.
    pub flow: u8,
    /// What it is for.
    pub stage: Stage,
    /// Its place in the train, from 0.
    pub sequence: u32,
    /// When it was sent, by its sender's clock; whole microseconds on the wire.
    pub sent: Instant,
    /// Length of the IP packet.
    pub bytes: u16,
}

/// What of a train has arrived so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The train.
    pub flow: u8,
    /// One more than the highest sequence number.
    pub next: u32,
    /// Packets.
    pub packets: u32,
    /// Their bytes.
    pub bytes: u64,
    /// When this was so, by the receiver's clock; whole microseconds on the wire.
    pub at: Instant,
    /// Delay of the latest packet above the least of the train, in microseconds.
    pub queued_us: u32,
}

/// A question for the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// Its number.
    pub sequence: u32,
    /// When it was sent, by the asker's clock.
    pub sent: Instant,
}

/// The answer, which is sent at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pong {
    /// The question's number.
    pub sequence: u32,
    /// When the question was sent, by the asker's clock.
    pub asked: Instant,
    /// When it came and was answered, by the answerer's clock.
    pub answered: Instant,
}

impl Message {
    /// Length of the IP packet that carries it.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Data(data) => data.bytes.into(),
            _ => HEADERS + crate::wire::CONTROL,
        }
    }
}
