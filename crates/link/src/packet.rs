//! Packets on a link.

use crate::Ecn;

/// Anything that takes time on the wire. The link never looks inside: a stage asks these methods, and works without
/// what a packet cannot tell it.
pub trait Packet: Sized {
    /// Length of the IP packet in bytes, header included: what rates and limits count.
    fn wire_bytes(&self) -> usize;

    /// The flow that it belongs to, the same number for all packets of one connection and
    /// direction: what [`Policy::FqCodel`](crate::Policy::FqCodel) isolates and the
    /// [`Middlebox`](crate::Middlebox) puts in order. By default all packets are of one flow.
    fn flow(&self) -> u64 {
        0
    }

    /// The stretch of its flow's sequence space that it carries; none (the default) passes the
    /// [`Middlebox`](crate::Middlebox) at once.
    fn sequence(&self) -> Option<Sequence> {
        None
    }

    /// Its ECN field. By default it is not ECN-capable: a queue that would mark it drops it.
    fn ecn(&self) -> Ecn {
        Ecn::NotEct
    }

    /// Sets the ECN field to CE. Called only if the packet is ECN-capable.
    fn mark(&mut self) {}

    /// A copy, for [`Disorder`](crate::Disorder); none, the default: such packets are never
    /// duplicated.
    fn duplicate(&self) -> Option<Self> {
        None
    }
}

/// A stretch of a flow's sequence space, modulo 2³² as TCP's is (RFC 9293 §3.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequence {
    /// The first number.
    pub start: u32,
    /// The number after the last; SYN and FIN count as one each.
    pub end: u32,
    /// Whether the flow begins here, whatever came before: a SYN.
    pub opens: bool,
}

/// A whole IP packet.
impl Packet for Vec<u8> {
    fn wire_bytes(&self) -> usize {
        self.len()
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }
}
