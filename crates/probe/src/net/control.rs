//! The messages of client and server besides the measurement.

use crate::{Arrival, Malformed, Message, Pace, Stage, TrainConfig, decode, encode};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// Kinds before a session.
pub const HELLO: u8 = 1;
pub const COOKIE: u8 = 2;
pub const OPEN: u8 = 3;
pub const OPENED: u8 = 4;
/// Instead of a session: the server has as many sessions as it allows.
pub const FULL: u8 = 6;

/// Bytes of a request before a session: no answer is longer.
pub const QUESTION: usize = 96;

/// One packet of a session.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// A message of the measurement.
    Measure(Message),
    /// The client wants this train, from the server or from itself.
    Start { to_client: bool, train: TrainConfig },
    /// The server is ready for it; or its bytes were too many, and `left` remain.
    Started { flow: u8, left: u64 },
    /// That train is over; the server may forget it.
    Stop { flow: u8 },
    /// The client wants the arrivals of a train, from that number on.
    Fetch { flow: u8, from: u32 },
    /// These arrivals, and how many there are in all.
    Records {
        flow: u8,
        from: u32,
        total: u32,
        records: Vec<Arrival>,
    },
    /// The client is alive.
    Alive,
    /// The session is over.
    Close,
}

const START: u8 = 16;
const STARTED: u8 = 17;
const STOP: u8 = 18;
const FETCH: u8 = 19;
const RECORDS: u8 = 20;
const ALIVE: u8 = 21;
const CLOSE: u8 = 22;

/// Records in one packet.
pub const RECORDS_MAX: usize = 48;

/// As bytes, numbers in network order.
pub fn write(control: &Control) -> Vec<u8> {
    let mut out = vec![crate::wire::VERSION];
    match control {
        Control::Measure(message) => return encode(message),
        Control::Start { to_client, train } => {
            out.extend([START, train.flow, u8::from(*to_client)]);
            out.extend(train.bytes.to_be_bytes());
            let (pace, value) = match train.pace {
                Pace::Overflow => (0, 0),
                Pace::Window(bytes) => (1, bytes),
                Pace::Constant(bps) => (2, bps as u64),
                Pace::Busy => (3, 0),
            };
            out.push(pace);
            let numbers = [
                value,
                train.start_bps as u64,
                train.max_bps as u64,
                train.max_bytes,
            ];
            numbers.iter().for_each(|n| out.extend(n.to_be_bytes()));
            out.extend((train.max_time.as_millis() as u64).to_be_bytes());
        }
        Control::Started { flow, left } => {
            out.extend([STARTED, *flow]);
            out.extend(left.to_be_bytes());
        }
        Control::Stop { flow } => out.extend([STOP, *flow]),
        Control::Fetch { flow, from } => {
            out.extend([FETCH, *flow]);
            out.extend(from.to_be_bytes());
        }
        Control::Records {
            flow,
            from,
            total,
            records,
        } => {
            out.extend([RECORDS, *flow]);
            out.extend(from.to_be_bytes());
            out.extend(total.to_be_bytes());
            for record in records {
                out.extend(record.sequence.to_be_bytes());
                out.push(crate::wire::stage_code(record.stage));
                out.extend(record.bytes.to_be_bytes());
                out.extend((record.sent.as_nanos() / 1000).to_be_bytes());
                out.extend((record.arrived.as_nanos() / 1000).to_be_bytes());
            }
        }
        Control::Alive => out.push(ALIVE),
        Control::Close => out.push(CLOSE),
    }
    out
}

/// From bytes.
pub fn read(bytes: &[u8]) -> Result<Control, Malformed> {
    let kind = *bytes.get(1).ok_or(Malformed::Truncated)?;
    if kind < START {
        return decode(bytes).map(Control::Measure);
    }
    let mut cursor = crate::wire::Cursor(&bytes[2..]);
    Ok(match kind {
        START => {
            let [flow, to_client] = cursor.take()?;
            let size = u16::from_be_bytes(cursor.take()?);
            let [pace] = cursor.take()?;
            let mut number = || cursor.take().map(u64::from_be_bytes);
            let value = number()?;
            let pace = match pace {
                0 => Pace::Overflow,
                1 => Pace::Window(value),
                2 => Pace::Constant(value as f64),
                3 => Pace::Busy,
                other => return Err(Malformed::Stage(other)),
            };
            Control::Start {
                to_client: to_client != 0,
                train: TrainConfig {
                    flow,
                    bytes: size,
                    pace,
                    start_bps: number()? as f64,
                    max_bps: number()? as f64,
                    max_bytes: number()?,
                    max_time: Duration::from_millis(number()?),
                },
            }
        }
        STARTED => Control::Started {
            flow: cursor.take::<1>()?[0],
            left: u64::from_be_bytes(cursor.take()?),
        },
        STOP => Control::Stop {
            flow: cursor.take::<1>()?[0],
        },
        FETCH => Control::Fetch {
            flow: cursor.take::<1>()?[0],
            from: u32::from_be_bytes(cursor.take()?),
        },
        RECORDS => {
            let [flow] = cursor.take()?;
            let [from, total] = [cursor.take()?, cursor.take()?].map(u32::from_be_bytes);
            let mut records = Vec::new();
            while !cursor.0.is_empty() {
                records.push(record(&mut cursor)?);
            }
            Control::Records {
                flow,
                from,
                total,
                records,
            }
        }
        ALIVE => Control::Alive,
        CLOSE => Control::Close,
        other => return Err(Malformed::Kind(other)),
    })
}

fn record(cursor: &mut crate::wire::Cursor) -> Result<Arrival, Malformed> {
    let sequence = u32::from_be_bytes(cursor.take()?);
    let [stage] = cursor.take()?;
    let stage: Stage = crate::wire::stage_of(stage)?;
    let bytes = u16::from_be_bytes(cursor.take()?);
    let [sent, arrived]: [Instant; 2] = [cursor.time()?, cursor.time()?];
    Ok(Arrival {
        sequence,
        stage,
        bytes,
        sent,
        arrived,
    })
}
