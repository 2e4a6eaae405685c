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
    pub users: u32,
    /// Who is served when.
    #[serde(default)]
    pub scheduler: SchedulerKind,
    /// Mean load of each of the others, in Mbit/s.
    pub load_mbps: f64,
    /// Mean time with traffic, in seconds.
    #[serde(default = "two_seconds")]
    pub on_s: f64,
    /// Mean time without, in seconds.
    #[serde(default = "two_seconds")]
    pub off_s: f64,
    /// Transmission time interval, in milliseconds.
    #[serde(default = "tti_ms")]
    pub tti_ms: f64,
    /// Proportional fair: over what time a user's average is taken, in seconds.
    #[serde(default = "time_constant_s")]
    pub time_constant_s: f64,
    /// Seed of the others' traffic; the scenario's by default.
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
        to.expect((1..=1000).contains(&self.users), "cell.users", || {
            format!("cell.users is {}, expected 1 to 1000", self.users)
        });
        to.expect(
            (0.0..=1e6).contains(&self.load_mbps),
            "cell.load_mbps",
            || {
                format!(
                    "cell.load_mbps is {}, expected 0 to 1000000",
                    self.load_mbps
                )
            },
        );
        to.within("cell.on_s", self.on_s, 86_400.0);
        to.within("cell.off_s", self.off_s, 86_400.0);
        to.within("cell.time_constant_s", self.time_constant_s, 86_400.0);
        let tti = self.tti_ms / 1e3;
        let most = self.on_s.min(self.off_s).min(self.time_constant_s);
        to.expect(
            (1e-4..=1.0).contains(&tti) && tti <= most,
            "cell.tti_ms",
            || {
                format!(
                    "cell.tti_ms is {}, expected 0.1 to 1000 and no more than on_s, off_s and \
                 time_constant_s",
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
