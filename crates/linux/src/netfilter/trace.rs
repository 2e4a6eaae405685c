//! Traces packets that a rule has marked ([`crate::netfilter::Expression::trace`]): nf_tables reports each rule and policy that
//! decides on one, whichever program has made it. Old xtables rules (`iptables-legacy`) are not reported.

use crate::netfilter::message::{each_of, kind, open, string, values};
use crate::netfilter::table::Family;
use netlink_sys::Socket;
use std::io;

const TRACE: u16 = kind(libc::NFNL_SUBSYS_NFTABLES, libc::NFT_MSG_TRACE);

/// Listens for traced packets.
#[derive(Debug)]
pub struct Trace(Socket);

/// The chain that has dropped a traced packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// The table's family.
    pub family: Family,
    /// The table.
    pub table: String,
    /// The chain: a base chain, or one that a base chain has called.
    pub chain: String,
    /// Whether no rule decided, but the chain's policy.
    pub by_policy: bool,
}

impl Trace {
    /// Listens from now on, in the calling thread's namespace.
    ///
    /// # Errors
    /// Where there is no nf_tables, and without CAP_NET_ADMIN.
    pub fn listen() -> io::Result<Self> {
        let socket = open()?;
        socket.add_membership(libc::NFNLGRP_NFTRACE as u32)?;
        socket.set_non_blocking(true)?;
        Ok(Self(socket))
    }

    /// The drops of traced packets since the last call.
    ///
    /// # Errors
    /// The socket's: ENOBUFS if some were lost because the buffer was full.
    pub fn dropped(&self) -> io::Result<Vec<Dropped>> {
        let mut all = Vec::new();
        let mut room = Vec::with_capacity(1 << 16);
        loop {
            room.clear();
            match self.0.recv(&mut room, 0) {
                Ok(_) => {
                    each_of(&room, TRACE, |family, event| {
                        all.extend(dropped(family, event));
                    })?;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(all),
                Err(error) => return Err(error),
            }
        }
    }
}

/// None for an event after which the packet goes on.
fn dropped(family: u8, event: &[u8]) -> Option<Dropped> {
    /// `enum nft_trace_types`.
    const POLICY: u32 = 1;
    const RULE: u32 = 3;
    let (mut by, mut policy, mut verdict) = (0, None, None);
    let [mut table, mut chain] = [const { String::new() }; 2];
    let word = |value: &[u8]| value.first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
    for (attribute, value) in values(event) {
        match attribute {
            1 => table = string(value),
            2 => chain = string(value),
            4 => by = word(value)?,
            5 => {
                verdict = values(value)
                    .find(|(part, _)| *part == 1)
                    .and_then(|v| word(v.1));
            }
            16 => policy = word(value),
            _ => {}
        }
    }
    let decided = match by {
        POLICY => policy?,
        RULE => verdict?,
        _ => return None,
    };
    // The low byte is the verdict; an errno may be above it (`NF_VERDICT_MASK`).
    (decided & 0xff == libc::NF_DROP as u32 && decided < 1 << 31).then_some(Dropped {
        family: Family::of(family)?,
        table,
        chain,
        by_policy: by == POLICY,
    })
}
