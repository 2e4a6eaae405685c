//! The data that the application has written, and the part that has not been sent yet, the FIN included; and the part
//! of it that Nagle's algorithm holds back. Offsets are of our stream: data start at 1.

/// Offset of the first byte of data.
const FIRST: u64 = 1;

/// The application's stream up to its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outbox {
    /// Offset after what the application has written.
    written: u64,
    finishing: bool,
    fin_sent: bool,
    /// The most bytes that are held for retransmission.
    capacity: u64,
    /// The application wanted to write more than there was room for.
    was_full: bool,
    /// Nagle's algorithm is off.
    nodelay: bool,
    /// End of the last segment that was not full (`snd_sml`).
    small_end: u64,
}

impl Outbox {
    pub(super) fn new(capacity: u64, nodelay: bool) -> Self {
        Self {
            written: FIRST,
            finishing: false,
            fin_sent: false,
            capacity,
            was_full: false,
            nodelay,
            small_end: 0,
        }
    }

    /// Bytes that the send buffer holds at most.
    pub(super) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Bytes that it would take while it holds those from `una` on.
    pub(super) fn room(&self, una: u64) -> u64 {
        let held = self.written - una.clamp(FIRST, self.written);
        self.capacity.saturating_sub(held)
    }

    /// The application writes `bytes`; returns how many were taken.
    pub(super) fn write(&mut self, bytes: u64, una: u64) -> u64 {
        let taken = bytes.min(self.room(una));
        self.was_full = taken < bytes;
        self.written += taken;
        taken
    }

    /// Whether the last write found too little room.
    pub(super) fn was_full(&self) -> bool {
        self.was_full
    }

    /// FIN after what was written.
    pub(super) fn finish(&mut self) {
        self.finishing = true;
    }

    /// Whether the FIN has been sent.
    pub(super) fn fin_sent(&self) -> bool {
        self.fin_sent
    }

    /// Bytes from `nxt` on that were written.
    pub(super) fn unsent_bytes(&self, nxt: u64) -> u64 {
        self.written.saturating_sub(nxt)
    }

    /// Sequence numbers from `nxt` on that wait to be sent, the FIN's included.
    pub(super) fn unsent(&self, nxt: u64) -> u64 {
        self.unsent_bytes(nxt) + u64::from(self.fin_waits())
    }

    fn fin_waits(&self) -> bool {
        self.finishing && !self.fin_sent
    }

    /// Payload of the next new segment of `mss` bytes at most, and whether the FIN follows it.
    pub(super) fn next_segment(&self, nxt: u64, mss: u32) -> (u32, bool) {
        let left = self.unsent_bytes(nxt);
        let len = left.min(mss.into()) as u32;
        (len, self.fin_waits() && u64::from(len) == left)
    }

    /// A new segment is sent that ends at `end`; `small`: less than a full one.
    pub(super) fn sent(&mut self, end: u64, small: bool, fin: bool) {
        self.fin_sent |= fin;
        if small {
            self.small_end = end;
        }
    }

    /// Whether what was written ends at `offset`.
    pub(super) fn ends_at(&self, offset: u64) -> bool {
        self.written == offset
    }

    /// Whether the last small segment is not acknowledged up to `una` (`tcp_minshall_check`).
    pub(super) fn is_small_one_out(&self, una: u64) -> bool {
        self.small_end > una
    }

    /// Whether Nagle's algorithm is on (RFC 9293 §3.7.4).
    pub(super) fn uses_nagle(&self) -> bool {
        !self.nodelay
    }
}

#[cfg(test)]
impl Outbox {
    /// Turns Nagle's algorithm off.
    pub(super) fn set_nodelay(&mut self) {
        self.nodelay = true;
    }
}
