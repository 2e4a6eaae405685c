//! Changes of interfaces, their addresses, default routes and forwarding, as they happen.

use crate::request::messages;
use crate::routes::is_broad;
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

/// Groups of linux/rtnetlink.h: RTNLGRP_LINK, then RTNLGRP_IPV4_IFADDR, _ROUTE and _NETCONF, and the same of IPv6.
const GROUPS: [u32; 7] = [1, 5, 7, 24, 9, 11, 25];

/// Types of messages (linux/rtnetlink.h).
const RTM_NEWLINK: u16 = 16;
const RTM_DELLINK: u16 = 17;
const RTM_NEWADDR: u16 = 20;
const RTM_DELADDR: u16 = 21;
const RTM_NEWROUTE: u16 = 24;
const RTM_DELROUTE: u16 = 25;
const RTM_NEWNETCONF: u16 = 80;
const RTM_DELNETCONF: u16 = 81;

/// Changes come several at once: a route leaves one interface before it appears at another. They count as one until
/// none has come for so long,
const SETTLED: Duration = Duration::from_millis(100);

/// or so much time has passed.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Whoever listens to them.
pub struct Changes(Socket);

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
        Ok(Self(socket))
    }

    /// Waits for the next change, and until no other follows it.
    ///
    /// # Errors
    /// If the socket fails.
    pub fn next(&self) -> io::Result<()> {
        while !self.receive()? {}
        let began = Instant::now();
        while began.elapsed() < TIMEOUT && self.is_more_within(SETTLED)? {
            self.receive()?;
        }
        Ok(())
    }

    /// Receives some messages. Whether any is about more than a net's route.
    fn receive(&self) -> io::Result<bool> {
        let mut datagram = Vec::with_capacity(1 << 16);
        match self.0.recv(&mut datagram, 0) {
            Ok(_) => Ok(messages(&datagram).any(matters)),
            // Messages were lost for want of room; what they told of is to be looked for all the same.
            Err(e) if e.raw_os_error() == Some(nix::errno::Errno::ENOBUFS as i32) => Ok(true),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(false),
            Err(e) => Err(e),
        }
    }

    fn is_more_within(&self, at_most: Duration) -> io::Result<bool> {
        // SAFETY: the socket is open for as long as `self` is borrowed.
        let socket = unsafe { BorrowedFd::borrow_raw(self.0.as_raw_fd()) };
        let mut sockets = [PollFd::new(socket, PollFlags::POLLIN)];
        let timeout = PollTimeout::try_from(at_most).unwrap_or(PollTimeout::MAX);
        match poll(&mut sockets, timeout) {
            Err(nix::errno::Errno::EINTR) => Ok(false),
            ready => Ok(ready? > 0),
        }
    }
}

/// Routers learn thousands of routes a second: routes other than default routes are skipped without parsing.
fn matters(message: &[u8]) -> bool {
    /// Of a message's header, behind which a route's has its family and then the length of its prefix.
    const HEADER: usize = 16;
    let kind = u16::from_ne_bytes([message[4], message[5]]);
    match kind {
        RTM_NEWLINK | RTM_DELLINK | RTM_NEWADDR | RTM_DELADDR => true,
        RTM_NEWNETCONF | RTM_DELNETCONF => true,
        RTM_NEWROUTE | RTM_DELROUTE => message.get(HEADER + 1).is_some_and(|bits| is_broad(*bits)),
        _ => false,
    }
}
