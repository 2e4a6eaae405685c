//! Flowtables of nf_tables, which forward the packets of known connections past netfilter.

use crate::netfilter::message::{general, kind, open, request, string, values};
use netlink_packet_core::{NLM_F_DUMP, NetlinkBuffer};
use std::io;

/// `NFT_MSG_GETFLOWTABLE` and `_NEWFLOWTABLE`.
const GET: u16 = kind(libc::NFNL_SUBSYS_NFTABLES, 23);
const NEW: u16 = kind(libc::NFNL_SUBSYS_NFTABLES, 22);

/// `NFT_FLOWTABLE_HW_OFFLOAD`.
const HARDWARE: u32 = 1;

/// A flowtable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flowtable {
    /// Its name.
    pub name: String,
    /// The devices whose packets it forwards.
    pub devices: Vec<String>,
    /// Whether the devices forward in hardware.
    pub hardware: bool,
}

/// All flowtables of the calling thread's namespace.
///
/// # Errors
/// Where there is no nf_tables, or none with flowtables, and without CAP_NET_ADMIN.
pub fn flowtables() -> io::Result<Vec<Flowtable>> {
    let socket = open()?;
    let general = general(libc::NFPROTO_UNSPEC, 0);
    socket.send(&request(GET, NLM_F_DUMP, 0, general, &[]), 0)?;
    let mut all = Vec::new();
    loop {
        let (received, _) = socket.recv_from_full()?;
        let mut rest = &received[..];
        while !rest.is_empty() {
            let message = NetlinkBuffer::new_checked(rest).map_err(io::Error::other)?;
            match i32::from(message.message_type()) {
                libc::NLMSG_DONE => return Ok(all),
                libc::NLMSG_ERROR => {
                    let code = message.payload().first_chunk();
                    let code = code.map_or(libc::EBADMSG, |c| -i32::from_ne_bytes(*c));
                    return Err(io::Error::from_raw_os_error(code));
                }
                kind if kind == i32::from(NEW) => all.extend(message.payload().get(4..).map(read)),
                _ => {}
            }
            let length = (message.length() as usize).next_multiple_of(4);
            rest = rest.get(length..).unwrap_or_default();
        }
    }
}

fn read(attributes: &[u8]) -> Flowtable {
    let mut table = Flowtable::default();
    for (kind, value) in values(attributes) {
        match kind {
            2 => table.name = string(value),
            3 => {
                let lists = values(value).filter(|(kind, _)| *kind == 3);
                let names = lists.flat_map(|(_, devices)| values(devices));
                table.devices = names.map(|(_, name)| string(name)).collect();
            }
            7 => {
                let flags = value.first_chunk().map_or(0, |b| u32::from_be_bytes(*b));
                table.hardware = flags & HARDWARE != 0;
            }
            _ => {}
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{Flowtable, read};
    use crate::netfilter::message::{nested, number, text};

    #[test]
    fn a_flowtable_is_read_as_the_kernel_writes_it() {
        let devices = nested(3, &[text(1, "lan0"), text(1, "wan0")].concat());
        let hook = nested(3, &[number(1, 0), number(2, 0), devices].concat());
        let written = [text(1, "fw4"), text(2, "ft"), hook, number(7, 1)].concat();
        let expected = Flowtable {
            name: "ft".into(),
            devices: vec!["lan0".into(), "wan0".into()],
            hardware: true,
        };
        assert_eq!(read(&written), expected);
    }
}
