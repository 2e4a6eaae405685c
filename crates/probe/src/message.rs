//! The messages of both ends during a measurement.

use tidegate_basics::time::Instant;

/// Bytes of IP, UDP and the seal in front of a message: sizes here are those of IPv4 packets, as the thesis counts them (§4.1).
pub const HEADERS: usize = 28 + SEAL;

/// Bytes of the seal: version, kind, session, counter, tag.
pub const SEAL: usize = 34;

/// One packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message {
    /// A packet of a train.
    Data(Data),
    /// How much of a train has arrived.
    Report(Report),
    /// A request for the time.
    Ping(Ping),
    /// Its answer.
    Pong(Pong),
}

/// The stage of a train.
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
    /// Its stage.
    pub stage: Stage,
    /// Its place in the train, from 0.
    pub sequence: u32,
    /// When it was sent, by its sender's clock; whole microseconds on the wire.
    pub sent: Instant,
    /// Length of the IP packet.
    pub bytes: u16,
}

/// How much of a train has arrived so far.
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
    /// The time of this report, by the receiver's clock; whole microseconds on the wire.
    pub at: Instant,
    /// Delay of the latest packet above the least of the train, in microseconds.
    pub queued_us: u32,
}

/// A request for the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// Its number.
    pub sequence: u32,
    /// When it was sent, by the requester's clock.
    pub sent: Instant,
}

/// The answer, which is sent at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pong {
    /// The request's number.
    pub sequence: u32,
    /// When the request was sent, by the requester's clock.
    pub asked: Instant,
    /// When it arrived and was answered, by the answering end's clock.
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
