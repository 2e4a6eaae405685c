//! Sends a request, and reads all of its answers.

use netlink_packet_core::{
    NLM_F_REQUEST, NetlinkBuffer, NetlinkHeader, NetlinkMessage, NetlinkPayload,
    NetlinkSerializable,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use std::io;

/// Sends a request and hands the answers to `take` until the kernel says that it is done. `flags` must have
/// `NLM_F_DUMP` or `NLM_F_ACK`, or it never says so.
///
/// # Errors
/// If the kernel refuses, or its answer is not a message.
pub fn ask(
    request: RouteNetlinkMessage,
    flags: u16,
    mut take: impl FnMut(RouteNetlinkMessage),
) -> io::Result<()> {
    ask_each(request, flags, |bytes| {
        // A newer kernel may send messages that the library does not understand.
        let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(bytes);
        if let Ok(NetlinkPayload::InnerMessage(message)) = message.map(|m| m.payload) {
            take(message);
        }
    })
}

/// The same without parsing: `take` gets each answer's type and the bytes after netlink's header.
///
/// # Errors
/// If the kernel refuses.
pub fn ask_bytes(
    request: RouteNetlinkMessage,
    flags: u16,
    take: impl FnMut(u16, &[u8]),
) -> io::Result<()> {
    ask_of(request, flags, take)
}

/// The same for a request that the library does not know.
///
/// # Errors
/// If the kernel refuses.
pub fn ask_of(
    request: impl NetlinkSerializable,
    flags: u16,
    mut take: impl FnMut(u16, &[u8]),
) -> io::Result<()> {
    ask_each(request, flags, |bytes| {
        let message = NetlinkBuffer::new(bytes);
        take(message.message_type(), &bytes[HEADER..]);
    })
}

/// Bytes of netlink's header.
const HEADER: usize = 16;

/// The same; `take` gets whole messages.
fn ask_each(
    request: impl NetlinkSerializable,
    flags: u16,
    mut take: impl FnMut(&[u8]),
) -> io::Result<()> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    let payload = NetlinkPayload::InnerMessage(request);
    let mut message = NetlinkMessage::new(NetlinkHeader::default(), payload);
    message.header.flags = NLM_F_REQUEST | flags;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    socket.send(&bytes, 0)?;
    loop {
        let (received, _) = socket.recv_from_full()?;
        for bytes in messages(&received) {
            match i32::from(NetlinkBuffer::new(bytes).message_type()) {
                libc::NLMSG_DONE => return Ok(()),
                libc::NLMSG_ERROR => return acknowledgement(&bytes[HEADER..]),
                _ => take(bytes),
            }
        }
    }
}

/// The result in an error message: code 0 means success.
fn acknowledgement(payload: &[u8]) -> io::Result<()> {
    let code = payload.first_chunk().map(|code| i32::from_ne_bytes(*code));
    match code.unwrap_or(-libc::EBADMSG) {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(-code)),
    }
}

/// The messages of one datagram, headers included.
pub fn messages(datagram: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = datagram;
    std::iter::from_fn(move || {
        let length = NetlinkBuffer::new_checked(rest).ok()?.length() as usize;
        let message = rest.get(..length)?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some(message)
    })
}
