//! Other users in the cell, as scenarios spell them.

use super::milliseconds;
use crate::complaints::Complaints;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tidegate_link::{CrossTraffic, Scheduler, SchedulerKind, Sharing};

/// Other users in the cell, who take the link's time in turn with this one and have queues of their
/// own. Each receives traffic at a constant rate for exponentially distributed times. Their rates are
/// as this link's, random anew or from elsewhere in the recording.
///
/// The two hosts of a scenario are one user, however many flows they have.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CellSpec {
    /// Users in the cell, this one included.
    #[schemars(extend("unit" = "users"))]
    #[schemars(range(min = 1, max = 1000))]
    pub users: u32,
    /// Who is served when.
    #[serde(default)]
    pub scheduler: SchedulerKind,
    /// Mean load of each of the others, in Mbit/s.
    #[schemars(range(min = 0.0, max = 100_000.0))]
    pub load_mbps: f64,
    /// Mean time with traffic, in seconds.
    #[serde(default = "two_seconds")]
    #[schemars(range(min = 0.0001, max = 86_400.0))]
    pub on_s: f64,
    /// Mean time without, in seconds.
    #[serde(default = "two_seconds")]
    #[schemars(range(min = 0.0001, max = 86_400.0))]
    pub off_s: f64,
    /// Transmission time interval, in milliseconds.
    #[serde(default = "tti_ms")]
    #[schemars(range(min = 0.1, max = 1000.0))]
    pub tti_ms: f64,
    /// Proportional fair: over what time a user's average is taken, in seconds.
    #[serde(default = "time_constant_s")]
    #[schemars(range(min = 0.0001, max = 86_400.0))]
    pub time_constant_s: f64,
    /// Seed of the others' traffic; the scenario's by default.
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807u64))]
    pub seed: Option<u64>,
}

fn two_seconds() -> f64 {
    2.0
}

fn tti_ms() -> f64 {
    1.0
}

/// CDMA-HDR's 1000 slots of 1.67 ms.
fn time_constant_s() -> f64 {
    1.67
}

impl CellSpec {
    pub(super) fn complain(self, to: &mut Complaints) {
        let most = self.on_s.min(self.off_s).min(self.time_constant_s);
        to.expect(
            self.tti_ms / 1e3 <= most || !to.sound(["cell"]),
            "cell.tti_ms",
            || {
                format!(
                    "cell.tti_ms is {}, expected no more than on_s, off_s and time_constant_s",
                    self.tti_ms
                )
            },
        );
    }

    pub(super) fn resolve(self, seed: u64) -> Sharing {
        let seconds = Duration::from_secs_f64;
        Sharing {
            scheduler: match self.scheduler {
                SchedulerKind::RoundRobin => Scheduler::RoundRobin,
                SchedulerKind::ProportionalFair => Scheduler::ProportionalFair {
                    time_constant: seconds(self.time_constant_s),
                },
            },
            users: self.users,
            tti: milliseconds(self.tti_ms),
            traffic: CrossTraffic {
                mean_bps: self.load_mbps * 1e6,
                on: seconds(self.on_s),
                off: seconds(self.off_s),
            },
            // Another stream of the same seed.
            seed: self.seed.unwrap_or(seed ^ 0xce11),
        }
    }
}
