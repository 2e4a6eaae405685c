//! The window that is advertised.

use super::memory::Memory;

/// Window scale and buffer go by the larger of `tcp_rmem[2]` and this (`net.core.rmem_max` since
/// Linux 6.16).
const RMEM_MAX: u64 = 4 << 20;

/// Largest shift (RFC 7323 §2.3).
const MAX_SCALE: u8 = 14;

/// Largest value of the field.
const FIELD_MAX: u64 = u16::MAX as u64;

/// The shift to offer, for a window as large as the buffer may ever become
/// (`tcp_select_initial_window`). A plain buffer's window is known: the smallest that shows it.
pub(super) fn scale(memory: &Memory) -> u8 {
    if memory.is_plain() {
        let fits = |&scale: &u8| memory.limit() <= FIELD_MAX << scale;
        return (0..MAX_SCALE).find(fits).unwrap_or(MAX_SCALE);
    }
    let space = memory.max().max(RMEM_MAX);
    (space.ilog2() as u8 - 15).min(MAX_SCALE)
}

/// The window of the SYN, which is never scaled, when segments have `mss` bytes
/// (`tcp_select_initial_window`).
pub(super) fn initial(memory: &Memory, mss: u64) -> u64 {
    let space = memory.full();
    if memory.is_plain() || space <= mss {
        return space.min(FIELD_MAX);
    }
    (space - space % mss).min(FIELD_MAX)
}

/// The inputs from which a window is chosen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stock<'a> {
    pub(super) memory: &'a Memory,
    /// Next offset expected.
    pub(super) next: u64,
    /// Bytes that the application has not read.
    pub(super) unread: u64,
    /// Payload of the peer's full segments (`rcv_mss`).
    pub(super) mss: u64,
}

impl Stock<'_> {
    fn free(&self) -> u64 {
        self.memory.free(self.unread)
    }
}

/// The window as the peer knows it, and what bounds the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Its size, from `left` on (`rcv_wnd`, `rcv_wup`).
    size: u64,
    left: u64,
    /// Never larger than this (`window_clamp`).
    clamp: u64,
    /// Nor, yet, than this: it grows with what has arrived (`rcv_ssthresh`).
    ssthresh: u64,
    scale: u8,
    /// Payload of a full segment by our own MSS, options deducted (`advmss`).
    mss: u64,
}

impl Window {
    /// The window of the SYN (`tcp_init_buffer_space`).
    pub(super) fn new(memory: &Memory, syn_window: u64, scale: u8, mss: u64) -> Self {
        let full = memory.full();
        let mut clamp = full.min(FIELD_MAX << scale);
        // One segment is kept for the application.
        if !memory.is_plain() && clamp > 2 * mss && clamp + mss > full {
            clamp = (full - mss).max(2 * mss);
        }
        let ssthresh = if memory.is_plain() {
            clamp
        } else {
            syn_window.min(clamp)
        };
        Self {
            size: syn_window,
            left: 1,
            clamp,
            ssthresh,
            scale,
            mss,
        }
    }

    pub(super) fn size(&self) -> u64 {
        self.size
    }

    pub(super) fn left(&self) -> u64 {
        self.left
    }

    pub(super) fn clamp(&self) -> u64 {
        self.clamp
    }

    pub(super) fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// First offset beyond it.
    pub(super) fn edge(&self) -> u64 {
        self.left + self.size
    }

    /// What is left of it from `next` on (`tcp_receive_window`).
    pub(super) fn remaining(&self, next: u64) -> u64 {
        self.edge().saturating_sub(next)
    }

    /// The window that fits now, whatever was promised (`__tcp_select_window`).
    pub(super) fn select(&self, stock: &Stock) -> u64 {
        if stock.memory.is_plain() {
            self.select_plain(stock)
        } else {
            self.select_share(stock)
        }
    }

    /// Whether the buffer is filling up: then ACKs are no longer hurried.
    pub(super) fn is_tight(&self, stock: &Stock) -> bool {
        stock.free() < self.full(stock.memory) / 2
    }

    fn full(&self, memory: &Memory) -> u64 {
        self.clamp.min(memory.full())
    }

    fn select_share(&self, stock: &Stock) -> u64 {
        let full = self.full(stock.memory);
        let mss = stock.mss.min(full);
        let mut free = stock.free();
        if mss == 0 {
            return 0;
        }
        if free < full / 2 {
            free &= !(self.granule() - 1);
            // Silly-window avoidance (RFC 9293 §3.8.6.2.2): no window is better than a small one.
            if free < stock.memory.full() / 16 || free < mss {
                return 0;
            }
        }
        let free = free.min(self.ssthresh);
        if self.scale > 0 {
            return free.next_multiple_of(self.granule());
        }
        // Unscaled windows move in whole segments.
        if self.size + mss <= free || self.size > free {
            free - free % mss
        } else if mss == full && free > self.size + full / 2 {
            free
        } else {
            self.size
        }
    }

    /// All that is free, but the edge moves by a segment or half the buffer at least (RFC 9293
    /// §3.8.6.2.2).
    fn select_plain(&self, stock: &Stock) -> u64 {
        let free = stock.free().min(self.clamp);
        let promised = self.remaining(stock.next);
        if free < promised + stock.mss.min(stock.memory.limit() / 2) {
            return promised;
        }
        (free & !(self.granule() - 1)).max(promised)
    }

    fn granule(&self) -> u64 {
        1 << self.scale
    }

    /// The field of the segment that leaves now, which acknowledges up to `stock.next`
    /// (`tcp_select_window`).
    pub(super) fn advertise(&mut self, stock: &Stock) -> u16 {
        let promised = self.remaining(stock.next);
        let mut size = self.select(stock);
        if size < promised || stock.memory.is_plain() {
            // Never shrink; upwards to what the field can say, or the edge would retreat.
            size = size.max(promised).next_multiple_of(self.granule());
        }
        self.left = stock.next;
        self.size = size;
        (size >> self.scale).min(FIELD_MAX) as u16
    }

    /// There was no memory for a segment: no window at all, and this once it shrinks
    /// (`ICSK_ACK_NOMEM`).
    pub(super) fn close(&mut self, next: u64) {
        self.left = next;
        self.size = 0;
    }

    /// Slow start of the window (`tcp_grow_window`): a segment of `len` bytes, at a cost of
    /// `truesize`, has arrived. Returns whether the window may grow.
    pub(super) fn grow(&mut self, stock: &Stock, len: u64, truesize: u64) -> bool {
        let room = self.clamp.min(stock.free()).saturating_sub(self.ssthresh);
        if room == 0 {
            return false;
        }
        let increase = if stock.memory.window(truesize) <= len {
            2 * self.mss
        } else {
            self.increase_at(stock, len, truesize)
        };
        if increase > 0 {
            self.ssthresh += room.min(increase.max(2 * len));
        }
        increase > 0
    }

    /// Segments that cost more than their share grow only a small window (`__tcp_grow_window`).
    fn increase_at(&self, stock: &Stock, len: u64, truesize: u64) -> u64 {
        let mut cost = stock.memory.window(truesize) / 2;
        let mut window = stock.memory.window(stock.memory.max()) / 2;
        while self.ssthresh <= window {
            if cost <= len {
                return 2 * stock.mss;
            }
            cost /= 2;
            window /= 2;
        }
        0
    }

    /// The window's share of the buffer has changed (`tcp_set_window_clamp`).
    pub(super) fn rescale(&mut self, memory: &Memory) {
        let before = self.clamp;
        self.follow(memory);
        self.ssthresh = if self.clamp < before {
            self.ssthresh.min(self.clamp)
        } else {
            self.ssthresh.max(self.size.min(self.clamp))
        };
    }

    /// The buffer was made larger (`tcp_rcvbuf_grow`).
    pub(super) fn follow(&mut self, memory: &Memory) {
        self.clamp = memory.full().min(FIELD_MAX << self.scale);
    }

    /// The buffer is full even though it was stretched (`tcp_clamp_window`).
    pub(super) fn restart(&mut self) {
        self.ssthresh = self.clamp.min(2 * self.mss);
    }
}

#[cfg(test)]
mod tests;
