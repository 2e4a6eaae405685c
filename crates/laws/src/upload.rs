//! An upload, seen from its sender, safely.

use crate::{Ack, Device, Params, Path, measured, sys};

/// One connection's data that leave: the peer's acknowledgements steer the window that our own stack reads. Laws that
/// do not steer uploads leave it open.
#[derive(Clone, Debug)]
pub struct Upload(sys::tg_upload);

impl Default for Upload {
    fn default() -> Self {
        let mut upload = sys::tg_upload::default();
        // SAFETY: the pointer is to a live, exclusively borrowed record; C keeps no copy of it.
        unsafe { sys::tg_upload_init(&mut upload) };
        Self(upload)
    }
}

impl Upload {
    /// The peer, which uses timestamps, answers our SYN with that acknowledgement and window field.
    pub fn handshake(&mut self, ack: u32, window: u16) {
        // SAFETY: the pointer is to a live, exclusively borrowed record; C keeps no copy of it.
        unsafe { sys::tg_upload_handshake(&mut self.0, ack, window) }
    }

    /// Data leave at `now_us`, `mss` payload bytes to a segment (0: not known), with this TSval.
    pub fn data_out(&mut self, now_us: u64, mss: u32, tsval: u32) {
        // SAFETY: the pointer is to a live, exclusively borrowed record; C keeps no copy of it.
        unsafe { sys::tg_upload_data_out(&mut self.0, mss, tsval, now_us) }
    }

    /// An acknowledgement arrives, with the peer's TSval and the TSecr that it echoes; `ack.scale` is
    /// the peer's, its time that of arrival. Returns the window field that our stack is to read.
    pub fn ack_in(
        &mut self,
        path: &mut Path,
        params: &Params,
        ack: &Ack,
        tsecr: Option<u32>,
    ) -> u16 {
        let told = sys::tg_ack {
            ack: ack.ack,
            raw: ack.raw,
            scale: ack.scale,
            bare: ack.bare.into(),
            sack: ack.sack.into(),
        };
        let segment = sys::tg_segment {
            now_us: ack.now_us,
            tsval: ack.tsval.unwrap_or(0),
            tsecr: tsecr.unwrap_or(0),
            stamped: (ack.tsval.is_some() && tsecr.is_some()).into(),
            ..Default::default()
        };
        let (law, path) = (params.to_sys(), path.raw_mut());
        // SAFETY: every pointer is to a live record, exclusively borrowed where C writes; C keeps
        // no copy of any.
        measured::with(|arrival| unsafe {
            sys::tg_upload_ack_in(&mut self.0, &law, path, &told, &segment, arrival)
        })
    }

    /// Gives the flow `weight` parts where others on its path get one.
    pub fn weigh(&mut self, weight: u32) {
        self.0.flow.member.share.weight = weight;
    }

    /// As [`crate::Flow::of_device`].
    pub fn of_device(&mut self, path: &mut Path, device: Option<&mut Device>) {
        let device = device.map_or(std::ptr::null_mut(), Device::raw_mut);
        // SAFETY: each pointer is to a live, exclusively borrowed record, or null, which C expects; C keeps no copy.
        unsafe { sys::tg_flow_of_device(&mut self.0.flow, path.raw_mut(), device) }
    }

    /// Payload of our full segments in bytes, as far as is known.
    pub fn mss(&self) -> u32 {
        self.0.flow.mss
    }

    /// The last RTT sample in µs; `None` before the first.
    pub fn rtt_us(&self) -> Option<u32> {
        (self.0.flow.rtt_us != 0).then_some(self.0.flow.rtt_us)
    }

    /// The C record that an upload shares with any other flow.
    pub fn flow(&self) -> &sys::tg_flow {
        &self.0.flow
    }
}
