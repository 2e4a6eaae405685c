//! All base chains: those at a hook, whichever program has made them.

use crate::netfilter::message::{each_of, general, kind, open, request, string, values};
use crate::netfilter::table::{Family, Hook};
use netlink_packet_core::NLM_F_DUMP;
use std::io;

const GET: u16 = kind(libc::NFNL_SUBSYS_NFTABLES, libc::NFT_MSG_GETCHAIN);
const NEW: u16 = kind(libc::NFNL_SUBSYS_NFTABLES, libc::NFT_MSG_NEWCHAIN);

/// A base chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseChain {
    /// The family whose packets it sees.
    pub family: Family,
    /// Its table.
    pub table: String,
    /// Its name.
    pub name: String,
    /// `filter`, `nat` or `route`.
    pub kind: String,
    /// The hook's number (`NF_INET_FORWARD` …).
    hook: u32,
    /// Its place among the hook's chains: smaller ones come first.
    pub priority: i32,
    /// Whether it drops packets that no rule decides on.
    pub drops: bool,
}

/// All chains at the hook in the calling thread's namespace, in the order in which they see a packet.
///
/// # Errors
/// Where there is no nf_tables, and without CAP_NET_ADMIN.
pub fn base_chains(hook: Hook) -> io::Result<Vec<BaseChain>> {
    let socket = open()?;
    let general = general(libc::NFPROTO_UNSPEC, 0);
    socket.send(&request(GET, NLM_F_DUMP, 0, general, &[]), 0)?;
    let mut chains = Vec::new();
    loop {
        let (received, _) = socket.recv_from_full()?;
        if each_of(&received, NEW, |family, chain| {
            chains.extend(read(family, chain));
        })? {
            break;
        }
    }
    chains.retain(|chain| chain.hook == hook.number());
    chains.sort_by_key(|chain| chain.priority);
    Ok(chains)
}

/// None for a chain without a hook, and for families other than IP's.
fn read(family: u8, attributes: &[u8]) -> Option<BaseChain> {
    let (mut at, mut drops) = (None, false);
    let [mut table, mut name, mut kind] = [const { String::new() }; 3];
    let word = |value: &[u8]| value.first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
    for (attribute, value) in values(attributes) {
        match attribute {
            1 => table = string(value),
            3 => name = string(value),
            4 => {
                let of = |wanted| values(value).find(|(part, _)| *part == wanted);
                at = of(1).and_then(|(_, hook)| word(hook)).zip(
                    of(2)
                        .and_then(|(_, priority)| word(priority))
                        .map(|p| p as i32),
                );
            }
            5 => drops = word(value) == Some(libc::NF_DROP as u32),
            7 => kind = string(value),
            _ => {}
        }
    }
    let (hook, priority) = at?;
    Some(BaseChain {
        family: Family::of(family)?,
        table,
        name,
        kind,
        hook,
        priority,
        drops,
    })
}
