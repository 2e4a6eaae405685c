//! Workloads on a path, run by one contender after another.

use super::contenders::Contender;
use super::links::{self, Link};
use super::paths::Path;
use tidegate_scenario::{Hop, QueuePolicy, QueueSpec, RateSpec, Workload};
use tidegate_study::Case;

/// Workloads on a path.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Where.
    pub path: Path,
    /// Its subject, which with the path identifies the trial.
    subject: String,
    duration_s: f64,
    warmup_s: f64,
    workloads: Vec<Workload>,
    uplink: Option<(RateSpec, QueueSpec)>,
    hops: Vec<Hop>,
    curves: Vec<&'static str>,
}

impl Trial {
    /// These workloads on `path` for that many seconds; all of them count.
    pub fn new(subject: &str, path: &Path, duration_s: f64, workloads: Vec<Workload>) -> Self {
        Self {
            path: path.clone(),
            subject: subject.into(),
            duration_s,
            warmup_s: 0.0,
            workloads,
            uplink: None,
            hops: Vec::new(),
            curves: Vec::new(),
        }
    }

    /// Does not count the first seconds.
    pub fn warmed_up(self, warmup_s: f64) -> Self {
        Self { warmup_s, ..self }
    }

    /// With another uplink and its buffer, in seconds of its rate.
    pub fn uplink(self, mbps: f64, buffer_s: f64) -> Self {
        let queue = QueueSpec {
            packets: None,
            bytes: Some((mbps * 1e6 / 8.0 * buffer_s) as usize),
            ..QueueSpec::default()
        };
        Self {
            uplink: Some((RateSpec::ConstantMbps(mbps), queue)),
            ..self
        }
    }

    /// With that uplink, and a buffer of that many packets.
    pub fn through(self, uplink: &Link, packets: usize) -> Self {
        let queue = links::queue(packets, QueuePolicy::DropTail);
        Self {
            uplink: Some((uplink.rate.clone(), queue)),
            ..self
        }
    }

    /// With more links on the way.
    pub fn hops(self, hops: Vec<Hop>) -> Self {
        Self { hops, ..self }
    }

    /// With these curves over time.
    pub fn curves(self, curves: &[&'static str]) -> Self {
        Self {
            curves: curves.into(),
            ..self
        }
    }

    /// The case of a contender.
    pub fn case(&self, contender: Contender) -> Case {
        let mut case = contender.case(&self.path);
        case.name = self.by(contender);
        case.curves.clone_from(&self.curves);
        let scenario = &mut case.scenario;
        scenario.name.clone_from(&case.name);
        scenario.duration_s = self.duration_s;
        scenario.warmup_s = self.warmup_s;
        scenario.workloads.clone_from(&self.workloads);
        scenario.hops.clone_from(&self.hops);
        if let Some((rate, queue)) = &self.uplink {
            scenario.up.rate = rate.clone();
            scenario.up.queue = queue.clone();
        }
        case
    }

    /// The same trial with another subject.
    pub fn about(self, subject: String) -> Self {
        Self { subject, ..self }
    }

    /// Its name: subject and path.
    pub fn name(&self) -> String {
        format!("{}: {}", self.subject, self.path.name)
    }

    /// The name of a contender's case.
    pub fn by(&self, contender: Contender) -> String {
        format!("{}: {}", self.subject, contender.on(&self.path))
    }
}
