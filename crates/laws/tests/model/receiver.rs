//! A receiver whose window a law steers. It acknowledges every second segment, as stacks do.

use super::{Data, MSS, Source};
use tidegate_laws::{Ack, Flow, Params, Path, Segment, sys};
use tidegate_link::Instant;

pub const SCALE: u8 = 10;
const KERNEL_MAX: u64 = 32 << 20;

/// The window field of a kernel that steers nothing: it begins with 64 KB and opens by two bytes
/// for each that arrives, as `tcp_grow_window` does, up to Linux's 32 MB.
fn kernel_raw(received: u64) -> u16 {
    ((64 * 1024 + 2 * received).min(KERNEL_MAX) >> SCALE) as u16
}

/// The receiver's timestamp; it wraps soon after the start.
fn tsval(now: Instant) -> u32 {
    ((now.as_nanos() / 1_000_000) as u32).wrapping_add(0xffff_f000)
}

/// An acknowledgement on its way back.
pub struct AckOnWire {
    pub due: Instant,
    pub ack: u32,
    pub raw: u16,
    pub tsval: u32,
    pub tsecr: u32,
}

impl AckOnWire {
    /// The right edge of its window.
    pub fn edge(&self) -> u32 {
        self.ack.wrapping_add(u32::from(self.raw) << SCALE)
    }
}

pub struct Receiver {
    flow: Flow,
    nxt: u32,
    unacked: u32,
    /// The first stamp that is not acknowledged.
    tsecr: u32,
    received: u64,
    chunk_bytes: u64,
    chunk_left: u64,
}

impl Receiver {
    pub fn new(source: &Source) -> Self {
        let chunk_bytes = source.chunks.map_or(u64::MAX, |(bytes, _)| bytes);
        Self {
            flow: Flow::default(),
            nxt: 0,
            unacked: 0,
            tsecr: 0,
            received: 0,
            chunk_bytes,
            chunk_left: chunk_bytes,
        }
    }

    /// The handshake's last acknowledgement left at `left`; returns its stamp.
    pub fn greet(&mut self, left: Instant) -> u32 {
        self.leaves(left);
        tsval(left)
    }

    /// A segment arrives, with a law or without; returns whether it ends a chunk.
    pub fn data(&mut self, law: Option<(&mut Path, &Params)>, data: &Data, now: Instant) -> bool {
        let segment = Segment {
            now_us: now.as_nanos() / 1000,
            seq: data.seq,
            len: MSS,
            mss: MSS,
            timestamps: Some((data.tsval, data.tsecr)),
            ..Segment::default()
        };
        if let Some((path, params)) = law {
            self.flow.data_in(path, params, &segment);
        }
        if self.unacked == 0 {
            self.tsecr = data.tsval;
        }
        self.nxt = data.seq.wrapping_add(MSS);
        self.unacked += 1;
        self.received += u64::from(MSS);
        self.chunk_left = self.chunk_left.saturating_sub(u64::from(MSS));
        let done = self.chunk_left == 0;
        if done {
            self.chunk_left = self.chunk_bytes;
        }
        done
    }

    /// The acknowledgement that is due now, if there is one.
    pub fn acknowledge(&mut self, now: Instant, at_once: bool) -> Option<AckOnWire> {
        if self.unacked < 2 && !at_once {
            return None;
        }
        self.unacked = 0;
        let raw = self.leaves(now);
        Some(AckOnWire {
            due: now,
            ack: self.nxt,
            raw,
            tsval: tsval(now),
            tsecr: self.tsecr,
        })
    }

    /// The group whose record steers the flow, if any.
    pub fn group(&self, path: &Path) -> Option<u32> {
        self.shared(path).map(|group| group.name)
    }

    /// How often the record that steers the flow has asked whose queue it is.
    pub fn questions(&self, path: &Path) -> u32 {
        let own = &self.flow.raw().member.own;
        self.shared(path)
            .map_or(own, |group| &group.record)
            .questions
    }

    fn shared<'a>(&self, path: &'a Path) -> Option<&'a sys::tg_group> {
        let sharing = &self.flow.raw().member.sharing;
        let group = &path.raw().group[sharing.place as usize];
        let shares = sharing.joined != 0 && sharing.name == group.name;
        assert!(!shares || group.name != 0, "the place of a group is free");
        shares.then_some(group)
    }

    fn leaves(&mut self, now: Instant) -> u16 {
        let ack = Ack {
            now_us: now.as_nanos() / 1000,
            ack: self.nxt,
            raw: kernel_raw(self.received),
            scale: SCALE,
            bare: true,
            sack: false,
            tsval: Some(tsval(now)),
        };
        self.flow.ack_out(&ack)
    }
}
