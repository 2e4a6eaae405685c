//! Quality of experience, after Yin et al. (SIGCOMM 2015, equation 5): the quality of all segments, less the penalties
//! for changes of quality, stalls and startup.

use tidegate_scenario::{AdaptiveResult, QoeSpec, VideoResult};

/// Sums over the segments that have arrived.
#[derive(Clone, Debug, Default)]
pub struct Played {
    segments: u64,
    switches: u64,
    /// Mbit/s of all segments, and of all changes from one to the next.
    sum: f64,
    changes: f64,
    last: Option<f64>,
}

impl Played {
    /// A segment of that many Mbit/s.
    pub fn push(&mut self, mbps: f64) {
        let change = self.last.map_or(0.0, |last| (mbps - last).abs());
        self.segments += 1;
        self.switches += u64::from(change > 0.0);
        self.sum += mbps;
        self.changes += change;
        self.last = Some(mbps);
    }

    /// The quality of a video whose player waited as `video` says; one that never began has waited `waited_s`.
    pub fn result(&self, weights: &QoeSpec, video: &VideoResult, waited_s: f64) -> AdaptiveResult {
        let startup_s = video.startup_s.unwrap_or(waited_s);
        let qoe = self.sum
            - weights.switch * self.changes
            - weights.stall_per_s * video.stalled_s
            - weights.startup_per_s * startup_s;
        let each = 1.0 / self.segments.max(1) as f64;
        AdaptiveResult {
            segments: self.segments,
            bitrate_bps: self.sum * each * 1e6,
            switches: self.switches,
            qoe,
            qoe_per_segment: qoe * each,
        }
    }
}
