//! Rejects QUIC connections at once, so that their clients take TCP.
//!
//! Only Initial packets are rejected, which begin a connection; established connections are not touched. A client's
//! Initial fills a datagram of at least 1200 bytes (RFC 9000 section 14.1), and its packet type is not encrypted (RFC
//! 8999, RFC 9000 section 17.2, RFC 9369 section 3.2). The fixed bit says nothing: a client that knows the server may
//! clear it (RFC 9287). So the version tells QUIC from other protocols on its port.

use crate::GateError;
use crate::rules::table_name;
use std::net::IpAddr;
use std::ops::RangeInclusive;
use tidegate_linux::netfilter::{
    Base, Chain, Change, Compare, Expression, Family, Hook, Meta, Table, Word,
};

const VERSION_1: [u8; 4] = 1_u32.to_be_bytes();

/// The first bytes of the versions of drafts and of mvfst, whose Initials have the type of version 1.
const OTHER_VERSIONS: [[u8; 4]; 2] = [[0xff, 0, 0, 0], [0xfa, 0xce, 0xb0, 0]];

/// QUIC version 2, whose Initials have another type than those of the other versions (RFC 9369 section 3.2).
const VERSION_2: [u8; 4] = 0x6b33_43cf_u32.to_be_bytes();

/// The least header and payload of a client's first datagram.
const INITIAL_BYTES: u16 = 8 + 1200;

/// The conditions of a choice; an absent one matches everything. The first choice that matches a connection decides;
/// without any the connection is left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Index of the interface by which the packet leaves.
    pub interface: Option<u32>,
    /// Ports of the far end.
    pub remote_ports: RangeInclusive<u16>,
    /// Address of the far end, and how many of its bits count.
    pub remote: Option<(IpAddr, u8)>,
    /// Whether such connections are rejected.
    pub rejects: bool,
}

/// Rejects connections of this machine and of those that it forwards for, in the namespace of the thread that made it,
/// for as long as this value lives.
#[derive(Debug)]
pub struct Fallback {
    table: Table,
}

impl Fallback {
    /// Begins to reject the connections that `choices` say.
    ///
    /// # Errors
    /// Without CAP_NET_ADMIN; without nf_tables and its `reject` in the kernel.
    pub fn new(choices: &[Choice]) -> Result<Self, GateError> {
        let table = Table::new(Family::Inet, &table_name("fallback"))
            .map_err(GateError::system("open a netfilter netlink socket"))?;
        let mut changes = vec![table.create()];
        for chain in CHAINS {
            changes.push(table.chain(&chain));
            changes.extend(rules(&table, chain.name, choices));
        }
        table.commit(&changes).map_err(GateError::system(
            "reject packets by nf_tables (nft_reject_inet, Linux 5.12)",
        ))?;
        Ok(Self { table })
    }

    /// Replaces the choices, all at once. The chains stay, since removing them would drop the packets in packet queues.
    ///
    /// # Errors
    /// If the kernel refuses; then the old choices stay in force.
    pub fn set(&mut self, choices: &[Choice]) -> Result<(), GateError> {
        let mut changes = Vec::new();
        for chain in CHAINS {
            changes.push(self.table.clear(chain.name));
            changes.extend(rules(&self.table, chain.name, choices));
        }
        self.table
            .commit(&changes)
            .map_err(GateError::system("change the rules that reject packets"))
    }
}

/// Before an administrator's filters (`NF_IP_PRI_FILTER`, 0): clients would wait for packets that those drop silently.
const CHAINS: [Chain<'static>; 2] = [
    Chain {
        name: "own",
        kind: "filter",
        hook: Hook::Output,
        priority: -5,
    },
    Chain {
        name: "forwarded",
        kind: "filter",
        hook: Hook::Forward,
        priority: -5,
    },
];

fn rules(table: &Table, chain: &str, choices: &[Choice]) -> Vec<Change> {
    let passes = passes().into_iter();
    let choices = choices.iter().map(Choice::rule);
    passes
        .chain(choices)
        .map(|rule| table.rule(chain, &rule))
        .collect()
}

/// Lets all but Initials pass, the most frequent packets first.
fn passes() -> [Vec<Expression>; 6] {
    let transport = |place| Expression::bytes(Base::Transport, place, Word(0));
    let first = || transport(8..=8);
    let version = || transport(9..=12);
    let mask = |bits: &[u8]| Expression::mask(Word(0), bits);
    let is = |value: &[u8]| Expression::compare(Word(0), Compare::Equal, value);
    let is_not = |value: &[u8]| Expression::compare(Word(0), Compare::Unequal, value);
    let short = (INITIAL_BYTES - 1).to_be_bytes();
    let [drafts, mvfst] = OTHER_VERSIONS;
    [
        vec![
            Expression::meta(Meta::TransportProtocol, Word(0)),
            is_not(&[libc::IPPROTO_UDP as u8]),
            Expression::pass(),
        ],
        vec![
            transport(4..=5),
            Expression::compare(Word(0), Compare::AtMost, &short),
            Expression::pass(),
        ],
        // The short header of an established connection.
        vec![first(), mask(&[0x80]), is(&[0]), Expression::pass()],
        vec![
            version(),
            is_not(&VERSION_1),
            is_not(&VERSION_2),
            mask(&[0xff, 0xff, 0xff, 0]),
            is_not(&drafts),
            is_not(&mvfst),
            Expression::pass(),
        ],
        // A long header's packet of another type than Initial.
        vec![
            version(),
            is_not(&VERSION_2),
            first(),
            mask(&[0x30]),
            is_not(&[0]),
            Expression::pass(),
        ],
        vec![
            version(),
            is(&VERSION_2),
            first(),
            mask(&[0x30]),
            is_not(&[0x10]),
            Expression::pass(),
        ],
    ]
}

impl Choice {
    fn rule(&self) -> Vec<Expression> {
        let mut rule = Vec::new();
        if let Some(interface) = self.interface {
            rule.push(Expression::meta(Meta::LeavesBy, Word(0)));
            let index = interface.to_ne_bytes();
            rule.push(Expression::compare(Word(0), Compare::Equal, &index));
        }
        if let Some((address, bits)) = self.remote {
            rule.extend(prefix(address, bits));
        }
        let [first, last] = [self.remote_ports.start(), self.remote_ports.end()];
        rule.extend([
            Expression::bytes(Base::Transport, 2..=3, Word(0)),
            Expression::compare(Word(0), Compare::AtLeast, &first.to_be_bytes()),
            Expression::compare(Word(0), Compare::AtMost, &last.to_be_bytes()),
            if self.rejects {
                Expression::reject()
            } else {
                Expression::pass()
            },
        ]);
        rule
    }
}

/// The far address begins with these bits.
fn prefix(address: IpAddr, bits: u8) -> Vec<Expression> {
    let (family, place, address) = match address {
        IpAddr::V4(a) => (libc::NFPROTO_IPV4, 16..=19, a.octets().to_vec()),
        IpAddr::V6(a) => (libc::NFPROTO_IPV6, 24..=39, a.octets().to_vec()),
    };
    let ones = |byte: usize| usize::from(bits).saturating_sub(8 * byte).min(8);
    let mask: Vec<_> = (0..address.len())
        .map(|byte| (0xff00_u16 >> ones(byte)) as u8)
        .collect();
    let masked: Vec<_> = address.iter().zip(&mask).map(|(a, m)| a & m).collect();
    vec![
        Expression::meta(Meta::NetworkProtocol, Word(0)),
        Expression::compare(Word(0), Compare::Equal, &[family as u8]),
        Expression::bytes(Base::Network, place, Word(0)),
        Expression::mask(Word(0), &mask),
        Expression::compare(Word(0), Compare::Equal, &masked),
    ]
}
