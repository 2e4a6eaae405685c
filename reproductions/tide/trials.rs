//! What the hosts do on a path, tried by one contender after another.

use super::contenders::Contender;
use super::paths::Path;
use tidegate_reproduce::Case;
use tidegate_scenario::{Direction, QueueSpec, RateSpec, Workload, WorkloadKind};

/// Nothing but Linux. Its CUBIC does not pace, nor does any other sender here.
pub const LINUX: Contender = Contender::linux("cubic");
/// DRWA as it was published.
pub const DRWA: Contender = Contender::drwa("cubic", 3.0);
/// Ours.
pub const TIDE: Contender = Contender::tide("cubic");

/// Who tries, and what he is called in pictures.
pub const TRIO: [(&str, Contender); 3] = [("Linux", LINUX), ("DRWA λ = 3", DRWA), ("tide", TIDE)];

/// Workloads on a path.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Where.
    pub path: Path,
    /// What it is about; with the path it tells the trial from all others.
    subject: String,
    duration_s: f64,
    warmup_s: f64,
    workloads: Vec<Workload>,
    uplink: Option<(RateSpec, QueueSpec)>,
    curves: Vec<&'static str>,
}

impl Trial {
    /// These workloads on `path` for so many seconds, all of which count.
    pub fn new(subject: &str, path: &Path, duration_s: f64, workloads: Vec<Workload>) -> Self {
        Self {
            path: path.clone(),
            subject: subject.into(),
            duration_s,
            warmup_s: 0.0,
            workloads,
            uplink: None,
            curves: Vec::new(),
        }
    }

    /// The first seconds do not count.
    pub fn warmed_up(self, warmup_s: f64) -> Self {
        Self { warmup_s, ..self }
    }

    /// With another uplink, whose buffer takes so many seconds to drain.
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
        if let Some((rate, queue)) = &self.uplink {
            scenario.up.rate = rate.clone();
            scenario.up.queue = queue.clone();
        }
        case
    }

    /// What the case of a contender is called.
    pub fn by(&self, contender: Contender) -> String {
        format!("{}: {}", self.subject, contender.on(&self.path))
    }
}

/// A download that takes what it can get.
pub fn download() -> Workload {
    bulk("download", Direction::Down)
}

/// An upload that takes what it can get, from `start_s` to `stop_s`.
pub fn upload(start_s: f64, stop_s: f64) -> Workload {
    Workload {
        start_s,
        stop_s: Some(stop_s),
        ..bulk("upload", Direction::Up)
    }
}

/// Objects of these sizes in turn, from `start_s` on, with a pause after each.
pub fn fetches(sizes: &[u64], start_s: f64, pause_s: f64) -> Workload {
    Workload {
        name: format!("objects from {start_s} s"),
        start_s,
        stop_s: None,
        links: None,
        does: WorkloadKind::Web {
            object_bytes: sizes.to_vec(),
            pause_s,
        },
    }
}

fn bulk(name: &str, direction: Direction) -> Workload {
    Workload {
        name: name.into(),
        start_s: 0.0,
        stop_s: None,
        links: None,
        does: WorkloadKind::Bulk {
            direction,
            bytes: None,
            flows: 1,
        },
    }
}
