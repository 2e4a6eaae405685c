//! Changes of interfaces, their addresses, default routes with their next hops, and forwarding, as they happen.

use crate::rtnetlink::nexthops::{NextHop, RTM_DELNEXTHOP, RTM_NEWNEXTHOP, resolve};
use crate::rtnetlink::request::messages;
use crate::rtnetlink::routes::{Hops, default_hops, is_broad};
use netlink_packet_core::{NetlinkMessage, NetlinkPayload};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

/// Groups of linux/rtnetlink.h: RTNLGRP_LINK, then RTNLGRP_IPV4_IFADDR, _ROUTE and _NETCONF, and the same of IPv6, and
/// RTNLGRP_NEXTHOP.
const GROUPS: [u32; 8] = [1, 5, 7, 24, 9, 11, 25, 32];

/// Types of messages (linux/rtnetlink.h).
const RTM_NEWLINK: u16 = 16;
const RTM_DELLINK: u16 = 17;
const RTM_NEWADDR: u16 = 20;
const RTM_DELADDR: u16 = 21;
const RTM_NEWROUTE: u16 = 24;
const RTM_DELROUTE: u16 = 25;
const RTM_NEWNETCONF: u16 = 80;
const RTM_DELNETCONF: u16 = 81;

/// Changes come in groups: a route leaves one interface before it appears at another. They count as one change until
/// none has come for this long.
const SETTLED: Duration = Duration::from_millis(100);

/// The longest that changes are collected into one.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Bytes of a message's header.
const HEADER: usize = 16;

/// Listens for changes.
pub struct Changes {
    socket: Socket,
    /// Next-hop objects that default routes have led to, and the members of groups among them: routers have thousands
    /// of others. The kernel does not report a route's change when one of its objects changes (`replace_nexthop`,
    /// unless net.ipv4.nexthop_compat_mode is 1).
    objects: BTreeSet<u32>,
}

impl Changes {
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
        let objects = objects()?;
        Ok(Self { socket, objects })
    }

    /// Waits for the next change, and until no further one follows.
    ///
    /// # Errors
    /// If the socket fails.
    pub fn wait(&mut self) -> io::Result<()> {
        while !self.receive()? {}
        let began = Instant::now();
        while began.elapsed() < TIMEOUT && self.is_more_within(SETTLED)? {
            self.receive()?;
        }
        Ok(())
    }

    /// Receives some messages. Returns whether any matters.
    fn receive(&mut self) -> io::Result<bool> {
        let mut datagram = Vec::with_capacity(1 << 16);
        match self.socket.recv(&mut datagram, 0) {
            Ok(_) => messages(&datagram).try_fold(false, |any, one| Ok(self.matters(one)? | any)),
            // The buffer was full and messages were lost: this counts as a change.
            Err(e) if e.raw_os_error() == Some(nix::errno::Errno::ENOBUFS as i32) => {
                self.objects = objects()?;
                Ok(true)
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// Routers learn thousands of routes a second: routes other than default routes are skipped without parsing.
    fn matters(&mut self, message: &[u8]) -> io::Result<bool> {
        let kind = u16::from_ne_bytes([message[4], message[5]]);
        Ok(match kind {
            RTM_NEWLINK | RTM_DELLINK | RTM_NEWADDR | RTM_DELADDR => true,
            RTM_NEWNETCONF | RTM_DELNETCONF => true,
            // After the header come the family and the length of the prefix.
            RTM_NEWROUTE | RTM_DELROUTE => {
                let is_default = message.get(HEADER + 1).is_some_and(|bits| is_broad(*bits));
                if is_default && kind == RTM_NEWROUTE {
                    self.objects.extend(resolve(objects_of(message))?.all);
                }
                is_default
            }
            RTM_NEWNEXTHOP | RTM_DELNEXTHOP => {
                let hop = message.get(HEADER..).and_then(NextHop::read);
                let hop = hop.filter(|hop| self.objects.contains(&hop.id));
                hop.is_some_and(|hop| {
                    self.objects.extend(hop.members);
                    true
                })
            }
            _ => false,
        })
    }

    fn is_more_within(&self, at_most: Duration) -> io::Result<bool> {
        // SAFETY: the socket is open for as long as `self` is borrowed.
        let socket = unsafe { BorrowedFd::borrow_raw(self.socket.as_raw_fd()) };
        let mut sockets = [PollFd::new(socket, PollFlags::POLLIN)];
        let timeout = PollTimeout::try_from(at_most).unwrap_or(PollTimeout::MAX);
        match poll(&mut sockets, timeout) {
            Err(nix::errno::Errno::EINTR) => Ok(false),
            ready => Ok(ready? > 0),
        }
    }
}

/// The next-hop objects of the current default routes.
fn objects() -> io::Result<BTreeSet<u32>> {
    Ok(resolve(default_hops()?.objects)?.all)
}

/// The next-hop objects that a route names itself.
fn objects_of(message: &[u8]) -> BTreeSet<u32> {
    let mut hops = Hops::default();
    let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(message);
    if let Ok(NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewRoute(route))) =
        message.map(|m| m.payload)
    {
        hops.add(&route);
    }
    hops.objects
}
