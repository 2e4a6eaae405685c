//! Floors that have become too low: a level that the window does not move is path.

use super::recheck::RECHECK_US;
use super::{Probe, Recheck, Share, State, Tide};

/// Buckets at one level before it is doubted, and how long without an empty queue does the same.
const STEADY: u32 = 12;
const UNTOUCHED_US: u64 = 10_000_000;
const PATIENCE_MAX_US: u64 = 160_000_000;
/// A lag that has grown by a sixteenth, and two ticks, since the queue was last empty is longer. Then levels may
/// differ by so much more, a probe is watched for so many lags at most, and a queue that it meets is believed for as many
/// but one.
const LONGER_PART: u64 = 16;
const TREMBLE_US: u64 = 2_000;
const WATCHES: u32 = 9;
const LONGER_PATIENCE: u64 = 8;

impl Tide {
    /// Whether two delays are at one level.
    pub(super) fn alike(&self, one_us: u64, other_us: u64) -> bool {
        let trembles_us = if self.longer { TREMBLE_US } else { 0 };
        one_us.abs_diff(other_us) <= self.empty_us() + trembles_us
    }

    /// A queue on the data's way does not lengthen the way back; another route does.
    pub(super) fn compare_lag(&mut self, s: &mut Share, queue_us: u64) {
        let h_us = s.h_us.unwrap_or(0);
        let slack_us = (s.touched_h_us / LONGER_PART).max(2_000);
        if queue_us <= self.empty_us() || self.state == State::Starting {
            s.touched_h_us = h_us;
        }
        self.longer = h_us > s.touched_h_us + slack_us;
    }

    /// Delay stands still above the empty queue's, the count is not falling just now, and the
    /// forecast sank by a quarter since the queue was empty, or that is long ago, or the lag is longer.
    pub(super) fn floor_is_doubtful(&self, now_us: u64) -> bool {
        let stands = self.steady >= STEADY && self.level_us > self.empty_us();
        let patient = now_us - self.probed_us < self.patience_us;
        let falling = self.x() < 0.75 * self.m;
        let sunk = self.m < 0.75 * self.touched.1;
        let untouched_us = now_us - self.touched.0.max(self.probed_us);
        stands && !patient && !falling && (self.longer || sunk || untouched_us >= UNTOUCHED_US)
    }

    /// Makes room for what came when the queue was last empty, m being half as much again: a
    /// quarter more than now at least, half at most.
    pub(super) fn begin_probe(&mut self, now_us: u64) {
        self.state = State::Probing;
        self.probes += 1;
        let x = self.x();
        let aim = (0.75 * self.touched.1).clamp(1.25 * x, 1.5 * x);
        let round_us = self.h() + self.level_us;
        let arrives_us = now_us + round_us;
        self.probe = Some(Probe {
            before: x,
            level_us: self.level_us,
            aim,
            window: aim * round_us as f64 + self.mss as f64,
            watch_us: arrives_us..arrives_us + self.h(),
            watched_us: None,
            watches: 1,
        });
    }

    /// What was probed is path if most of what there was room for came, and delay is what it was. Where the lag
    /// is longer it is watched on until that comes.
    pub(super) fn end_probe(&mut self, probe: Probe, now_us: u64) {
        let came = self.x() >= probe.aim - (probe.aim - probe.before) / 8.0;
        let unmoved = probe
            .watched_us
            .is_some_and(|q| self.alike(q, probe.level_us));
        if unmoved && !came && self.longer && probe.watches < WATCHES {
            self.probe = Some(Probe {
                watch_us: probe.watch_us.start..now_us + self.h(),
                watched_us: None,
                watches: probe.watches + 1,
                ..probe
            });
            return;
        }
        self.state = State::Running;
        self.probed_us = now_us;
        if came && unmoved {
            self.raise_floors(probe.level_us, now_us);
        } else {
            let most_us = if self.longer {
                LONGER_PATIENCE * self.h()
            } else {
                PATIENCE_MAX_US
            };
            self.patience_us = (2 * self.patience_us).max(4 * self.h()).min(most_us);
        }
    }

    /// The level is path: it belongs to the lag, and the forecast is what it was.
    fn raise_floors(&mut self, rise_us: u64, now_us: u64) {
        self.risen_us += rise_us;
        self.rises += 1;
        self.h_us = Some(self.h() + rise_us);
        for (_, least_us) in &mut self.leasts {
            *least_us += rise_us;
        }
        (self.level_us, self.steady) = (0, 0);
        self.m = self.m.max(self.touched.1);
        self.touched = (now_us, self.m);
        self.patience_us = 0;
        self.recheck = Some(Recheck {
            wait_us: RECHECK_US,
            due_us: now_us + RECHECK_US,
        });
    }

    /// By how much the flow's floor is to rise before this packet's delay is taken: by what the
    /// record's rose by since its last.
    pub fn floor_rise(&self, s: &mut Share) -> u64 {
        let rise_us = self.risen_us - std::mem::replace(&mut s.risen_us, self.risen_us);
        s.h_us = s.h_us.map(|h_us| h_us + rise_us);
        if rise_us > 0 {
            s.touched_h_us = s.h_us.unwrap_or(0);
        }
        rise_us
    }
}
