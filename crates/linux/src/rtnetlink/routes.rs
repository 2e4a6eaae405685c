//! Which interfaces lead to the Internet.

use crate::rtnetlink::ask;
use crate::rtnetlink::nexthops::resolve;
use netlink_packet_core::NLM_F_DUMP;
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteMessage, RouteNextHopFlags, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use std::collections::BTreeSet;
use std::io;

/// A route whose prefix has at most this many bits counts as a default route, or a part of one: OpenVPN adds 0.0.0.0/1
/// and 128.0.0.0/1, or 2000::/4 and 3000::/4, over the existing one.
const BROAD: u8 = 4;

/// Indices of the interfaces of all default routes, IPv4 and IPv6, of every table: rules, marks and VRFs decide which
/// table is used for a packet, so all count (wg-quick puts the tunnel's default route into a table of its own).
///
/// # Errors
/// If the kernel cannot be asked.
pub fn default_routes() -> io::Result<BTreeSet<u32>> {
    let hops = default_hops()?;
    let resolved = resolve(hops.objects)?;
    Ok(&hops.interfaces | &resolved.interfaces)
}

/// What default routes lead to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Hops {
    /// Indices of interfaces.
    pub interfaces: BTreeSet<u32>,
    /// Numbers of next-hop objects. Their interfaces are in the route as well only if net.ipv4.nexthop_compat_mode is 1
    /// (`fib_dump_info` and `rt6_fill_node` in the kernel).
    pub objects: BTreeSet<u32>,
}

/// What all default routes lead to.
///
/// # Errors
/// If the kernel cannot be asked.
pub fn default_hops() -> io::Result<Hops> {
    let mut all = Hops::default();
    for family in [AddressFamily::Inet, AddressFamily::Inet6] {
        let mut request = RouteMessage::default();
        request.header.address_family = family;
        let request = RouteNetlinkMessage::GetRoute(request);
        let taken = ask(request, NLM_F_DUMP, |message| {
            if let RouteNetlinkMessage::NewRoute(route) = message {
                all.add(&route);
            }
        });
        match taken {
            // A kernel without IPv6 does not know the family.
            Err(error) if family == AddressFamily::Inet6 && is_unknown(&error) => {}
            taken => taken?,
        }
    }
    Ok(all)
}

fn is_unknown(error: &io::Error) -> bool {
    let codes = [
        nix::errno::Errno::EOPNOTSUPP,
        nix::errno::Errno::EAFNOSUPPORT,
    ];
    codes
        .iter()
        .any(|code| error.raw_os_error() == Some(*code as i32))
}

/// Whether a route to a prefix of `bits` may be a default route.
pub fn is_broad(bits: u8) -> bool {
    bits <= BROAD
}

impl Hops {
    /// Adds where a route leads, if it is a default route.
    pub fn add(&mut self, route: &RouteMessage) {
        let header = &route.header;
        if header.kind != RouteType::Unicast
            || !is_broad(header.destination_prefix_length)
            || is_multicast(route)
        {
            return;
        }
        for attribute in &route.attributes {
            match attribute {
                RouteAttribute::Oif(index) => {
                    self.interfaces.insert(*index);
                }
                RouteAttribute::MultiPath(hops) => {
                    let alive = |flags: RouteNextHopFlags| !flags.contains(RouteNextHopFlags::Dead);
                    let hops = hops.iter().filter(|hop| alive(hop.flags));
                    self.interfaces.extend(hops.map(|hop| hop.interface_index));
                }
                RouteAttribute::NhId(id) => {
                    self.objects.insert(*id);
                }
                _ => {}
            }
        }
    }
}

fn is_multicast(route: &RouteMessage) -> bool {
    route.attributes.iter().any(|attribute| match attribute {
        RouteAttribute::Destination(RouteAddress::Inet(to)) => to.is_multicast(),
        RouteAttribute::Destination(RouteAddress::Inet6(to)) => to.is_multicast(),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use netlink_packet_route::route::RouteNextHop;
    use std::net::IpAddr;

    fn route(to: &str, bits: u8, kind: RouteType, hops: Vec<RouteAttribute>) -> RouteMessage {
        let mut route = RouteMessage::default();
        route.header.destination_prefix_length = bits;
        route.header.kind = kind;
        route.attributes = hops;
        let to = match to.parse().unwrap() {
            IpAddr::V4(to) => RouteAddress::Inet(to),
            IpAddr::V6(to) => RouteAddress::Inet6(to),
        };
        route.attributes.push(RouteAttribute::Destination(to));
        route
    }

    fn leads_to(route: &RouteMessage) -> Hops {
        let mut hops = Hops::default();
        hops.add(route);
        hops
    }

    #[test]
    fn what_leads_to_most_of_the_internet_is_a_default_route() {
        let (oif, object) = (RouteAttribute::Oif(7), RouteAttribute::NhId(8));
        let to =
            |to, bits, kind| leads_to(&route(to, bits, kind, vec![oif.clone(), object.clone()]));
        let both = Hops {
            interfaces: [7].into(),
            objects: [8].into(),
        };
        let none = Hops::default();
        for (net, bits) in [("0.0.0.0", 0), ("128.0.0.0", 1), ("2000::", 3), ("::", 0)] {
            assert_eq!(to(net, bits, RouteType::Unicast), both, "{net}/{bits}");
        }
        for (net, bits) in [("10.0.0.0", 8), ("224.0.0.0", 4), ("fe80::", 64)] {
            assert_eq!(to(net, bits, RouteType::Unicast), none, "{net}/{bits}");
        }
        // The kernel's own route for unreachable destinations.
        assert_eq!(to("::", 0, RouteType::Unreachable), none);
    }

    #[test]
    fn of_several_hops_each_that_is_alive_counts() {
        let hop = |index, flags| {
            let mut hop = RouteNextHop::default();
            hop.interface_index = index;
            hop.flags = flags;
            hop
        };
        let hops = vec![
            hop(3, RouteNextHopFlags::empty()),
            hop(4, RouteNextHopFlags::Dead),
            hop(5, RouteNextHopFlags::Onlink),
        ];
        let hops = vec![RouteAttribute::MultiPath(hops)];
        let route = route("0.0.0.0", 0, RouteType::Unicast, hops);
        assert_eq!(leads_to(&route).interfaces, [3, 5].into());
    }
}
