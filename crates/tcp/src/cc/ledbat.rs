//! LEDBAT (RFC 6817): background transport that keeps its own queueing delay at a target.
//!
//! ```text
//!     off_target = (TARGET − queueing delay) / TARGET
//!     cwnd += GAIN · off_target · acked / cwnd         (segments; GAIN = 1)
//! ```
//!
//! One-way delay is the peer's TSval less the TSval that it echoes, in milliseconds; the clocks'
//! unknown difference cancels in the queueing delay, which is the current delay less the base delay.
//! Integers are as in the modules for Linux (Valenti; Fisches and Kühlewind). Without timestamps there
//! is no delay, and it grows as Reno does.
//!
//! Slow start, which the RFC does not speak of, comes first as in those modules. In them it ends with
//! a loss; here also when the queueing delay reaches the target, or a deep buffer would be filled once.

#[cfg(test)]
mod tests;

use super::{AckSample, CongestionControl, Window, reno};
use crate::Timestamps;
use crate::cc::Flight;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// Queueing delay to add, in ms: RFC 6817 §2.5's most.
const TARGET: i64 = 100;

/// Segments that the window may be above what is in flight (§2.5).
const ALLOWED_INCREASE: u32 = 1;

/// Smallest window in segments (§2.5).
const MIN_CWND: u32 = 2;

/// Minutes that the base delay is remembered (§2.5).
const BASE_HISTORY: usize = 10;

/// Samples whose smallest is the current delay (§2.5: at least 4 a round trip).
const CURRENT_FILTER: usize = 4;

/// LEDBAT's state.
#[derive(Debug, Default)]
pub(super) struct Ledbat {
    delays: Option<Delays>,
    /// Credit towards the next segment, in ms·segments.
    credit: i64,
}

/// One-way delays in ms, relative to the first: so they may wrap.
#[derive(Debug)]
struct Delays {
    first: u32,
    /// Minima of a minute each, the latest last, and the minute of that.
    base: [i32; BASE_HISTORY],
    minute: u64,
    /// The last ones, and when they came.
    current: [(Instant, i32); CURRENT_FILTER],
    next: usize,
}

impl Delays {
    fn new(now: Instant, first: u32) -> Self {
        let mut base = [i32::MAX; BASE_HISTORY];
        base[BASE_HISTORY - 1] = 0;
        Self {
            first,
            base,
            minute: minute(now),
            current: [(now, 0); CURRENT_FILTER],
            next: 0,
        }
    }

    /// `update_base_delay` and `update_current_delay` of §2.4.2.
    fn update(&mut self, now: Instant, delay: u32) {
        let delay = delay.wrapping_sub(self.first) as i32;
        if self.minute == minute(now) {
            self.base[BASE_HISTORY - 1] = self.base[BASE_HISTORY - 1].min(delay);
        } else {
            self.minute = minute(now);
            self.base.rotate_left(1);
            self.base[BASE_HISTORY - 1] = delay;
        }
        self.current[self.next] = (now, delay);
        self.next = (self.next + 1) % CURRENT_FILTER;
    }

    /// In ms. Samples older than a round trip do not count (§2.5).
    fn queueing(&self, now: Instant, srtt: Duration) -> i64 {
        let fresh = self.current.iter().filter(|(at, _)| now - *at <= srtt);
        let (_, last) = self.current[(self.next + CURRENT_FILTER - 1) % CURRENT_FILTER];
        let current = fresh.map(|&(_, delay)| delay).min().unwrap_or(last);
        let base = self.base.into_iter().min().unwrap_or(0);
        i64::from(current) - i64::from(base)
    }
}

fn minute(now: Instant) -> u64 {
    now.as_nanos() / 60_000_000_000
}

impl Ledbat {
    fn queueing_delay(&self, f: &Flight) -> i64 {
        let srtt = f.srtt.unwrap_or(Duration::MAX);
        self.delays.as_ref().map_or(0, |d| d.queueing(f.now, srtt))
    }
}

impl CongestionControl for Ledbat {
    /// Half, at least `MIN_CWND` (§2.4.2, "on data loss").
    fn ssthresh(&mut self, w: &Window, _f: &Flight) -> u32 {
        reno::ssthresh(w)
    }

    fn cong_avoid(&mut self, w: &mut Window, f: &Flight, mut acked: u32) {
        // Before this ACK.
        let flight = f.outstanding + acked;
        let off_target = TARGET - self.queueing_delay(f);
        if w.in_slow_start() {
            if off_target <= 0 {
                w.ssthresh = w.cwnd;
            } else if f.cwnd_limited {
                acked = w.slow_start(acked);
            } else {
                return;
            }
            if acked == 0 {
                return;
            }
        }
        self.credit += off_target * i64::from(acked);
        let per = TARGET * i64::from(w.cwnd);
        let more = self.credit / per;
        self.credit -= more * per;
        let cwnd = (i64::from(w.cwnd) + more).max(MIN_CWND.into()) as u32;
        // An application that does not fill its window shall not enlarge it.
        w.cwnd = cwnd
            .min(flight + ALLOWED_INCREASE)
            .max(MIN_CWND)
            .min(w.clamp);
        // A window that has shrunk has left slow start.
        w.ssthresh = w.ssthresh.min(w.cwnd);
    }

    fn pkts_acked(&mut self, _w: &mut Window, f: &Flight, sample: &AckSample) {
        if let Some(Timestamps { val, ecr }) = sample.timestamps {
            let delay = val.wrapping_sub(ecr);
            self.delays
                .get_or_insert_with(|| Delays::new(f.now, delay))
                .update(f.now, delay);
        }
    }
}
