//! Reads connection tracking: the inner addresses of connections with NAT, and which connections a flowtable forwards.
//!
//! Numbers of attributes are those of linux/netfilter/nfnetlink_conntrack.h.

use crate::netfilter::message::{self, general, kind, open, request, values};
use netlink_packet_core::NLM_F_DUMP;
use netlink_sys::Socket;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// `IPCTNL_MSG_CT_NEW` and `_GET`.
const NEW: u16 = kind(libc::NFNL_SUBSYS_CTNETLINK, 0);
const GET: u16 = kind(libc::NFNL_SUBSYS_CTNETLINK, 1);

/// `NFNLGRP_CONNTRACK_NEW`.
const BEGUN: u32 = 1;

/// `IPS_OFFLOAD` and `IPS_HW_OFFLOAD` (linux/netfilter/nf_conntrack_common.h).
const OFFLOADED: [u32; 2] = [1 << 14, 1 << 15];

/// Source and destination of the packets of one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// The sender.
    pub source: SocketAddr,
    /// The receiver.
    pub destination: SocketAddr,
}

/// A TCP connection that is tracked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tracked {
    /// Addresses of its first packet, before any translation.
    pub original: Way,
    /// Addresses of the answers, before any translation: with NAT they are not the first packet's reversed.
    pub reply: Way,
    /// Whether a flowtable forwards its packets past netfilter, in software or in hardware.
    pub offloaded: [bool; 2],
}

/// Reports connections as they begin.
#[derive(Debug)]
pub struct Begun(Socket);

impl Begun {
    /// Listens from now on, in the calling thread's namespace.
    ///
    /// # Errors
    /// Where the kernel does not report connections, and without CAP_NET_ADMIN.
    pub fn listen() -> io::Result<Self> {
        let socket = open()?;
        socket.add_membership(BEGUN)?;
        socket.set_non_blocking(true)?;
        Ok(Self(socket))
    }

    /// Hands out the connections that have begun since the last call.
    ///
    /// # Errors
    /// The socket's: ENOBUFS if some were lost because the buffer was full.
    pub fn receive(&self, mut take: impl FnMut(Tracked)) -> io::Result<()> {
        let mut room = Vec::with_capacity(1 << 16);
        loop {
            room.clear();
            match self.0.recv(&mut room, 0) {
                Ok(_) => {
                    each(&room, &mut take)?;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }
}

impl AsFd for Begun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the socket is open for as long as it is borrowed.
        unsafe { BorrowedFd::borrow_raw(self.0.as_raw_fd()) }
    }
}

/// All connections that are tracked in the calling thread's namespace.
///
/// # Errors
/// If the kernel's connection tracking cannot be asked, and without CAP_NET_ADMIN.
pub fn tracked(mut take: impl FnMut(Tracked)) -> io::Result<()> {
    let socket = open()?;
    let general = general(libc::AF_UNSPEC, 0);
    socket.send(&request(GET, NLM_F_DUMP, 0, general, &[]), 0)?;
    loop {
        let (received, _) = socket.recv_from_full()?;
        if each(&received, &mut take)? {
            return Ok(());
        }
    }
}

/// Hands out the connections in the messages. Returns whether a list's last message was among them.
fn each(received: &[u8], take: &mut impl FnMut(Tracked)) -> io::Result<bool> {
    message::each(received, NEW, |attributes| {
        connection(attributes).map(&mut *take);
    })
}

/// None if it is not TCP.
fn connection(attributes: &[u8]) -> Option<Tracked> {
    let (mut original, mut reply, mut status) = (None, None, 0);
    for (kind, value) in values(attributes) {
        match kind {
            1 => original = way(value),
            2 => reply = way(value),
            3 => status = u32::from_be_bytes(*value.first_chunk()?),
            _ => {}
        }
    }
    Some(Tracked {
        original: original?,
        reply: reply?,
        offloaded: OFFLOADED.map(|bit| status & bit != 0),
    })
}

fn way(tuple: &[u8]) -> Option<Way> {
    let mut addresses = [None; 2];
    let (mut protocol, mut ports) = (0, [0; 2]);
    for (kind, value) in values(tuple) {
        for (inner, value) in values(value) {
            match (kind, inner) {
                (1, 1..=4) => addresses[usize::from(inner - 1) % 2] = address(value),
                (2, 1) => protocol = *value.first()?,
                (2, 2..=3) => {
                    ports[usize::from(inner - 2)] = u16::from_be_bytes(*value.first_chunk()?);
                }
                _ => {}
            }
        }
    }
    let is_tcp = i32::from(protocol) == libc::IPPROTO_TCP;
    is_tcp.then_some(Way {
        source: SocketAddr::new(addresses[0]?, ports[0]),
        destination: SocketAddr::new(addresses[1]?, ports[1]),
    })
}

fn address(value: &[u8]) -> Option<IpAddr> {
    let four = <[u8; 4]>::try_from(value).map(IpAddr::from);
    four.or_else(|_| <[u8; 16]>::try_from(value).map(IpAddr::from))
        .ok()
}
