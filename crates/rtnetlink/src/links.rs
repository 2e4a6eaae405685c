//! The namespace's interfaces.

use crate::ask;
use netlink_packet_core::NLM_F_DUMP;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{InfoKind, LinkAttribute, LinkInfo, LinkMessage};
use std::io;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its name.
    pub name: String,
    /// Its index.
    pub index: u32,
    /// Whether it puts packets into others, which leave by another interface.
    pub is_tunnel: bool,
    /// Whether it joins others.
    pub is_bridge: bool,
}

/// All of them.
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
    Ok(all)
}

fn describe(link: &LinkMessage) -> Option<Link> {
    let name = link.attributes.iter().find_map(|a| match a {
        LinkAttribute::IfName(name) => Some(name.clone()),
        _ => None,
    })?;
    let infos = link.attributes.iter().filter_map(|a| match a {
        LinkAttribute::LinkInfo(infos) => Some(infos),
        _ => None,
    });
    let kinds = infos.flatten().filter_map(|info| match info {
        LinkInfo::Kind(kind) => Some(kind),
        _ => None,
    });
    let kinds: Vec<_> = kinds.collect();
    Some(Link {
        name,
        index: link.header.index,
        is_tunnel: kinds.iter().any(|kind| is_tunnel(kind)),
        is_bridge: kinds.iter().any(|kind| matches!(kind, InfoKind::Bridge)),
    })
}

/// A TUN device may be anything; nearly all are a tunnel's.
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
