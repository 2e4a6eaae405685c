//! A flow and its path, safely.

use crate::{Device, Law, measured, sys};

/// Parameters of the laws.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// Which law.
    pub law: Law,
    /// DRWA's λ; kept in 1/256.
    pub lambda: f64,
    /// Largest window in bytes that DRS or DRWA asks for. DRS: Algorithm 2, `None`: Algorithm 1.
    pub limit: Option<u32>,
    /// RSFC without section 5.1.3: RDmin and RTTmin stay the smallest since the flow began (Fig. 5.9).
    pub keep_minima: bool,
    /// tide: downloads without usable timestamps are steered by their round trips.
    pub stampless: bool,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            law: Law::Tide,
            lambda: 3.0,
            limit: None,
            keep_minima: false,
            stampless: false,
        }
    }
}

impl Params {
    /// The C form.
    pub fn to_sys(self) -> sys::tg_params {
        sys::tg_params {
            law: self.law as u32,
            lambda_q8: (self.lambda * f64::from(sys::TG_LAMBDA_ONE)).round() as u32,
            limit: self.limit.unwrap_or(sys::TG_UNLIMITED),
            keep: self.keep_minima.into(),
            stampless: self.stampless.into(),
        }
    }
}

/// A data segment that arrives.
#[derive(Clone, Copy, Debug, Default)]
pub struct Segment {
    /// Time of arrival in µs, on any clock that does not jump.
    pub now_us: u64,
    /// Sequence number of its first byte.
    pub seq: u32,
    /// Payload bytes.
    pub len: u32,
    /// Payload bytes of one segment on the wire, where several were merged; 0 if not known.
    pub mss: u32,
    /// TSval and TSecr, if the connection uses timestamps.
    pub timestamps: Option<(u32, u32)>,
    /// The way back carries uploads that we steer, and their data waited this long, in µs ([`Path::uploading`] of the
    /// uplink).
    pub uploading: Option<u32>,
}

/// A segment of ours that leaves, as the stack wrote it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// Time of departure in µs.
    pub now_us: u64,
    /// Acknowledgement number.
    pub ack: u32,
    /// Window field.
    pub raw: u16,
    /// Window scale of our side.
    pub scale: u8,
    /// Carries neither data nor FIN.
    pub bare: bool,
    /// Carries SACK blocks.
    pub sack: bool,
    /// Our TSval, if the connection uses timestamps.
    pub tsval: Option<u32>,
}

/// The state that the flows of one interface and direction have in common: their groups.
#[derive(Clone, Debug, Default)]
pub struct Path(sys::tg_interface);

impl Path {
    /// For an uplink that uploads fill, or have filled of late: how long the last of their data waited in its queue, in
    /// µs.
    pub fn uploading(&self, now_us: u64) -> Option<u32> {
        // SAFETY: the pointer is to a live record; C keeps no copy of it.
        unsafe {
            let uploading = sys::tg_uploading(&self.0, now_us) != 0;
            uploading.then(|| sys::tg_uplink_us(&self.0, now_us))
        }
    }

    /// How long data that fill the link last waited in its queue, in µs; 0 if that is not known apart from the wait in
    /// the other direction.
    pub fn queue_us(&self, now_us: u64) -> u32 {
        // SAFETY: the pointer is to a live record; C keeps no copy of it.
        unsafe { sys::tg_uplink_us(&self.0, now_us) }
    }

    /// The C record.
    pub fn raw(&self) -> &sys::tg_interface {
        &self.0
    }

    /// The C record, for code that changes it.
    pub(crate) fn raw_mut(&mut self) -> &mut sys::tg_interface {
        &mut self.0
    }
}

/// One connection's data in one direction, seen from its receiver.
#[derive(Clone, Debug)]
pub struct Flow(sys::tg_flow);

impl Default for Flow {
    fn default() -> Self {
        let mut flow = sys::tg_flow::default();
        // SAFETY: the pointer is to a live, exclusively borrowed record; C keeps no copy of it.
        unsafe { sys::tg_flow_init(&mut flow) };
        Self(flow)
    }
}

impl Flow {
    /// A data segment arrives on `path`: measure it and let the law learn from it.
    pub fn data_in(&mut self, path: &mut Path, params: &Params, segment: &Segment) {
        let (tsval, tsecr) = segment.timestamps.unwrap_or_default();
        let segment = sys::tg_segment {
            now_us: segment.now_us,
            tsval,
            tsecr,
            len: segment.len,
            end: segment.seq.wrapping_add(segment.len),
            mss: segment.mss,
            stamped: segment.timestamps.is_some().into(),
            uploading: segment.uploading.is_some().into(),
            back_us: segment.uploading.unwrap_or(0),
            ..Default::default()
        };
        let law = params.to_sys();
        // SAFETY: every pointer is to a live record, exclusively borrowed where C writes; C keeps
        // no copy of any.
        measured::with(|arrival| unsafe {
            sys::tg_flow_data_in(&mut self.0, &law, &mut path.0, &segment, arrival);
        });
    }

    /// Our SYN or SYN-ACK leaves at `now_us`, with `tsval` if it offers timestamps: the first round
    /// trip begins.
    pub fn syn_leaves(&mut self, now_us: u64, tsval: Option<u32>) {
        let (stamps, tsval) = (tsval.is_some().into(), tsval.unwrap_or(0));
        // SAFETY: the pointer is to a live, exclusively borrowed record; C keeps no copy of it.
        unsafe { sys::tg_flow_opens(&mut self.0, now_us, stamps, tsval) }
    }

    /// A segment of ours leaves; returns the window field that it is to carry.
    pub fn ack_out(&mut self, ack: &Ack) -> u16 {
        let a = sys::tg_ack {
            ack: ack.ack,
            raw: ack.raw,
            scale: ack.scale,
            bare: ack.bare.into(),
            sack: ack.sack.into(),
        };
        // SAFETY: as above.
        unsafe {
            sys::tg_flow_ack_out(
                &mut self.0,
                &a,
                ack.now_us,
                ack.tsval.is_some().into(),
                ack.tsval.unwrap_or(0),
            )
        }
    }

    /// Gives the flow `weight` parts where others on its path get one; 0 counts as 1: foreground before background. For
    /// `tide`.
    pub fn weigh(&mut self, weight: u32) {
        self.0.member.share.weight = weight;
    }

    /// Makes shares go by device; to be called before each arrival, with the flow's device. `None`: unknown, and the
    /// flow counts as a device alone.
    pub fn of_device(&mut self, path: &mut Path, device: Option<&mut Device>) {
        let device = device.map_or(std::ptr::null_mut(), Device::raw_mut);
        // SAFETY: each pointer is to a live, exclusively borrowed record, or null, which C expects; C keeps no copy.
        unsafe { sys::tg_flow_of_device(&mut self.0, &mut path.0, device) }
    }

    /// Makes the next segment that leaves carry a window of `bytes`, whatever the law wants, as far as earlier promises
    /// allow it. For laws that are not written in C.
    pub fn want(&mut self, bytes: u32) {
        self.0.wanted = bytes;
    }

    /// The window that the law wants, in bytes; `None`: the kernel's.
    pub fn wanted(&self) -> Option<u32> {
        (self.0.wanted != sys::TG_UNLIMITED).then_some(self.0.wanted)
    }

    /// Payload of the peer's full segments in bytes, as far as is known.
    pub fn mss(&self) -> u32 {
        self.0.mss
    }

    /// The last RTT sample in µs; `None` before the first.
    pub fn rtt_us(&self) -> Option<u32> {
        (self.0.rtt_us != 0).then_some(self.0.rtt_us)
    }

    /// The C record.
    pub fn raw(&self) -> &sys::tg_flow {
        &self.0
    }
}
