//! The other direction: data that leave a host, steered by the acknowledgements that the host receives.

use super::{acknowledgement, micros};
use crate::{Flags, Segment};
use tidegate_basics::time::Instant;
use tidegate_laws::{Device, Params, Path, Upload};

/// One connection's data that leave a host, and the law that steers them.
#[derive(Clone, Debug)]
pub struct UploadSteer {
    params: Params,
    weight: u32,
    upload: Upload,
    /// Sequence number of our SYN or SYN-ACK, and whether it offered a window scale.
    ours: Option<(u32, bool)>,
    /// The peer's offer of a window scale.
    theirs: Option<Option<u8>>,
}

impl UploadSteer {
    /// Before the handshake; the flow gets `weight` parts where others on the path get one.
    pub fn new(params: Params, weight: u32) -> Self {
        Self {
            params,
            weight,
            upload: Upload::default(),
            ours: None,
            theirs: None,
        }
    }

    /// A segment leaves the host: its departure is noted.
    pub fn leaves(&mut self, now: Instant, segment: &Segment) {
        if segment.flags.has(Flags::SYN) {
            if !segment.flags.has(Flags::ACK) {
                self.theirs = None;
            }
            self.upload = Upload::default();
            self.upload.weigh(self.weight);
            self.ours = Some((segment.seq.0, segment.syn.window_scale.is_some()));
            return;
        }
        if let (Some(stamps), 1..) = (segment.timestamps, segment.len) {
            // A lone short segment is the end of a message, not the flow's segment size.
            let full = segment.len >= self.upload.mss();
            let mss = if full { segment.len } else { 0 };
            self.upload.data_out(micros(now), mss, stamps.val);
        }
    }

    /// A segment arrives at the host: the law learns from its acknowledgement, and its window may be lowered before the
    /// host reads it.
    pub fn arrives(&mut self, path: &mut Path, now: Instant, segment: &mut Segment) {
        if segment.flags.has(Flags::SYN) {
            return self.handshake(segment);
        }
        let Some(scale) = self.scale() else { return };
        if segment.flags.has(Flags::RST) || !segment.flags.has(Flags::ACK) {
            return;
        }
        let ack = acknowledgement(now, segment, scale);
        let tsecr = segment.timestamps.map(|t| t.ecr);
        let window = self.upload.ack_in(path, &self.params, &ack, tsecr);
        segment.window = window.min(segment.window);
    }

    /// The peer's SYN, or its answer to ours; an answer acknowledges our SYN (RFC 9293 §3.10.7.3),
    /// others may be forged.
    fn handshake(&mut self, segment: &Segment) {
        let answers = |&(syn, _): &(u32, bool)| segment.ack.0 == syn.wrapping_add(1);
        if !segment.flags.has(Flags::ACK) || self.ours.as_ref().is_some_and(answers) {
            self.theirs = Some(segment.syn.window_scale);
            if segment.flags.has(Flags::ACK) && segment.timestamps.is_some() {
                self.upload.handshake(segment.ack.0, segment.window);
            }
        }
    }

    /// The shift of the peer's window fields: both sides have to have offered one (RFC 7323 §2.2).
    fn scale(&self) -> Option<u8> {
        match (self.ours?, self.theirs?) {
            ((_, true), Some(scale)) => Some(scale),
            _ => Some(0),
        }
    }

    /// As [`super::Steer::of_device`].
    pub(super) fn of_device(&mut self, path: &mut Path, device: Option<&mut Device>) {
        self.upload.of_device(path, device);
    }

    /// The law's state.
    pub fn upload(&self) -> &Upload {
        &self.upload
    }
}
