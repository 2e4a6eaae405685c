//! The memory that received data cost, and the share of the limit that is offered as a window.
//!
//! Linux charges a segment all the memory that holds it (`truesize`) and takes the ratio of payload
//! to that, as last seen, for the share of its buffer that the window may promise.

/// `struct sk_buff` and `struct skb_shared_info`, in whole cache lines.
const SK_BUFF: u64 = 256;
const SHARED_INFO: u64 = 320;

/// In front of the packet (`NET_SKB_PAD`), and its own headers: IPv4, and TCP with timestamps.
const HEADROOM: u64 = 64;
const HEADERS: u64 = 20 + 32;

/// The smallest head that is allocated (`SKB_SMALL_HEAD_CACHE_SIZE`).
const SMALL_HEAD: u64 = 704;

/// Ratios are in 1/256 (`TCP_RMEM_TO_WIN_SCALE`).
const ONE: u64 = 256;

/// Until the first full segment, half of the memory is taken for payload
/// (`TCP_DEFAULT_SCALING_RATIO`).
const DEFAULT_RATIO: u64 = ONE / 2;

/// Payload of a page into which a full queue is collapsed (`SKB_MAX_ORDER(0, 0)`), and its memory.
const PAGE_PAYLOAD: u64 = 4096 - SHARED_INFO;
const PAGE_TRUESIZE: u64 = 4096 + SK_BUFF;

/// Memory of a segment with `len` bytes, each in a linear buffer of its own, as from a TUN device
/// or a driver without GRO.
pub(super) fn truesize(len: u64) -> u64 {
    let head = (HEADROOM + HEADERS + len).next_multiple_of(64) + SHARED_INFO;
    SK_BUFF
        + if head <= SMALL_HEAD {
            SMALL_HEAD
        } else {
            head.next_power_of_two()
        }
}

/// A receive buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// The memory that it may hold (`sk_rcvbuf`), and the most to which that may be raised (`tcp_rmem[2]`).
    limit: u64,
    max: u64,
    /// The memory that it holds (`sk_rmem_alloc`).
    charged: u64,
    /// The share of memory that the window may promise (`scaling_ratio`).
    ratio: u64,
    /// Counts payload only, and never grows.
    plain: bool,
}

impl Memory {
    /// Linux's, between `initial` and `max` bytes.
    pub(super) const fn autotuned(initial: u64, max: u64) -> Self {
        Self {
            limit: initial,
            max,
            charged: 0,
            ratio: DEFAULT_RATIO,
            plain: false,
        }
    }

    /// A textbook's: `bytes` of payload.
    pub(super) const fn fixed(bytes: u64) -> Self {
        Self {
            limit: bytes,
            max: bytes,
            charged: 0,
            ratio: ONE,
            plain: true,
        }
    }

    pub(super) fn is_plain(&self) -> bool {
        self.plain
    }

    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    pub(super) fn max(&self) -> u64 {
        self.max
    }

    /// The window that `space` bytes of memory allow (`tcp_win_from_space`).
    pub(super) fn window(&self, space: u64) -> u64 {
        (space * self.ratio) / ONE
    }

    /// Window of what is free, with `unread` bytes waiting (`tcp_space`).
    pub(super) fn free(&self, unread: u64) -> u64 {
        if self.plain {
            return self.limit.saturating_sub(unread);
        }
        self.window(self.limit.saturating_sub(self.charged))
    }

    /// Window of the empty buffer (`tcp_full_space`).
    pub(super) fn full(&self) -> u64 {
        self.window(self.limit)
    }

    /// A segment of `len` bytes shows what payload costs. Returns whether the ratio has changed
    /// (`tcp_measure_rcv_mss`).
    pub(super) fn learn(&mut self, len: u64) -> bool {
        if self.plain {
            return false;
        }
        let before = self.ratio;
        self.ratio = (len * ONE / truesize(len)).clamp(1, ONE - 1);
        self.ratio != before
    }

    /// Raises the limit until it allows `window` bytes. Returns whether it was lower.
    pub(super) fn raise(&mut self, window: u64) -> bool {
        let limit = (window * ONE / self.ratio).min(self.max);
        let raised = limit > self.limit;
        self.limit = self.limit.max(limit);
        raised
    }

    pub(super) fn charge(&mut self, len: u64) {
        if !self.plain {
            self.charged += truesize(len);
        }
    }

    /// `bytes` of the `payload` bytes held are released. Linux frees a segment with its last byte; here each byte
    /// releases its share.
    pub(super) fn release(&mut self, bytes: u64, payload: u64) {
        self.charged = if bytes == payload {
            0
        } else {
            self.charged - self.charged * bytes / payload
        };
    }

    /// Whether one more segment may come in (`tcp_can_ingest`).
    pub(super) fn has_room(&self) -> bool {
        self.charged <= self.limit
    }

    /// Raises the limit to the memory that is held already, as far as allowed (`tcp_clamp_window`).
    pub(super) fn stretch(&mut self) {
        self.limit = self.limit.max(self.charged.min(self.max));
    }

    /// Packs the `payload` bytes held into full pages (`tcp_collapse`).
    pub(super) fn collapse(&mut self, payload: u64) {
        let packed = payload.div_ceil(PAGE_PAYLOAD) * PAGE_TRUESIZE;
        self.charged = self.charged.min(packed);
    }
}

#[cfg(test)]
mod tests;
