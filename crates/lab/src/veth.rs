//! Two hosts joined by a pair of Ethernet devices: a link as fast as the machine, without a model,
//! on which the kernel keeps its offloads and merges packets up to 64 KB.

use crate::hosts::{IpVersion, address};
use crate::netlink::{Interface, add_veth};
use crate::netns::Namespace;
use crate::sysctl;
use anyhow::Result;
use std::net::IpAddr;
use std::os::fd::AsFd;
use tidegate_scenario::Side;

/// Two namespaces and the pair of devices between them. They go with this value, or with the process.
#[derive(Debug)]
pub struct Veth {
    /// The host that connects.
    pub client: Namespace,
    /// The host that listens.
    pub server: Namespace,
}

impl Veth {
    /// What the device is called, in both namespaces.
    pub const INTERFACE: &str = "tg0";

    /// Makes the namespaces and joins them; TCP works between them at once.
    ///
    /// # Errors
    /// Without root, or when the kernel has no veth.
    pub fn new() -> Result<Self> {
        let hosts = Self {
            client: Namespace::new()?,
            server: Namespace::new()?,
        };
        hosts.client.run(|| {
            sysctl::write("ipv4/tcp_no_metrics_save", "1")?;
            add_veth(Self::INTERFACE, hosts.server.as_fd())?;
            configure(Side::Client)
        })?;
        hosts.server.run(|| {
            sysctl::write("ipv4/tcp_no_metrics_save", "1")?;
            configure(Side::Server)
        })?;
        Ok(hosts)
    }

    /// Where the server listens.
    pub fn server_address(version: IpVersion) -> IpAddr {
        address(Side::Server, version)
    }
}

/// Sets up one end, in the calling thread's namespace.
fn configure(side: Side) -> Result<()> {
    let interface = Interface::named(Veth::INTERFACE)?;
    interface.set_up_silent()?;
    interface.add_address(address(side, IpVersion::V4), 30)?;
    if sysctl::has_ipv6() {
        interface.add_address(address(side, IpVersion::V6), 64)?;
    }
    Ok(())
}
