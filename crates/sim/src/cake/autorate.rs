//! The rules by which cake-autorate (github.com/lynxthecat/cake-autorate, commit 94238be of 2026-08-19, after its
//! version 3.5.0) steers the rates of two shapers. It goes by round trips of echoes to some reflectors and by how much
//! of each rate is used. Names and defaults are its own.
//!
//! ```text
//!  each answer:   half of the round trip − its reflector's baseline = delta; of the last 6 deltas
//!    3 above 30 ms:            rate × 0.99 … 0.75, the lower the more their mean exceeds 30 ms (0.75 at 60 ms)
//!    else, load above 75 %:    rate × 1 … 1.04, the higher the more their mean falls below 30 ms (1.04 at 10 ms)
//!    else, once in a second:   1 % towards the base rate
//! ```
//!
//! Thresholds grow by the transmission time of a packet at the shaper's rate. With echoes (its default, by fping) half
//! of a round trip stands for either direction. It cannot tell which direction is delayed, so a delay in one lowers
//! both rates.
//!
//! Left out: it replaces reflectors that answer worse than others (here all answer alike), and sleeps after a minute
//! without load.

use std::time::Duration;
use tidegate_basics::time::Instant;

/// Reflectors (`no_pingers`).
pub const PINGERS: usize = 6;

/// Time between two echoes to the same reflector (`reflector_ping_interval_s`); echoes to the others are spread evenly
/// in between.
pub const PING_INTERVAL: Duration = Duration::from_millis(300);

/// Shortest time between two measurements of how much has passed, in µs (`monitor_achieved_rates_interval_ms`).
const MONITOR_INTERVAL_US: i64 = 200_000;

/// The script sleeps in steps of a tenth of a second (`sleep_remaining_tick_time`).
const SLEEP_STEP_US: i64 = 100_000;

/// Baseline of a reflector before its first answer, in µs.
const FIRST_BASELINE_US: i64 = 100_000;

/// Weight of a measurement in a rising and a falling baseline (`alpha_baseline_increase`, `_decrease`), in millionths.
const BASELINE_UP: i64 = 1_000;
const BASELINE_DOWN: i64 = 900_000;

/// Answers in the window, and how many of them have to be late (`bufferbloat_detection_window`, `_thr`).
const WINDOW: usize = 6;
const LATE: usize = 3;

/// Deltas in µs: above which an answer is late (`owd_delta_delay_thr_ms`), up to which the rate rises fastest, and
/// from which it falls fastest (`avg_owd_delta_max_adjust_up_thr_ms`, `_down_thr_ms`).
const LATE_US: i64 = 30_000;
const FASTEST_UP_US: i64 = 10_000;
const FASTEST_DOWN_US: i64 = 60_000;

/// Factors of a rate in thousandths (`shaper_rate_min_adjust_down_bufferbloat` and following).
const LEAST_DOWN: i64 = 990;
const MOST_DOWN: i64 = 750;
const LEAST_UP: i64 = 1_000;
const MOST_UP: i64 = 1_040;
const DECAY_DOWN: i64 = 990;
const DECAY_UP: i64 = 1_010;

/// Load in percent of the rate above which it is high (`high_load_thr`).
const HIGH_LOAD: i64 = 75;

/// Time between two falls, and between two steps to the base rate (`bufferbloat_` and `decay_refractory_period_ms`).
const AFTER_FALL: Duration = Duration::from_millis(300);
const AFTER_DECAY: Duration = Duration::from_millis(1_000);

/// A packet of the largest size: an Ethernet's MTU, in bits.
const LARGEST_BITS: i64 = 8 * 1_500;

/// Least, base and largest rate, in kbit/s; if all three are equal, the rate is fixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    pub least: i64,
    pub base: i64,
    pub most: i64,
}

/// One direction.
#[derive(Clone, Debug)]
struct Shaped {
    bounds: Bounds,
    rate: i64,
    /// Load of the last interval, in percent of the rate.
    load: i64,
    /// Whether that load has been measured since the rate last changed.
    is_news: bool,
    last_fall: Instant,
    last_decay: Instant,
}

/// The controller of the two rates.
#[derive(Clone, Debug)]
pub struct Autorate {
    directions: [Shaped; 2],
    /// Its estimate of the time between two measurements of how much has passed, in µs: the time in which ten of the
    /// largest packets go there and back at the base rates. The script's measuring process never learns of other rates.
    monitor_us: i64,
    baselines_us: [i64; PINGERS],
    deltas_us: [i64; WINDOW],
    /// Which of the deltas were late on arrival; by direction.
    late: [[bool; WINDOW]; 2],
    next: usize,
}

impl Autorate {
    /// Down and up at their base rates.
    pub fn new(bounds: [Bounds; 2]) -> Self {
        let shaped = |bounds: Bounds| Shaped {
            rate: bounds.base,
            bounds,
            load: 0,
            is_news: false,
            last_fall: Instant::ZERO,
            last_decay: Instant::ZERO,
        };
        let directions = bounds.map(shaped);
        let both_us: i64 = directions.iter().map(Shaped::largest_packet_us).sum();
        Self {
            directions,
            monitor_us: MONITOR_INTERVAL_US.max(10 * both_us),
            baselines_us: [FIRST_BASELINE_US; PINGERS],
            deltas_us: [0; WINDOW],
            late: [[false; WINDOW]; 2],
            next: 0,
        }
    }

    /// The rates down and up, in kbit/s.
    pub fn rates(&self) -> [i64; 2] {
        [0, 1].map(|direction| self.directions[direction].rate)
    }

    /// That many bytes have passed the shapers since the last call.
    pub fn achieved(&mut self, bytes: [u64; 2]) {
        for (shaped, bytes) in self.directions.iter_mut().zip(bytes) {
            let achieved = 8_000 * bytes as i64 / self.monitor_us;
            shaped.load = 100 * achieved / shaped.rate.max(1);
            shaped.is_news = true;
        }
    }

    /// Time until the next measurement: its estimate, rounded to what it can sleep. A half is rounded down, since a
    /// little of the time has already gone by.
    pub fn monitor_interval(&self) -> Duration {
        let steps = (self.monitor_us + SLEEP_STEP_US / 2 - 1) / SLEEP_STEP_US;
        Duration::from_micros((steps * SLEEP_STEP_US) as u64)
    }

    /// A reflector has answered, after that round trip.
    pub fn answered(&mut self, now: Instant, pinger: usize, rtt: Duration) {
        let owd_us = rtt.as_micros() as i64 / 2;
        let baseline = &mut self.baselines_us[pinger];
        let alpha = if owd_us >= *baseline {
            BASELINE_UP
        } else {
            BASELINE_DOWN
        };
        *baseline = (alpha * owd_us + (1_000_000 - alpha) * *baseline) / 1_000_000;
        let delta_us = owd_us - *baseline;
        self.deltas_us[self.next] = delta_us;
        let mean_us = self.deltas_us.iter().sum::<i64>() / WINDOW as i64;
        for (shaped, late) in self.directions.iter_mut().zip(&mut self.late) {
            late[self.next] = delta_us > LATE_US + shaped.largest_packet_us();
            let is_bloated = late.iter().filter(|&&late| late).count() >= LATE;
            shaped.adjust(now, is_bloated, mean_us);
        }
        self.next = (self.next + 1) % WINDOW;
    }
}

impl Shaped {
    /// How long a packet of the largest size takes at the rate, in µs.
    fn largest_packet_us(&self) -> i64 {
        1_000 * LARGEST_BITS / self.rate.max(1)
    }

    fn adjust(&mut self, now: Instant, is_bloated: bool, mean_us: i64) {
        let may_move = now > self.last_fall + AFTER_FALL;
        if is_bloated {
            if may_move {
                self.fall(mean_us);
                (self.last_fall, self.last_decay) = (now, now);
            }
        } else if self.load > HIGH_LOAD {
            if may_move && self.is_news {
                self.rise(mean_us);
                (self.is_news, self.last_decay) = (false, now);
            }
        } else if now > self.last_decay + AFTER_DECAY {
            self.decay();
            self.last_decay = now;
        }
        self.rate = self.rate.clamp(self.bounds.least, self.bounds.most);
    }

    fn fall(&mut self, mean_us: i64) {
        let late_us = LATE_US + self.largest_packet_us();
        let part = 1_000 * (mean_us - late_us).max(0) / (FASTEST_DOWN_US - LATE_US);
        let factor = 1_000 * LEAST_DOWN - part.min(1_000) * (LEAST_DOWN - MOST_DOWN);
        self.rate = self.rate * factor / 1_000_000;
    }

    fn rise(&mut self, mean_us: i64) {
        let late_us = LATE_US + self.largest_packet_us();
        let part = 1_000 * (late_us - mean_us).max(0) / (LATE_US - FASTEST_UP_US);
        let factor = 1_000 * LEAST_UP + part.min(1_000) * (MOST_UP - LEAST_UP);
        self.rate = self.rate * factor / 1_000_000;
    }

    /// Without load, moves a step towards the base rate.
    fn decay(&mut self) {
        let Bounds { base, .. } = self.bounds;
        self.rate = match self.rate.cmp(&base) {
            std::cmp::Ordering::Greater => (self.rate * DECAY_DOWN / 1_000).max(base),
            std::cmp::Ordering::Less => (self.rate * DECAY_UP / 1_000).min(base),
            std::cmp::Ordering::Equal => base,
        };
    }
}

#[cfg(test)]
mod tests;
