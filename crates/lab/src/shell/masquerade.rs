//! Source address translation by nf_tables, for one address.

use anyhow::{Context, Result};
use std::net::IpAddr;
use tidegate_linux::netfilter::{Base, Chain, Compare, Expression, Family, Hook, Table, Word};

/// While this value lives, packets from one address leave the machine with the address of the interface by which they
/// leave.
#[derive(Debug)]
pub struct Masquerade {
    _table: Table,
}

/// `NF_IP_PRI_NAT_SRC`.
const SOURCE_NAT: i32 = 100;

impl Masquerade {
    /// Begins to masquerade `source` in the calling thread's namespace, in a table called `table`.
    ///
    /// # Errors
    /// Without root; without nf_tables and its NAT in the kernel; if there is such a table already.
    pub fn new(source: IpAddr, table: &str) -> Result<Self> {
        let (family, place, address) = match source {
            IpAddr::V4(a) => (Family::V4, 12..=15, a.octets().to_vec()),
            IpAddr::V6(a) => (Family::V6, 8..=23, a.octets().to_vec()),
        };
        let chain = Chain {
            name: "postrouting",
            kind: "nat",
            hook: Hook::PostRouting,
            priority: SOURCE_NAT,
        };
        let rule = [
            Expression::bytes(Base::Network, place, Word(0)),
            Expression::compare(Word(0), Compare::Equal, &address),
            Expression::masquerade(),
        ];
        let table = Table::new(family, table).context("cannot open a netfilter netlink socket")?;
        let changes = [
            table.create(),
            table.chain(&chain),
            table.rule(chain.name, &rule),
        ];
        table
            .commit(&changes)
            .context("cannot set up address translation (nf_tables with NAT, Linux 5.12)")?;
        Ok(Self { _table: table })
    }
}
