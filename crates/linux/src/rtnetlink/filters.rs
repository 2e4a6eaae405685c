//! The filters of an interface's clsact, which see packets before they are queued.

use crate::rtnetlink::request::ask_bytes;
use netlink_packet_core::NLM_F_DUMP;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcHandle, TcMessage};
use std::collections::BTreeSet;
use std::io;

/// `TC_H_CLSACT`, and under it `TC_H_MIN_INGRESS` and `_EGRESS` (linux/pkt_sched.h).
const CLSACT: u16 = 0xffff;
const ROOT: u16 = 0xfff1;
const ENDS: [u16; 2] = [0xfff2, 0xfff3];

/// Types of messages (linux/rtnetlink.h).
const RTM_NEWQDISC: u16 = 36;
const RTM_NEWTFILTER: u16 = 44;

/// Priorities of the filters of an interface's clsact, in both directions; none if the interface has no clsact.
///
/// # Errors
/// If the kernel cannot be asked.
pub fn clsact_filters(interface: u32) -> io::Result<Option<BTreeSet<u16>>> {
    let mut has_clsact = false;
    let request = RouteNetlinkMessage::GetQueueDiscipline(about(interface, 0));
    list(request, RTM_NEWQDISC, |qdisc| {
        has_clsact |= qdisc.interface == interface && qdisc.parent == number(ROOT);
    })?;
    if !has_clsact {
        return Ok(None);
    }
    let mut all = BTreeSet::new();
    for end in ENDS {
        let request = RouteNetlinkMessage::GetTrafficFilter(about(interface, end));
        list(request, RTM_NEWTFILTER, |filter| {
            if filter.interface == interface {
                all.insert(filter.priority);
            }
        })?;
    }
    Ok(Some(all))
}

fn about(interface: u32, end: u16) -> TcMessage {
    let mut message = TcMessage::with_index(interface as i32);
    if end != 0 {
        message.header.parent = TcHandle {
            major: CLSACT,
            minor: end,
        };
    }
    message
}

fn number(end: u16) -> u32 {
    u32::from(CLSACT) << 16 | u32::from(end)
}

/// `struct tcmsg`, with which every such message begins; the rest may be of a kind that the library does not know.
struct Entry {
    interface: u32,
    parent: u32,
    priority: u16,
}

impl Entry {
    fn read(message: &[u8]) -> Option<Self> {
        let word = |at: usize| {
            let bytes = message.get(at..)?.first_chunk()?;
            Some(u32::from_ne_bytes(*bytes))
        };
        Some(Self {
            interface: word(4)?,
            parent: word(12)?,
            priority: (word(16)? >> 16) as u16,
        })
    }
}

fn list(request: RouteNetlinkMessage, kind: u16, mut take: impl FnMut(Entry)) -> io::Result<()> {
    ask_bytes(request, NLM_F_DUMP, |answer, message| {
        if answer == kind {
            Entry::read(message).map(&mut take);
        }
    })
}
