//! Beyond the paper: a server with thousands of uploads whose applications stop and start, and a fixed number of bytes
//! of buffer for all of them.

use crate::pictures::lines;
use std::sync::Arc;
use tidegate_scenario::{
    Direction, FlowControl, Law, LinkSpec, RateSpec, ReadRate, Run, RunResult, Scenario, Workload,
    WorkloadKind,
};
use tidegate_study::{Case, Claim, Extent, Figure, Quantity, Sample};

/// Number of connections; as a quick sample. They are coupled only by a link that is never full, so a sample has the
/// same mean.
const CONNECTIONS: usize = 10_000;
const QUICK_CONNECTIONS: usize = 500;

/// Length of a run, and of its warm-up, in seconds.
const DURATION_S: f64 = 8.0;
const START_S: f64 = 2.0;

/// A connection's share of the buffers, in KiB.
const SHARES_KIB: [f64; 5] = [4.0, 8.0, 16.0, 32.0, 64.0];

/// The share for the comparison: a round trip of reading is 14.6 KiB.
const TIGHT: usize = 2;

/// Mbit/s that an application reads while it reads: two of three slots.
const READING_MBPS: f64 = 1.2;
const MEAN_MBPS: f64 = READING_MBPS * 2.0 / 3.0;

/// Shortest and longest slot, in seconds: from a round trip to five.
const SLOTS_S: [f64; 2] = [0.1, 0.5];

/// One way, in milliseconds.
const DELAY_MS: f64 = 50.0;

/// The server's link: what all read at once, in Mbit/s, four times.
const LINK: f64 = 4.0 * READING_MBPS;

/// Share of the most that the applications could read.
const MOST: f64 = 0.8;

/// Why Linux gets less from the same bytes.
const OVERHEAD: &str =
    "of a kernel's memory a segment takes 2304 bytes for 1448, and half of it is never advertised";

/// What AFC pays for it.
const LENT: &str = "the link is faster than any reader, so every window is full all the time, and what was lent beyond the buffer finds no \
     room whenever the reader stops; the sender remembers a rate for two round trips. It is as much with four times the \
     buffer: AFC spends the network to save memory";

/// Schemes of using a connection's share of the buffers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scheme {
    Classic,
    Linux,
    Afc,
}

const SCHEMES: [Scheme; 3] = [Scheme::Classic, Scheme::Linux, Scheme::Afc];

impl Scheme {
    const fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Linux => "Linux's autotuning",
            Self::Afc => "AFC",
        }
    }

    /// A run with that many bytes for each connection: of payload, or of the kernel's memory.
    fn run(self, bytes: u64) -> Run {
        let fixed = |flow_control| Run {
            window: Some(bytes),
            flow_control,
            ..Run::new(self.name(), Law::None)
        };
        match self {
            Self::Classic => fixed(FlowControl::Classic),
            Self::Afc => fixed(FlowControl::Adaptive),
            Self::Linux => Run {
                rmem_max: Some(bytes),
                ..Run::new(self.name(), Law::None)
            },
        }
    }
}

/// Names of the cases: shares × schemes.
struct Runs {
    connections: usize,
    cases: Vec<[String; 3]>,
}

/// The figure.
pub fn figure(extent: &Extent) -> Figure {
    let connections = if extent.quick {
        QUICK_CONNECTIONS
    } else {
        CONNECTIONS
    };
    let cases = SHARES_KIB.map(|kib| SCHEMES.map(|scheme| case(scheme, kib, connections)));
    let runs = Arc::new(Runs {
        connections,
        cases: cases
            .iter()
            .map(|schemes| schemes.each_ref().map(|case| case.name.clone()))
            .collect(),
    });
    let quantities = quantities(&runs);
    Figure {
        id: "server",
        title: "10 000 uploads, one budget of buffers",
        claim: "Beyond the paper. Where memory is what is scarce, AFC carries more of what the applications could read than \
                classic windows and Linux's autotuning do with the same bytes.",
        method: "10 000 uploads (500 as a quick sample) to a server whose buffers are divided equally among them, over 100 ms and a \
                 link that is never full. Each application reads 0, 1.2 and 1.2 Mbit/s in turn, slots of 0.1 to 0.5 s long, all out \
                 of step. Classic and AFC: so many bytes of payload; Linux: tcp_rmem's maximum, what segments cost included.",
        cases: cases.into_iter().flatten().collect(),
        quantities,
        draw: Box::new(move |sample| {
            let labels = SCHEMES.map(Scheme::name);
            vec![lines(
                "What all read together",
                ("KiB of buffer for a connection", &SHARES_KIB),
                "% of what they could",
                &labels,
                |share, scheme| 100.0 * runs.share_read(sample, share, scheme),
            )]
        }),
    }
}

fn case(scheme: Scheme, kib: f64, connections: usize) -> Case {
    let name = format!("{connections} uploads, {kib} KiB each, {}", scheme.name());
    let mbps = LINK * connections as f64;
    let link = LinkSpec::new(RateSpec::ConstantMbps(mbps), DELAY_MS);
    let uploads = (0..connections).map(upload).collect();
    let run = scheme.run((kib * 1024.0) as u64);
    Case::new(Scenario {
        warmup_s: START_S,
        ..Scenario::new(name, DURATION_S, [link.clone(), link], uploads, vec![run])
    })
}

/// The `nth` upload, out of step with all others: multiples of an irrational number are spread evenly.
fn upload(nth: usize) -> Workload {
    let spread = |irrational: f64| (nth as f64 * irrational).fract();
    let [shortest, longest] = SLOTS_S;
    let slot_s = shortest * libm::pow(longest / shortest, spread(2f64.sqrt()));
    let reads = ReadRate::Slots {
        mbps: vec![0.0, READING_MBPS, READING_MBPS],
        slot_s,
    };
    let direction = Direction::Up;
    Workload {
        start_s: 3.0 * slot_s * spread(3f64.sqrt()),
        ..Workload::new(
            format!("upload {nth}"),
            WorkloadKind::Reader { direction, reads },
        )
    }
}

impl Runs {
    /// Bytes read, as a share of the most that could be read.
    fn share_read(&self, sample: &Sample, share: usize, scheme: usize) -> f64 {
        let could = MEAN_MBPS * self.connections as f64;
        sample.goodput(&self.cases[share][scheme]) / could
    }

    /// KiB a connection at which a scheme reads [`MOST`], interpolated between the shares tried.
    fn enough_kib(&self, sample: &Sample, scheme: usize) -> f64 {
        let read = |share| self.share_read(sample, share, scheme);
        let after = (0..SHARES_KIB.len()).find(|&share| read(share) >= MOST);
        match after {
            None => f64::INFINITY,
            Some(0) => SHARES_KIB[0],
            Some(share) => {
                let [low, high] = [read(share - 1), read(share)];
                let part = (MOST - low) / (high - low);
                SHARES_KIB[share - 1] * (1.0 - part) + SHARES_KIB[share] * part
            }
        }
    }
}

fn place_of(scheme: Scheme) -> usize {
    let found = SCHEMES.iter().position(|&other| other == scheme);
    found.expect("one of them")
}

fn quantities(runs: &Arc<Runs>) -> Vec<Quantity> {
    let afc = place_of(Scheme::Afc);
    let [classic, linux] = [Scheme::Classic, Scheme::Linux].map(|other| {
        let (runs, place) = (runs.clone(), place_of(other));
        let name = format!("goodput with 16 KiB each: AFC ÷ {}", other.name());
        Quantity::new(name, "", Claim::at_least(1.2, 1.0), move |sample| {
            runs.share_read(sample, TIGHT, afc) / runs.share_read(sample, TIGHT, place)
        })
    });
    let enough = [Scheme::Classic, Scheme::Linux].map(|other| {
        let (runs, place) = (runs.clone(), place_of(other));
        let name = format!(
            "buffers for 80 % of what could be read: {} ÷ AFC",
            other.name()
        );
        Quantity::new(name, "", Claim::at_least(1.5, 1.0), move |sample| {
            runs.enough_kib(sample, place) / runs.enough_kib(sample, afc)
        })
    });
    let shared = runs.clone();
    let resent = Quantity::new(
        "segments sent again with 16 KiB each, of all read: AFC",
        "%",
        Claim::at_most(10.0, 100.0),
        move |sample| sample.mean(&shared.cases[TIGHT][afc], resent),
    )
    .because(LENT);
    let [enough_classic, enough_linux] = enough;
    vec![
        classic,
        linux.because(OVERHEAD),
        enough_classic,
        enough_linux.because(OVERHEAD),
        resent,
    ]
}

/// Retransmitted segments, in percent of those whose payload was read.
fn resent(run: &RunResult) -> f64 {
    const SEGMENT_BITS: f64 = 1448.0 * 8.0;
    let resent: u64 = run.flows.iter().map(|flow| flow.retransmits).sum();
    let bps: f64 = run.flows.iter().map(|flow| flow.goodput_bps).sum();
    let read = bps * (DURATION_S - START_S) / SEGMENT_BITS;
    100.0 * resent as f64 / read
}

#[cfg(test)]
mod tests;
