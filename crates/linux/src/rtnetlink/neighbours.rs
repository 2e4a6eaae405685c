//! Finds the device that has an address: from the neighbour table, and the machine's own addresses.

use crate::rtnetlink::ask;
use crate::rtnetlink::request::messages;
use netlink_packet_core::{NLM_F_DUMP, NetlinkMessage, NetlinkPayload};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::neighbour::{NeighbourAddress, NeighbourAttribute, NeighbourMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// Groups of linux/rtnetlink.h: RTNLGRP_NEIGH, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR.
const GROUPS: [u32; 3] = [3, 5, 9];

/// The holder of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// The neighbour with this link-layer address.
    Neighbour(IpAddr, [u8; 6]),
    /// This machine.
    Own(IpAddr),
}

/// Listens for addresses of devices, in the namespace in which it was opened.
pub struct Neighbourhood(Socket);

impl Neighbourhood {
    /// Listens from now on.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn listen() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind(&SocketAddr::new(0, 0))?;
        for group in GROUPS {
            socket.add_membership(group)?;
        }
        socket.set_non_blocking(true)?;
        Ok(Self(socket))
    }

    /// Hands out every address that the calling thread's namespace knows now.
    ///
    /// # Errors
    /// If the kernel cannot be asked.
    pub fn all(mut take: impl FnMut(Known)) -> io::Result<()> {
        let requests = [
            RouteNetlinkMessage::GetNeighbour(NeighbourMessage::default()),
            RouteNetlinkMessage::GetAddress(AddressMessage::default()),
        ];
        for request in requests {
            ask(request, NLM_F_DUMP, |message| {
                known(&message).map(&mut take);
            })?;
        }
        Ok(())
    }

    /// Hands out the addresses learnt since the last call.
    ///
    /// # Errors
    /// The socket's: ENOBUFS if some were lost because the buffer was full.
    pub fn receive(&self, mut take: impl FnMut(Known)) -> io::Result<()> {
        let mut room = Vec::with_capacity(1 << 16);
        loop {
            room.clear();
            match self.0.recv(&mut room, 0) {
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
            for bytes in messages(&room) {
                let Ok(message) = NetlinkMessage::<RouteNetlinkMessage>::deserialize(bytes) else {
                    continue;
                };
                if let NetlinkPayload::InnerMessage(message) = message.payload {
                    known(&message).map(&mut take);
                }
            }
        }
    }
}

impl AsFd for Neighbourhood {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the socket is open for as long as it is borrowed.
        unsafe { BorrowedFd::borrow_raw(self.0.as_raw_fd()) }
    }
}

fn known(message: &RouteNetlinkMessage) -> Option<Known> {
    match message {
        RouteNetlinkMessage::NewNeighbour(neighbour) => describe(neighbour),
        RouteNetlinkMessage::NewAddress(address) => address.attributes.iter().find_map(own),
        _ => None,
    }
}

/// None for neighbours that have not answered, and for entries of a bridge's forwarding table.
fn describe(neighbour: &NeighbourMessage) -> Option<Known> {
    let family = neighbour.header.family;
    if !matches!(family, AddressFamily::Inet | AddressFamily::Inet6) {
        return None;
    }
    let (mut address, mut mac) = (None, None);
    for attribute in &neighbour.attributes {
        match attribute {
            NeighbourAttribute::Destination(NeighbourAddress::Inet(a)) => {
                address = Some(IpAddr::from(*a));
            }
            NeighbourAttribute::Destination(NeighbourAddress::Inet6(a)) => {
                address = Some(IpAddr::from(*a));
            }
            NeighbourAttribute::LinkLayerAddress(bytes) => mac = bytes.as_slice().try_into().ok(),
            _ => {}
        }
    }
    // Multicast and the loopback device have no link-layer address, or only zeroes.
    let mac = mac.filter(|mac| *mac != [0; 6])?;
    let address = address.filter(|a| !a.is_multicast())?;
    Some(Known::Neighbour(address, mac))
}

fn own(attribute: &AddressAttribute) -> Option<Known> {
    match attribute {
        AddressAttribute::Local(address) | AddressAttribute::Address(address) => {
            Some(Known::Own(*address))
        }
        _ => None,
    }
}
