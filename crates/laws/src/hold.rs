//! A flow without a window that could be lowered, safely.

use crate::{Path, measured, sys};
use std::time::Duration;

/// One flow's record at its receiver: what arrives, what leaves, and how long leaving packets have to wait.
#[derive(Clone, Debug)]
pub struct Hold(sys::tg_hold);

impl Default for Hold {
    fn default() -> Self {
        let mut hold = sys::tg_hold::default();
        // SAFETY: the pointer is to a live, exclusively borrowed record; C keeps no copy of it.
        unsafe { sys::tg_hold_init(&mut hold, 0) };
        hold.gated = 1;
        Self(hold)
    }
}

impl Hold {
    /// The longest wait of a packet.
    pub const LONGEST: Duration = Duration::from_micros(sys::TG_HOLD_MAX_US as u64);

    /// A packet with `len` bytes arrives. Returns whether it has to be signalled as congestion.
    #[must_use]
    pub fn arrives(&mut self, path: &mut Path, now_us: u64, len: u32) -> bool {
        let (hold, path) = (&mut self.0, path.raw_mut());
        // SAFETY: all pointers are to live, exclusively borrowed records; C keeps no copy of them.
        let signal = measured::with(|arrival| unsafe {
            sys::tg_hold_learns(hold, path, now_us, len, 0, 0, arrival) != 0
        });
        if signal {
            // SAFETY: as above.
            unsafe { sys::tg_hold_signalled(&mut self.0) }
        }
        signal
    }

    /// An echo of ours has come back after `rtt_us`; `floor_us` is the floor of another flow with the same
    /// server.
    pub fn answered(&mut self, path: &mut Path, now_us: u64, rtt_us: u32, floor_us: Option<u32>) {
        let (hold, path, floor_us) = (&mut self.0, path.raw_mut(), floor_us.unwrap_or(0));
        // SAFETY: as above.
        measured::with(|arrival| unsafe {
            sys::tg_hold_learns(hold, path, now_us, 0, rtt_us.max(1), floor_us, arrival)
        });
    }

    /// The flow's handshake took `us` µs, from its first packet to the first answer.
    pub fn shook_hands(&mut self, us: u32) {
        // SAFETY: as above.
        unsafe { sys::tg_echo_floor(&mut self.0.steered.echo, us) }
    }

    /// The round trip without a queue, in µs; `None`: not known yet.
    pub fn floor_us(&self) -> Option<u32> {
        (self.0.steered.echo.floor_us != 0).then_some(self.0.steered.echo.floor_us)
    }

    /// Bytes that have arrived: a packet that is made now may acknowledge as many.
    pub fn arrived(&self) -> u64 {
        self.0.arrived
    }

    /// How many µs a packet that was made when `made` bytes had arrived has still to wait; 0: it
    /// may leave.
    pub fn wait_us(&self, made: u64) -> u32 {
        // SAFETY: the pointer is to a live record; C keeps no copy of it.
        unsafe { sys::tg_hold_wait_us(&self.0, made) }
    }

    /// A packet of `len` bytes leaves.
    pub fn leaves(&mut self, now_us: u64, len: u32) {
        // SAFETY: as above, exclusively borrowed.
        unsafe { sys::tg_hold_leaves(&mut self.0, now_us, len) }
    }

    /// Whether enough has arrived that its delay is worth asking for.
    pub fn asks(&self) -> bool {
        self.0.arrived >= u64::from(sys::TG_HOLD_ASKS)
    }

    /// Gives the flow `weight` parts where others on its path get one.
    pub fn weigh(&mut self, weight: u32) {
        self.0.steered.member.share.weight = weight;
    }

    /// The C record.
    pub fn raw(&self) -> &sys::tg_hold {
        &self.0
    }
}
