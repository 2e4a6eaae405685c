//! The packets of a session: the handshake's two packets, the envelope around all that follow, and the messages about
//! the session itself.

use super::{ANSWER, CONTROL, HELLO, Malformed, Packet, SEALED, cursor::Cursor, write_head};

/// Bytes of the header of a sealed packet.
pub const SEALED_HEADER: usize = 24;

/// Bytes that sealing adds to the plaintext (Noise §5.1).
pub const TAG: usize = 16;

/// Bytes of a sealed packet's header and tag.
pub const SEAL: usize = SEALED_HEADER + TAG;

/// Bytes of the proof that a greeting's sender holds the token.
pub const PROOF: usize = 32;

/// Bytes of the greeting's header.
const HELLO_HEADER: usize = 48;

/// Bytes of the answer's header.
const ANSWER_HEADER: usize = 16;

/// Bytes of a message about the session.
pub const CONTROL_HEADER: usize = 24;

/// A packet that only the two ends can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sealed<'a> {
    /// The connection.
    pub connection: u64,
    /// A number that no other packet with the same key and direction has.
    pub nonce: u64,
    /// Ciphertext and tag.
    pub ciphertext: &'a [u8],
}

/// The first packet of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello<'a> {
    /// The connection, as the sender calls it from here on.
    pub connection: u64,
    /// Proves that the sender holds the token, before anything expensive is done.
    pub proof: [u8; PROOF],
    /// The first message of the Noise handshake. Zeros may follow it in the packet.
    pub message: &'a [u8],
}

/// The second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<'a> {
    /// The connection.
    pub connection: u64,
    /// The second message of the Noise handshake.
    pub message: &'a [u8],
}

/// A message about the session itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Asks for an answer with the same number. Padding may follow.
    Ping(u64),
    /// The answer.
    Pong(u64),
    /// The sender of this message has closed, after it had read its peer's stream up to this number.
    Close(u64),
    /// The answer to [`Self::Close`].
    Closed,
}

/// Writes the header of a sealed packet; its ciphertext and tag, `ciphertext` bytes, follow.
pub fn write_sealed(out: &mut Vec<u8>, connection: u64, nonce: u64, ciphertext: u16) {
    write_head(out, SEALED, SEALED_HEADER, 0);
    out.extend(connection.to_be_bytes());
    out.extend(nonce.to_be_bytes());
    out.extend(ciphertext.to_be_bytes());
    out.extend([0, 0]);
}

/// Writes a greeting.
pub fn write_hello(out: &mut Vec<u8>, hello: &Hello) {
    write_head(out, HELLO, HELLO_HEADER, 0);
    out.extend(hello.connection.to_be_bytes());
    out.extend(hello.proof);
    out.extend((hello.message.len() as u16).to_be_bytes());
    out.extend([0, 0]);
    out.extend(hello.message);
}

/// Writes an answer.
pub fn write_answer(out: &mut Vec<u8>, answer: &Answer) {
    write_head(out, ANSWER, ANSWER_HEADER, 0);
    out.extend(answer.connection.to_be_bytes());
    out.extend((answer.message.len() as u16).to_be_bytes());
    out.extend([0, 0]);
    out.extend(answer.message);
}

/// Writes a message about the session.
pub fn write_control(out: &mut Vec<u8>, connection: u64, control: Control) {
    let (what, number) = match control {
        Control::Ping(number) => (1u32, number),
        Control::Pong(number) => (2, number),
        Control::Close(read) => (3, read),
        Control::Closed => (4, 0),
    };
    write_head(out, CONTROL, CONTROL_HEADER, 0);
    out.extend(connection.to_be_bytes());
    out.extend(what.to_be_bytes());
    out.extend(number.to_be_bytes());
}

pub(super) fn parse_sealed<'a>(head: &mut Cursor, body: &'a [u8]) -> Result<Packet<'a>, Malformed> {
    head.u16()?;
    let (connection, nonce) = (head.u64()?, head.u64()?);
    let length = usize::from(head.u16()?);
    if length < TAG || body.len() < length {
        return Err(Malformed::Truncated);
    }
    if body.len() > length {
        return Err(Malformed::Oversized);
    }
    Ok(Packet::Sealed(Sealed {
        connection,
        nonce,
        ciphertext: body,
    }))
}

pub(super) fn parse_hello<'a>(
    head: &mut Cursor<'a>,
    body: &'a [u8],
) -> Result<Packet<'a>, Malformed> {
    head.u16()?;
    Ok(Packet::Hello(Hello {
        connection: head.u64()?,
        proof: head.array()?,
        message: message(head, body)?,
    }))
}

pub(super) fn parse_answer<'a>(head: &mut Cursor, body: &'a [u8]) -> Result<Packet<'a>, Malformed> {
    head.u16()?;
    Ok(Packet::Answer(Answer {
        connection: head.u64()?,
        message: message(head, body)?,
    }))
}

/// The handshake's message at the beginning of the body; the header says how long it is.
fn message<'a>(head: &mut Cursor, body: &'a [u8]) -> Result<&'a [u8], Malformed> {
    let length = usize::from(head.u16()?);
    body.get(..length).ok_or(Malformed::Truncated)
}

pub(super) fn parse_control<'a>(head: &mut Cursor) -> Result<Packet<'a>, Malformed> {
    head.u16()?;
    let connection = head.u64()?;
    let (what, number) = (head.u32()?, head.u64()?);
    let control = match what {
        1 => Control::Ping(number),
        2 => Control::Pong(number),
        3 => Control::Close(number),
        4 => Control::Closed,
        other => return Err(Malformed::Control(other)),
    };
    Ok(Packet::Control {
        connection,
        control,
    })
}
