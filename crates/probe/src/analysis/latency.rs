//! Latency under load, as people know it.

use crate::Echo;
use serde::{Deserialize, Serialize};

/// Round trips of an idle link and of a busy one.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct LoadedLatency {
    /// Median, idle, in milliseconds.
    pub idle_ms: f64,
    /// Trimmed mean, busy, in milliseconds.
    pub loaded_ms: f64,
    /// Round trips a minute while it is busy.
    pub rpm: f64,
    /// By how much round trips grow.
    pub grade: Grade,
}

/// How much longer a round trip takes on a busy link than on an idle one: the scale of the bufferbloat tests at
/// dslreports.com and waveform.com.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Grade {
    /// Less than 5 ms.
    #[serde(rename = "A+")]
    APlus,
    /// Less than 30 ms.
    A,
    /// Less than 60 ms.
    B,
    /// Less than 200 ms.
    C,
    /// Less than 400 ms.
    D,
    /// 400 ms and more.
    F,
}

impl Grade {
    /// The grade of an increase in milliseconds.
    pub fn of(increase_ms: f64) -> Self {
        match increase_ms {
            ms if ms < 5.0 => Self::APlus,
            ms if ms < 30.0 => Self::A,
            ms if ms < 60.0 => Self::B,
            ms if ms < 200.0 => Self::C,
            ms if ms < 400.0 => Self::D,
            _ => Self::F,
        }
    }

    /// Its usual form.
    pub const fn name(self) -> &'static str {
        match self {
            Self::APlus => "A+",
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
            Self::F => "F",
        }
    }
}

/// Share of round trips that count: draft-ietf-ippm-responsiveness leaves out the longest twentieth.
const TRIMMED: f64 = 0.95;

/// Mean of all but the longest; none if there are none.
pub(crate) fn trimmed_mean(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.truncate((values.len() as f64 * TRIMMED).ceil() as usize);
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// From round trips over the idle link and over the busy one; none without either.
///
/// Single packets beside packets that fill the queue: the quick look. [`super::responsiveness`] measures as the draft
/// defines it.
pub fn loaded(idle: &[Echo], busy: &[Echo]) -> Option<LoadedLatency> {
    let ms = |echoes: &[Echo]| -> Vec<f64> {
        let trips = echoes.iter().map(|e| e.round_trip().as_secs_f64() * 1e3);
        trips.collect()
    };
    let idle = ms(idle);
    if idle.is_empty() {
        return None;
    }
    let loaded_ms = trimmed_mean(ms(busy))?;
    let idle_ms = super::median(idle);
    Some(LoadedLatency {
        idle_ms,
        loaded_ms,
        rpm: 60_000.0 / loaded_ms,
        grade: Grade::of(loaded_ms - idle_ms),
    })
}
