//! The thesis's standard experiments: 1 MB up, 1 MB down, and both at once.

use super::carriers::Place;
use crate::means::mean;
use crate::spans::Span;
use crate::workloads::bulk;
use tidegate_measure::quantiles;
use tidegate_scenario::{
    Direction, FlowResult, Hosts, Law, Run, RunResult, Scenario, Side, Workload,
};
use tidegate_study::{Case, Extent, Sample};

/// Bytes of a transfer.
pub const MEGABYTE: u64 = 1 << 20;

/// Android 2.x, of RFC 3390, in segments.
const INITIAL_WINDOW: u32 = 3;

/// Congestion control of the servers.
const SERVER: &str = "cubic";

/// When a download or a page begins beside an upload, in seconds: by then the slowest uplink's buffer is full.
pub const BESIDE_S: f64 = 20.0;

/// Longest duration of a download, in seconds; shorter in real time.
const PATIENCE_S: f64 = 300.0;
const SHORT_PATIENCE_S: f64 = 100.0;

/// Longest duration of an upload, as a multiple of the time of its payload at the uplink's mean rate.
const SLACK: f64 = 1.5;
const SLACK_S: f64 = 20.0;

/// A curve and the flow that it belongs to: the upload's goodput, or the uplink's rate.
pub type Carried = (&'static str, &'static str);
pub const UPLOAD: Carried = ("upload", "goodput_bps");
pub const UPLINK: Carried = ("", "up_delivered_bps");

/// Which host steers an upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steered {
    /// Nobody.
    Untouched,
    /// The server that receives it, with RSFC.
    Rsfc,
    /// The same without the update of RDmin and RTTmin (Fig. 5.9).
    RsfcWithoutUpdate,
    /// The phone that sends it, with that law.
    ByPhone(Law),
}

impl Steered {
    /// In pictures and names.
    pub fn name(self) -> String {
        match self {
            Self::Untouched => "untouched".into(),
            Self::Rsfc => "RSFC".into(),
            Self::RsfcWithoutUpdate => "RSFC without the update".into(),
            Self::ByPhone(law) => format!("{} at the phone", law.name()),
        }
    }

    /// The hosts' settings.
    pub fn run(self) -> Run {
        let law = match self {
            Self::ByPhone(law) => law,
            _ => Law::None,
        };
        let server_law = match self {
            Self::Rsfc | Self::RsfcWithoutUpdate => Law::Rsfc,
            _ => Law::None,
        };
        Run {
            server_law,
            keep_minima: self == Self::RsfcWithoutUpdate,
            ..Run::new(self.name(), law)
        }
    }
}

/// Number of experiments at an ISP, for each seed.
pub fn repetitions(extent: &Extent) -> usize {
    match extent {
        Extent { lab: true, .. } => 2,
        Extent { quick: true, .. } => 6,
        _ => 20,
    }
}

/// Longest duration of a download, in seconds.
pub fn patience_s(extent: &Extent) -> f64 {
    match extent.lab {
        true => SHORT_PATIENCE_S,
        false => PATIENCE_S,
    }
}

/// An experiment at a place.
#[derive(Clone, Debug)]
pub struct Experiment(Case);

impl Experiment {
    /// 1 MB up; u_0 if nobody steers it.
    pub fn upload(place: &Place, sender: &str, steered: Steered) -> Self {
        Self::uploads(place, sender, steered, 1)
    }

    /// 1 MB up in all, over that many connections.
    pub fn uploads(place: &Place, sender: &str, steered: Steered, flows: u64) -> Self {
        let lasting_s = MEGABYTE as f64 * 8e-3 / place.uplink_kbps * SLACK + SLACK_S;
        let upload = bulk("upload", Direction::Up, Some(MEGABYTE / flows), flows);
        Self::new(place, sender, steered, lasting_s.ceil(), vec![upload])
            .named(&format!("{flows} × up"))
    }

    /// 1 MB down, d_0.
    pub fn download(place: &Place, extent: &Extent) -> Self {
        let download = bulk("download", Direction::Down, Some(MEGABYTE), 1);
        let lasting_s = patience_s(extent);
        Self::new(
            place,
            "cubic",
            Steered::Untouched,
            lasting_s,
            vec![download],
        )
        .named("down")
    }

    /// An upload without end, and 1 MB down: u_1 and d_1, or u_2 and d_2.
    pub fn both(place: &Place, sender: &str, steered: Steered, extent: &Extent) -> Self {
        let download = Workload {
            start_s: BESIDE_S,
            // The server's congestion control, whatever the phone has.
            congestion_control: (sender != SERVER).then(|| SERVER.into()),
            ..bulk("download", Direction::Down, Some(MEGABYTE), 1)
        };
        let lasting_s = BESIDE_S + patience_s(extent);
        let workloads = vec![upload(), download];
        Self::new(place, sender, steered, lasting_s, workloads)
            .named("both")
            .curves(&[UPLOAD.1, UPLINK.1])
    }

    /// These workloads for that many seconds.
    pub fn new(
        place: &Place,
        sender: &str,
        steered: Steered,
        duration_s: f64,
        workloads: Vec<Workload>,
    ) -> Self {
        let name = format!("{}: {sender}, {}", place.name, steered.name());
        let links = [place.down.clone(), place.up.clone()];
        Self(Case::new(Scenario {
            hosts: Hosts {
                congestion_control: sender.into(),
                initial_window: Some(INITIAL_WINDOW),
                ..Hosts::default()
            },
            ..Scenario::new(name, duration_s, links, workloads, vec![steered.run()])
        }))
    }

    /// With that in its name.
    pub fn named(self, what: &str) -> Self {
        Self(self.0.named(what))
    }

    /// Does not count the first seconds.
    pub fn warmed_up(mut self, warmup_s: f64) -> Self {
        self.0.scenario.warmup_s = warmup_s;
        self
    }

    /// In the laboratory, our own TCP sends: few kernels have these senders.
    pub fn sent_by_ours(mut self) -> Self {
        self.0.scenario.hosts.own_tcp = vec![Side::Client];
        self
    }

    /// With these curves over time.
    pub fn curves(self, quantities: &[&'static str]) -> Self {
        Self(self.0.curves(quantities))
    }

    /// The case.
    pub fn case(self) -> Case {
        self.0
    }

    /// The case's name.
    pub fn name(&self) -> String {
        self.0.name.clone()
    }
}

/// An upload that goes on until the run ends.
pub fn upload() -> Workload {
    bulk("upload", Direction::Up, None, 1)
}

/// The flow of that name.
///
/// # Panics
/// When there is none, which is a mistake in a figure.
pub fn flow<'a>(run: &'a RunResult, name: &str) -> &'a FlowResult {
    let mut flows = run.flows.iter();
    let found = flows.find(|flow| flow.name == name);
    found.unwrap_or_else(|| panic!("there is no flow \"{name}\""))
}

/// Rate of the flow with that name, in kbit/s.
pub fn kbps(run: &RunResult, name: &str) -> f64 {
    flow(run, name).goodput_bps / 1e3
}

/// Its RTT, in seconds.
pub fn rtt_s(run: &RunResult, name: &str) -> f64 {
    flow(run, name).rtt_ms.mean / 1e3
}

/// Rate while the download beside an upload lasts, in kbit/s, for each seed.
pub fn beside_kbps(sample: &Sample, case: &str, (flow_name, quantity): Carried) -> Vec<f64> {
    let curves = sample.flow_curves(case, flow_name, quantity);
    let runs = sample.runs(case).zip(curves);
    let read = |(run, curve): (&RunResult, Vec<(f64, f64)>)| {
        let lasting_s = flow(run, "download").completion_s.unwrap_or(f64::INFINITY);
        let span = Span(BESIDE_S, BESIDE_S + lasting_s);
        mean(span.values(&curve)) / 1e3
    };
    runs.map(read).collect()
}

/// The median.
pub fn median(values: Vec<f64>) -> f64 {
    quantiles(values).p50
}

/// Percentage of `values` for which `so` holds.
pub fn share(values: &[f64], so: impl Fn(f64) -> bool) -> f64 {
    let such = values.iter().filter(|&&value| so(value)).count();
    such as f64 * 100.0 / values.len() as f64
}

/// Ratios of `values` to `others`, place by place.
pub fn ratios(values: &[f64], others: &[f64]) -> Vec<f64> {
    let pairs = values.iter().zip(others);
    pairs.map(|(value, other)| value / other).collect()
}
