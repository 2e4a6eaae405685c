//! The window that the peer offers (RFC 9293 §3.10.7.4, fifth check).

use super::Ack;

/// The peer's window in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PeerWindow {
    /// SND.WND.
    size: u64,
    /// The largest ever (MAX.SND.WND).
    largest: u64,
    /// Where in the peer's stream it was announced (SND.WL1).
    announced_at: u64,
}

impl PeerWindow {
    /// As the handshake has shown it.
    pub(super) fn new(size: u64) -> Self {
        Self {
            size,
            largest: size,
            announced_at: 0,
        }
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn largest(&self) -> u64 {
        self.largest
    }

    pub(super) fn is_closed(&self) -> bool {
        self.size == 0
    }

    /// Whether the window of `ack` is newer than the one known (`tcp_may_update_window`, which says why
    /// RFC 9293's SND.WL2 is not needed).
    pub(super) fn is_news(&self, ack: &Ack, una: u64) -> bool {
        ack.offset > una
            || ack.peer_offset > self.announced_at
            || (ack.peer_offset == self.announced_at && (ack.window > self.size || ack.window == 0))
    }

    /// Takes the window of `ack`; whether it is another one.
    pub(super) fn update(&mut self, ack: &Ack) -> bool {
        self.announced_at = ack.peer_offset;
        let differs = ack.window != self.size;
        self.size = ack.window;
        self.largest = self.largest.max(ack.window);
        differs
    }
}
