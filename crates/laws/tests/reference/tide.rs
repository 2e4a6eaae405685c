//! The forecast of what the link will carry, its error, and the window that follows.

mod agrees;

/// Buckets over which the rate is taken, and for which the forecast is made.
const BUCKETS: usize = 8;
/// Longer silences begin anew.
const IDLE_US: u64 = 10_000_000;
/// Of one silence at most so many empty buckets count.
const CATCH_UP: usize = 32;
const LAG_LEAST_US: u64 = 5_000;
const PATIENCE_US: u64 = 2_000_000;
const PATIENCE_MAX_US: u64 = 32_000_000;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Starting,
    Running,
    Draining,
}

/// A measured packet.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub now_us: u64,
    pub len: u64,
    pub mss: u64,
    pub sample_us: Option<u64>,
    pub rtt_min_us: u64,
    pub queue_us: u64,
}

/// A flow's part in the path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    /// Its own lag.
    pub h_us: Option<u64>,
    /// Its bytes in an epoch, and the last one in which it was hungry.
    bytes: (u64, u64),
    hungry: Option<u64>,
    /// The drain that it has seen through.
    refloored: u64,
}

/// Bytes and duration of a bucket.
type Bucket = (u64, u64);

/// The path. Rates are bytes a microsecond; every count and every forecast is kept.
#[derive(Clone, Debug, Default)]
pub struct Tide {
    pub state: State,
    /// H, in whole microseconds as every time.
    pub h_us: Option<u64>,
    h_moved_us: u64,
    /// The forecast and its errors over 8 and 64 round trips.
    pub m: f64,
    pub d1: f64,
    pub d2: f64,
    errors: u64,
    closed: Vec<Bucket>,
    forecasts: Vec<f64>,
    open: Bucket,
    open_end_us: u64,
    least_queue_us: Option<u64>,
    standing: u32,
    arrived_us: Option<u64>,
    /// Epochs are round trips; flows that were hungry in the last, and in this one.
    epoch: u64,
    epoch_end_us: u64,
    pub hungry: u64,
    hungry_now: u64,
    /// When the queue was last empty, and m then.
    touched: (u64, f64),
    pub drains: u64,
    drain_began_us: u64,
    drain_until_us: u64,
    refloored: u64,
    floor_rose: bool,
    patience_us: u64,
    /// Counts before then are our own drain's doing.
    hold_until_us: u64,
    mss: u64,
}

/// `from` moved by `part` of the way to `to`, to whole microseconds, rounded towards `from`.
fn moved(from: u64, to: u64, part: f64) -> u64 {
    let step = (to as f64 - from as f64) * part;
    // A product that is whole but for the last bit of its binary fraction is whole.
    from.wrapping_add_signed((step + step.signum() * 1e-9).trunc() as i64)
}

impl Tide {
    /// A measured packet of the flow `s` arrives. The flow's window in bytes; none: the kernel's.
    pub fn arrived(&mut self, s: &mut Share, a: &Arrival) -> Option<f64> {
        self.mss = a.mss;
        self.learn_lag(s, a);
        self.h_us?;
        self.advance(a);
        self.open.0 += a.len;
        self.least_queue_us = Some(
            self.least_queue_us
                .map_or(a.queue_us, |q| q.min(a.queue_us)),
        );
        self.count_hungry(s, a.len);
        self.age_floors(a);
        self.share(s)
    }

    /// H follows RTT − forward queueing delay: half of a change in about a third of H.
    fn learn_lag(&mut self, s: &mut Share, a: &Arrival) {
        let Some(sample_us) = a.sample_us else { return };
        let lag_us = sample_us
            .saturating_sub(a.queue_us)
            .max(a.rtt_min_us)
            .max(LAG_LEAST_US);
        self.h_us = Some(match self.h_us {
            None => lag_us,
            Some(h_us) => {
                let elapsed_us = (a.now_us - self.h_moved_us).min(h_us) as f64;
                let part = elapsed_us / ((h_us / 2) as f64 + elapsed_us);
                moved(h_us, lag_us, part).max(1)
            }
        });
        self.h_moved_us = a.now_us;
        s.h_us = Some(
            s.h_us
                .map_or(lag_us, |h_us| moved(h_us, lag_us, 1.0 / 16.0)),
        );
    }

    fn h(&self) -> u64 {
        self.h_us.expect("known since the first sample")
    }

    /// Below this delay the queue is empty.
    fn empty_us(&self) -> u64 {
        (self.h() / 32).max(2_000)
    }

    /// A gap is an outage if the packet that ends it queued for as long, else idleness.
    fn advance(&mut self, a: &Arrival) {
        let silent_us = self.arrived_us.map(|arrived_us| a.now_us - arrived_us);
        match silent_us.map(|gap_us| gap_us.saturating_sub(a.queue_us)) {
            Some(idle_us) if idle_us <= IDLE_US => {
                if idle_us > self.h() {
                    self.open_end_us += idle_us;
                }
            }
            _ => self.start(a.now_us),
        }
        self.arrived_us = Some(a.now_us);
        for _ in 0..CATCH_UP {
            if a.now_us < self.open_end_us {
                break;
            }
            self.close();
            self.open_bucket(self.open_end_us);
        }
        if a.now_us >= self.open_end_us {
            self.open_bucket(a.now_us);
        }
        if a.now_us >= self.epoch_end_us {
            self.epoch += 1;
            self.epoch_end_us = a.now_us + self.h();
            self.hungry = std::mem::take(&mut self.hungry_now);
        }
    }

    fn start(&mut self, now_us: u64) {
        self.state = State::Starting;
        self.standing = 0;
        self.closed.clear();
        self.open.0 = 0;
        self.least_queue_us = None;
        self.open_bucket(now_us);
        self.touched.0 = now_us;
        self.patience_us = PATIENCE_US;
    }

    fn open_bucket(&mut self, from_us: u64) {
        self.open.1 = (self.h() / BUCKETS as u64).max(1_000);
        self.open_end_us = from_us + self.open.1;
    }

    /// Rate over the last 8 buckets.
    fn x(&self) -> f64 {
        let last = &self.closed[self.closed.len().saturating_sub(BUCKETS)..];
        let bytes: u64 = last.iter().map(|b| b.0).sum();
        let us: u64 = last.iter().map(|b| b.1).sum();
        bytes as f64 / us as f64
    }

    fn close(&mut self) {
        self.closed.push(self.open);
        self.open.0 = 0;
        let empty = self.least_queue_us.take().map(|q| q <= self.empty_us());
        let x = self.x();
        if self.state == State::Starting {
            // A bucket without data says nothing.
            match empty {
                Some(true) => self.standing = 0,
                Some(false) => self.standing += 1,
                None => {}
            }
            if self.standing >= 2 {
                self.run(x);
            }
            return;
        }
        self.learn(x, empty == Some(true));
        self.forecasts.push(self.m);
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
        if self.open_end_us < self.hold_until_us || (empty && x < self.m) {
            return;
        }
        let e = (x - self.forecasts[self.forecasts.len() - BUCKETS]).abs();
        self.errors = (self.errors + 1).min(512);
        self.d1 += (e - self.d1) / 64.0;
        self.d2 += (e - self.d2) / self.errors as f64;
        self.m += (x - self.m) / 8.0;
    }

    /// Hungry: at least a quarter of an even share of what the link carries in a round trip.
    fn count_hungry(&mut self, s: &mut Share, len: u64) {
        if s.bytes.0 != self.epoch {
            s.bytes = (self.epoch, 0);
        }
        s.bytes.1 += len;
        let even = (self.m * self.h() as f64) / self.hungry.max(1) as f64;
        if s.hungry != Some(self.epoch) && s.bytes.1 as f64 >= even / 4.0 {
            s.hungry = Some(self.epoch);
            self.hungry_now += 1;
        }
    }

    fn age_floors(&mut self, a: &Arrival) {
        if a.queue_us <= self.empty_us() {
            self.touched = (a.now_us, self.m);
        }
        if self.state == State::Running && self.floor_is_doubtful(a.now_us) {
            self.state = State::Draining;
            self.drains += 1;
            self.drain_began_us = a.now_us;
            self.drain_until_us = a.now_us + 6 * (self.h() + a.queue_us) + 200_000;
            self.refloored = 0;
            self.floor_rose = false;
            self.hold_until_us = u64::MAX;
        }
        let complete = self.refloored >= self.hungry.max(1);
        if self.state == State::Draining && (complete || a.now_us >= self.drain_until_us) {
            self.state = State::Running;
            self.touched = (a.now_us, self.m);
            self.hold_until_us = a.now_us + 2 * self.h();
            self.patience_us = if self.floor_rose {
                PATIENCE_US
            } else {
                (2 * self.patience_us).min(PATIENCE_MAX_US)
            };
        }
    }

    /// Untouched for long, and the count fell by a quarter, or for very long.
    fn floor_is_doubtful(&self, now_us: u64) -> bool {
        let untouched_us = now_us - self.touched.0;
        let drained_lately = self.drains > 0 && now_us - self.drain_began_us < self.patience_us;
        let fell = self.m < 0.75 * self.touched.1;
        untouched_us >= self.patience_us
            && !drained_lately
            && (fell || untouched_us >= 5 * self.patience_us)
    }

    /// The flow `s` has seen the drain through, and its floor rose by `rise_us`.
    pub fn refloored(&mut self, s: &mut Share, rise_us: u64) {
        s.refloored = self.drains;
        self.refloored += 1;
        if rise_us <= self.empty_us() {
            return;
        }
        if !self.floor_rose {
            self.m = self.m.max(self.touched.1);
            self.h_us = Some(self.h() + rise_us);
        }
        self.floor_rose = true;
        s.h_us = Some(s.h_us.unwrap_or(0) + rise_us);
    }

    /// The path's window.
    fn window(&self) -> Option<f64> {
        let h = self.h() as f64;
        let mss = self.mss as f64;
        match self.state {
            State::Starting => None,
            State::Running => {
                let margin = 3.0 * (self.d1 + self.d2) / 2.0;
                Some(((self.m + margin) * h + mss).max(4.0 * mss))
            }
            State::Draining => {
                let rate = f64::max(self.m / 4.0, self.touched.1 / 8.0);
                Some((rate * h).max(2.0 * mss))
            }
        }
    }

    /// The hungry share alike, others may grow into one more part; a longer way takes more bytes.
    fn share(&self, s: &Share) -> Option<f64> {
        let hungry = s.hungry.is_some_and(|epoch| epoch + 1 >= self.epoch);
        let parts = if hungry {
            self.hungry.max(1)
        } else {
            self.hungry + 1
        };
        let mut window = self.window()? / parts as f64;
        if let (Some(h_us), true) = (s.h_us, parts > 1) {
            window *= (h_us as f64 / self.h() as f64).clamp(0.25, 4.0);
        }
        Some(window.max(2.0 * self.mss as f64))
    }
}
