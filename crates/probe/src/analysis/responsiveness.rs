//! Responsiveness after draft-ietf-ippm-responsiveness, its version without TLS: when a load is stable, and how many
//! round trips a minute there are then.

use super::latency::trimmed_mean;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// The draft's `ID`: length of an interval.
pub const INTERVAL: Duration = Duration::from_secs(1);

/// Its `MAD`: intervals of a moving average.
pub const AVERAGED: usize = 4;

/// Its `MNP`: the most connections.
pub const MOST_CONNECTIONS: usize = 16;

/// Its `SDT`: stable values differ by no more.
const TOLERANCE: f64 = 0.05;

/// Intervals for each of the two stages, as in the draft's example.
pub const STAGE: usize = 10;

/// Kinds of probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The handshake of a connection beside the load: the draft's `tcp_f`.
    Connect,
    /// A request and its answer on that connection: `http_f`.
    Request,
    /// The same on a connection that carries load: `http_l`.
    Own,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Connect, Self::Request, Self::Own];

    /// Its name, in the plural.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Connect => "handshakes beside the load",
            Self::Request => "questions beside the load",
            Self::Own => "questions on the load's connections",
        }
    }
}

/// A probe that was answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Its kind.
    pub kind: Kind,
    /// When the answer came.
    pub heard: Instant,
    /// How long it took.
    pub ms: f64,
}

/// Round trips under load.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Score {
    /// Round trips a minute.
    pub rpm: f64,
    /// Trimmed mean of handshakes beside the load, in milliseconds.
    pub connect_ms: f64,
    /// Of requests on those connections.
    pub request_ms: f64,
    /// Of requests on connections that carry load.
    pub own_ms: f64,
}

/// Trimmed means of probes, in milliseconds; none for a kind without an answer.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Means {
    /// Of handshakes beside the load.
    pub connect_ms: Option<f64>,
    /// Of requests on those connections.
    pub request_ms: Option<f64>,
    /// Of requests on connections that carry load.
    pub own_ms: Option<f64>,
}

impl Means {
    /// The means of `probes`.
    pub fn of(probes: &[Probe]) -> Self {
        let mean = |kind| {
            let these = probes.iter().filter(|p| p.kind == kind);
            trimmed_mean(these.map(|p| p.ms).collect())
        };
        Self {
            connect_ms: mean(Kind::Connect),
            request_ms: mean(Kind::Request),
            own_ms: mean(Kind::Own),
        }
    }

    /// These means, completed by `other` for kinds that have none.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            connect_ms: self.connect_ms.or(other.connect_ms),
            request_ms: self.request_ms.or(other.request_ms),
            own_ms: self.own_ms.or(other.own_ms),
        }
    }

    /// The mean of one kind.
    #[must_use]
    pub fn of_kind(&self, kind: Kind) -> Option<f64> {
        match kind {
            Kind::Connect => self.connect_ms,
            Kind::Request => self.request_ms,
            Kind::Own => self.own_ms,
        }
    }
}

impl Score {
    /// The means that it is computed from.
    #[must_use]
    pub fn means(&self) -> Means {
        Means {
            connect_ms: Some(self.connect_ms),
            request_ms: Some(self.request_ms),
            own_ms: Some(self.own_ms),
        }
    }

    /// The score of these means; none if one is missing.
    pub fn of(means: &Means) -> Option<Self> {
        let (connect_ms, request_ms) = (means.connect_ms?, means.request_ms?);
        let own_ms = means.own_ms?;
        // "TCP-Only Case": each half counts the same.
        let beside = 60_000.0 / f64::midpoint(connect_ms, request_ms);
        Some(Self {
            rpm: f64::midpoint(beside, 60_000.0 / own_ms),
            connect_ms,
            request_ms,
            own_ms,
        })
    }
}

/// How much a value can be relied on.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// There were too few intervals.
    #[default]
    Low,
    /// It did not become stable.
    Medium,
    /// It became stable.
    High,
}

impl Confidence {
    /// Its name.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// The results for one direction.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Responsiveness {
    /// Round trips; none if no probe of a kind was answered.
    pub score: Option<Score>,
    /// The means for each kind of probe.
    #[serde(default)]
    pub means: Means,
    /// What is missing, and why: one sentence each.
    #[serde(default)]
    pub missing: Vec<String>,
    /// How much the score can be relied on.
    pub score_confidence: Confidence,
    /// The rate of the load, in bit/s; none if it did not last for an interval.
    pub goodput_bps: Option<f64>,
    /// How much that can be relied on.
    pub goodput_confidence: Confidence,
    /// Connections that carried it.
    pub connections: usize,
}

/// The course of a quantity, interval by interval.
#[derive(Clone, Debug, Default)]
pub struct Course {
    values: Vec<f64>,
}

impl Course {
    /// Adds the next interval's value.
    pub fn note(&mut self, value: f64) {
        self.values.push(value);
    }

    /// Mean of the last few values; none without any.
    pub fn moving_average(&self) -> Option<f64> {
        self.average_of(AVERAGED)
    }

    /// Mean of the last `intervals` values; none without any.
    pub fn average_of(&self, intervals: usize) -> Option<f64> {
        let last = self.last(intervals);
        (!last.is_empty()).then(|| last.iter().sum::<f64>() / last.len() as f64)
    }

    /// How much the value can be relied on: whether the last few differ by less than the tolerance of the last one.
    pub fn confidence(&self) -> Confidence {
        let last = self.last(AVERAGED);
        let Some(mean) = self.moving_average().filter(|_| last.len() >= AVERAGED) else {
            return Confidence::Low;
        };
        let variance =
            last.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / last.len() as f64;
        match variance.sqrt() < TOLERANCE * last[AVERAGED - 1] {
            true => Confidence::High,
            false => Confidence::Medium,
        }
    }

    fn last(&self, intervals: usize) -> &[f64] {
        &self.values[self.values.len().saturating_sub(intervals)..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_the_mean_of_beside_and_on_the_load() {
        let probe = |kind, ms| Probe {
            kind,
            heard: Instant::ZERO,
            ms,
        };
        let probes = [
            probe(Kind::Connect, 50.0),
            probe(Kind::Request, 70.0),
            probe(Kind::Own, 120.0),
        ];
        let score = Score::of(&Means::of(&probes)).unwrap();
        assert_eq!(score.rpm, (1000.0 + 500.0) / 2.0);
        let known = Means::of(&probes[..2]);
        assert_eq!((Score::of(&known), known.request_ms), (None, Some(70.0)));
    }

    #[test]
    fn what_still_grows_is_not_stable() {
        let mut course = Course::default();
        for value in [1.0, 2.0, 3.0] {
            course.note(value);
        }
        assert_eq!(course.confidence(), Confidence::Low);
        course.note(4.0);
        assert_eq!(course.confidence(), Confidence::Medium);
        for value in [4.1, 4.0, 4.1, 4.0] {
            course.note(value);
        }
        assert_eq!(course.confidence(), Confidence::High);
    }
}
