//! A pause, in which nothing is steered, held or turned away: how long it lasts still.

use crate::clock::now_with_sleep_us;
use crate::time_of_day::{self, seconds_since_1970};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

const SECOND_US: u64 = 1_000_000;

/// The longest pause.
pub const LONGEST: Duration = Duration::from_secs(7 * 86_400);

/// A pause until this time, µs of a clock that runs on while the machine sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    until_us: u64,
}

/// The pause as others see it.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Paused {
    /// When it ends, in seconds since 1970.
    pub until_s: u64,
    /// Seconds from now until then.
    pub left_s: u64,
}

impl Pause {
    /// A pause of this length from now on.
    pub fn of(time: Duration) -> Self {
        Self {
            until_us: now_with_sleep_us() + time.as_micros() as u64,
        }
    }

    /// Time until its end, in µs.
    pub fn left_us(self) -> u64 {
        self.until_us.saturating_sub(now_with_sleep_us())
    }

    /// The pause as it is shown now.
    pub fn view(self) -> Paused {
        let left_s = self.left_us().div_ceil(SECOND_US);
        let end = seconds_since_1970() + self.left_us() as f64 / SECOND_US as f64;
        Paused {
            until_s: end.round() as u64,
            left_s,
        }
    }
}

impl Display for Paused {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let now_s = seconds_since_1970() as u64;
        write!(
            f,
            "paused until {}",
            time_of_day::local(self.until_s, now_s)
        )
    }
}
