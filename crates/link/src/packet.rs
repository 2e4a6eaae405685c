//! What a link carries.

/// Anything that takes time on the wire. The link never looks inside.
pub trait Packet {
    /// Length of the IP packet in bytes, header included: what rates and limits count.
    fn wire_bytes(&self) -> usize;
}

/// A whole IP packet.
impl Packet for Vec<u8> {
    fn wire_bytes(&self) -> usize {
        self.len()
    }
}
