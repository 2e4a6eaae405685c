//! How large segments are (RFC 9293 §3.7.1).

/// Payload of full segments in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mss {
    /// Options of every segment deducted; 0 before the handshake is over.
    full: u32,
    /// Bytes of a new segment that SACK blocks and a read rate take from its payload.
    reserved: u32,
}

impl Mss {
    /// As the handshake has agreed on it.
    pub(super) fn new(full: u32) -> Self {
        Self { full, reserved: 0 }
    }

    /// New segments have to leave `bytes` for other options (`tcp_current_mss`).
    pub(super) fn reserve(&mut self, bytes: u32) {
        self.reserved = bytes;
    }

    /// Options of every segment deducted; 0 before the handshake is over.
    pub(super) fn full(&self) -> u32 {
        self.full
    }

    /// The payload of a new segment now.
    pub(super) fn current(&self) -> u32 {
        self.full - self.reserved
    }
}
