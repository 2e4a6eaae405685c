//! What a law costs: a download to run it on, and the time that it takes.

use crate::{Ack, Flow, Law, Params, Path, Segment};
use std::time::Instant;

/// Between two segments: 100 Mbit/s.
const SPACING_US: u64 = 120;
const RTT_US: u64 = 40_000;
const QUEUE_US: u64 = 15_000;
const MSS: u32 = 1448;

/// Bulk data over a full link of 100 Mbit/s and 40 ms, whose queue comes and goes once a second.
#[derive(Debug)]
pub struct Download {
    flow: Flow,
    path: Path,
    params: Params,
    now_us: u64,
    seq: u32,
}

impl Download {
    /// A download that `law` steers, with its default parameters.
    pub fn new(law: Law) -> Self {
        Self {
            flow: Flow::default(),
            path: Path::default(),
            params: Params {
                law,
                ..Params::default()
            },
            now_us: 1_000_000,
            seq: 0,
        }
    }

    /// A segment arrives and is acknowledged. Returns the window field of the acknowledgement.
    pub fn step(&mut self) -> u16 {
        self.now_us += SPACING_US;
        let ms = |us: u64| (us / 1_000) as u32;
        let queue_us = QUEUE_US * (self.now_us / 1_000_000 % 2);
        let sent_us = self.now_us - RTT_US / 2 - queue_us;
        let echoed_us = sent_us - RTT_US / 2;
        self.flow.data_in(
            &mut self.path,
            &self.params,
            &Segment {
                now_us: self.now_us,
                seq: self.seq,
                len: MSS,
                mss: MSS,
                timestamps: Some((ms(sent_us), ms(echoed_us))),
                ..Segment::default()
            },
        );
        self.seq = self.seq.wrapping_add(MSS);
        self.flow.ack_out(&Ack {
            now_us: self.now_us,
            ack: self.seq,
            raw: 32_768,
            scale: 10,
            bare: true,
            sack: false,
            tsval: Some(ms(self.now_us)),
        })
    }

    /// The flow, with all that it has measured.
    pub fn flow(&self) -> &Flow {
        &self.flow
    }
}

/// Nanoseconds that `law` takes for a segment that arrives and an acknowledgement that leaves, as
/// the mean of `segments` of a [`Download`].
pub fn nanoseconds_per_segment(law: Law, segments: u32) -> f64 {
    let mut download = Download::new(law);
    let began = Instant::now();
    for _ in 0..segments {
        std::hint::black_box(download.step());
    }
    began.elapsed().as_secs_f64() * 1e9 / f64::from(segments)
}
