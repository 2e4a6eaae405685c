//! The rules that send held flows' packets to the queue. The flows are in a set for each version of IP, which is looked
//! up where packets leave, after source addresses were translated.

use crate::Flow;
use serde::{Deserialize, Serialize};
use std::io;
use std::net::IpAddr;
use tidegate_linux::netfilter::{
    Base, Chain, Change, Compare, Expression, Family, Hook, Meta, Set, Table, Word,
};

/// The part of the kernel by which a rule sends packets to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueueBy {
    /// nf_tables' own (`CONFIG_NFT_QUEUE`).
    Expression,
    /// xtables' target, through nf_tables' compatibility layer.
    Target,
}

impl QueueBy {
    /// In words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Expression => "by nf_tables",
            Self::Target => "by xtables' target",
        }
    }

    pub(crate) fn expression(self, queue: u16) -> Expression {
        match self {
            Self::Expression => Expression::queue(queue),
            Self::Target => Expression::queue_target(queue),
        }
    }
}

/// Flows that may pass through the queue at once.
const FLOWS: u32 = 4096;

/// After the translation of source addresses (`NF_IP_PRI_NAT_SRC`, 100): flows are known by their outer addresses.
const CHAIN: Chain<'static> = Chain {
    name: "leaving",
    kind: "filter",
    hook: Hook::PostRouting,
    priority: 150,
};

/// The two sets, and where in a packet their keys are.
struct Version {
    set: Set<'static>,
    family: i32,
    /// Of source and destination, which are adjacent.
    addresses: std::ops::RangeInclusive<u32>,
    ports: Word,
}

/// nft's type numbers.
const INTERFACE: u32 = 20;
const ADDRESS_4: u32 = 7;
const ADDRESS_6: u32 = 8;
const PORT: u32 = 13;

const VERSIONS: [Version; 2] = [
    Version {
        set: Set {
            name: "flows4",
            id: 1,
            types: &[INTERFACE, ADDRESS_4, ADDRESS_4, PORT, PORT],
            key_bytes: 4 + 2 * 4 + 2 * 4,
            size: FLOWS,
        },
        family: libc::NFPROTO_IPV4,
        addresses: 12..=19,
        ports: Word(3),
    },
    Version {
        set: Set {
            name: "flows6",
            id: 2,
            types: &[INTERFACE, ADDRESS_6, ADDRESS_6, PORT, PORT],
            key_bytes: 4 + 2 * 16 + 2 * 4,
            size: FLOWS,
        },
        family: libc::NFPROTO_IPV6,
        addresses: 8..=39,
        ports: Word(9),
    },
];

impl Version {
    /// Sends packets of the set's flows to the queue.
    fn rule(&self, by: QueueBy, queue: u16) -> Vec<Expression> {
        let Word(ports) = self.ports;
        vec![
            Expression::meta(Meta::NetworkProtocol, Word(0)),
            Expression::compare(Word(0), Compare::Equal, &[self.family as u8]),
            Expression::meta(Meta::LeavesBy, Word(0)),
            Expression::bytes(Base::Network, self.addresses.clone(), Word(1)),
            Expression::bytes(Base::Transport, 0..=1, self.ports),
            Expression::bytes(Base::Transport, 2..=3, Word(ports + 1)),
            Expression::is_in(self.set.name, Word(0)),
            by.expression(queue),
        ]
    }
}

/// Lets other protocols than UDP pass first, since most packets are TCP's.
fn others_pass() -> Vec<Expression> {
    vec![
        Expression::meta(Meta::TransportProtocol, Word(0)),
        Expression::compare(Word(0), Compare::Unequal, &[libc::IPPROTO_UDP as u8]),
        Expression::pass(),
    ]
}

/// The table; it is removed with this value, or when the process ends.
pub struct Rules {
    table: Table,
    by: QueueBy,
}

impl Rules {
    /// Makes them in the calling thread's namespace, without any flow.
    pub fn put_up(queue: u16) -> io::Result<Self> {
        let [expression, target] =
            understood([QueueBy::Expression, QueueBy::Target].map(|by| by.expression(queue)))?;
        let by = match (expression, target) {
            (true, _) => QueueBy::Expression,
            (false, true) => QueueBy::Target,
            (false, false) => return Err(io::ErrorKind::Unsupported.into()),
        };
        let table = Table::new(Family::Inet, &table_name("gate"))?;
        let mut changes = vec![table.create(), table.chain(&CHAIN)];
        changes.extend(VERSIONS.iter().map(|v| table.set(&v.set)));
        let rules = VERSIONS.iter().map(|v| v.rule(by, queue));
        let rules = std::iter::once(others_pass()).chain(rules);
        changes.extend(rules.map(|rule| table.rule(CHAIN.name, &rule)));
        table.commit(&changes)?;
        Ok(Self { table, by })
    }

    pub fn by(&self) -> QueueBy {
        self.by
    }

    /// From now on the flow's packets come to the queue.
    pub fn add(&self, flow: &Flow) -> io::Result<()> {
        self.change(flow, Table::insert)
    }

    /// From now on they no longer do.
    pub fn remove(&self, flow: &Flow) -> io::Result<()> {
        self.change(flow, Table::take)
    }

    fn change(
        &self,
        flow: &Flow,
        change: impl Fn(&Table, &str, &[u8]) -> Change,
    ) -> io::Result<()> {
        let (set, key) = key(flow)?;
        self.table.commit(&[change(&self.table, set, &key)])
    }

    /// No packet of any flow comes to the queue any more, except those already on their way. The table stays, since
    /// removing it would drop these.
    pub fn clear(&self) -> io::Result<()> {
        let sets = VERSIONS.each_ref().map(|v| self.table.empty(v.set.name));
        self.table.commit(&sets)
    }
}

/// Whether the kernel accepts rules with these expressions. The trial leaves nothing behind: all rules are in one
/// transaction, whose last change is refused. Its chain has no hook, so no waiting packet is dropped with it.
pub fn understood<const N: usize>(expressions: [Expression; N]) -> io::Result<[bool; N]> {
    const CHAIN: &str = "trial";
    let table = Table::new(Family::Inet, &table_name("trial"))?;
    let mut changes = vec![table.create(), table.idle_chain(CHAIN)];
    let before = changes.len();
    changes.extend(expressions.map(|one| table.rule(CHAIN, &[one])));
    changes.push(table.rule("absent", &[]));
    let mut answers = table.attempt(&changes)?.into_iter();
    answers.by_ref().take(before).collect::<io::Result<()>>()?;
    Ok(std::array::from_fn(|_| {
        matches!(answers.next(), Some(Ok(())))
    }))
}

/// A table's name that no other process uses.
pub fn table_name(what: &str) -> String {
    format!("tidegate-{what}-{}", std::process::id())
}

/// The flow's set and key.
fn key(flow: &Flow) -> io::Result<(&'static str, Vec<u8>)> {
    let mut key = flow.interface.to_ne_bytes().to_vec();
    let version = match (flow.local.ip(), flow.remote.ip()) {
        (IpAddr::V4(local), IpAddr::V4(remote)) => {
            key.extend(local.octets().iter().chain(&remote.octets()));
            &VERSIONS[0]
        }
        (IpAddr::V6(local), IpAddr::V6(remote)) => {
            key.extend(local.octets().iter().chain(&remote.octets()));
            &VERSIONS[1]
        }
        _ => return Err(io::ErrorKind::InvalidInput.into()),
    };
    for port in [flow.local.port(), flow.remote.port()] {
        key.extend(port.to_be_bytes());
        key.extend([0; 2]);
    }
    Ok((version.set.name, key))
}
