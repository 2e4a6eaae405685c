//! Messages to nfnetlink, and its acknowledgements.

use netlink_packet_core::{
    DefaultNla, Emitable, NLA_F_NESTED, NLA_HEADER_SIZE, NLM_F_REQUEST, NetlinkBuffer,
    NetlinkHeader, NlasIterator,
};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_NETFILTER};
use std::io;

/// A socket to the kernel's nfnetlink, in the calling thread's namespace.
pub fn open() -> io::Result<Socket> {
    let mut socket = Socket::new(NETLINK_NETFILTER)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    Ok(socket)
}

/// A netlink message's type: nfnetlink's subsystem, and the request to it.
pub const fn kind(subsystem: i32, message: i32) -> u16 {
    (subsystem << 8 | message) as u16
}

/// nfnetlink's header, which follows netlink's: a family of protocols, and the resource of the message.
pub const fn general(family: i32, resource: u16) -> [u8; 4] {
    let resource = resource.to_be_bytes();
    [family as u8, 0, resource[0], resource[1]]
}

/// A netlink message with nfnetlink's header.
pub fn request(
    kind: u16,
    flags: u16,
    sequence: u32,
    general: [u8; 4],
    attributes: &[u8],
) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.message_type = kind;
    header.flags = NLM_F_REQUEST | flags;
    header.sequence_number = sequence;
    header.length = (header.buffer_len() + general.len() + attributes.len()) as u32;
    let mut bytes = vec![0; header.buffer_len()];
    header.emit(&mut bytes);
    bytes.extend(general);
    bytes.extend(attributes);
    bytes
}

pub fn text(kind: u16, value: &str) -> Vec<u8> {
    attribute(kind, &[value.as_bytes(), b"\0"].concat())
}

pub fn number(kind: u16, value: u32) -> Vec<u8> {
    attribute(kind, &value.to_be_bytes())
}

pub fn nested(kind: u16, attributes: &[u8]) -> Vec<u8> {
    attribute(kind | NLA_F_NESTED, attributes)
}

pub fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let attribute = DefaultNla::new(kind, value.to_vec());
    let mut bytes = vec![0; attribute.buffer_len()];
    attribute.emit(&mut bytes);
    bytes
}

/// The kernel's answer to the request of that number.
pub struct Answer {
    pub sequence: u32,
    pub result: io::Result<()>,
}

/// The answers in what was received; none if it is something else.
pub fn answers(received: &[u8]) -> io::Result<Vec<Answer>> {
    let mut answers = Vec::new();
    let mut rest = received;
    while !rest.is_empty() {
        let message = NetlinkBuffer::new_checked(rest).map_err(io::Error::other)?;
        if i32::from(message.message_type()) == libc::NLMSG_ERROR {
            answers.push(Answer {
                sequence: message.sequence_number(),
                result: result(message.payload())?,
            });
        }
        let length = (message.length() as usize).next_multiple_of(4);
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(answers)
}

/// The result in an acknowledgement, which begins with a negative errno, or 0.
fn result(acknowledgement: &[u8]) -> io::Result<io::Result<()>> {
    let code = acknowledgement
        .first_chunk()
        .ok_or_else(|| io::Error::other("nfnetlink sent an acknowledgement that is too short"))?;
    Ok(match i32::from_ne_bytes(*code) {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(-code)),
    })
}

/// A text that ends with NUL.
pub fn string(value: &[u8]) -> String {
    let end = value.iter().position(|byte| *byte == 0);
    String::from_utf8_lossy(&value[..end.unwrap_or(value.len())]).into_owned()
}

/// Attributes as numbers and bytes.
pub fn values(attributes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    NlasIterator::new(attributes).map_while(|attribute| {
        let attribute = attribute.ok()?;
        let (kind, end) = (attribute.kind(), NLA_HEADER_SIZE + attribute.value_length());
        Some((kind, attribute.into_inner().get(NLA_HEADER_SIZE..end)?))
    })
}

/// Hands out the attributes of the messages of one kind. Returns whether a list's end was among them.
pub fn each(received: &[u8], wanted: u16, mut take: impl FnMut(&[u8])) -> io::Result<bool> {
    each_of(received, wanted, |_, attributes| take(attributes))
}

/// The same, with the family that the header names.
pub fn each_of(received: &[u8], wanted: u16, mut take: impl FnMut(u8, &[u8])) -> io::Result<bool> {
    let mut rest = received;
    while !rest.is_empty() {
        let message = NetlinkBuffer::new_checked(rest).map_err(io::Error::other)?;
        match message.message_type() {
            kind if i32::from(kind) == libc::NLMSG_DONE => return Ok(true),
            kind if i32::from(kind) == libc::NLMSG_ERROR => result(message.payload())??,
            kind if kind == wanted => {
                if let Some(([family, ..], attributes)) = message.payload().split_first_chunk::<4>()
                {
                    take(*family, attributes);
                }
            }
            _ => {}
        }
        let length = (message.length() as usize).next_multiple_of(4);
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(false)
}
