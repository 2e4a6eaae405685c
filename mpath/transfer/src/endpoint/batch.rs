//! Packets that leave together: those to one address and of one size in a single system call (UDP_SEGMENT), all of them
//! in one buffer.

use crate::Relay;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::Range;
use tidegate_mpath::wire::write_relay;

/// Packets of a batch.
const PACKETS: usize = 64;

/// The most bytes of a group: an IP packet's, less its headers.
const GROUP_BYTES: usize = 65_000;

/// Packets of one size, except for a shorter last, to one address.
#[derive(Debug)]
pub struct Group {
    /// Where they go.
    pub to: SocketAddr,
    /// Where they are in the buffer.
    range: Range<usize>,
    /// Bytes of each but the last.
    pub segment: usize,
    packets: usize,
    /// No packet may join it: its last one is shorter, or it has to stay alone.
    closed: bool,
}

/// The batch.
#[derive(Debug)]
pub struct Batch {
    bytes: Vec<u8>,
    groups: VecDeque<Group>,
    packets: usize,
    /// Packets that the kernel takes at once.
    most: usize,
}

impl Batch {
    /// An empty batch, for a kernel that takes `most` packets at once.
    pub fn new(most: usize) -> Self {
        Self {
            bytes: Vec::new(),
            groups: VecDeque::new(),
            packets: 0,
            most,
        }
    }

    /// The kernel takes `most` packets at once from now on.
    pub fn set_most(&mut self, most: usize) {
        self.most = most;
    }

    /// Whether it should be sent before more packets are added.
    pub fn is_full(&self) -> bool {
        self.packets >= PACKETS
    }

    /// Adds the packet that `write` appends, through a relay if one is given.
    pub fn push(
        &mut self,
        destination: SocketAddr,
        relay: Option<&Relay>,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        let start = self.bytes.len();
        let to = match relay {
            Some(relay) => {
                write_relay(&mut self.bytes, destination, &relay.capability);
                relay.address
            }
            None => destination,
        };
        write(&mut self.bytes);
        self.packets += 1;
        if !self.join(to, start) {
            let range = start..self.bytes.len();
            self.groups.push_back(Group {
                to,
                segment: range.len(),
                range,
                packets: 1,
                closed: false,
            });
        }
    }

    /// As [`Self::push`], directly, in a system call of its own: the packet may be larger than the path carries.
    pub fn push_alone(&mut self, destination: SocketAddr, write: impl FnOnce(&mut Vec<u8>)) {
        self.close_last();
        self.push(destination, None, write);
        self.close_last();
    }

    fn close_last(&mut self) {
        if let Some(group) = self.groups.back_mut() {
            group.closed = true;
        }
    }

    /// Joins the packet that begins at `start` to the last group, if possible.
    fn join(&mut self, to: SocketAddr, start: usize) -> bool {
        let length = self.bytes.len() - start;
        let most = self.most;
        let fits = |group: &&mut Group| {
            !group.closed
                && group.to == to
                && length <= group.segment
                && group.packets < most
                && group.range.len() + length <= GROUP_BYTES
        };
        let Some(group) = self.groups.back_mut().filter(fits) else {
            return false;
        };
        group.range.end += length;
        group.packets += 1;
        group.closed = length < group.segment;
        true
    }

    /// The next group and its bytes.
    pub fn first(&self) -> Option<(&Group, &[u8])> {
        let group = self.groups.front()?;
        Some((group, &self.bytes[group.range.clone()]))
    }

    /// The next group has been sent.
    pub fn pop(&mut self) {
        self.groups.pop_front();
        if self.groups.is_empty() {
            self.bytes.clear();
            self.packets = 0;
        }
    }
}
