//! The paper's standard experiment: a download to a phone, near or far, in good or weak signal.

use super::carriers::{Carrier, LAMBDA, window};
use crate::radio::{self, GOOD_DB};
use crate::workloads::download;
use tidegate_scenario::{
    Direction, Hop, Hosts, Law, LinkSpec, Loss, MiddleboxSpec, QueueSpec, RateSpec, Run, Scenario,
    Side, Workload, WorkloadKind,
};
use tidegate_study::{Case, Sample};

/// Each download took three minutes (section 5.3).
const DURATION_S: f64 = 180.0;

/// In real time there is less. The first seconds do not count, so that the start weighs no more than in the paper.
const SHORT_S: f64 = 40.0;
const START_S: f64 = 10.0;

/// A wired link, in Mbit/s: never the bottleneck.
const WIRED_MBPS: f64 = 1000.0;

/// The uplink, which carries requests and ACKs.
const UPLINK_MBPS: f64 = 5.0;

/// How long a middlebox waits for a missing packet: longer than any sender, or it would go unnoticed.
const PATIENCE_MS: f64 = 10_000.0;

/// Linux 2.6.35's, of RFC 3390, in segments.
const INITIAL_WINDOW: u32 = 3;

/// The phone's receive window.
#[derive(Clone, Copy, Debug)]
pub enum Phone {
    /// Linux 2.6.35 with this `tcp_rmem_max`.
    Limit(u64),
    /// As sold, with the carrier's default limit.
    Untouched,
    /// DRWA with this λ.
    Drwa(f64),
    /// DRWA as the paper runs it, but with a window scale for any window.
    WideDrwa,
    /// Without any limit, as Linux PCs and Windows phones.
    Open,
}

/// DRWA as the paper runs it.
pub const DRWA: Phone = Phone::Drwa(LAMBDA);

/// A download, to be varied and turned into a [`Case`].
#[derive(Clone, Debug)]
pub struct Download {
    carrier: &'static Carrier,
    case: Case,
}

impl Download {
    /// From the near server, in good signal.
    pub fn new(carrier: &'static Carrier, phone: Phone) -> Self {
        let name = format!("{}, {}", carrier.name, label(phone));
        let down = LinkSpec {
            queue: QueueSpec {
                packets: Some(carrier.buffer),
                ..QueueSpec::default()
            },
            arq: Some(radio::arq(carrier.harq_ms)),
            ..LinkSpec::new(RateSpec::ConstantMbps(WIRED_MBPS), 0.0)
        };
        let up = LinkSpec::new(RateSpec::ConstantMbps(UPLINK_MBPS), 0.0);
        let runs = vec![run(carrier, phone)];
        let scenario = Scenario {
            hosts: Hosts {
                initial_window: Some(INITIAL_WINDOW),
                ..Hosts::default()
            },
            ..Scenario::new(name, DURATION_S, [down, up], vec![download()], runs)
        };
        let mut download = Self {
            carrier,
            case: Case::new(scenario),
        };
        download.set_rtt(carrier.near_ms());
        download.set_signal(vec![[0.0, GOOD_DB]]);
        download
    }

    /// Over a path with that RTT in all, in ms.
    pub fn rtt(mut self, ms: f64) -> Self {
        self.set_rtt(ms);
        self.named(&format!("{ms:.0} ms"))
    }

    /// In another signal: seconds and dB.
    pub fn signal(mut self, points: Vec<[f64; 2]>) -> Self {
        let words: Vec<String> = points
            .iter()
            .map(|[s, db]| format!("{db} dB at {s} s"))
            .collect();
        self.set_signal(points);
        self.named(&words.join(" "))
    }

    /// From a sender with that congestion control.
    pub fn sender(mut self, congestion_control: &str) -> Self {
        self.case.scenario.hosts.congestion_control = congestion_control.into();
        self.named(congestion_control)
    }

    /// For that many seconds.
    pub fn lasting(mut self, seconds: f64) -> Self {
        self.case.scenario.duration_s = seconds;
        self.named(&format!("{seconds} s"))
    }

    /// With that share of packets lost, in bursts, in front of the carrier's network; and with its middlebox, if it
    /// has one.
    pub fn lossy(mut self, probability: f64) -> Self {
        let mut internet = LinkSpec::new(RateSpec::ConstantMbps(WIRED_MBPS), 0.0);
        internet.queue.packets = Some(10_000);
        internet.loss = Some(Loss::Bursty {
            probability,
            mean_length: 2.0,
        });
        internet.middlebox = self.carrier.middlebox.then_some(MiddleboxSpec {
            patience_ms: PATIENCE_MS,
        });
        self.hop("internet", internet);
        self.named(&format!("{} % loss", probability * 100.0))
    }

    /// From a server shaped to that rate.
    pub fn shaped(mut self, mbps: f64) -> Self {
        let mut server = LinkSpec::new(RateSpec::ConstantMbps(mbps), 0.0);
        server.queue.packets = Some(1000);
        self.hop("server", server);
        self.named(&format!("shaped to {mbps} Mbit/s"))
    }

    /// Beside objects of those sizes, each fetched on a connection of its own.
    pub fn beside_objects(mut self, sizes: &[u64], pause_s: f64) -> Self {
        self.case.scenario.workloads.push(objects(sizes, pause_s));
        self.named("objects")
    }

    /// Objects instead of the download.
    pub fn objects_only(mut self, sizes: &[u64], pause_s: f64) -> Self {
        self.case.scenario.workloads = vec![objects(sizes, pause_s)];
        self.named("objects alone")
    }

    /// With these curves over time.
    pub fn curves(self, quantities: &[&'static str]) -> Self {
        let case = self.case.curves(quantities);
        Self { case, ..self }
    }

    /// The case.
    pub fn case(self) -> Case {
        self.case
    }

    /// The case's name.
    pub fn name(&self) -> String {
        self.case.name.clone()
    }

    fn named(self, what: &str) -> Self {
        let case = self.case.named(what);
        Self { case, ..self }
    }

    fn set_rtt(&mut self, ms: f64) {
        self.case.scenario.down.delay_ms = ms / 2.0;
        self.case.scenario.up.delay_ms = ms / 2.0;
    }

    fn set_signal(&mut self, points: Vec<[f64; 2]>) {
        self.case.scenario.down.rate = radio::rate(self.carrier.peak_mbps(), points);
    }

    fn hop(&mut self, name: &str, link: LinkSpec) {
        self.case.scenario.hops.push(Hop {
            name: name.into(),
            direction: Direction::Down,
            side: Side::Server,
            link,
        });
    }
}

/// Shortens a download to the time available in the laboratory; a download that must last as long as something else
/// keeps its length.
pub fn shorten(case: &mut Case) {
    if case.scenario.duration_s == DURATION_S {
        case.scenario.duration_s = SHORT_S;
        case.scenario.warmup_s = START_S;
    }
}

fn label(phone: Phone) -> String {
    match phone {
        Phone::Limit(limit) => format!("limit {limit}"),
        Phone::Untouched => "untouched".into(),
        Phone::Drwa(lambda) => format!("DRWA λ = {lambda}"),
        Phone::WideDrwa => "DRWA, any window".into(),
        Phone::Open => "no limit".into(),
    }
}

/// An untouched phone runs Algorithm 2; the buffer in front of it never interferes.
fn run(carrier: &Carrier, phone: Phone) -> Run {
    let (law, lambda, limit) = match phone {
        Phone::Limit(limit) => (Law::Drs, LAMBDA, Some(window(limit))),
        Phone::Untouched => (Law::Drs, LAMBDA, Some(carrier.window())),
        Phone::Drwa(lambda) => (Law::Drwa, lambda, Some(carrier.largest_window())),
        Phone::WideDrwa => (Law::Drwa, LAMBDA, None),
        Phone::Open => (Law::None, LAMBDA, None),
    };
    Run {
        lambda,
        limit,
        ..Run::new(label(phone), law)
    }
}

/// From the tenth second on, when the download is under way.
fn objects(sizes: &[u64], pause_s: f64) -> Workload {
    let does = WorkloadKind::Web {
        object_bytes: sizes.to_vec(),
        pause_s,
    };
    Workload {
        start_s: 10.0,
        ..Workload::new("objects", does)
    }
}

/// By how much the goodput of one case exceeds another's, in percent.
pub fn gain(sample: &Sample, of: &str, over: &str) -> f64 {
    (sample.goodput(of) / sample.goodput(over) - 1.0) * 100.0
}

/// By how much the RTT of one case is below another's, in percent.
pub fn reduction(sample: &Sample, of: &str, below: &str) -> f64 {
    (1.0 - sample.rtt(of) / sample.rtt(below)) * 100.0
}
