//! Messages as bytes, version 1; `docs/internals/probe.md` has the layout.
//!
//! Numbers are in network order, times in microseconds.

use crate::message::{Data, HEADERS, Message, Ping, Pong, Report, Stage};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// The version that is written and read.
pub const VERSION: u8 = 1;

/// Bytes of the longest message that is not padded.
pub const CONTROL: usize = 40;

pub(crate) const DATA: u8 = 1;
const REPORT: u8 = 2;
const PING: u8 = 3;
const PONG: u8 = 4;

/// Why bytes are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// Fewer bytes than the kind needs.
    #[error("the packet is too short for its kind")]
    Truncated,
    /// Another version.
    #[error("version {0}, expected 1")]
    Version(u8),
    /// An unknown kind.
    #[error("packet kind {0}, expected {DATA} to {PONG}")]
    Kind(u8),
    /// An unknown stage of a train.
    #[error("stage {0}, expected 0 to 2")]
    Stage(u8),
    /// Another length than the one in the header of a train's packet.
    #[error("a train's packet of {0} bytes, expected the length that its header says")]
    Length(usize),
}

/// The UDP payload that carries `message`.
pub fn encode(message: &Message) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.bytes() - HEADERS);
    out.push(VERSION);
    match message {
        Message::Data(data) => {
            out.extend([DATA, data.flow, stage_code(data.stage)]);
            out.extend(data.sequence.to_be_bytes());
            put_time(&mut out, data.sent);
            out.extend(data.bytes.to_be_bytes());
            out.resize((usize::from(data.bytes) - HEADERS).max(out.len()), 0);
        }
        Message::Report(report) => {
            out.extend([REPORT, report.flow, 0]);
            out.extend(report.next.to_be_bytes());
            put_time(&mut out, report.at);
            out.extend(report.bytes.to_be_bytes());
            out.extend(report.packets.to_be_bytes());
            out.extend(report.queued_us.to_be_bytes());
        }
        Message::Ping(ping) => {
            out.extend([PING, 0, 0]);
            out.extend(ping.sequence.to_be_bytes());
            put_time(&mut out, ping.sent);
            // As long as its answer, so that the answer is never longer than the request.
            out.resize(CONTROL, 0);
        }
        Message::Pong(pong) => {
            out.extend([PONG, 0, 0]);
            out.extend(pong.sequence.to_be_bytes());
            put_time(&mut out, pong.asked);
            put_time(&mut out, pong.answered);
        }
    }
    if !matches!(message, Message::Data(_)) {
        out.resize(CONTROL, 0);
    }
    out
}

/// The message in a UDP payload.
///
/// # Errors
/// If it is none of ours.
pub fn decode(bytes: &[u8]) -> Result<Message, Malformed> {
    let mut cursor = Cursor(bytes);
    let [version, kind, flow, stage] = cursor.take()?;
    if version != VERSION {
        return Err(Malformed::Version(version));
    }
    let sequence = u32::from_be_bytes(cursor.take()?);
    let time = cursor.time()?;
    Ok(match kind {
        DATA => {
            let length = u16::from_be_bytes(cursor.take()?);
            if usize::from(length) != bytes.len() + HEADERS {
                return Err(Malformed::Length(bytes.len()));
            }
            Message::Data(Data {
                flow,
                stage: stage_of(stage)?,
                sequence,
                sent: time,
                bytes: length,
            })
        }
        REPORT => Message::Report(Report {
            flow,
            next: sequence,
            at: time,
            bytes: u64::from_be_bytes(cursor.take()?),
            packets: u32::from_be_bytes(cursor.take()?),
            queued_us: u32::from_be_bytes(cursor.take()?),
        }),
        PING => Message::Ping(Ping {
            sequence,
            sent: time,
        }),
        PONG => Message::Pong(Pong {
            sequence,
            asked: time,
            answered: cursor.time()?,
        }),
        kind => return Err(Malformed::Kind(kind)),
    })
}

/// The rest of a packet.
pub(crate) struct Cursor<'a>(pub(crate) &'a [u8]);

impl Cursor<'_> {
    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (bytes, left) = self.0.split_first_chunk().ok_or(Malformed::Truncated)?;
        self.0 = left;
        Ok(*bytes)
    }

    pub(crate) fn time(&mut self) -> Result<Instant, Malformed> {
        let micros = u64::from_be_bytes(self.take()?);
        Ok(Instant::ZERO + Duration::from_micros(micros))
    }
}

fn put_time(out: &mut Vec<u8>, at: Instant) {
    out.extend((at.as_nanos() / 1000).to_be_bytes());
}

pub(crate) fn stage_code(stage: Stage) -> u8 {
    match stage {
        Stage::Quiet => 0,
        Stage::Fill => 1,
        Stage::Drain => 2,
    }
}

pub(crate) fn stage_of(code: u8) -> Result<Stage, Malformed> {
    match code {
        0 => Ok(Stage::Quiet),
        1 => Ok(Stage::Fill),
        2 => Ok(Stage::Drain),
        code => Err(Malformed::Stage(code)),
    }
}

#[cfg(test)]
mod tests;
