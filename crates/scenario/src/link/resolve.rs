//! From a scenario's words to the link model's.

use super::*;
use crate::load::{LoadError, parse};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tidegate_link::{
    Arq, BlockError, Cell, CellModel, Config, CrossTraffic, DelayProfile, DelayTrace, Disorder,
    Fading, FqCodelPolicy, Instant, Loss, Middlebox, Policy, QueueConfig, Rate, RateSeries,
    RedPolicy, ScheduledSeries, Scheduler, Sharing, SignalWalk, StepsError, TokenBucket, Trace,
    WalkError,
};

/// The packet that RED takes for typical.
const TYPICAL_BYTES: f64 = 1500.0;

impl crate::LinkSpec {
    /// Reads the traces that the link names, relative to `folder`. The link makes sense, as
    /// [`Self::complaint`] says.
    ///
    /// # Errors
    /// When a file cannot be read or is not what it should be.
    pub fn resolve(&self, folder: &Path, seed: u64) -> Result<Config, LoadError> {
        let rate = self.rate.resolve(folder, seed)?;
        Ok(Config {
            shaper: self.shaper.map(ShaperSpec::resolve),
            queue: self.queue.resolve(&rate),
            sharing: self.cell.map(|cell| cell.resolve(seed)),
            arq: self.arq.as_ref().map(|arq| arq.resolve(&rate)),
            loss: self.loss.map_or(Loss::None, LossSpec::resolve),
            delay: self.delay(folder)?,
            disorder: self.disorder.map(DisorderSpec::resolve),
            middlebox: self.middlebox.map(|middlebox| Middlebox {
                patience: milliseconds(middlebox.patience_ms),
            }),
            rate,
        })
    }

    fn delay(&self, folder: &Path) -> Result<DelayProfile, LoadError> {
        let steps = self
            .delay_steps
            .iter()
            .map(|s| (Instant::from_secs_f64(s.at_s), milliseconds(s.ms)));
        let given = DelayProfile::new(milliseconds(self.delay_ms), steps.collect());
        Ok(match &self.delay_trace {
            None => given,
            Some(file) => given.above(Arc::new(parse(folder, file, DelayTrace::parse)?)),
        })
    }
}

impl RateSpec {
    fn resolve(&self, folder: &Path, seed: u64) -> Result<Rate, LoadError> {
        Ok(match self {
            RateSpec::ConstantMbps(mbps) => Rate::Constant(mbps * 1e6),
            RateSpec::Trace(file) => {
                Rate::Opportunities(Arc::new(parse(folder, file, Trace::parse)?))
            }
            RateSpec::Series(file) => {
                Rate::Series(Arc::new(parse(folder, file, RateSeries::parse)?))
            }
            RateSpec::Scheduled(scheduled) => Rate::Scheduled(Arc::new(scheduled.resolve(folder)?)),
            RateSpec::Steps(steps) => Rate::Series(Arc::new(
                rate_steps(steps).expect("checked before it is resolved"),
            )),
            RateSpec::Slots(slots) => Rate::Series(Arc::new(
                slots.build().expect("checked before it is resolved"),
            )),
            RateSpec::Generate(g) => Rate::Cell(g.model(seed)),
            RateSpec::Walk(walk) => Rate::Walk(Arc::new(
                walk.build(seed).expect("checked before it is resolved"),
            )),
        })
    }
}

impl SlotsSpec {
    /// The series; times make sense.
    pub(super) fn build(&self) -> Result<RateSeries, StepsError> {
        let rates: Vec<f64> = self.mbps.iter().map(|mbps| mbps * 1e6).collect();
        let [slot, late] = [self.slot_s, self.late_s].map(Duration::from_secs_f64);
        RateSeries::slots(&rates, slot, late)
    }
}

impl ScheduledSpec {
    fn resolve(&self, folder: &Path) -> Result<ScheduledSeries, LoadError> {
        let series = parse(folder, &self.series, RateSeries::parse)?;
        let steps = ScheduledSeries::new(series, milliseconds(self.burst_ms));
        Ok(match self.interpolate {
            true => steps.interpolated(),
            false => steps,
        })
    }
}

/// The series that these seconds and Mbit/s make; the seconds are times.
pub(super) fn rate_steps(steps: &[[f64; 2]]) -> Result<RateSeries, StepsError> {
    let steps: Vec<_> = steps
        .iter()
        .map(|&[s, mbps]| (Duration::from_secs_f64(s), mbps * 1e6))
        .collect();
    RateSeries::steps(&steps)
}

impl GenerateSpec {
    /// The cell model, with `seed` unless it has one of its own.
    pub fn model(&self, seed: u64) -> CellModel {
        let cell = match self.kind {
            CellKind::Lte => Cell::Lte,
            CellKind::Hspa => Cell::Hspa,
            CellKind::Evdo => Cell::Evdo,
        };
        CellModel::new(
            cell,
            self.mean_mbps.map(|m| m * 1e6),
            self.seed.unwrap_or(seed),
        )
    }
}

impl WalkSpec {
    /// The walk, with `seed` unless it has one of its own; times and rates make sense.
    pub(super) fn build(&self, seed: u64) -> Result<SignalWalk, WalkError> {
        let points: Vec<_> = self
            .points
            .iter()
            .map(|&[s, db]| (Duration::from_secs_f64(s), db))
            .collect();
        let fading = (self.fading_db > 0.0).then(|| Fading {
            deviation_db: self.fading_db,
            coherence: milliseconds(self.coherence_ms),
        });
        SignalWalk::new(
            &points,
            self.peak_mbps * 1e6,
            fading,
            self.seed.unwrap_or(seed),
        )
    }
}

impl QueueSpec {
    fn resolve(&self, rate: &Rate) -> QueueConfig {
        let target = milliseconds(self.codel_target_ms);
        let interval = milliseconds(self.codel_interval_ms);
        QueueConfig {
            packets: self.packets,
            bytes: self.bytes,
            policy: match self.policy {
                QueuePolicy::DropTail => Policy::DropTail,
                QueuePolicy::DropHead => Policy::DropHead,
                QueuePolicy::Codel => Policy::Codel { target, interval },
                QueuePolicy::Red => self.red(rate),
                QueuePolicy::Pie => Policy::Pie {
                    target: milliseconds(self.pie_target_ms),
                },
                QueuePolicy::FqCodel => Policy::FqCodel(FqCodelPolicy {
                    target,
                    interval,
                    quantum: self.fq_quantum_bytes,
                    flows: self.fq_flows,
                }),
            },
        }
    }

    fn red(&self, rate: &Rate) -> Policy {
        let (min_packets, max_packets) = self.red_thresholds();
        Policy::Red(RedPolicy {
            min_packets,
            max_packets,
            max_probability: self.red_max_probability,
            weight: self.red_weight,
            packet_time: Duration::from_secs_f64(TYPICAL_BYTES * 8.0 / rate.mean_bps()),
        })
    }

    /// RED's min_th and max_th.
    pub(super) fn red_thresholds(&self) -> (f64, f64) {
        let default = self.packets.unwrap_or(1000) as f64 / 12.0;
        let min = self.red_min_packets.unwrap_or(default);
        (min, self.red_max_packets.unwrap_or(3.0 * min))
    }
}

impl LossSpec {
    fn resolve(self) -> Loss {
        match self {
            Self::Random(p) => Loss::Random(p),
            Self::Bursty {
                probability,
                mean_length,
            } => Loss::Bursty {
                probability,
                mean_length,
            },
        }
    }
}

impl ShaperSpec {
    fn resolve(self) -> TokenBucket {
        TokenBucket {
            rate_bps: self.mbps * 1e6,
            burst_bytes: self.burst_bytes,
            queue_packets: self.queue_packets,
        }
    }
}

impl CellSpec {
    fn resolve(self, seed: u64) -> Sharing {
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

impl ArqSpec {
    fn resolve(&self, rate: &Rate) -> Arq {
        Arq {
            error: match (&self.error_by_db, rate) {
                (Some(points), Rate::Walk(walk)) => BlockError::Signal {
                    walk: walk.clone(),
                    curve: points.iter().map(|&[db, p]| (db, p)).collect(),
                },
                _ => BlockError::Constant(self.error.unwrap_or(0.0)),
            },
            retry: milliseconds(self.retry_ms),
            tries: self.tries,
        }
    }
}

impl DisorderSpec {
    fn resolve(self) -> Disorder {
        Disorder {
            reorder: self.reorder,
            late_by: milliseconds(self.late_ms),
            duplicate: self.duplicate,
        }
    }
}

fn milliseconds(ms: f64) -> Duration {
    Duration::from_secs_f64(ms / 1e3)
}
