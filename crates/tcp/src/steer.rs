//! A law at the receiving host's edge: what the live agent does there, packet by packet.
//!
//! As the agent does, a [`Steer`] sees what arrives at the host and what leaves it, and knows nothing else: the window
//! scale from the handshake, the round trip from timestamps or edges. It lowers the window of segments that leave and
//! touches nothing else. Unlike the agent it never receives merged packets, and it has seen every connection from the
//! start.

mod edge;
mod own;
mod upload;

pub use edge::{Edge, Paths, Shares};
pub use own::{Arrival, LawFactory, NO_LAW, OwnLaw};
pub use upload::UploadSteer;

pub(crate) use own::OwnEdge;

use crate::{Flags, Segment};
use tidegate_basics::time::Instant;
use tidegate_laws::sys::TG_UNLIMITED as OPEN;
use tidegate_laws::{Ack, Device, Flow, Params, Path};

/// What is known about the shift of our window fields.
///
/// ```text
///            our SYN, with a scale            the peer's answer
///  Unknown ────────────────────────▶ Offered ───────────────────▶ Known
///     └────── our SYN-ACK, or our SYN without a scale ──────────────▲
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    /// No SYN of ours has left: hands off.
    Unknown,
    /// Our SYN, with this sequence number, has offered it.
    Offered { scale: u8, syn: u32 },
    /// In force.
    Known(u8),
}

/// One connection's data that arrive at a host, and the law that steers them.
#[derive(Clone, Debug)]
pub struct Steer {
    params: Params,
    weight: u32,
    flow: Flow,
    scale: Scale,
    /// The window that the caller has asked for in place of the law, in bytes.
    told: Option<u32>,
}

impl Steer {
    /// Before the handshake.
    pub fn new(params: Params) -> Self {
        Self::weighted(params, 1)
    }

    /// Before the handshake; the flow gets `weight` parts where others on the path get one.
    pub fn weighted(params: Params, weight: u32) -> Self {
        Self {
            params,
            weight,
            flow: Flow::default(),
            scale: Scale::Unknown,
            told: None,
        }
    }

    /// On a connection that exists already, whose windows the host shifts by `scale`.
    pub fn joining(params: Params, weight: u32, scale: u8) -> Self {
        Self {
            scale: Scale::Known(scale),
            ..Self::weighted(params, weight)
        }
    }

    /// Asks for a window of `bytes` in place of the law; none: the law again. It keeps a law's promises: it is never
    /// larger than the host's own, and promised edges stay.
    pub fn tell(&mut self, bytes: Option<u32>) {
        self.told = bytes;
    }

    /// The window, in bytes, that a law outside of C wants after this arrival; none: the host's own. It keeps the same
    /// promises.
    pub fn want(&mut self, bytes: Option<u32>) {
        self.flow.want(bytes.unwrap_or(OPEN));
    }

    /// A segment arrives at the host: it is measured, and the law learns from it. `uploading`: how long data of steered
    /// uploads on the way back waited, if there are any.
    pub fn arrives(
        &mut self,
        path: &mut Path,
        uploading: Option<u32>,
        now: Instant,
        segment: &Segment,
    ) {
        let syn = segment.flags.has(Flags::SYN);
        let nothing = segment.len == 0 && !syn;
        if segment.flags.has(Flags::RST) || nothing || self.scale == Scale::Unknown {
            return;
        }
        if syn {
            self.answer(segment);
        }
        // A lone short segment is the end of a message, not the flow's segment size.
        let full = segment.len >= self.flow.mss();
        let measured = tidegate_laws::Segment {
            now_us: micros(now),
            seq: segment.seq.0,
            len: segment.len,
            mss: if full { segment.len } else { 0 },
            timestamps: segment.timestamps.map(|t| (t.val, t.ecr)),
            uploading,
        };
        self.flow.data_in(path, &self.params, &measured);
    }

    /// The peer's SYN: scales are in force only if both sides offered one (RFC 7323 §2.2).
    fn answer(&mut self, segment: &Segment) {
        let Scale::Offered { scale, syn } = self.scale else {
            return;
        };
        // An answer acknowledges our SYN (RFC 9293 §3.10.7.3); others may be forged.
        if segment.flags.has(Flags::ACK) && segment.ack.0 != syn.wrapping_add(1) {
            return;
        }
        self.scale = Scale::Known(segment.syn.window_scale.map_or(0, |_| scale));
    }

    /// A segment leaves the host: its window may be lowered.
    pub fn leaves(&mut self, now: Instant, segment: &mut Segment) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        if segment.flags.has(Flags::SYN) {
            return self.handshake(now, segment);
        }
        let Scale::Known(scale) = self.scale else {
            return;
        };
        if !segment.flags.has(Flags::ACK) {
            return;
        }
        let ack = acknowledgement(now, segment, scale);
        if let Some(bytes) = self.told {
            self.flow.want(bytes);
        }
        let window = self.flow.ack_out(&ack);
        segment.window = window.min(segment.window);
    }

    /// Our own SYN or SYN-ACK: its window is not scaled, and stays.
    fn handshake(&mut self, now: Instant, segment: &Segment) {
        self.flow = Flow::default();
        self.flow.weigh(self.weight);
        self.scale = match segment.syn.window_scale {
            Some(scale) if !segment.flags.has(Flags::ACK) => Scale::Offered {
                scale,
                syn: segment.seq.0,
            },
            scale => Scale::Known(scale.unwrap_or(0)),
        };
        self.flow
            .syn_leaves(micros(now), segment.timestamps.map(|t| t.val));
    }

    /// Makes shares go by device; to be called before each arrival with the connection's device, or none if it is
    /// unknown.
    fn of_device(&mut self, path: &mut Path, device: Option<&mut Device>) {
        self.flow.of_device(path, device);
    }

    /// What the law knows and wants.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }
}

/// The acknowledgement and window of a segment, its window field shifted by `scale`.
fn acknowledgement(now: Instant, segment: &Segment, scale: u8) -> Ack {
    Ack {
        now_us: micros(now),
        ack: segment.ack.0,
        raw: segment.window,
        scale,
        bare: segment.len == 0 && !segment.flags.has(Flags::FIN),
        sack: !segment.sack.is_empty(),
        tsval: segment.timestamps.map(|t| t.val),
    }
}

fn micros(at: Instant) -> u64 {
    at.as_nanos() / 1000
}

#[cfg(test)]
mod tests;
