//! Adaptive flow control, safely: how fast the application reads, and the window that follows.

use crate::sys;

/// How fast the application at the receiver reads (AFC §4.2.2, Algorithm 2). Times are µs.
#[derive(Clone, Copy, Debug)]
pub struct ReadRate(sys::tg_afc);

impl ReadRate {
    /// Nothing read yet.
    pub fn new(now_us: u64) -> Self {
        let mut rate = sys::tg_afc::default();
        // SAFETY: the pointer is to a live, exclusively borrowed record; C keeps no copy of it.
        unsafe { sys::tg_afc_start(&mut rate, now_us) };
        Self(rate)
    }

    /// The application reads `bytes`, over a path with the round trip `rtt_us`.
    pub fn read(&mut self, bytes: u64, now_us: u64, rtt_us: u32) {
        // SAFETY: as above.
        unsafe { sys::tg_afc_read(&mut self.0, bytes, now_us, rtt_us) }
    }

    /// Data arrive over such a path while other data wait unread.
    pub fn arrived(&mut self, now_us: u64, rtt_us: u32) {
        // SAFETY: as above.
        unsafe { sys::tg_afc_arrived(&mut self.0, now_us, rtt_us) }
    }

    /// Whether the rate is far from what the peer was told last.
    pub fn changed(&self) -> bool {
        // SAFETY: the pointer is to a live record; C keeps no copy of it.
        unsafe { sys::tg_afc_changed(&self.0) != 0 }
    }

    /// The rate in kbit/s; the peer counts as told.
    pub fn tell(&mut self) -> u32 {
        // SAFETY: the pointer is to a live, exclusively borrowed record; C keeps no copy of it.
        unsafe { sys::tg_afc_tell(&mut self.0) }
    }
}

/// The read rate in kbit/s that a sender assumes `elapsed_us` after it was told `kbps`.
pub fn held(kbps: u32, elapsed_us: u32, rtt_us: u32) -> u32 {
    // SAFETY: plain numbers.
    unsafe { sys::tg_afc_held(kbps, elapsed_us, rtt_us) }
}

/// The sender's flow control window in bytes (AFC §4.1.1, equation 36), if the peer has room for `free` bytes and reads
/// at `kbps`, over a round trip of `rtt_us`; `most` at most.
pub fn window(free: u64, kbps: u32, rtt_us: u32, most: u64) -> u64 {
    // SAFETY: plain numbers.
    unsafe { sys::tg_afc_window(free, kbps, rtt_us, most) }
}
