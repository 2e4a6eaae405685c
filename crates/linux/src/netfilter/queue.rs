//! A netfilter queue: packets wait in the kernel until each is accepted.
//!
//! When the socket closes, the kernel drops the packets in the queue, so a server of a queue has to empty it first.
//! Numbers of attributes are those of linux/netfilter/nfnetlink_queue.h.

use crate::netfilter::message::{answers, attribute, general, kind, number, open, request};
use netlink_packet_core::{NLA_HEADER_SIZE, NLM_F_ACK, NlasIterator};
use netlink_sys::Socket;
use nix::sys::socket::{setsockopt, sockopt};
use std::io;
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// Bytes of a packet that are copied: the headers.
const HEAD: u32 = 128;

/// Room for a message from the kernel: a packet's head, and its attributes.
const MESSAGE: usize = 4096;

/// `NF_ACCEPT`.
const ACCEPT: u32 = 1;

/// How much may wait; packets beyond it pass at once.
#[derive(Clone, Copy, Debug)]
pub struct Capacity {
    /// Packets without a verdict.
    pub packets: u32,
    /// Bytes of memory for messages that have not been read yet.
    pub socket_bytes: usize,
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Its number, by which it is accepted.
    pub id: u32,
    /// Index of the interface by which it will leave; 0 if that is not known at the rule's hook.
    pub leaves_by: u32,
    /// Its length from the IP header on; the sum for several segments in one packet.
    pub bytes: u32,
    /// Its first bytes, from the IP header on.
    pub head: &'a [u8],
}

/// A queue that this process serves, in the namespace in which it was bound.
#[derive(Debug)]
pub struct Queue {
    socket: Socket,
    number: u16,
    message: Vec<u8>,
    /// Verdicts that have not been sent yet.
    verdicts: Vec<u8>,
}

impl Queue {
    /// Serves the first of these numbers that is free.
    ///
    /// # Errors
    /// Where the kernel has no such queues, without CAP_NET_ADMIN, or if all numbers are taken.
    pub fn bind(numbers: RangeInclusive<u16>, capacity: Capacity) -> io::Result<Self> {
        let mut taken = io::Error::from(io::ErrorKind::AddrInUse);
        for number in numbers {
            let queue = Self {
                socket: open()?,
                number,
                message: vec![0; MESSAGE],
                verdicts: Vec::new(),
            };
            match queue.configure(&bind()) {
                Ok(()) => return queue.set_up(capacity),
                // Another socket serves it.
                Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EPERM)) => {
                    taken = error;
                }
                Err(error) => return Err(error),
            }
        }
        Err(taken)
    }

    fn set_up(self, capacity: Capacity) -> io::Result<Self> {
        const FLAGS: u32 = (libc::NFQA_CFG_F_FAIL_OPEN | libc::NFQA_CFG_F_GSO) as u32;
        setsockopt(&self.socket, sockopt::RcvBufForce, &capacity.socket_bytes)?;
        // Packets that do not fit pass, so an error about them is of no use.
        self.socket.set_no_enobufs(true)?;
        let flags = [
            number(libc::NFQA_CFG_FLAGS as u16, FLAGS),
            number(libc::NFQA_CFG_MASK as u16, FLAGS),
        ];
        self.configure(&flags.concat())?;
        self.configure(&number(
            libc::NFQA_CFG_QUEUE_MAXLEN as u16,
            capacity.packets,
        ))?;
        // struct nfqnl_msg_config_params, whose mode is packed behind the range.
        let mut copy = HEAD.to_be_bytes().to_vec();
        copy.push(libc::NFQNL_COPY_PACKET as u8);
        self.configure(&attribute(libc::NFQA_CFG_PARAMS as u16, &copy))?;
        Ok(self)
    }

    /// Changes the queue and waits for the answer. No packet comes before [`Queue::set_up`] has ended: the kernel hands
    /// out none until it knows how much of each to copy.
    fn configure(&self, attributes: &[u8]) -> io::Result<()> {
        let kind = kind(libc::NFNL_SUBSYS_QUEUE, libc::NFQNL_MSG_CONFIG);
        let general = general(libc::AF_UNSPEC, self.number);
        self.socket
            .send(&request(kind, NLM_F_ACK, 0, general, attributes), 0)?;
        let (received, _) = self.socket.recv_from_full()?;
        let answers = answers(&received)?;
        answers.into_iter().try_for_each(|answer| answer.result)
    }

    /// The number that rules name.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.number
    }

    /// The next packet, if one has come.
    ///
    /// # Errors
    /// The socket's.
    pub fn receive(&mut self) -> io::Result<Option<Packet<'_>>> {
        let bytes = loop {
            let mut room = &mut self.message[..];
            match self.socket.recv(&mut room, libc::MSG_DONTWAIT) {
                // Otherwise it answers a verdict on a packet that has vanished with its interface.
                Ok(bytes) if is_packet(&self.message[..bytes.min(MESSAGE)]) => break bytes,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                Err(error) => return Err(error),
            }
        };
        packet(&self.message[..bytes.min(MESSAGE)]).map(Some)
    }

    /// Lets a packet go, with the next [`Queue::flush`].
    pub fn accept(&mut self, id: u32) {
        let verdict = [ACCEPT.to_be_bytes(), id.to_be_bytes()].concat();
        self.verdicts.extend(request(
            kind(libc::NFNL_SUBSYS_QUEUE, libc::NFQNL_MSG_VERDICT),
            0,
            0,
            general(libc::AF_UNSPEC, self.number),
            &attribute(libc::NFQA_VERDICT_HDR as u16, &verdict),
        ));
    }

    /// Tells the kernel of all packets that were accepted, in that order.
    ///
    /// # Errors
    /// The socket's.
    pub fn flush(&mut self) -> io::Result<()> {
        /// Bytes of a verdict's message; many of them fit into the socket's buffer.
        const VERDICT: usize = 32;
        for verdicts in self.verdicts.chunks(1024 * VERDICT) {
            self.socket.send(verdicts, 0)?;
        }
        self.verdicts.clear();
        Ok(())
    }
}

impl AsFd for Queue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: the socket is open for as long as it is borrowed.
        unsafe { BorrowedFd::borrow_raw(self.socket.as_raw_fd()) }
    }
}

/// Whether the kernel has such queues and the caller may serve one.
///
/// # Errors
/// The kernel's refusal.
pub fn has_queues(numbers: RangeInclusive<u16>) -> io::Result<()> {
    let capacity = Capacity {
        packets: 1,
        socket_bytes: MESSAGE,
    };
    Queue::bind(numbers, capacity).map(drop)
}

/// `struct nfqnl_msg_config_cmd`.
fn bind() -> Vec<u8> {
    attribute(
        libc::NFQA_CFG_CMD as u16,
        &[libc::NFQNL_CFG_CMD_BIND as u8, 0, 0, 0],
    )
}

fn is_packet(message: &[u8]) -> bool {
    const PACKET: u16 = kind(libc::NFNL_SUBSYS_QUEUE, libc::NFQNL_MSG_PACKET);
    message.get(4..6) == Some(&PACKET.to_ne_bytes())
}

/// Reads the kernel's message about a packet.
fn packet(message: &[u8]) -> io::Result<Packet<'_>> {
    /// Bytes of the headers of netlink and nfnetlink.
    const HEADERS: usize = 16 + 4;
    let mut packet = Packet {
        id: 0,
        leaves_by: 0,
        bytes: 0,
        head: &[],
    };
    let mut is_numbered = false;
    let attributes = message.get(HEADERS..).unwrap_or_default();
    for attribute in NlasIterator::new(attributes) {
        let attribute = attribute.map_err(io::Error::other)?;
        let (kind, end) = (attribute.kind(), NLA_HEADER_SIZE + attribute.value_length());
        let value = &attribute.into_inner()[NLA_HEADER_SIZE..end];
        let number = || value.first_chunk().map_or(0, |b| u32::from_be_bytes(*b));
        match i32::from(kind) {
            libc::NFQA_PACKET_HDR => {
                packet.id = number();
                is_numbered = true;
            }
            libc::NFQA_IFINDEX_OUTDEV => packet.leaves_by = number(),
            libc::NFQA_CAP_LEN => packet.bytes = number(),
            libc::NFQA_PAYLOAD => packet.head = value,
            _ => {}
        }
    }
    // The kernel tells the length only for packets that it does not copy as a whole.
    packet.bytes = packet.bytes.max(packet.head.len() as u32);
    is_numbered
        .then_some(packet)
        .ok_or_else(|| io::Error::other("the netfilter queue sent a packet without a number"))
}
