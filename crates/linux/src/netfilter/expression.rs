//! The expressions of a rule: they load values into registers and compare them, until one of them decides. Numbers of
//! attributes are those of linux/netfilter/nf_tables.h.

use crate::netfilter::message::{attribute, nested, number, text};
use std::ops::RangeInclusive;

/// One of the sixteen registers of four bytes. Longer values take the next ones as well.
#[derive(Clone, Copy, Debug)]
pub struct Word(pub u32);

impl Word {
    fn number(self) -> u32 {
        libc::NFT_REG32_00 as u32 + self.0
    }
}

/// What is known about a packet beside its bytes.
#[derive(Clone, Copy, Debug)]
pub enum Meta {
    /// Index of the interface by which it arrived, in the machine's byte order.
    ComesBy,
    /// Index of the interface by which it leaves, in the machine's byte order.
    LeavesBy,
    /// Name of the interface by which it arrived, sixteen bytes padded with zeroes.
    ComesByName,
    /// Name of the interface by which it leaves.
    LeavesByName,
    /// Version of IP: `NFPROTO_IPV4` or `NFPROTO_IPV6`, one byte.
    NetworkProtocol,
    /// Protocol above IP, one byte.
    TransportProtocol,
}

/// Where offsets in a packet begin.
#[derive(Clone, Copy, Debug)]
pub enum Base {
    /// The IP header.
    Network,
    /// The header after the IP header and its extensions.
    Transport,
}

/// How a register must compare to a value.
#[derive(Clone, Copy, Debug)]
pub enum Compare {
    /// Equal to it.
    Equal,
    /// Different from it.
    Unequal,
    /// At least it, compared byte by byte.
    AtLeast,
    /// At most it, compared byte by byte.
    AtMost,
}

/// The state of a packet's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Packets have passed in both directions.
    Established,
    /// The packet is an ICMP error about such a connection.
    Related,
}

impl State {
    /// In the machine's byte order: `NF_CT_STATE_BIT` of linux/netfilter/nf_conntrack_common.h.
    #[must_use]
    pub fn value(self) -> [u8; 4] {
        let bit = match self {
            Self::Established => 1,
            Self::Related => 2,
        };
        (1_u32 << bit).to_ne_bytes()
    }
}

/// A part of a rule.
#[derive(Clone, Debug)]
pub struct Expression(Vec<u8>);

impl Expression {
    /// Loads what is known about the packet beside its bytes.
    #[must_use]
    pub fn meta(what: Meta, to: Word) -> Self {
        let what = match what {
            Meta::ComesBy => libc::NFT_META_IIF,
            Meta::LeavesBy => libc::NFT_META_OIF,
            Meta::ComesByName => libc::NFT_META_IIFNAME,
            Meta::LeavesByName => libc::NFT_META_OIFNAME,
            Meta::NetworkProtocol => libc::NFT_META_NFPROTO,
            Meta::TransportProtocol => libc::NFT_META_L4PROTO,
        };
        Self::new("meta", &[number(1, to.number()), number(2, what as u32)])
    }

    /// Loads bytes of the packet. A packet that is too short does not match the rule.
    #[must_use]
    pub fn bytes(from: Base, place: RangeInclusive<u32>, to: Word) -> Self {
        let base = match from {
            Base::Network => libc::NFT_PAYLOAD_NETWORK_HEADER,
            Base::Transport => libc::NFT_PAYLOAD_TRANSPORT_HEADER,
        };
        let length = place.end() + 1 - place.start();
        let parts = [to.number(), base as u32, *place.start(), length];
        let attributes = (1..).zip(parts).map(|(kind, value)| number(kind, value));
        Self::new("payload", &attributes.collect::<Vec<_>>())
    }

    /// Goes on only if the register compares like this to `value`.
    #[must_use]
    pub fn compare(from: Word, how: Compare, value: &[u8]) -> Self {
        let how = match how {
            Compare::Equal => libc::NFT_CMP_EQ,
            Compare::Unequal => libc::NFT_CMP_NEQ,
            Compare::AtLeast => libc::NFT_CMP_GTE,
            Compare::AtMost => libc::NFT_CMP_LTE,
        };
        let parts = [
            number(1, from.number()),
            number(2, how as u32),
            data(3, value),
        ];
        Self::new("cmp", &parts)
    }

    /// Clears all bits of a register but those of `mask`.
    #[must_use]
    pub fn mask(register: Word, mask: &[u8]) -> Self {
        let parts = [
            number(1, register.number()),
            number(2, register.number()),
            number(3, mask.len() as u32),
            data(4, mask),
            data(5, &vec![0; mask.len()]),
        ];
        Self::new("bitwise", &parts)
    }

    /// Goes on only if a set of the table has the registers' value.
    #[must_use]
    pub fn is_in(set: &str, from: Word) -> Self {
        Self::new("lookup", &[text(1, set), number(2, from.number())])
    }

    /// Sends the packet to a queue, or lets it pass if no process serves the queue.
    #[must_use]
    pub fn queue(queue: u16) -> Self {
        let parts = [queue, 1, libc::NFT_QUEUE_FLAG_BYPASS as u16];
        let attributes = (1..).zip(parts);
        let attributes = attributes.map(|(kind, value)| attribute(kind, &value.to_be_bytes()));
        Self::new("queue", &attributes.collect::<Vec<_>>())
    }

    /// The same through xtables' target, for kernels without the expression (`CONFIG_NFT_QUEUE`) but with nf_tables'
    /// compatibility layer.
    #[must_use]
    pub fn queue_target(queue: u16) -> Self {
        /// `NFQ_FLAG_BYPASS`.
        const BYPASS: u16 = 1;
        const REVISION: u32 = 3;
        // struct xt_NFQ_info_v3, padded as all of xtables' records are.
        let info = [queue, 1, BYPASS, 0].map(u16::to_ne_bytes).concat();
        let parts = [text(1, "NFQUEUE"), number(2, REVISION), attribute(3, &info)];
        Self::new("target", &parts)
    }

    /// Drops the packet and tells its sender, by ICMP, that the port is unreachable.
    #[must_use]
    pub fn reject() -> Self {
        let parts = [
            number(1, libc::NFT_REJECT_ICMPX_UNREACH as u32),
            attribute(2, &[libc::NFT_REJECT_ICMPX_PORT_UNREACH as u8]),
        ];
        Self::new("reject", &parts)
    }

    /// Loads the state of the packet's connection: a [`State`] or another one.
    #[must_use]
    pub fn state(to: Word) -> Self {
        let parts = [number(1, to.number()), number(2, libc::NFT_CT_STATE as u32)];
        Self::new("ct", &parts)
    }

    /// Ends this chain: the packet goes back to the calling chain, or meets the base chain's policy.
    #[must_use]
    pub fn pass() -> Self {
        Self::verdict(libc::NFT_RETURN)
    }

    /// Drops the packet; later chains do not see it.
    #[must_use]
    pub fn discard() -> Self {
        Self::verdict(libc::NF_DROP)
    }

    /// Runs another chain of the table, which returns if it does not decide.
    #[must_use]
    pub fn call(chain: &str) -> Self {
        let jump = [number(1, libc::NFT_JUMP as u32), text(2, chain)];
        Self::decide(&jump.concat())
    }

    fn verdict(verdict: i32) -> Self {
        Self::decide(&number(1, verdict as u32))
    }

    fn decide(verdict: &[u8]) -> Self {
        const DATA_VERDICT: u16 = 2;
        let verdict = nested(DATA_VERDICT, verdict);
        Self::new(
            "immediate",
            &[number(1, libc::NFT_REG_VERDICT as u32), nested(2, &verdict)],
        )
    }

    /// Lets the packet pass this chain. Later chains at the hook may still drop it.
    #[must_use]
    pub fn accept() -> Self {
        Self::verdict(libc::NF_ACCEPT)
    }

    /// Counts the packet ([`crate::netfilter::Table::counted`]).
    #[must_use]
    pub fn count() -> Self {
        Self::new("counter", &[])
    }

    /// Marks the packet: from here on the kernel tells a [`crate::netfilter::Trace`] which rules decide on it.
    #[must_use]
    pub fn trace() -> [Self; 2] {
        let from = Word(0);
        let parts = [
            number(2, libc::NFT_META_NFTRACE as u32),
            number(3, from.number()),
        ];
        [Self::load(from, &[1]), Self::new("meta", &parts)]
    }

    /// Loads a value.
    fn load(to: Word, value: &[u8]) -> Self {
        Self::new("immediate", &[number(1, to.number()), data(2, value)])
    }

    /// Gives the packet the source address of the interface by which it leaves.
    #[must_use]
    pub fn masquerade() -> Self {
        Self::new("masq", &[])
    }

    fn new(name: &str, attributes: &[Vec<u8>]) -> Self {
        Self([text(1, name), nested(2, &attributes.concat())].concat())
    }

    /// As an element of a rule's list.
    pub(crate) fn listed(&self) -> Vec<u8> {
        nested(1, &self.0)
    }
}

/// A value, as `NFTA_DATA_VALUE` within the attribute of that number.
pub(crate) fn data(kind: u16, value: &[u8]) -> Vec<u8> {
    nested(kind, &attribute(1, value))
}
