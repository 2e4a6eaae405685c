//! Next-hop objects (ip-nexthop(8)), which a route may refer to instead of naming its interfaces.

use crate::rtnetlink::request::ask_of;
use netlink_packet_core::{NLM_F_ACK, NetlinkSerializable, NlasIterator, emit_u32, parse_u32};
use std::collections::BTreeSet;
use std::io;

/// Types of messages (linux/rtnetlink.h).
pub const RTM_NEWNEXTHOP: u16 = 104;
pub const RTM_DELNEXTHOP: u16 = 105;
const RTM_GETNEXTHOP: u16 = 106;

/// Attributes (linux/nexthop.h).
const NHA_ID: u16 = 1;
const NHA_GROUP: u16 = 2;
const NHA_OIF: u16 = 5;

/// A flag in `nh_flags` (linux/rtnetlink.h).
const RTNH_F_DEAD: u32 = 1;

/// Bytes of `struct nhmsg`, of its field before `nh_flags`, of an attribute's header, and of `struct nexthop_grp`.
const HEADER: usize = 8;
const FLAGS: usize = 4;
const ATTRIBUTE: usize = 4;
const MEMBER: usize = 8;

/// A next-hop object.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NextHop {
    pub id: u32,
    /// Index of the interface that it leads to; none for a group, for a blackhole, and for a dead next hop.
    pub interface: Option<u32>,
    /// Numbers of the next hops in a group. Their weights do not matter here.
    pub members: Vec<u32>,
}

impl NextHop {
    /// Reads the message after netlink's header. None if it is too short.
    pub fn read(message: &[u8]) -> Option<Self> {
        let flags = parse_u32(message.get(FLAGS..HEADER)?).ok()?;
        let mut hop = Self::default();
        for attribute in NlasIterator::new(message.get(HEADER..)?) {
            let attribute = attribute.ok()?;
            let value = attribute.value();
            match attribute.kind() {
                NHA_ID => hop.id = parse_u32(value).ok()?,
                NHA_OIF => hop.interface = Some(parse_u32(value).ok()?),
                NHA_GROUP => hop.members = members(value),
                _ => {}
            }
        }
        hop.interface = hop.interface.filter(|_| flags & RTNH_F_DEAD == 0);
        Some(hop)
    }
}

/// The members' numbers, with which their entries begin.
fn members(group: &[u8]) -> Vec<u32> {
    let members = group.chunks_exact(MEMBER);
    members.filter_map(|m| parse_u32(&m[..4]).ok()).collect()
}

/// Where next hops lead.
#[derive(Debug, Default)]
pub struct Resolved {
    /// Indices of interfaces.
    pub interfaces: BTreeSet<u32>,
    /// The next hops themselves, and the members of groups among them.
    pub all: BTreeSet<u32>,
}

/// Looks up where these next hops lead. One that no longer exists leads nowhere.
///
/// # Errors
/// If the kernel cannot be asked.
pub fn resolve(ids: impl IntoIterator<Item = u32>) -> io::Result<Resolved> {
    let mut found = Resolved::default();
    let mut open: Vec<u32> = ids.into_iter().collect();
    while let Some(id) = open.pop() {
        if !found.all.insert(id) {
            continue;
        }
        if let Some(hop) = next_hop(id)? {
            found.interfaces.extend(hop.interface);
            open.extend(hop.members);
        }
    }
    Ok(found)
}

fn next_hop(id: u32) -> io::Result<Option<NextHop>> {
    let mut found = None;
    let asked = ask_of(Question(id), NLM_F_ACK, |kind, message| {
        if kind == RTM_NEWNEXTHOP {
            found = NextHop::read(message);
        }
    });
    match asked {
        // It was removed since the route was read.
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
        asked => asked.map(|()| found),
    }
}

/// A request for the next hop of that number, which the library of route messages lacks.
struct Question(u32);

impl NetlinkSerializable for Question {
    fn message_type(&self) -> u16 {
        RTM_GETNEXTHOP
    }

    fn buffer_len(&self) -> usize {
        HEADER + ATTRIBUTE + 4
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer.fill(0);
        let (length, rest) = buffer[HEADER..].split_at_mut(2);
        length.copy_from_slice(&(ATTRIBUTE as u16 + 4).to_ne_bytes());
        rest[..2].copy_from_slice(&NHA_ID.to_ne_bytes());
        emit_u32(&mut rest[2..], self.0).expect("four bytes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
        let length = (ATTRIBUTE + value.len()) as u16;
        [&length.to_ne_bytes()[..], &kind.to_ne_bytes(), value].concat()
    }

    fn message(flags: u32, attributes: &[Vec<u8>]) -> Vec<u8> {
        let header = [&[libc::AF_INET as u8, 0, 0, 0][..], &flags.to_ne_bytes()].concat();
        [header, attributes.concat()].concat()
    }

    #[test]
    fn a_dead_next_hop_leads_nowhere() {
        let own = [
            attribute(NHA_ID, &1u32.to_ne_bytes()),
            attribute(NHA_OIF, &7u32.to_ne_bytes()),
        ];
        let interface = |flags| NextHop::read(&message(flags, &own)).unwrap().interface;
        assert_eq!(interface(0), Some(7));
        assert_eq!(interface(RTNH_F_DEAD), None);
    }

    #[test]
    fn what_is_cut_off_is_none() {
        let whole = message(0, &[attribute(NHA_ID, &1u32.to_ne_bytes())]);
        assert!(NextHop::read(&whole).is_some());
        for length in (0..HEADER).chain(HEADER + 1..whole.len()) {
            assert_eq!(NextHop::read(&whole[..length]), None, "{length}");
        }
    }
}
