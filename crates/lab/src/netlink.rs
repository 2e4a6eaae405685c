//! The few rtnetlink(7) requests that the laboratory needs for its devices.

use crate::sysctl;
use crate::tun::MTU;
use anyhow::{Context, Result, bail};
use netlink_packet_core::{
    NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REQUEST, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::address::{
    AddressAttribute, AddressFlags, AddressHeaderFlags, AddressMessage,
};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol,
    RouteScope, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use std::net::IpAddr;
use std::os::fd::{AsRawFd, BorrowedFd};

/// Packets that a device may hold until the emulator reads them.
///
/// A packet in a TUN device no longer counts against its socket's buffer, so TCP may send a whole window at once. This
/// queue holds a window of 32 MB and more, and is the longest that kernels allow since 2026: so it never limits, only
/// the emulator's own queue does.
const TX_QUEUE_PACKETS: u32 = i16::MAX as u32;

/// Makes a pair of Ethernet devices, both called `name`: one in the calling thread's namespace, the other in the
/// namespace of `peer`. Packets sent into one come out of the other.
///
/// # Errors
/// When the kernel refuses: without root, or when a namespace has such a device already.
pub fn add_veth(name: &str, peer: BorrowedFd) -> Result<()> {
    let mut far = LinkMessage::default();
    far.attributes = vec![
        LinkAttribute::IfName(name.into()),
        LinkAttribute::NetNsFd(peer.as_raw_fd()),
    ];
    let mut near = LinkMessage::default();
    near.attributes = vec![
        LinkAttribute::IfName(name.into()),
        LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(far))),
        ]),
    ];
    Rtnetlink::open()?
        .change(
            RouteNetlinkMessage::NewLink(near),
            NLM_F_CREATE | NLM_F_EXCL,
        )
        .with_context(|| format!("cannot make a veth pair \"{name}\""))
}

/// A device of one namespace and the socket that configures it.
pub struct Interface {
    rtnetlink: Rtnetlink,
    name: String,
    index: u32,
}

impl Interface {
    /// The device called `name` in the calling thread's namespace.
    ///
    /// # Errors
    /// When there is no such device.
    pub fn named(name: &str) -> Result<Self> {
        let rtnetlink = Rtnetlink::open()?;
        let index = nix::net::if_::if_nametoindex(name).with_context(|| {
            format!("there is no network interface \"{name}\"; `ip link` lists those that exist")
        })?;
        Ok(Self {
            rtnetlink,
            name: name.into(),
            index,
        })
    }

    /// Sets the device up.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn set_up(&self) -> Result<()> {
        self.set_link(Vec::new())
    }

    /// Sets up a device that sends nothing by itself.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn set_up_silent(&self) -> Result<()> {
        self.set_up_silent_with(Vec::new())
    }

    /// Sets a TUN device up, with a queue of [`TX_QUEUE_PACKETS`] and an MTU of [`MTU`] bytes.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn set_up_tun(&self) -> Result<()> {
        self.set_up_silent_with(vec![
            LinkAttribute::Mtu(MTU as u32),
            LinkAttribute::TxQueueLen(TX_QUEUE_PACKETS),
        ])
    }

    fn set_up_silent_with(&self, attributes: Vec<LinkAttribute>) -> Result<()> {
        if sysctl::has_ipv6() {
            self.silence_ipv6()?;
        }
        self.set_link(attributes)
    }

    fn set_link(&self, attributes: Vec<LinkAttribute>) -> Result<()> {
        let mut link = LinkMessage::default();
        link.header.index = self.index;
        link.header.flags = LinkFlags::Up;
        link.header.change_mask = LinkFlags::Up;
        link.attributes = attributes;
        self.rtnetlink
            .change(RouteNetlinkMessage::SetLink(link), 0)
            .with_context(|| format!("cannot set the interface \"{}\" up", self.name))
    }

    /// Lets the kernel merge segments into packets of up to that many bytes, more than 64 KB among them ("BIG TCP").
    ///
    /// # Errors
    /// When the kernel refuses: for more than 64 KB before Linux 5.19.
    pub fn set_largest_packet(&self, bytes: u32) -> Result<()> {
        self.set_link(vec![
            LinkAttribute::GsoMaxSize(bytes),
            LinkAttribute::GroMaxSize(bytes),
            LinkAttribute::GsoIpv4MaxSize(bytes),
            LinkAttribute::GroIpv4MaxSize(bytes),
        ])
    }

    /// Keeps the kernel from sending packets by itself: router solicitations, announcements of link-local addresses.
    fn silence_ipv6(&self) -> Result<()> {
        for (key, value) in [
            ("accept_ra", "0"),
            ("autoconf", "0"),
            ("router_solicitations", "0"),
            ("addr_gen_mode", "1"),
        ] {
            sysctl::write(&format!("ipv6/conf/{}/{key}", self.name), value)?;
        }
        Ok(())
    }

    /// Gives the device an address, usable at once.
    ///
    /// # Errors
    /// When the kernel refuses: it exists, or the family is disabled.
    pub fn add_address(&self, address: IpAddr, prefix_length: u8) -> Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = family(address);
        message.header.prefix_len = prefix_length;
        message.header.index = self.index;
        // No other host is on the link, so there is no duplicate to detect (RFC 4862 §5.4).
        message.header.flags = AddressHeaderFlags::Nodad;
        message.attributes = vec![
            AddressAttribute::Local(address),
            AddressAttribute::Address(address),
            AddressAttribute::Flags(AddressFlags::Nodad),
        ];
        self.rtnetlink
            .change(
                RouteNetlinkMessage::NewAddress(message),
                NLM_F_CREATE | NLM_F_EXCL,
            )
            .with_context(|| format!("cannot add the address {address}/{prefix_length}"))
    }

    /// Routes everything of `like`'s family into the device.
    ///
    /// # Errors
    /// When the kernel refuses: there is such a route already.
    pub fn add_default_route(&self, like: IpAddr) -> Result<()> {
        self.add_route(like, 0, Vec::new())
            .context("cannot add a default route")
    }

    /// Begins every connection to `peer` with a congestion window of that many segments.
    ///
    /// # Errors
    /// When the kernel refuses: there is a route to the peer alone already.
    pub fn set_initial_window(&self, peer: IpAddr, segments: u32) -> Result<()> {
        let (length, destination) = match peer {
            IpAddr::V4(v4) => (32, RouteAddress::Inet(v4)),
            IpAddr::V6(v6) => (128, RouteAddress::Inet6(v6)),
        };
        let attributes = vec![
            RouteAttribute::Destination(destination),
            RouteAttribute::Metrics(vec![RouteMetric::InitCwnd(segments)]),
        ];
        self.add_route(peer, length, attributes)
            .with_context(|| format!("cannot add a route to {peer}"))
    }

    /// Routes the prefix of that length into the device.
    fn add_route(
        &self,
        like: IpAddr,
        length: u8,
        mut attributes: Vec<RouteAttribute>,
    ) -> Result<()> {
        let mut route = RouteMessage::default();
        route.header = RouteHeader {
            address_family: family(like),
            destination_prefix_length: length,
            table: RouteHeader::RT_TABLE_MAIN,
            protocol: RouteProtocol::Static,
            scope: RouteScope::Universe,
            kind: RouteType::Unicast,
            ..RouteHeader::default()
        };
        attributes.push(RouteAttribute::Oif(self.index));
        route.attributes = attributes;
        self.rtnetlink.change(
            RouteNetlinkMessage::NewRoute(route),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    /// Packets that the device has lost in either direction since it was made.
    ///
    /// # Errors
    /// When the device is gone.
    pub fn losses(&self) -> Result<u64> {
        let mut link = LinkMessage::default();
        link.header.index = self.index;
        let reply = self
            .rtnetlink
            .request(RouteNetlinkMessage::GetLink(link), 0)?;
        let NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewLink(link)) = reply else {
            bail!("the kernel does not describe the interface it was asked about");
        };
        link.attributes
            .iter()
            .find_map(|a| match a {
                LinkAttribute::Stats64(s) => {
                    Some(s.rx_dropped + s.tx_dropped + s.rx_errors + s.tx_errors)
                }
                _ => None,
            })
            .context("the kernel counts nothing for the interface")
    }
}

/// A socket for requests about the calling thread's namespace.
struct Rtnetlink(Socket);

impl Rtnetlink {
    fn open() -> Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE).context("cannot open a netlink socket")?;
        socket.bind_auto().context("cannot bind a netlink socket")?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self(socket))
    }

    fn change(&self, message: RouteNetlinkMessage, flags: u16) -> Result<()> {
        match self.request(message, flags | NLM_F_ACK)? {
            NetlinkPayload::Error(_) => Ok(()),
            other => bail!("expected the kernel's acknowledgement, got {other:?}"),
        }
    }

    /// Sends one request and returns its one answer; a refusal is an error.
    fn request(
        &self,
        message: RouteNetlinkMessage,
        flags: u16,
    ) -> Result<NetlinkPayload<RouteNetlinkMessage>> {
        let mut message = NetlinkMessage::from(message);
        message.header.flags = NLM_F_REQUEST | flags;
        message.finalize();
        let mut bytes = vec![0; message.buffer_len()];
        message.serialize(&mut bytes);
        self.0.send(&bytes, 0)?;
        let (reply, _) = self.0.recv_from_full()?;
        let reply = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&reply)?;
        match reply.payload {
            NetlinkPayload::Error(refusal) if refusal.code.is_some() => Err(refusal.to_io().into()),
            payload => Ok(payload),
        }
    }
}

fn family(address: IpAddr) -> AddressFamily {
    match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    }
}
