//! A request, and everything that answers it.

use netlink_packet_core::{NLM_F_REQUEST, NetlinkBuffer, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use std::io;

/// Sends a request and hands what comes to `take` until the kernel says that this was all. `flags` has `NLM_F_DUMP` or
/// `NLM_F_ACK`, or it never says so.
///
/// # Errors
/// If the kernel refuses, or answers with something that is no message.
pub fn ask(
    request: RouteNetlinkMessage,
    flags: u16,
    mut take: impl FnMut(RouteNetlinkMessage),
) -> io::Result<()> {
    let mut socket = Socket::new(NETLINK_ROUTE)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    let mut message = NetlinkMessage::from(request);
    message.header.flags = NLM_F_REQUEST | flags;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    socket.send(&bytes, 0)?;
    loop {
        let (received, _) = socket.recv_from_full()?;
        for bytes in messages(&received) {
            // A newer kernel may say what the library does not understand.
            let Ok(message) = NetlinkMessage::<RouteNetlinkMessage>::deserialize(bytes) else {
                continue;
            };
            match message.payload {
                NetlinkPayload::Done(_) => return Ok(()),
                NetlinkPayload::Error(error) if error.code.is_some() => return Err(error.to_io()),
                NetlinkPayload::Error(_) => return Ok(()),
                NetlinkPayload::InnerMessage(message) => take(message),
                _ => {}
            }
        }
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
