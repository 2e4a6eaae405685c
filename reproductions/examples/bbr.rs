//! Why BBR senders use less of a link under tide than with untouched Linux (docs/internals/law.md): the paths of
//! `tidegate reproduce tide bbr`, with senders that each lack a part of BBR, and what kept BBR from sending while its
//! link was idle.
//!
//! ```text
//! cargo run --release -p tidegate-reproductions --example bbr                     # the shipped cells
//! cargo run --release -p tidegate-reproductions --example bbr -- FOLDER           # and the recordings in FOLDER
//! cargo run --release -p tidegate-reproductions --example bbr -- FOLDER 100 ms    # those paths whose names have that
//! ```

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;
use tidegate_scenario::Scenario;
use tidegate_sim::cc::bbr::{Bbr, Memory};
use tidegate_sim::cc::{CongestionControl, Window};
use tidegate_sim::{Flight, FlowView, Options, Own, Place, RateSample, Session, in_order, run_one};
use tidegate_study::{Case, Extent};

/// Longer than any run.
const FOR_EVER: Memory = Memory {
    bandwidth_rounds: 1 << 30,
    min_rtt: Duration::from_secs(3600),
};

const SENDERS: [Sender; 5] = [
    Sender("BBR", Some(Memory::LINUX)),
    Sender(
        "BBR that never forgets a bandwidth",
        Some(Memory {
            min_rtt: Memory::LINUX.min_rtt,
            ..FOR_EVER
        }),
    ),
    Sender(
        "BBR without PROBE_RTT",
        Some(Memory {
            bandwidth_rounds: Memory::LINUX.bandwidth_rounds,
            ..FOR_EVER
        }),
    ),
    Sender("BBR with neither", Some(FOR_EVER)),
    Sender("nothing but the receiver's window", None),
];

/// The receivers, by their names in the study.
const RECEIVERS: [&str; 2] = ["linux", "tide"];

/// A sender, and how long it keeps its measurements, if it measures at all.
#[derive(Clone, Copy, Debug)]
struct Sender(&'static str, Option<Memory>);

impl Own for Sender {
    fn congestion_control(&self, _: &Place<'_>) -> Option<Box<dyn CongestionControl>> {
        match self.1 {
            // The run's own BBR, with the study's random numbers.
            Some(Memory::LINUX) => None,
            Some(memory) => Some(Box::new(Bbr::with_memory(1, memory))),
            None => Some(Box::new(Unlimited)),
        }
    }

    fn congestion_control_name(&self) -> Option<&str> {
        Some(self.0)
    }
}

/// Slow start that only the receiver's window ends.
#[derive(Debug)]
struct Unlimited;

impl CongestionControl for Unlimited {
    fn ssthresh(&mut self, w: &Window, _: &Flight) -> u32 {
        w.cwnd
    }

    fn cong_avoid(&mut self, _: &mut Window, _: &Flight, _: u32) {}

    fn controls_rate(&self) -> bool {
        true
    }

    fn control(&mut self, w: &mut Window, _: &Flight, sample: &RateSample) {
        w.cwnd = (w.cwnd + sample.acked_sacked).min(w.clamp).min(1 << 16);
    }
}

/// Result of a run: use of the link in percent, mean queueing delay in milliseconds, and the percentage of the link's
/// capacity lost to each limit, if that was recorded.
struct Outcome {
    used: f64,
    queue_ms: f64,
    lost: BTreeMap<&'static str, f64>,
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let traces = args.next().map(PathBuf::from);
    let named = args.collect::<Vec<_>>().join(" ");
    let cases = cases(traces, &named)?;
    let threads = available_parallelism().map_or(1, usize::from);
    let jobs = SENDERS.len() * cases.len();
    let work = |job: usize| {
        let (sender, case) = (SENDERS[job / cases.len()], &cases[job % cases.len()]);
        // Record the limits only for unmodified BBR.
        run(sender, &case.scenario, job < cases.len()).map(Some)
    };
    let mut outcomes = Vec::new();
    let take = |_, outcome| {
        outcomes.push(outcome);
        Ok(())
    };
    in_order(jobs, threads, work, take, || ())?;
    // For each sender, untouched Linux's cases come first.
    for (sender, both) in SENDERS.iter().zip(outcomes.chunks(cases.len())) {
        let halves: Vec<&[Outcome]> = both.chunks(cases.len() / RECEIVERS.len()).collect();
        show(sender.0, &halves);
    }
    Ok(())
}

/// The study's cases with BBR senders: all paths with untouched Linux, then all with tide.
fn cases(traces: Option<PathBuf>, named: &str) -> Result<Vec<Case>> {
    let mut papers = tidegate_reproductions::papers().into_iter();
    let tide = papers
        .find(|paper| paper.id == "tide")
        .context("no such paper")?;
    let extent = Extent {
        quick: false,
        traces,
        lab: false,
    };
    let mut figures = (tide.figures)(&extent)?.into_iter();
    let figure = figures.find(|f| f.id == "bbr").context("no such figure")?;
    let by = |receiver: &str| {
        let end = format!(", bbr, {receiver}");
        let cases = figure.cases.iter();
        let cases =
            cases.filter(move |case| case.name.ends_with(&end) && case.name.contains(named));
        cases.cloned().collect::<Vec<Case>>()
    };
    Ok(RECEIVERS.iter().flat_map(|receiver| by(receiver)).collect())
}

fn run(sender: Sender, scenario: &Scenario, limits: bool) -> Result<Outcome> {
    let inputs = scenario.link_inputs(Path::new("."))?;
    let options = Options {
        own: Some(Arc::new(sender)),
        ..Options::default()
    };
    let (result, lost) = match limits {
        true => limited(
            scenario,
            Session::new(scenario, &inputs, &scenario.runs[0], &options)?,
        ),
        false => {
            let result = run_one(scenario, &inputs, &scenario.runs[0], &options)?;
            (result.context("nothing stops it")?, BTreeMap::new())
        }
    };
    Ok(Outcome {
        used: result.link.utilisation * 100.0,
        // As the study counts it.
        queue_ms: result.link.queue_delay_ms.mean.max(0.5),
        lost,
    })
}

/// What limited the sender in each millisecond in which the link carried less than it could have.
fn limited(
    scenario: &Scenario,
    mut session: Session,
) -> (tidegate_scenario::RunResult, BTreeMap<&'static str, f64>) {
    const STEP: Duration = Duration::from_millis(1);
    let mut steps = Vec::new();
    let mut delivered = Vec::new();
    while !session.is_over() {
        session.advance(STEP);
        let flow = session.flow(0).unwrap_or_default();
        steps.push((session.capacity_bytes(0, STEP) as f64, limit(&flow)));
        let link = session.link(0).unwrap_or_default();
        delivered.push(link.delivered_bytes as f64);
    }
    // A delivered packet left the queue this many steps earlier.
    let late = scenario.down.delay_ms as usize;
    let from = (scenario.warmup_s * 1e3) as usize - late;
    let (mut could, mut missing) = (0.0, 0.0);
    let mut lost = BTreeMap::new();
    for now in from.max(1)..steps.len() - late {
        let (capacity, limit) = steps[now];
        could += capacity;
        missing += capacity - (delivered[now + late] - delivered[now + late - 1]);
        // Do not count a packet in the middle of its transmission.
        if missing > 3000.0 {
            *lost.entry(limit).or_insert(0.0) += missing;
            missing = 0.0;
        }
    }
    lost.values_mut().for_each(|bytes| *bytes *= 100.0 / could);
    (session.finish(), lost)
}

/// What keeps the sender from sending. In PROBE_RTT BBR's window is four segments; otherwise it is that small only
/// after a timeout.
fn limit(flow: &FlowView) -> &'static str {
    let segment = u64::from(flow.segment_bytes);
    let in_flight = u64::from(flow.in_flight_segments) * segment;
    if flow.cwnd_segments <= 4 {
        "PROBE_RTT or a timeout"
    } else if in_flight + segment > flow.window_bytes {
        "the receiver's window"
    } else if flow.in_flight_segments >= flow.cwnd_segments {
        "its congestion window"
    } else {
        "its pacing rate"
    }
}

fn show(sender: &str, halves: &[&[Outcome]]) {
    println!("\n{sender}, {} paths", halves[0].len());
    for (receiver, outcomes) in RECEIVERS.iter().zip(halves) {
        let used = mean(outcomes, |o| o.used);
        let queue_ms = libm::exp(mean(outcomes, |o| libm::log(o.queue_ms)));
        println!("  {receiver:6} used {used:6.2} %, queue {queue_ms:6.1} ms");
        let limits: BTreeMap<&str, ()> = outcomes
            .iter()
            .flat_map(|o| o.lost.keys().map(|&limit| (limit, ())))
            .collect();
        for limit in limits.keys() {
            let lost = mean(outcomes, |o| o.lost.get(limit).copied().unwrap_or(0.0));
            println!("         lost while limited by {limit}: {lost:5.2} points");
        }
    }
}

fn mean(outcomes: &[Outcome], read: impl Fn(&Outcome) -> f64) -> f64 {
    outcomes.iter().map(read).sum::<f64>() / outcomes.len() as f64
}
