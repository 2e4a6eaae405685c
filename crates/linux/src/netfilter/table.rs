//! Tables of nf_tables: some belong to the socket that made them, others outlive it.

use crate::netfilter::expression::{Expression, data};
use crate::netfilter::message::{
    Answer, answers, each, general, kind, nested, number, open, request, string, text, values,
};
use netlink_packet_core::{NLM_F_ACK, NLM_F_APPEND, NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL};
use netlink_sys::Socket;
use std::io;

/// Which packets a table sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// IPv4's.
    V4,
    /// IPv6's.
    V6,
    /// Both.
    Inet,
}

impl Family {
    /// None for the number of another family.
    pub(crate) fn of(number: u8) -> Option<Self> {
        let all = [Self::V4, Self::V6, Self::Inet];
        all.into_iter()
            .find(|family| family.number() == i32::from(number))
    }

    /// As `nft` spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V4 => "ip",
            Self::V6 => "ip6",
            Self::Inet => "inet",
        }
    }

    fn number(self) -> i32 {
        match self {
            Self::V4 => libc::NFPROTO_IPV4,
            Self::V6 => libc::NFPROTO_IPV6,
            Self::Inet => libc::NFPROTO_INET,
        }
    }
}

/// Where on its way a packet meets a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// This machine's own packets, before they are routed.
    Output,
    /// Forwarded packets.
    Forward,
    /// Both, on their way out.
    PostRouting,
}

/// What becomes of a packet if no rule of a chain decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// It goes on.
    Accept,
    /// It is dropped.
    Drop,
}

impl Hook {
    pub(crate) fn number(self) -> u32 {
        let number = match self {
            Self::Output => libc::NF_INET_LOCAL_OUT,
            Self::Forward => libc::NF_INET_FORWARD,
            Self::PostRouting => libc::NF_INET_POST_ROUTING,
        };
        number as u32
    }
}

/// A chain that begins at a hook.
///
/// When a hook is removed, with its chain or because a transaction is refused, the kernel drops all packets of the
/// namespace that wait in any netfilter queue (`nf_queue_nf_hook_drop`).
#[derive(Clone, Copy, Debug)]
pub struct Chain<'a> {
    /// Its name in the table.
    pub name: &'a str,
    /// `filter` or `nat`.
    pub kind: &'a str,
    /// Where it begins.
    pub hook: Hook,
    /// Its place among the hook's chains: smaller ones come first.
    pub priority: i32,
}

/// A set of keys.
#[derive(Clone, Copy, Debug)]
pub struct Set<'a> {
    /// Its name in the table.
    pub name: &'a str,
    /// Its number, unique within the transaction that makes it.
    pub id: u32,
    /// nft's type numbers of the parts of its keys, so that `nft list` can show it.
    pub types: &'a [u32],
    /// Bytes of a key; each part is padded to a multiple of four.
    pub key_bytes: u32,
    /// The most keys that it holds.
    pub size: u32,
}

/// A change of a table.
#[derive(Clone, Debug)]
pub struct Change {
    message: i32,
    flags: u16,
    attributes: Vec<u8>,
}

/// A table; it lives as long as this value if [`Table::create`] has made it.
#[derive(Debug)]
pub struct Table {
    owner: Socket,
    family: Family,
    name: String,
}

impl Table {
    /// A table in the calling thread's namespace. It exists once [`Table::create`] is committed, or if another program
    /// has made it.
    ///
    /// # Errors
    /// If the kernel has no nfnetlink.
    pub fn new(family: Family, name: &str) -> io::Result<Self> {
        Ok(Self {
            owner: open()?,
            family,
            name: name.into(),
        })
    }

    /// Makes the table. It is an error if there is one of its name.
    #[must_use]
    pub fn create(&self) -> Change {
        /// `NFT_TABLE_F_OWNER`.
        const OWNER: u32 = 2;
        Change {
            message: libc::NFT_MSG_NEWTABLE,
            flags: NLM_F_CREATE | NLM_F_EXCL,
            attributes: [text(1, &self.name), number(2, OWNER)].concat(),
        }
    }

    /// Makes a table that stays until it is removed, and that any privileged process may change. It is an error if
    /// there is one of its name.
    #[must_use]
    pub fn create_lasting(&self) -> Change {
        Change {
            message: libc::NFT_MSG_NEWTABLE,
            flags: NLM_F_CREATE | NLM_F_EXCL,
            attributes: text(1, &self.name),
        }
    }

    /// Removes the table and all that is in it.
    #[must_use]
    pub fn remove(&self) -> Change {
        Change {
            message: libc::NFT_MSG_DELTABLE,
            flags: 0,
            attributes: text(1, &self.name),
        }
    }

    /// Adds a chain.
    #[must_use]
    pub fn chain(&self, chain: &Chain) -> Change {
        self.chain_with(chain, Policy::Accept)
    }

    /// The same with that policy.
    #[must_use]
    pub fn chain_with(&self, chain: &Chain, policy: Policy) -> Change {
        let policy = match policy {
            Policy::Accept => libc::NF_ACCEPT,
            Policy::Drop => libc::NF_DROP,
        };
        let hook = [
            number(1, chain.hook.number()),
            number(2, chain.priority as u32),
        ];
        let attributes = [
            text(1, &self.name),
            text(3, chain.name),
            nested(4, &hook.concat()),
            number(5, policy as u32),
            text(7, chain.kind),
        ];
        Change {
            message: libc::NFT_MSG_NEWCHAIN,
            flags: NLM_F_CREATE,
            attributes: attributes.concat(),
        }
    }

    /// Adds a chain without a hook, which no packet reaches by itself.
    #[must_use]
    pub fn idle_chain(&self, name: &str) -> Change {
        Change {
            message: libc::NFT_MSG_NEWCHAIN,
            flags: NLM_F_CREATE,
            attributes: [text(1, &self.name), text(3, name)].concat(),
        }
    }

    /// Adds a rule at a chain's end.
    #[must_use]
    pub fn rule(&self, chain: &str, expressions: &[Expression]) -> Change {
        let expressions: Vec<_> = expressions.iter().map(Expression::listed).collect();
        let attributes = [
            text(1, &self.name),
            text(2, chain),
            nested(4, &expressions.concat()),
        ];
        Change {
            message: libc::NFT_MSG_NEWRULE,
            flags: NLM_F_CREATE | NLM_F_APPEND,
            attributes: attributes.concat(),
        }
    }

    /// Removes all rules of a chain, which stays.
    #[must_use]
    pub fn clear(&self, chain: &str) -> Change {
        Change {
            message: libc::NFT_MSG_DELRULE,
            flags: 0,
            attributes: [text(1, &self.name), text(2, chain)].concat(),
        }
    }

    /// Adds a set.
    #[must_use]
    pub fn set(&self, set: &Set) -> Change {
        let types = set.types.iter().fold(0, |sum, kind| sum << 6 | kind);
        let attributes = [
            text(1, &self.name),
            text(2, set.name),
            number(4, types),
            number(5, set.key_bytes),
            nested(9, &number(1, set.size)),
            number(10, set.id),
        ];
        Change {
            message: libc::NFT_MSG_NEWSET,
            flags: NLM_F_CREATE | NLM_F_EXCL,
            attributes: attributes.concat(),
        }
    }

    /// Puts a key into a set; it is an error if the set has it, or is full.
    #[must_use]
    pub fn insert(&self, set: &str, key: &[u8]) -> Change {
        Change {
            message: libc::NFT_MSG_NEWSETELEM,
            flags: NLM_F_CREATE | NLM_F_EXCL,
            attributes: self.element(set, key),
        }
    }

    /// Takes a key out of a set; it is an error if the set lacks it.
    #[must_use]
    pub fn take(&self, set: &str, key: &[u8]) -> Change {
        Change {
            message: libc::NFT_MSG_DELSETELEM,
            flags: 0,
            attributes: self.element(set, key),
        }
    }

    /// Takes all keys out of a set.
    #[must_use]
    pub fn empty(&self, set: &str) -> Change {
        Change {
            message: libc::NFT_MSG_DELSETELEM,
            flags: 0,
            attributes: [text(1, &self.name), text(2, set)].concat(),
        }
    }

    /// The keys that a set has.
    ///
    /// # Errors
    /// The kernel's, of kind [`io::ErrorKind::NotFound`] if there is no such table or set.
    pub fn keys(&self, set: &str) -> io::Result<Vec<Vec<u8>>> {
        const SUBSYSTEM: i32 = libc::NFNL_SUBSYS_NFTABLES;
        let name = [text(1, &self.name), text(2, set)].concat();
        let ask = kind(SUBSYSTEM, libc::NFT_MSG_GETSETELEM);
        let general = general(self.family.number(), 0);
        self.owner
            .send(&request(ask, NLM_F_DUMP, 0, general, &name), 0)?;
        let mut keys = Vec::new();
        let answer = kind(SUBSYSTEM, libc::NFT_MSG_NEWSETELEM);
        loop {
            let (received, _) = self.owner.recv_from_full()?;
            if each(&received, answer, |list| keys.extend(keys_of(list)))? {
                return Ok(keys);
            }
        }
    }

    /// How many packets each counting rule of the table has counted, with the rule's chain, in the rules' order.
    ///
    /// # Errors
    /// The kernel's, of kind [`io::ErrorKind::NotFound`] if there is no such table.
    pub fn counted(&self) -> io::Result<Vec<(String, u64)>> {
        const SUBSYSTEM: i32 = libc::NFNL_SUBSYS_NFTABLES;
        let ask = kind(SUBSYSTEM, libc::NFT_MSG_GETRULE);
        let general = general(self.family.number(), 0);
        let name = text(1, &self.name);
        self.owner
            .send(&request(ask, NLM_F_DUMP, 0, general, &name), 0)?;
        let mut counted = Vec::new();
        let answer = kind(SUBSYSTEM, libc::NFT_MSG_NEWRULE);
        loop {
            let (received, _) = self.owner.recv_from_full()?;
            if each(&received, answer, |rule| {
                counted.extend(self.count_of(rule));
            })? {
                return Ok(counted);
            }
        }
    }

    /// None for a rule of another table, which old kernels list as well, and for a rule that does not count.
    fn count_of(&self, rule: &[u8]) -> Option<(String, u64)> {
        let of = |attributes, wanted| values_of(attributes, wanted).next();
        let chain = of(rule, 2).map(string)?;
        let packets = values_of(of(rule, 4)?, 1)
            .filter(|expression| of(expression, 1).map(string).as_deref() == Some("counter"))
            .find_map(|counter| of(of(counter, 2)?, 2)?.first_chunk().copied());
        let packets = packets.map(u64::from_be_bytes)?;
        (of(rule, 1).map(string)? == self.name).then_some((chain, packets))
    }

    fn element(&self, set: &str, key: &[u8]) -> Vec<u8> {
        let elements = nested(1, &data(1, key));
        [text(1, &self.name), text(2, set), nested(3, &elements)].concat()
    }

    /// Makes all changes at once, or none.
    ///
    /// # Errors
    /// The kernel's first refusal.
    pub fn commit(&self, changes: &[Change]) -> io::Result<()> {
        self.attempt(changes)?.into_iter().collect()
    }

    /// The same, with the kernel's answer to each: if one is refused, nothing has changed.
    ///
    /// # Errors
    /// If the kernel cannot be asked.
    pub fn attempt(&self, changes: &[Change]) -> io::Result<Vec<io::Result<()>>> {
        self.owner.send(&self.transaction(changes), 0)?;
        let mut results: Vec<_> = changes.iter().map(|_| None).collect();
        while results.iter().any(Option::is_none) {
            let (received, _) = self.owner.recv_from_full()?;
            for Answer { sequence, result } in answers(&received)? {
                // The kernel answers the bracketing messages only if the whole transaction fails.
                let Some(place) = (sequence as usize).checked_sub(1) else {
                    result?;
                    continue;
                };
                if let Some(place) = results.get_mut(place) {
                    *place = Some(result);
                }
            }
        }
        Ok(results.into_iter().flatten().collect())
    }

    /// The changes between the two messages that bracket them. Each is numbered by its place, from 1.
    fn transaction(&self, changes: &[Change]) -> Vec<u8> {
        /// `NFNL_MSG_BATCH_BEGIN` and `_END`, which name the subsystem as their resource.
        const BRACKETS: [u16; 2] = [0x10, 0x11];
        let subsystem = general(libc::AF_UNSPEC, libc::NFNL_SUBSYS_NFTABLES as u16);
        let [begin, end] = BRACKETS.map(|bracket| request(bracket, 0, 0, subsystem, &[]));
        let changes = (1..).zip(changes).map(|(sequence, change)| {
            request(
                kind(libc::NFNL_SUBSYS_NFTABLES, change.message),
                change.flags | NLM_F_ACK,
                sequence,
                general(self.family.number(), 0),
                &change.attributes,
            )
        });
        let mut bytes = begin;
        bytes.extend(changes.flatten());
        bytes.extend(end);
        bytes
    }
}

/// The values of one kind.
fn values_of(attributes: &[u8], wanted: u16) -> impl Iterator<Item = &[u8]> {
    let of_kind = values(attributes).filter(move |(kind, _)| *kind == wanted);
    of_kind.map(|(_, value)| value)
}

/// Unpacks `NFTA_SET_ELEM_LIST_ELEMENTS`: it has elements, each of these a key, and the key a value.
fn keys_of(list: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let inner = |number| move |bytes| values_of(bytes, number);
    let elements = inner(3)(list).flat_map(inner(1));
    let data = elements.flat_map(inner(1));
    data.flat_map(inner(1)).map(<[u8]>::to_vec)
}
