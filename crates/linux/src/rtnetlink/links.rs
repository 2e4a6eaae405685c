//! The namespace's interfaces.

use crate::rtnetlink::ask;
use netlink_packet_core::NLM_F_DUMP;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::{AddressMessage, AddressScope};
use netlink_packet_route::link::{InfoKind, LinkAttribute, LinkInfo, LinkLayerType, LinkMessage};
use std::collections::BTreeSet;
use std::io;

/// An interface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// Its index.
    pub index: u32,
    /// Whether it is a tunnel: it puts packets into others, which leave by another interface.
    pub is_tunnel: bool,
    /// Whether it is a bridge.
    pub is_bridge: bool,
    /// The bridge that it is a port of, by index.
    pub bridge: Option<u32>,
    /// The interface that it is a VLAN of, by index.
    pub lower: Option<u32>,
    /// Whether its packets are PPP's.
    pub is_ppp: bool,
    /// Whether it may lead out of this machine; a veth or TAP device leads to a guest.
    pub leads_out: bool,
    /// Whether everything that it reaches is part of this machine: containers, virtual machines, their networks.
    pub is_inner: bool,
}

/// All interfaces.
///
/// # Errors
/// If the kernel cannot be asked.
pub fn links() -> io::Result<Vec<Link>> {
    let mut all = Vec::new();
    let request = RouteNetlinkMessage::GetLink(LinkMessage::default());
    ask(request, NLM_F_DUMP, |message| {
        if let RouteNetlinkMessage::NewLink(link) = message {
            all.extend(describe(&link));
        }
    })?;
    let ports = all.iter().filter(|link| link.leads_out);
    let bridges: BTreeSet<u32> = ports.filter_map(|port| port.bridge).collect();
    for link in &mut all {
        link.is_inner |= link.is_bridge && !bridges.contains(&link.index);
    }
    Ok(all)
}

/// Indices of the interfaces that have an address with more than link scope.
///
/// # Errors
/// If the kernel cannot be asked.
pub fn addressed() -> io::Result<BTreeSet<u32>> {
    let mut all = BTreeSet::new();
    let request = RouteNetlinkMessage::GetAddress(AddressMessage::default());
    ask(request, NLM_F_DUMP, |message| {
        if let RouteNetlinkMessage::NewAddress(address) = message
            && address.header.scope == AddressScope::Universe
        {
            all.insert(address.header.index);
        }
    })?;
    Ok(all)
}

/// The bridge that it is a port of.
fn bridge(port: &LinkMessage) -> Option<u32> {
    port.attributes.iter().find_map(|a| match a {
        LinkAttribute::Controller(bridge) => Some(*bridge),
        _ => None,
    })
}

/// The interface below it, unless that is in another namespace, where indices mean other interfaces.
fn lower(upper: &LinkMessage) -> Option<u32> {
    let is_elsewhere = |a: &LinkAttribute| matches!(a, LinkAttribute::LinkNetNsId(_));
    if upper.attributes.iter().any(is_elsewhere) {
        return None;
    }
    upper.attributes.iter().find_map(|a| match a {
        LinkAttribute::Link(index) => Some(*index),
        _ => None,
    })
}

fn describe(link: &LinkMessage) -> Option<Link> {
    let name = link.attributes.iter().find_map(|a| match a {
        LinkAttribute::IfName(name) => Some(name.clone()),
        _ => None,
    })?;
    let kinds = kinds(link);
    let is_machines = |kind: &InfoKind| is_inner(kind) || matches!(kind, InfoKind::Tun);
    Some(Link {
        name,
        index: link.header.index,
        is_tunnel: kinds.iter().copied().any(is_tunnel),
        is_bridge: kinds.iter().any(|kind| matches!(kind, InfoKind::Bridge)),
        bridge: bridge(link),
        lower: kinds
            .iter()
            .any(|kind| matches!(kind, InfoKind::Vlan))
            .then(|| lower(link))
            .flatten(),
        is_ppp: link.header.link_layer_type == LinkLayerType::Ppp,
        leads_out: !kinds.iter().copied().any(is_machines),
        is_inner: kinds.iter().copied().any(is_inner),
    })
}

fn kinds(link: &LinkMessage) -> Vec<&InfoKind> {
    let infos = link.attributes.iter().filter_map(|a| match a {
        LinkAttribute::LinkInfo(infos) => Some(infos),
        _ => None,
    });
    let kinds = infos.flatten().filter_map(|info| match info {
        LinkInfo::Kind(kind) => Some(kind),
        _ => None,
    });
    kinds.collect()
}

/// A container's device, or a network that joins containers of several machines.
fn is_inner(kind: &InfoKind) -> bool {
    use InfoKind::*;
    matches!(kind, Veth | Dummy | Vxlan | Geneve)
}

/// A TUN device may be anything; nearly all belong to tunnels.
fn is_tunnel(kind: &InfoKind) -> bool {
    use InfoKind::*;
    matches!(
        kind,
        Tun | Wireguard
            | IpIp
            | Ip6Tnl
            | SitTun
            | GreTun
            | GreTun6
            | GreTap
            | GreTap6
            | Vti
            | Vti6
            | Xfrm
            | Vxlan
            | Geneve
            | Gtp
            | BareUdp
    )
}
