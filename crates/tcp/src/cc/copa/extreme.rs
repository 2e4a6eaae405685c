//! The least or the greatest round trip of a sliding window of time, exactly.
//!
//! Only those samples are kept that may still become the extreme: each is better than all that came after it.

use std::collections::VecDeque;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// Which of two round trips is the better one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Least,
    Greatest,
}

/// The extreme of the samples of late.
#[derive(Clone, Debug)]
pub struct Extreme {
    wanted: Wanted,
    /// Time and value in µs of each; the best, which is also the oldest, comes first.
    samples: VecDeque<(Instant, u64)>,
}

impl Extreme {
    pub const fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            samples: VecDeque::new(),
        }
    }

    /// Adds a sample, in µs, and forgets those that are more than `window` old. Returns the extreme.
    pub fn update(&mut self, now: Instant, window: Duration, rtt_us: u64) -> u64 {
        let worse = |old: u64| match self.wanted {
            Wanted::Least => old >= rtt_us,
            Wanted::Greatest => old <= rtt_us,
        };
        while self.samples.back().is_some_and(|&(_, old)| worse(old)) {
            self.samples.pop_back();
        }
        self.samples.push_back((now, rtt_us));
        // The sample of now always stays.
        while self.samples[0].0 + window < now {
            self.samples.pop_front();
        }
        self.samples[0].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    #[test]
    fn the_least_counts_as_long_as_its_window_lasts() {
        let mut least = Extreme::new(Wanted::Least);
        let window = Duration::from_millis(10);
        let seen = [(0, 50), (4, 30), (6, 40), (14, 60), (15, 60), (17, 70)];
        let found = seen.map(|(ms, us)| least.update(at(ms), window, us));
        assert_eq!(found, [50, 30, 30, 30, 40, 60]);
    }

    #[test]
    fn the_greatest_is_its_mirror() {
        let mut greatest = Extreme::new(Wanted::Greatest);
        let window = Duration::from_millis(10);
        let seen = [(0, 50), (4, 70), (6, 60), (14, 40), (15, 40), (17, 30)];
        let found = seen.map(|(ms, us)| greatest.update(at(ms), window, us));
        assert_eq!(found, [50, 70, 70, 70, 60, 40]);
    }

    #[test]
    fn a_window_may_shrink() {
        let mut least = Extreme::new(Wanted::Least);
        least.update(at(0), Duration::from_secs(1), 10);
        assert_eq!(least.update(at(50), Duration::from_millis(20), 30), 30);
    }
}
