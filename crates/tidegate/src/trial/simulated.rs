//! Runs whole trials in virtual time over links whose truth is known: with the command's plan and judge, and with the
//! simulator in place of link, clock and kernel.

use super::plan::{Plan, Planned, Purpose};
use super::slot::{Measured, RoundTrip, Slot};
use super::verdict::{Because, Finding, judge, wants_check};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;
use tidegate_agent::Direction;
use tidegate_link::{Rate, Trace};
use tidegate_scenario::{GenerateSpec, Law, Run, RunResult, Scenario, Udp};
use tidegate_sim::{Options, run_one};

const PLAN: Plan = Plan::USUAL;

/// Pause between two slots.
const PAUSE_S: f64 = 4.0;

/// How long another machine has been downloading when the load begins.
const BEFORE_S: f64 = 6.0;

/// A link and its load.
#[derive(Clone, Copy)]
struct Setting {
    /// The downlink, in a scenario's syntax.
    down: &'static str,
    /// The load's applications, in a scenario's syntax.
    load: &'static str,
    /// More load, in a scenario's syntax.
    more: &'static str,
    /// Another machine's traffic, which began before the load, in a scenario's syntax.
    beside: &'static str,
    /// Senders' congestion control.
    sender: &'static str,
    /// The law that steers; with none, steered slots are like the others.
    law: Law,
    /// What is done with traffic without a window in steered slots.
    udp: Udp,
}

const BULK: Setting = Setting {
    down: "",
    load: "bulk = {}",
    more: "",
    beside: "",
    sender: "cubic",
    law: Law::Tide,
    udp: Udp::Leave,
};

const LTE: Setting = Setting {
    down: "rate = { generate = { kind = \"lte\" } }, delay_ms = 25, queue = { packets = 2000 }",
    ..BULK
};

const HSPA: Setting = Setting {
    down: "rate = { generate = { kind = \"hspa\" } }, delay_ms = 40, queue = { packets = 1000 }",
    ..BULK
};

const MANAGED: Setting = Setting {
    down: "rate = { constant_mbps = 10 }, delay_ms = 25, queue = { packets = 2000, policy = \"codel\" }",
    ..BULK
};

const MANAGED_LTE: Setting = Setting {
    down: "rate = { generate = { kind = \"lte\" } }, delay_ms = 25, queue = { packets = 2000, policy = \"codel\" }",
    ..BULK
};

const SERVER_LIMITED: Setting = Setting {
    load: "constant_rate = { mbps = 4 }",
    ..LTE
};

const PAUSING: Setting = Setting {
    load: "chunks = { chunk_bytes = 100000, period_s = 1 }",
    ..LTE
};

/// A buffer of half the bandwidth-delay product.
const SHORT_BUFFER: Setting = Setting {
    down: "rate = { constant_mbps = 10 }, delay_ms = 25, queue = { packets = 20 }",
    ..BULK
};

const NO_BLOAT: Setting = Setting {
    down: "rate = { constant_mbps = 20 }, delay_ms = 10, queue = { packets = 2000 }",
    sender: "bbr",
    ..BULK
};

const QUIC: Setting = Setting {
    more: "windowless = true, ",
    ..HSPA
};

const HELD: Setting = Setting {
    down: "rate = { constant_mbps = 20 }, delay_ms = 25, queue = { packets = 2000 }",
    more: QUIC.more,
    udp: Udp::Hold,
    ..BULK
};

/// Another machine downloads all the time.
const JOINS_ANOTHER: Setting = Setting {
    down: HELD.down,
    beside: "bulk = {}",
    ..BULK
};

/// Steered by a law that yields to all other flows (RFC 9840).
const GIVES_WAY: Setting = Setting {
    law: Law::Rledbat,
    ..JOINS_BBR
};

/// Both machines' senders use BBR.
const JOINS_BBR: Setting = Setting {
    sender: "bbr",
    ..JOINS_ANOTHER
};

/// Steering that does nothing, on the link whose delay varies most.
const NOTHING: Setting = Setting {
    law: Law::None,
    ..HSPA
};

impl Setting {
    /// When the load begins, in seconds of the slot's simulation.
    fn load_begins_s(&self) -> f64 {
        match self.beside {
            "" => 0.0,
            _ => BEFORE_S,
        }
    }
}

/// The scenario of one slot.
fn scenario(setting: &Setting, loads: usize, random: &mut Pcg64Mcg) -> Scenario {
    let Setting {
        down,
        load,
        more,
        sender,
        ..
    } = setting;
    let from_s = setting.load_begins_s();
    let stop_s = from_s + PLAN.slot.as_secs_f64();
    let one = |number| {
        let start_s = from_s + random.random_range(0.0..0.5);
        format!(
            "{{ name = \"load{number}\", {more}start_s = {start_s:.3}, stop_s = {stop_s}, does = {{ {load} }} }},"
        )
    };
    let mut loads: String = (0..loads).map(one).collect();
    if !setting.beside.is_empty() {
        let beside = setting.beside;
        loads += &format!("{{ name = \"another\", steered = false, does = {{ {beside} }} }},");
    }
    let seed = random.random_range(0..1 << 30);
    let duration_s = stop_s + PAUSE_S;
    let settled_s = from_s + PLAN.settling().as_secs_f64();
    // Other machines use the link, too.
    let text = format!(
        "name = \"slot\"\nseed = {seed}\nduration_s = {duration_s}\nwarmup_s = {settled_s}\n\
         hosts = {{ congestion_control = \"{sender}\" }}\ndown = {{ {down} }}\n\
         up = {{ rate = {{ constant_mbps = 5 }}, delay_ms = 25 }}\nrun = [{{ name = \"linux\" }}]\n\
         workload = [{loads} {{ name = \"ping\", does = {{ ping = {{ interval_ms = 100 }} }} }},\n\
         {{ name = \"others\", steered = false, does = {{ web = {{ object_bytes = [20000, 3000], pause_s = 0.7 }} }} }}]\n"
    );
    Scenario::parse(&text, Path::new("slot.toml")).unwrap()
}

/// A link whose time goes on from slot to slot.
struct World {
    setting: Setting,
    random: Pcg64Mcg,
    /// Delivery opportunities of a cellular link, in ms; none if the rate is constant.
    cell_ms: Vec<u64>,
    at_s: f64,
    /// Round trips before the first load.
    idle_ms: Vec<f64>,
}

impl World {
    fn new(setting: Setting, seed: u64) -> Self {
        let random = Pcg64Mcg::seed_from_u64(seed);
        let kinds = ["lte", "hspa"].into_iter();
        let mut kinds = kinds.filter(|kind| setting.down.contains(&format!("\"{kind}\"")));
        let trace = kinds.next().map(|kind| {
            let spec = GenerateSpec {
                kind: kind.parse().unwrap(),
                mean_mbps: None,
                seed: Some(seed),
            };
            spec.model(seed).trace(Duration::from_secs(400)).to_string()
        });
        let trace = trace.unwrap_or_default();
        Self {
            setting,
            random,
            cell_ms: trace.lines().map(|line| line.parse().unwrap()).collect(),
            at_s: 0.0,
            idle_ms: vec![2.0 * idle_ms(&setting)],
        }
    }

    /// The cellular link's rate from now on.
    fn rate(&self) -> Option<Rate> {
        let now_ms = (self.at_s * 1e3) as u64;
        let later = self.cell_ms.iter().filter(|ms| **ms > now_ms);
        let lines: String = later.map(|ms| format!("{}\n", ms - now_ms)).collect();
        (!self.cell_ms.is_empty()).then(|| Trace::parse(&lines).unwrap().into())
    }

    fn slot(&mut self, planned: Planned) -> Slot {
        let loads = if planned.purpose == Purpose::Check {
            2
        } else {
            1
        };
        let scenario = scenario(&self.setting, loads, &mut self.random);
        let mut inputs = scenario.link_inputs(Path::new("slot.toml")).unwrap();
        if let Some(rate) = self.rate() {
            inputs.down.rate = rate;
        }
        let law = if planned.steered {
            self.setting.law
        } else {
            Law::None
        };
        let options = Options {
            series: true,
            ..Options::default()
        };
        let run = Run {
            udp: if planned.steered {
                self.setting.udp
            } else {
                Udp::Leave
            },
            ..Run::new("slot", law)
        };
        let result = run_one(&scenario, &inputs, &run, &options);
        let result = result.unwrap().unwrap();
        if self.at_s == 0.0 && !self.setting.beside.is_empty() {
            self.idle_ms = round_trips(&result, BEFORE_S - 3.0..BEFORE_S)
                .map(|(_, ms)| ms)
                .collect();
        }
        let slot = self.seen(planned, &result);
        self.at_s += PLAN.slot.as_secs_f64() + PAUSE_S;
        slot
    }

    /// What the command would see of the slot.
    fn seen(&self, planned: Planned, result: &RunResult) -> Slot {
        let settling_s = PLAN.settling().as_secs_f64();
        let from_s = self.setting.load_begins_s();
        let counts = from_s + settling_s..from_s + PLAN.slot.as_secs_f64();
        let mut slot = Slot::new(planned);
        slot.seconds = PLAN.slot.as_secs_f64() - settling_s;
        slot.round_trips = round_trips(result, counts.clone())
            .map(|(t, ms)| RoundTrip {
                at_s: self.at_s + t,
                ms,
            })
            .collect();
        let way = &mut slot.carried[Direction::Down as usize];
        let rates_of = |flow: &str| points(result, "goodput_bps", flow, counts.clone());
        let rates: Vec<_> = rates_of("load0").collect();
        let loads = result.flows.iter().filter(|f| f.name.starts_with("load"));
        let rates_of = loads.flat_map(|load| rates_of(&load.name).collect::<Vec<_>>());
        // The series have ten points a second.
        let bytes = rates_of.map(|(_, bps)| bps).sum::<f64>() / 80.0;
        let bytes = bytes as u64;
        if planned.steered && self.setting.udp == Udp::Hold {
            way.held_bytes = bytes;
        } else if self.setting.more.contains("windowless") {
            way.windowless_bytes = bytes;
            way.windowless = Some("quic".into());
        } else {
            way.reached_bytes = bytes;
        }
        way.active = rates.iter().filter(|(_, bps)| *bps > 0.0).count() as f64 / rates.len() as f64;
        slot.lost = result.link.drops + result.link.losses;
        slot.drained = true;
        slot
    }
}

/// Values of a quantity and a flow between these times, in seconds.
fn points<'a>(
    result: &'a RunResult,
    quantity: &str,
    flow: &str,
    counts: std::ops::Range<f64>,
) -> impl Iterator<Item = (f64, f64)> + use<'a> {
    let mut all = result.series.iter();
    let found = all.find(|s| s.quantity == quantity && s.flow == flow);
    let found = found.unwrap_or_else(|| panic!("no {quantity} of {flow}"));
    let points = found.t_s.iter().copied().zip(found.value.iter().copied());
    points.filter(move |(t, _)| counts.contains(t))
}

/// The ping's round trips, in ms.
fn round_trips(
    result: &RunResult,
    counts: std::ops::Range<f64>,
) -> impl Iterator<Item = (f64, f64)> + use<'_> {
    points(result, "rtt_ms", "ping", counts)
}

/// Runs a whole trial.
fn trial(setting: Setting, seed: u64) -> Finding {
    let mut world = World::new(setting, seed);
    let slots = PLAN.slots(seed).into_iter();
    let slots = slots.map(|planned| world.slot(planned)).collect();
    let mut measured = Measured {
        idle_ms: std::mem::take(&mut world.idle_ms),
        slots,
        cut_short: None,
    };
    if wants_check(&measured) {
        measured.slots.push(world.slot(PLAN.check()));
    }
    judge(&measured)
}

/// Idle round trip, about: links have the same delay both ways, and uplinks have no queue.
fn idle_ms(setting: &Setting) -> f64 {
    let down = setting.down.split_once("delay_ms = ").unwrap().1;
    let down: f64 = down.split(',').next().unwrap().parse().unwrap();
    (down + 25.0) / 2.0
}

/// Results of many trials in words, and how often each occurred.
fn trials(setting: Setting, seeds: std::ops::Range<u64>) -> BTreeMap<String, usize> {
    let (seeds, counts) = (Mutex::new(seeds), Mutex::new(BTreeMap::new()));
    let work = || {
        while let Some(seed) = { seeds.lock().unwrap().next() } {
            let finding = trial(setting, seed);
            *counts.lock().unwrap().entry(word(&finding)).or_default() += 1;
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    counts.into_inner().unwrap()
}

/// The reason as a word, or the verdict if it has no reason.
fn word(finding: &Finding) -> String {
    let json = match &finding.because {
        Some(Because::Windowless(_)) => "windowless".into(),
        Some(because) => serde_json::to_value(because).unwrap(),
        None => serde_json::to_value(finding.verdict).unwrap(),
    };
    json.as_str().unwrap().to_owned()
}

/// A kind of link, and the right verdict on it.
type Truth = (&'static str, Setting, &'static str);

const TRUTHS: [Truth; 12] = [
    ("LTE", LTE, "helps"),
    ("HSPA", HSPA, "helps"),
    ("CoDel, 10 Mbit/s", MANAGED, "managed_queue"),
    ("small buffer, 10 Mbit/s", SHORT_BUFFER, "managed_queue"),
    ("server of 4 Mbit/s, LTE", SERVER_LIMITED, "server_limited"),
    ("100 kB a second, LTE", PAUSING, "not_saturated"),
    ("BBR, 20 Mbit/s", NO_BLOAT, "no_queue"),
    ("QUIC, HSPA", QUIC, "windowless"),
    ("QUIC held, 20 Mbit/s", HELD, "helps"),
    (
        "joins another's download, 20 Mbit/s",
        JOINS_ANOTHER,
        "others_queue",
    ),
    ("joins another's BBR, 20 Mbit/s", JOINS_BBR, "others_queue"),
    ("rLEDBAT joins another's BBR", GIVES_WAY, "gives_way"),
];

/// Prints all trials, and checks that at least 19 of 20 on each kind of link are right.
fn assert_right(truths: &[Truth], seeds: std::ops::Range<u64>) {
    let mut wrong = Vec::new();
    for &(name, setting, right) in truths {
        let counts = trials(setting, seeds.clone());
        println!("{name}: {counts:?}");
        let rights = counts.get(right).copied().unwrap_or(0);
        let all: usize = counts.values().sum();
        if 20 * rights < 19 * all {
            wrong.push(format!("{name} is not {right}: {counts:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Checks that fewer than 1 in 20 trials of steering that does nothing claim an effect.
fn assert_few_false(name: &str, setting: Setting, seeds: std::ops::Range<u64>) {
    let counts = trials(setting, seeds);
    println!("{name}: {counts:?}");
    let claims = ["helps", "hurts"].map(|claim| counts.get(claim).copied().unwrap_or(0));
    let all: usize = counts.values().sum();
    assert!(20 * claims.iter().sum::<usize>() < all, "{counts:?}");
}

#[test]
fn the_verdict_is_right_over_links_of_known_truth() {
    assert_right(&TRUTHS, 0..20);
}

#[test]
fn steering_that_does_nothing_is_seldom_said_to_do_something() {
    assert_few_false("nothing, HSPA", NOTHING, 0..100);
}

/// `cargo test -p tidegate --bin tidegate trial::simulated -- --ignored --nocapture`: half an hour of a processor each.
#[test]
#[ignore = "minutes of simulation"]
fn campaign_of_truths() {
    let managed_lte = ("CoDel, LTE", MANAGED_LTE, "managed_queue");
    assert_right(&[&TRUTHS[..], &[managed_lte]].concat(), 1000..1100);
}

#[test]
#[ignore = "minutes of simulation"]
fn campaign_of_nothing() {
    assert_few_false("nothing, HSPA", NOTHING, 1000..2000);
    let lte = Setting {
        law: Law::None,
        ..LTE
    };
    assert_few_false("nothing, LTE", lte, 1000..1300);
}
