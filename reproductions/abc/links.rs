//! The paper's links, and runs over them.

use std::path::Path as FilePath;
use std::sync::Arc;
use tidegate_scenario::{
    AbcFeedback, CellKind, GenerateSpec, Law, LinkSpec, QueuePolicy, QueueSpec, RateSpec, Run,
    Scenario, SproutSpec, Workload, WorkloadKind,
};
use tidegate_study::{Case, Extent};

/// The eight recordings of the authors' script (`run-exp.sh`), as Mahimahi calls them.
const RECORDINGS: [&str; 8] = [
    "Verizon-LTE-short.up",
    "Verizon-LTE-short.down",
    "Verizon-LTE-driving.up",
    "Verizon-LTE-driving.down",
    "TMobile-LTE-driving.up",
    "TMobile-LTE-driving.down",
    "ATT-LTE-driving-2016.up",
    "ATT-LTE-driving-2016.down",
];

/// Generated cells and their seeds, in place of recordings.
const CELLS: [(CellKind, u64); 4] = [
    (CellKind::Lte, 1),
    (CellKind::Lte, 2),
    (CellKind::Hspa, 1),
    (CellKind::Hspa, 2),
];

/// One-way delay, in ms.
pub const DELAY_MS: f64 = 50.0;

/// Packets that each queue holds.
const QUEUE_PACKETS: usize = 250;

/// Rate of the return path.
const BACK_MBPS: f64 = 12.0;

/// Length of a run in seconds: over a recording as in the authors' script, otherwise shorter.
const RECORDED_S: f64 = 140.0;
const CELL_S: [f64; 2] = [60.0, 140.0];

/// CoDel's target in the authors' script, in ms; its interval is the usual one.
const CODEL_TARGET_MS: f64 = 50.0;

/// A link.
#[derive(Clone, Debug)]
pub struct Link {
    pub name: String,
    rate: RateSpec,
    duration_s: f64,
}

/// The paper's recordings if the extent's folder has them, otherwise generated cells.
pub fn all(extent: &Extent) -> Arc<[Link]> {
    let recorded: Vec<Link> = match &extent.traces {
        Some(folder) => recordings(folder),
        None => Vec::new(),
    };
    if !recorded.is_empty() {
        return recorded.into();
    }
    let cell = |(kind, seed)| Link {
        name: format!("{kind} cell {seed}"),
        rate: RateSpec::Generate(GenerateSpec {
            kind,
            mean_mbps: None,
            seed: Some(seed),
        }),
        duration_s: CELL_S[usize::from(!extent.quick)],
    };
    CELLS.map(cell).into()
}

fn recordings(folder: &FilePath) -> Vec<Link> {
    let folders = [folder.to_owned(), folder.join("mahimahi")];
    let found = RECORDINGS.iter().filter_map(|name| {
        let mut files = folders.iter().map(|folder| folder.join(name));
        let file = files.find(|file| file.is_file())?;
        Some(Link {
            name: (*name).into(),
            rate: RateSpec::Trace(file.to_string_lossy().into_owned()),
            duration_s: RECORDED_S,
        })
    });
    found.collect()
}

/// A sender and the queue before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    Abc,
    /// ABC with a router that compares with the arrival rate (Fig. 2).
    AbcByArrivals,
    CubicCodel,
    Copa,
    Cubic,
    Bbr,
    Sprout,
}

impl Scheme {
    /// Its name in the paper.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Abc => "ABC",
            Self::AbcByArrivals => "ABC by the rate of arrivals",
            Self::CubicCodel => "Cubic+Codel",
            Self::Copa => "Copa",
            Self::Cubic => "Cubic",
            Self::Bbr => "BBR",
            Self::Sprout => "Sprout",
        }
    }

    const fn congestion_control(self) -> &'static str {
        match self {
            Self::Abc | Self::AbcByArrivals => "abc",
            Self::Copa => "copa",
            Self::Bbr => "bbr",
            Self::CubicCodel | Self::Cubic | Self::Sprout => "cubic",
        }
    }

    fn queue(self) -> QueueSpec {
        QueueSpec {
            packets: Some(QUEUE_PACKETS),
            policy: match self {
                Self::Abc | Self::AbcByArrivals => QueuePolicy::Abc,
                Self::CubicCodel => QueuePolicy::Codel,
                _ => QueuePolicy::DropTail,
            },
            abc_feedback: match self {
                Self::AbcByArrivals => AbcFeedback::Enqueue,
                _ => AbcFeedback::Dequeue,
            },
            codel_target_ms: CODEL_TARGET_MS,
            ..QueueSpec::default()
        }
    }

    fn workload(self) -> Workload {
        match self {
            Self::Sprout => Workload::new("download", WorkloadKind::Sprout(SproutSpec::default())),
            _ => crate::workloads::download(),
        }
    }
}

impl Link {
    /// The name of its run with that scheme.
    pub fn case_name(&self, scheme: Scheme) -> String {
        format!("{}, {}", self.name, scheme.name())
    }

    /// Its run with that scheme.
    pub fn case(&self, scheme: Scheme) -> Case {
        let run = Run {
            congestion_control: Some(scheme.congestion_control().into()),
            ..Run::new(scheme.name(), Law::None)
        };
        let down = LinkSpec {
            queue: scheme.queue(),
            ..LinkSpec::new(self.rate.clone(), DELAY_MS)
        };
        case(
            self.case_name(scheme),
            [self.duration_s, 0.0],
            down,
            run,
            vec![scheme.workload()],
        )
    }
}

/// A run of that many seconds over the link, without the warm-up.
pub fn case(
    name: String,
    [duration_s, warmup_s]: [f64; 2],
    down: LinkSpec,
    run: Run,
    workloads: Vec<Workload>,
) -> Case {
    let up = LinkSpec::new(RateSpec::ConstantMbps(BACK_MBPS), DELAY_MS);
    Case {
        once: true,
        ..Case::new(Scenario {
            warmup_s,
            ..Scenario::new(name, duration_s, [down, up], workloads, vec![run])
        })
    }
}
