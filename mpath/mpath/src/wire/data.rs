//! Packets of a stream.

use super::{DATA, Malformed, Packet, cursor::Cursor, write_head};
use crate::{Data, PathId};
use std::time::Duration;

/// Bytes of the header in front of the payload.
pub const DATA_HEADER: usize = 36;

/// The stream ends with this packet.
const FIN: u16 = 1;

/// Writes the header; the payload follows.
pub fn write_data(out: &mut Vec<u8>, connection: u64, data: &Data) {
    let flags = if data.fin { FIN } else { 0 };
    write_head(out, DATA, DATA_HEADER, flags);
    out.extend(connection.to_be_bytes());
    out.extend(data.path.0.to_be_bytes());
    out.extend(data.path_seq.to_be_bytes());
    out.extend(data.stream.to_be_bytes());
    let patience_ms = u32::try_from(data.patience.as_millis()).unwrap_or(u32::MAX);
    out.extend(patience_ms.to_be_bytes());
}

pub(super) fn parse<'a>(head: &mut Cursor, body: &'a [u8]) -> Result<Packet<'a>, Malformed> {
    let flags = head.u16()?;
    let connection = head.u64()?;
    let data = Data {
        path: PathId(head.u32()?),
        path_seq: head.u64()?,
        stream: head.u64()?,
        patience: Duration::from_millis(head.u32()?.into()),
        fin: flags & FIN != 0,
    };
    Ok(Packet::Data {
        connection,
        data,
        payload: body,
    })
}
