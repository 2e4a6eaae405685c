//! rLEDBAT (RFC 9840): LEDBAT++ at the receiver.

mod agrees;

/// T, the target of the queueing delay.
pub const TARGET_US: f64 = 60_000.0;
const MINUTE_US: u64 = 60_000_000;
const SECOND_US: u64 = 1_000_000;
/// Minutes for which the base is believed.
const MINUTES: u64 = 8;
/// The largest window that TCP can say.
const MOST: f64 = 65_535.0 * 16_384.0;

/// A data segment. Sequence numbers and timestamps do not wrap here.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub now_us: u64,
    pub end: u64,
    pub len: u64,
    pub mss: u64,
    pub tsval: u64,
    pub sample_us: Option<u64>,
}

/// The flow. Every sample is kept.
#[derive(Clone, Debug, Default)]
pub struct Rledbat {
    /// When each sample was taken, and what it was.
    samples: Vec<(u64, u64)>,
    /// When the minutes began to be counted.
    epoch_us: Option<u64>,
    pub srtt_us: f64,
    /// W and its threshold in bytes; None before the first data.
    pub window: Option<f64>,
    pub ssthresh: f64,
    /// Bytes since the last increase and the last decrease.
    increase: f64,
    decrease: f64,
    slowdowns: u32,
    /// When the next slow-down is due, and when the last began while its length is not known.
    pub slowdown_at_us: Option<u64>,
    slowdown_us: Option<u64>,
    reduced_until_us: u64,
    arrived_us: u64,
    highest: (u64, u64),
}

impl Rledbat {
    /// The smallest sample of this minute and the seven before. A longer pause starts the count of
    /// minutes anew.
    fn base_us(&self) -> Option<u64> {
        let now_us = self.samples.last()?.0;
        let minute = |at: u64| (at - self.epoch_us.unwrap()) / MINUTE_US;
        let recent =
            |at: u64| at >= self.epoch_us.unwrap() && minute(at) + MINUTES > minute(now_us);
        let samples = self.samples.iter().filter(|(at, _)| recent(*at));
        samples.map(|(_, rtt)| *rtt).min()
    }

    /// The smallest of the last four.
    fn current_us(&self) -> Option<u64> {
        self.samples.iter().rev().take(4).map(|(_, rtt)| *rtt).min()
    }

    fn sample(&mut self, rtt_us: u64, now_us: u64) {
        let since = self.samples.last().map_or(now_us, |s| s.0);
        let epoch_us = *self.epoch_us.get_or_insert(now_us);
        let began_us = epoch_us + (since - epoch_us) / MINUTE_US * MINUTE_US;
        if now_us - began_us >= (MINUTES + 1) * MINUTE_US {
            self.epoch_us = Some(now_us);
        }
        self.samples.push((now_us, rtt_us));
        self.srtt_us = if self.samples.len() == 1 {
            rtt_us as f64
        } else {
            self.srtt_us + (rtt_us as f64 - self.srtt_us) / 8.0
        };
    }

    fn begin(&mut self, a: &Arrival) {
        if self.window.is_none() {
            self.ssthresh = MOST;
            self.highest = (a.end, a.tsval);
        }
        self.window = Some(2.0 * a.mss as f64);
        (self.increase, self.decrease) = (0.0, 0.0);
        self.slowdowns = 0;
        (self.slowdown_at_us, self.slowdown_us) = (None, None);
    }

    /// Two round trips with two segments; whether they are not over.
    fn slowing(&mut self, a: &Arrival) -> bool {
        if self.slowdown_at_us.is_none_or(|at| a.now_us < at) {
            return false;
        }
        if self.slowdown_us.is_none() {
            self.slowdown_us = Some(a.now_us);
            self.slowdowns += 1;
        }
        if (a.now_us - self.slowdown_us.unwrap()) as f64 >= 2.0 * self.srtt_us.floor() {
            return false;
        }
        let window = self.window.unwrap();
        let least = 2.0 * a.mss as f64;
        if window > least {
            self.ssthresh = self.ssthresh.max(window);
            self.window = Some(least);
            self.increase = 0.0;
        }
        true
    }

    /// Old data, sent later than newer data.
    fn lost(&mut self, a: &Arrival) -> bool {
        let lost = a.end < self.highest.0 && a.tsval >= self.highest.1;
        self.highest = (self.highest.0.max(a.end), self.highest.1.max(a.tsval));
        lost
    }

    fn set(&mut self, window: f64, mss: u64) {
        self.window = Some(window.clamp(2.0 * mss as f64, MOST));
    }

    fn halve(&mut self, a: &Arrival) {
        if a.now_us < self.reduced_until_us {
            return;
        }
        self.set(self.window.unwrap() / 2.0, a.mss);
        self.ssthresh = self.window.unwrap();
        (self.increase, self.decrease) = (0.0, 0.0);
        self.reduced_until_us = a.now_us + 2 * self.srtt_us as u64;
    }

    /// LEDBAT++ section 4.2: GAIN = 1 / min(16, ceil(2 T / base)).
    pub fn slow_start_gain(base_us: f64) -> f64 {
        1.0 / f64::min(16.0, (2.0 * TARGET_US / base_us).ceil())
    }

    fn schedule(&mut self, now_us: u64) {
        let window = self.window.unwrap();
        let took_us = self.slowdown_us.map_or(0, |began| now_us - began);
        let cut_short = if self.ssthresh > window { 2 } else { 1 };
        let wait_us = match took_us {
            0 => 2 * self.srtt_us as u64,
            _ => 9 * cut_short * took_us,
        };
        self.slowdown_at_us = Some(now_us + wait_us);
        self.slowdown_us = None;
        self.ssthresh = self.ssthresh.min(window);
    }

    fn avoid(&mut self, a: &Arrival, queue_us: f64) {
        if self.slowdown_at_us.is_none() || self.slowdown_us.is_some() {
            self.schedule(a.now_us);
        }
        let window = self.window.unwrap();
        if queue_us <= TARGET_US {
            self.increase += a.len as f64;
            if self.increase >= window {
                self.increase = (self.increase - window).min(window - 1.0);
                self.ssthresh = self.ssthresh.max(window);
                self.set(window + a.mss as f64, a.mss);
            }
        } else if a.now_us >= self.reduced_until_us {
            self.decrease += a.len as f64;
            if self.decrease >= window {
                self.decrease = (self.decrease - window).min(window - 1.0);
                self.set(
                    window - f64::min(queue_us / TARGET_US - 1.0, 0.5) * window,
                    a.mss,
                );
                self.ssthresh = self.ssthresh.min(self.window.unwrap());
            }
        }
    }

    /// Returns W.
    pub fn arrived(&mut self, a: &Arrival) -> f64 {
        let silent_us = a.now_us - self.arrived_us;
        let idle = silent_us >= SECOND_US && silent_us as f64 >= 2.0 * self.srtt_us.floor();
        if self.window.is_none() || idle {
            self.begin(a);
        }
        self.arrived_us = a.now_us;
        if let Some(rtt_us) = a.sample_us {
            self.sample(rtt_us, a.now_us);
        }
        let lost = self.lost(a);
        if self.slowing(a) {
            return self.window.unwrap();
        }
        if lost {
            self.halve(a);
            return self.window.unwrap();
        }
        let window = self.window.unwrap();
        let burst = 10.0 * a.mss as f64;
        let (Some(base_us), Some(current_us)) = (self.base_us(), self.current_us()) else {
            self.set(window + f64::min(a.len as f64, burst), a.mss);
            return self.window.unwrap();
        };
        let queue_us = current_us.saturating_sub(base_us) as f64;
        let start_us = TARGET_US * if self.slowdowns > 0 { 1.0 } else { 0.75 };
        if window < self.ssthresh && queue_us <= start_us {
            let grown = (self.increase + a.len as f64) * Self::slow_start_gain(base_us as f64);
            self.set(window + grown.min(burst), a.mss);
            self.slowdown_at_us = None;
        } else {
            self.avoid(a, queue_us);
        }
        self.window.unwrap()
    }

    /// Takes the law's rounding for its own, so that none adds up: what is checked is each step.
    pub fn round_to(&mut self, law: &tidegate_laws::sys::tg_rledbat) {
        self.window = Some(law.window.into());
        self.ssthresh = law.ssthresh.into();
        self.srtt_us = law.srtt_us.into();
        self.increase = law.increase.into();
        self.decrease = law.decrease.into();
        self.reduced_until_us = law.reduced_until_us;
        self.slowdown_at_us = (law.slowdown_at_us > 0).then_some(law.slowdown_at_us);
    }
}
