//! Source address translation by nf_tables, for one address.
//!
//! The table belongs to the netlink socket that made it (`NFT_TABLE_F_OWNER`, Linux 5.12): when the
//! socket closes, be it because the process was killed, the kernel removes the table.

use anyhow::{Context, Result, bail};
use netlink_packet_core::{
    DefaultNla, Emitable, NLA_F_NESTED, NLM_F_ACK, NLM_F_APPEND, NLM_F_CREATE, NLM_F_EXCL,
    NLM_F_REQUEST, NetlinkBuffer, NetlinkHeader,
};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_NETFILTER};
use std::net::IpAddr;

/// Packets from one address leave the machine with the address of the interface that they leave by,
/// for as long as this value lives.
#[derive(Debug)]
pub struct Masquerade {
    _owner: Socket,
}

impl Masquerade {
    /// Begins to masquerade `source` in the calling thread's namespace, in a table called `table`.
    ///
    /// # Errors
    /// Without root; without nf_tables and its NAT in the kernel; if there is such a table already.
    pub fn new(source: IpAddr, table: &str) -> Result<Self> {
        let mut socket =
            Socket::new(NETLINK_NETFILTER).context("cannot open a netfilter netlink socket")?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        let messages = [
            new_table(source, table),
            new_chain(source, table),
            new_rule(source, table),
        ];
        socket.send(&batch(&messages), 0)?;
        acknowledged(&socket, messages.len())
            .context("cannot set up address translation (nf_tables with NAT, Linux 5.12)")?;
        Ok(Self { _owner: socket })
    }
}

const CHAIN: &str = "postrouting";

/// From linux/netfilter/nfnetlink.h and nf_tables.h, as far as libc lacks them.
mod kernel {
    pub const BATCH_BEGIN: u16 = 0x10;
    pub const BATCH_END: u16 = 0x11;
    pub const TABLE_NAME: u16 = 1;
    pub const TABLE_FLAGS: u16 = 2;
    pub const TABLE_F_OWNER: u32 = 2;
    pub const CHAIN_TABLE: u16 = 1;
    pub const CHAIN_NAME: u16 = 3;
    pub const CHAIN_HOOK: u16 = 4;
    pub const CHAIN_TYPE: u16 = 7;
    pub const HOOK_NUMBER: u16 = 1;
    pub const HOOK_PRIORITY: u16 = 2;
    pub const RULE_TABLE: u16 = 1;
    pub const RULE_CHAIN: u16 = 2;
    pub const RULE_EXPRESSIONS: u16 = 4;
    pub const LIST_ELEMENT: u16 = 1;
    pub const EXPRESSION_NAME: u16 = 1;
    pub const EXPRESSION_DATA: u16 = 2;
    pub const REGISTER_1: u32 = 1;
    pub const PAYLOAD_REGISTER: u16 = 1;
    pub const PAYLOAD_BASE: u16 = 2;
    pub const PAYLOAD_OFFSET: u16 = 3;
    pub const PAYLOAD_LENGTH: u16 = 4;
    pub const NETWORK_HEADER: u32 = 1;
    pub const COMPARE_REGISTER: u16 = 1;
    pub const COMPARE_OPERATOR: u16 = 2;
    pub const COMPARE_DATA: u16 = 3;
    pub const EQUAL: u32 = 0;
    pub const DATA_VALUE: u16 = 1;
    /// `NF_IP_PRI_NAT_SRC`.
    pub const PRIORITY_SOURCE_NAT: u32 = 100;
}
use kernel::*;

/// One request of nf_tables'.
struct Message {
    kind: i32,
    flags: u16,
    family: i32,
    attributes: Vec<u8>,
}

fn new_table(source: IpAddr, table: &str) -> Message {
    Message {
        kind: libc::NFT_MSG_NEWTABLE,
        flags: NLM_F_CREATE | NLM_F_EXCL,
        family: family(source),
        attributes: [text(TABLE_NAME, table), number(TABLE_FLAGS, TABLE_F_OWNER)].concat(),
    }
}

fn new_chain(source: IpAddr, table: &str) -> Message {
    let hook = [
        number(HOOK_NUMBER, libc::NF_INET_POST_ROUTING as u32),
        number(HOOK_PRIORITY, PRIORITY_SOURCE_NAT),
    ];
    Message {
        kind: libc::NFT_MSG_NEWCHAIN,
        flags: NLM_F_CREATE,
        family: family(source),
        attributes: [
            text(CHAIN_TABLE, table),
            text(CHAIN_NAME, CHAIN),
            nested(CHAIN_HOOK, &hook.concat()),
            text(CHAIN_TYPE, "nat"),
        ]
        .concat(),
    }
}

/// `ip saddr SOURCE masquerade`, or the same of ip6.
fn new_rule(source: IpAddr, table: &str) -> Message {
    let (offset, address) = match source {
        IpAddr::V4(a) => (12, a.octets().to_vec()),
        IpAddr::V6(a) => (8, a.octets().to_vec()),
    };
    let load = [
        number(PAYLOAD_REGISTER, REGISTER_1),
        number(PAYLOAD_BASE, NETWORK_HEADER),
        number(PAYLOAD_OFFSET, offset),
        number(PAYLOAD_LENGTH, address.len() as u32),
    ];
    let compare = [
        number(COMPARE_REGISTER, REGISTER_1),
        number(COMPARE_OPERATOR, EQUAL),
        nested(COMPARE_DATA, &attribute(DATA_VALUE, &address)),
    ];
    let expressions = [
        expression("payload", &load.concat()),
        expression("cmp", &compare.concat()),
        expression("masq", &[]),
    ];
    Message {
        kind: libc::NFT_MSG_NEWRULE,
        flags: NLM_F_CREATE | NLM_F_APPEND,
        family: family(source),
        attributes: [
            text(RULE_TABLE, table),
            text(RULE_CHAIN, CHAIN),
            nested(RULE_EXPRESSIONS, &expressions.concat()),
        ]
        .concat(),
    }
}

fn family(address: IpAddr) -> i32 {
    match address {
        IpAddr::V4(_) => libc::NFPROTO_IPV4,
        IpAddr::V6(_) => libc::NFPROTO_IPV6,
    }
}

fn expression(name: &str, data: &[u8]) -> Vec<u8> {
    let parts = [text(EXPRESSION_NAME, name), nested(EXPRESSION_DATA, data)];
    nested(LIST_ELEMENT, &parts.concat())
}

fn text(kind: u16, value: &str) -> Vec<u8> {
    attribute(kind, &[value.as_bytes(), b"\0"].concat())
}

fn number(kind: u16, value: u32) -> Vec<u8> {
    attribute(kind, &value.to_be_bytes())
}

fn nested(kind: u16, attributes: &[u8]) -> Vec<u8> {
    attribute(kind | NLA_F_NESTED, attributes)
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let attribute = DefaultNla::new(kind, value.to_vec());
    let mut bytes = vec![0; attribute.buffer_len()];
    attribute.emit(&mut bytes);
    bytes
}

/// All messages in one transaction.
fn batch(messages: &[Message]) -> Vec<u8> {
    // Begin and end name the subsystem where messages have the family's resource.
    let subsystem = (libc::NFNL_SUBSYS_NFTABLES as u16).to_be_bytes();
    let bracket = |kind| {
        request(
            kind,
            0,
            [libc::AF_UNSPEC as u8, 0, subsystem[0], subsystem[1]],
            &[],
        )
    };
    let mut bytes = bracket(BATCH_BEGIN);
    for message in messages {
        let kind = (libc::NFNL_SUBSYS_NFTABLES << 8 | message.kind) as u16;
        let general = [message.family as u8, 0, 0, 0];
        bytes.extend(request(
            kind,
            message.flags | NLM_F_ACK,
            general,
            &message.attributes,
        ));
    }
    bytes.extend(bracket(BATCH_END));
    bytes
}

/// A netlink message with nfnetlink's general header.
fn request(kind: u16, flags: u16, general: [u8; 4], attributes: &[u8]) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.message_type = kind;
    header.flags = NLM_F_REQUEST | flags;
    header.length = (header.buffer_len() + general.len() + attributes.len()) as u32;
    let mut bytes = vec![0; header.buffer_len()];
    header.emit(&mut bytes);
    bytes.extend(general);
    bytes.extend(attributes);
    bytes
}

/// Reads that many acknowledgements; the first refusal is an error.
fn acknowledged(socket: &Socket, mut expected: usize) -> Result<()> {
    while expected > 0 {
        let (reply, _) = socket.recv_from_full()?;
        let mut rest = &reply[..];
        while !rest.is_empty() {
            let message = NetlinkBuffer::new_checked(rest)?;
            let code = message
                .payload()
                .first_chunk()
                .map(|b| i32::from_ne_bytes(*b));
            match (i32::from(message.message_type()), code) {
                (libc::NLMSG_ERROR, Some(0)) => expected = expected.saturating_sub(1),
                (libc::NLMSG_ERROR, Some(code)) => {
                    return Err(std::io::Error::from_raw_os_error(-code).into());
                }
                (kind, _) => bail!("expected the kernel's acknowledgement, got message {kind}"),
            }
            let length = (message.length() as usize).next_multiple_of(4);
            rest = rest.get(length..).unwrap_or_default();
        }
    }
    Ok(())
}
