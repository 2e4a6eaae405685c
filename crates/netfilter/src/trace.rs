//! What becomes of packets that a rule has marked to be traced ([`crate::Expression::trace`]): nf_tables tells of each
//! rule and policy that decides on one, whoever made it. xtables' rules of old (`iptables-legacy`) tell nothing.

use crate::message::{each_of, kind, open, string, values};
use crate::table::Family;
use netlink_sys::Socket;
use std::io;

const TRACE: u16 = kind(libc::NFNL_SUBSYS_NFTABLES, libc::NFT_MSG_TRACE);

/// Listens.
#[derive(Debug)]
pub struct Trace(Socket);

/// Who has dropped a traced packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dropped {
    /// Of the table.
    pub family: Family,
    /// The table.
    pub table: String,
    /// The chain: one that stands at a hook, or one that such a chain has called.
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

    /// Who has dropped what was traced since this was last asked.
    ///
    /// # Errors
    /// Of the socket: ENOBUFS where some were lost for want of room.
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

/// None of an event by which the packet goes on.
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
    // The lower half is the verdict, above it an errno may stand (`NF_VERDICT_MASK`).
    (decided & 0xff == libc::NF_DROP as u32 && decided < 1 << 31).then_some(Dropped {
        family: Family::of(family)?,
        table,
        chain,
        by_policy: by == POLICY,
    })
}
