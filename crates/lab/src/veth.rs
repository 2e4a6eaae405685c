//! Two hosts joined by a pair of Ethernet devices: a link as fast as the machine, without a model,
//! on which the kernel keeps its offloads and merges packets up to 64 KB.

use crate::address::{IpVersion, address};
use crate::netlink::{Interface, add_veth};
use crate::sysctl;
use anyhow::{Context, Result};
use nix::errno::Errno;
use std::mem::zeroed;
use std::net::{IpAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use tidegate_linux::netns::Namespace;
use tidegate_scenario::Side;

/// Two namespaces and the pair of devices between them. They vanish with this value, or with the process.
#[derive(Debug)]
pub struct Veth {
    /// The host that connects.
    pub client: Namespace,
    /// The host that listens.
    pub server: Namespace,
}

impl Veth {
    /// The device's name, in both namespaces.
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

    /// Sets the offload of both ends, which is on initially.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn set_offload(&self, offload: Offload) -> Result<()> {
        let set = || set_transmit_checksum(offload == Offload::On);
        self.client.run(set)?;
        self.server.run(set)
    }

    /// Lets both ends merge segments into packets of up to that many bytes.
    ///
    /// # Errors
    /// When the kernel refuses: for more than 64 KB before Linux 5.19.
    pub fn set_largest_packet(&self, bytes: u32) -> Result<()> {
        let set = || Interface::named(Self::INTERFACE)?.set_largest_packet(bytes);
        self.client.run(set)?;
        self.server.run(set)
    }

    /// The server's address.
    pub fn server_address(version: IpVersion) -> IpAddr {
        address(Side::Server, version)
    }
}

/// Whether the device or the kernel computes the checksums of sent data, and cuts them into segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offload {
    /// The device claims to: a veth passes merged packets without a checksum to the other end, which trusts them.
    On,
    /// The kernel, for each packet of the wire's size; the other end verifies the checksums.
    Off,
}

/// Without transmit checksums a device has no segmentation offload either.
fn set_transmit_checksum(on: bool) -> Result<()> {
    /// linux/sockios.h and linux/ethtool.h.
    const SIOCETHTOOL: libc::Ioctl = 0x8946;
    const ETHTOOL_STXCSUM: u32 = 0x17;
    let mut value = [ETHTOOL_STXCSUM, on.into()];
    // SAFETY: all zeroes are a valid ifreq.
    let mut request: libc::ifreq = unsafe { zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(Veth::INTERFACE.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = value.as_mut_ptr().cast();
    let socket = UdpSocket::bind("0.0.0.0:0").context("cannot open a socket")?;
    // SAFETY: the request and the struct ethtool_value behind it outlive the call; the name is
    // shorter than its field, and so ends in NUL.
    let status = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL, &raw mut request) };
    Errno::result(status).context("cannot change the offload of a veth device")?;
    Ok(())
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
