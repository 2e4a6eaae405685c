//! The forecast: lag, buckets, rate and error.

use super::{Arrival, Share, State, Tide};

/// Buckets over which the rate is taken, and for which the forecast is made.
const BUCKETS: usize = 8;
const LAG_LEAST_US: u64 = 5_000;
/// The least H is taken over one to two spans of so long.
const LEAST_US: u64 = 4_000_000;

/// `from` moved by `part` of the way to `to`, to whole microseconds, rounded towards `from`.
fn moved(from: u64, to: u64, part: f64) -> u64 {
    let step = (to as f64 - from as f64) * part;
    // A product that is whole but for the last bit of its binary fraction is whole.
    from.wrapping_add_signed((step + step.signum() * 1e-9).trunc() as i64)
}

impl Tide {
    /// H follows RTT − forward queueing delay of the hungry, while there are any: half of a change in about
    /// two thirds of H. What a flow follows for itself it follows by count.
    pub(super) fn learn_lag(&mut self, s: &mut Share, a: &Arrival) {
        let Some(sample_us) = a.sample_us else { return };
        let lag_us = sample_us
            .saturating_sub(a.queue_us)
            .max(a.rtt_min_us)
            .max(LAG_LEAST_US);
        s.h_us = Some(
            s.h_us
                .map_or(lag_us, |h_us| moved(h_us, lag_us, 1.0 / 16.0)),
        );
        if self.h_us.is_some() && self.hungry > 0 && !self.is_hungry(s) {
            return;
        }
        self.h_us = Some(match self.h_us {
            None => lag_us,
            Some(h_us) => {
                let elapsed_us = (a.now_us - self.h_moved_us).min(h_us) as f64;
                let part = elapsed_us / (h_us as f64 + elapsed_us);
                moved(h_us, lag_us, part).max(1)
            }
        });
        self.h_moved_us = a.now_us;
        self.uploading = a.uploading;
        self.note_least(a.now_us);
    }

    fn note_least(&mut self, now_us: u64) {
        let h_us = self.h();
        match self.leasts.last_mut() {
            Some((since_us, least_us)) if now_us - *since_us < LEAST_US => {
                *least_us = h_us.min(*least_us);
            }
            _ => self.leasts.push((now_us, h_us)),
        }
    }

    pub(super) fn start(&mut self, now_us: u64) {
        self.state = State::Starting;
        self.probe = None;
        (self.standing_buckets, self.backlogged, self.steady) = (0, 0, 0);
        self.closed.clear();
        self.open.0 = 0;
        self.least_queue_us = None;
        self.idle = false;
        self.open_bucket(now_us);
        self.touched.0 = now_us;
        self.patience_us = 0;
    }

    pub(super) fn open_bucket(&mut self, from_us: u64) {
        self.open.1 = (self.h() / BUCKETS as u64).max(1_000);
        self.open_end_us = from_us + self.open.1;
    }

    /// Bytes in the last 8 buckets and the open one.
    pub(super) fn lately(&self) -> u64 {
        let last = &self.closed[self.closed.len().saturating_sub(BUCKETS)..];
        last.iter().map(|b| b.0).sum::<u64>() + self.open.0
    }

    /// Rate over the last 8 buckets.
    pub(super) fn x(&self) -> f64 {
        let last = &self.closed[self.closed.len().saturating_sub(BUCKETS)..];
        let bytes: u64 = last.iter().map(|b| b.0).sum();
        let us: u64 = last.iter().map(|b| b.1).sum();
        bytes as f64 / us as f64
    }

    pub(super) fn close(&mut self) {
        self.closed.push(self.open);
        self.open.0 = 0;
        let least_us = self.least_queue_us.take();
        let idle = std::mem::take(&mut self.idle);
        let empty = idle || least_us.is_some_and(|q| q <= self.empty_us());
        self.backlogged = if empty { 0 } else { self.backlogged + 1 };
        // A bucket without data says nothing of the queue.
        if let Some(least_us) = least_us {
            self.note_level(least_us);
        }
        let x = self.x();
        if self.state != State::Starting {
            self.learn(x, empty);
            self.forecasts.push(self.m);
        } else if self.standing_buckets >= 2 && self.backlogged as usize >= BUCKETS {
            self.run(x);
        }
    }

    fn note_level(&mut self, least_us: u64) {
        self.standing_buckets = if least_us <= self.empty_us() {
            0
        } else {
            self.standing_buckets + 1
        };
        if !self.alike(least_us, self.level_us) {
            self.level_us = least_us;
            self.steady = 0;
        }
        self.steady += 1;
    }

    /// The link is full: its count is the forecast.
    fn run(&mut self, x: f64) {
        self.state = State::Running;
        self.m = x;
        (self.d1, self.d2) = (x / 2.0, x / 2.0);
        self.errors = 16;
        self.touched.1 = x;
        self.forecasts = vec![x; BUCKETS];
    }

    fn learn(&mut self, x: f64, empty: bool) {
        let x = if empty { 1.5 * x } else { x };
        // A fall counts once the queue has stood through two buckets.
        if x < self.m && self.backlogged < 2 {
            return;
        }
        let e = (x - self.forecasts[self.forecasts.len() - BUCKETS]).abs();
        self.errors = (self.errors + 1).min(512);
        self.d1 += (e - self.d1) / 64.0;
        self.d2 += (e - self.d2) / self.errors as f64;
        self.m += (x - self.m) / 8.0;
    }
}
