//! An upload without a window that could be lowered, safely.

use crate::{Path, measured, sys};

/// One flow's record at its sender: what leaves, how long it has to wait, and what arrives.
#[derive(Clone, Debug)]
pub struct UploadHold(sys::tg_hold_up);

impl Default for UploadHold {
    fn default() -> Self {
        let mut hold = sys::tg_hold_up::default();
        // SAFETY: the pointer is to a live, exclusively borrowed record; C keeps no copy of it.
        unsafe { sys::tg_hold_up_init(&mut hold, 0) };
        hold.gated = 1;
        Self(hold)
    }
}

impl UploadHold {
    /// A packet of `len` bytes comes, and waits behind all others. Returns its place among all bytes that leave.
    pub fn comes(&mut self, len: u32) -> u64 {
        // SAFETY: the pointer is to a live record; C keeps no copy of it.
        let place = unsafe { sys::tg_hold_up_place(&self.0, len) };
        self.0.waiting += len;
        place
    }

    /// How many µs the packet with that place has still to wait; 0: it may leave.
    pub fn wait_us(&self, place: u64) -> u32 {
        // SAFETY: as above.
        unsafe { sys::tg_hold_up_wait_us(&self.0, place) }
    }

    /// The first of the packets that wait leaves, one of `len` bytes. Returns whether it has to be signalled as congestion.
    #[must_use]
    pub fn leaves(&mut self, now_us: u64, len: u32) -> bool {
        self.0.waiting -= len;
        // SAFETY: the pointer is to a live, exclusively borrowed record; C keeps no copy of it.
        let signal = unsafe { sys::tg_hold_up_leaves(&mut self.0, now_us, len) != 0 };
        if signal {
            // SAFETY: as above.
            unsafe { sys::tg_hold_up_signalled(&mut self.0) }
        }
        signal
    }

    /// A packet of `len` bytes arrives. `path` is the uplink; `back_us`, how long data wait in the downlink's queue.
    pub fn arrives(&mut self, path: &mut Path, now_us: u64, len: u32, back_us: u32) {
        self.learns(path, now_us, [len, 0, 0, back_us]);
    }

    /// An echo of ours has come back after `rtt_us`; `floor_us` is the floor of another flow with the same
    /// server.
    pub fn answered(
        &mut self,
        path: &mut Path,
        now_us: u64,
        rtt_us: u32,
        floor_us: Option<u32>,
        back_us: u32,
    ) {
        self.learns(
            path,
            now_us,
            [0, rtt_us.max(1), floor_us.unwrap_or(0), back_us],
        );
    }

    fn learns(&mut self, path: &mut Path, now_us: u64, told: [u32; 4]) {
        let [len, rtt_us, floor_us, back_us] = told;
        let (hold, path) = (&mut self.0, path.raw_mut());
        // SAFETY: all pointers are to live, exclusively borrowed records; C keeps no copy of them.
        measured::with(|arrival| unsafe {
            sys::tg_hold_up_learns(hold, path, now_us, len, rtt_us, floor_us, back_us, arrival);
        });
    }

    /// The flow's handshake took `us` µs, from its first packet to the first answer.
    pub fn shook_hands(&mut self, us: u32) {
        // SAFETY: as above.
        unsafe { sys::tg_echo_floor(&mut self.0.steered.echo, us) }
    }

    /// The round trip without a queue, in µs; `None`: not known yet.
    pub fn floor_us(&self) -> Option<u32> {
        let floor_us = self.0.steered.echo.floor_us;
        (floor_us != 0).then_some(floor_us)
    }

    /// Whether enough has left that its delay is worth asking for.
    pub fn asks(&self) -> bool {
        // SAFETY: the pointer is to a live record; C keeps no copy of it.
        let is_upload = unsafe { sys::tg_hold_up_is_upload(&self.0) != 0 };
        is_upload && self.0.left >= u64::from(sys::TG_HOLD_ASKS)
    }

    /// Gives the flow `weight` parts where others on its path get one.
    pub fn weigh(&mut self, weight: u32) {
        self.0.steered.member.share.weight = weight;
    }

    /// The C record.
    pub fn raw(&self) -> &sys::tg_hold_up {
        &self.0
    }
}
