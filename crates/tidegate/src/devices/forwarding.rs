//! For whom this machine forwards.

use std::fs::read_to_string;
use std::io;
use tidegate_rtnetlink::{Link, addressed, default_routes, links};

/// For whom it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forwarding {
    /// For nobody.
    Nobody,
    /// For containers and virtual machines of its own, as Docker, libvirt and Kubernetes have it.
    Containers,
    /// For other machines: it is a router.
    Others,
}

impl Forwarding {
    /// What holds in the calling thread's network namespace. Where that cannot be asked, what forwards is a router.
    pub fn find() -> Self {
        if !is_on() {
            return Self::Nobody;
        }
        match networks() {
            Ok(networks) => Self::to(&networks),
            Err(_) => Self::Others,
        }
    }

    /// The same, or none where that cannot be told: with no way out, an interface that has just lost its default route
    /// looks as if it led to others.
    pub fn lasting() -> Option<Self> {
        let has_way_out = default_routes().is_ok_and(|out| !out.is_empty());
        has_way_out.then(Self::find)
    }

    /// By what there is beside the ways out. Containers' networks make forwarding necessary, so beside these a tunnel
    /// is taken for this machine's own way to somewhere.
    fn to(networks: &[Network]) -> Self {
        let others = |network: &Network| {
            !network.link.is_inner && !network.link.is_tunnel && network.has_address
        };
        if networks.iter().any(|network| network.link.is_inner) && !networks.iter().any(others) {
            Self::Containers
        } else {
            Self::Others
        }
    }
}

fn is_on() -> bool {
    ["ipv4", "ipv6"].iter().any(|version| {
        let path = format!("/proc/sys/net/{version}/conf/all/forwarding");
        read_to_string(path).is_ok_and(|text| text.trim() == "1")
    })
}

/// What an interface leads to, that no default route does.
struct Network {
    link: Link,
    /// A port that nothing is plugged into has none, nor has a bridge's: no device can name it as its router.
    has_address: bool,
}

fn networks() -> io::Result<Vec<Network>> {
    let (out, addressed) = (default_routes()?, addressed()?);
    let networks = links()?.into_iter();
    let networks = networks.filter(|link| link.name != "lo" && !out.contains(&link.index));
    let networks = networks.map(|link| Network {
        has_address: addressed.contains(&link.index),
        link,
    });
    Ok(networks.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(kind: &str, has_address: bool) -> Network {
        Network {
            link: Link {
                name: kind.into(),
                index: 1,
                is_tunnel: kind == "tunnel",
                leads_out: true,
                is_inner: kind == "veth",
                ..Link::default()
            },
            has_address,
        }
    }

    #[test]
    fn containers_alone_make_no_router() {
        let inner = || network("veth", true);
        for (networks, expected) in [
            (vec![], Forwarding::Others),
            (vec![network("tunnel", true)], Forwarding::Others),
            (vec![inner()], Forwarding::Containers),
            (
                vec![inner(), network("tunnel", true)],
                Forwarding::Containers,
            ),
            (
                vec![inner(), network("port", false)],
                Forwarding::Containers,
            ),
            (vec![inner(), network("port", true)], Forwarding::Others),
        ] {
            let kinds: Vec<_> = networks.iter().map(|n| n.link.name.as_str()).collect();
            assert_eq!(Forwarding::to(&networks), expected, "{kinds:?}");
        }
    }
}
