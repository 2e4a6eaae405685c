//! Whether this machine forwards, and for whom.

use std::fs::read_to_string;
use std::io;
use tidegate_linux::rtnetlink::{Link, addressed, default_routes, links};

/// Whom this machine forwards for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forwarding {
    /// Nobody.
    Nobody,
    /// Only its own containers and virtual machines, as with Docker, libvirt and Kubernetes.
    Containers,
    /// Other machines: it is a router.
    Others,
}

impl Forwarding {
    /// The answer for the calling thread's network namespace. If forwarding is on and its interfaces cannot be listed,
    /// we assume a router.
    pub fn find() -> Self {
        if !is_on() {
            return Self::Nobody;
        }
        match networks() {
            Ok(networks) => Self::to(&networks),
            Err(_) => Self::Others,
        }
    }

    /// The same, or none while there is no default route: an interface that has just lost its default route would look
    /// as if it led to other machines.
    pub fn lasting() -> Option<Self> {
        let has_way_out = default_routes().is_ok_and(|out| !out.is_empty());
        has_way_out.then(Self::find)
    }

    /// Decides by the interfaces without a default route. Containers require forwarding, so beside their networks we
    /// take a tunnel for this machine's own.
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

/// An interface that no default route leads to.
struct Network {
    link: Link,
    /// An unplugged port and a bridge's port have no address, so that no device can use them as its router.
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
