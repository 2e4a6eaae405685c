//! A device behind the client, which is a router with a single address: it masquerades IPv4 and IPv6.

use super::ip;
use anyhow::{Context, Result};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, AsRawFd};
use tidegate_lab::{Masquerade, Namespace};

/// The device's addresses.
const V4: Ipv4Addr = Ipv4Addr::new(192, 168, 77, 2);
const V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x77, 0, 0, 0, 0, 0, 2);

/// The router's addresses on the device's link.
const ROUTER_V4: Ipv4Addr = Ipv4Addr::new(192, 168, 77, 1);
const ROUTER_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x77, 0, 0, 0, 0, 0, 1);

/// The device behind the router, until this is dropped.
pub struct Inside {
    device: Namespace,
    _masquerades: [Masquerade; 2],
}

impl Inside {
    /// Name of the router's inner interface.
    pub const DEVICE: &str = "soak-lan";

    /// Makes `router` a router, with a device behind it.
    pub fn new(router: &Namespace) -> Result<Self> {
        let device = Namespace::new()?;
        join(router, &device)?;
        router.run(|| {
            for version in ["ipv4", "ipv6"] {
                let file = format!("/proc/sys/net/{version}/conf/all/forwarding");
                std::fs::write(&file, "1").with_context(|| format!("write {file}"))?;
            }
            Ok(())
        })?;
        let masquerade = |inside: IpAddr, table| router.run(|| Masquerade::new(inside, table));
        Ok(Self {
            _masquerades: [
                masquerade(V4.into(), "tidegate-soak")?,
                masquerade(V6.into(), "tidegate-soak")?,
            ],
            device,
        })
    }

    /// The device that the router forwards for.
    pub fn device(&self) -> &Namespace {
        &self.device
    }

    /// An address on the device's link.
    pub fn neighbour(place: u8) -> Ipv4Addr {
        let [a, b, c, _] = V4.octets();
        Ipv4Addr::new(a, b, c, place)
    }
}

fn join(router: &Namespace, device: &Namespace) -> Result<()> {
    let lan = Inside::DEVICE;
    let other = format!(
        "/proc/{}/fd/{}",
        std::process::id(),
        device.as_fd().as_raw_fd()
    );
    for arguments in [
        format!("link add {lan} type veth peer name up0 netns {other}"),
        format!("address add {ROUTER_V4}/24 dev {lan}"),
        format!("address add {ROUTER_V6}/64 dev {lan} nodad"),
        format!("link set {lan} up"),
    ] {
        ip(router, &arguments)?;
    }
    for arguments in [
        format!("address add {V4}/24 dev up0"),
        format!("address add {V6}/64 dev up0 nodad"),
        "link set up0 up".into(),
        format!("route add default via {ROUTER_V4}"),
        format!("-6 route add default via {ROUTER_V6}"),
    ] {
        ip(device, &arguments)?;
    }
    Ok(())
}
