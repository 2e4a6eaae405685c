//! The caller's own laws and congestion controls.

mod common;

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tidegate_scenario::{Law, LinkInputs, Run, RunResult, Scenario, Side};
use tidegate_sim::cc::{Algorithm, CongestionControl, Window};
use tidegate_sim::{
    Arrival, Flight, Instant, Keys, Manual, Options, Own, OwnLaw, Place, Session, run_one,
};

const MS: Duration = Duration::from_millis(1);

/// Downloads, an upload and short flows over a link with losses; all flows of a run follow its congestion control but one.
const MIXED: &str = r#"
name = "own"
duration_s = 12
warmup_s = 2
down = { rate = { generate = { kind = "lte" } }, delay_ms = 25, queue = { packets = 300 }, loss = { random = 0.0005 } }
up = { rate = { constant_mbps = 5 }, delay_ms = 25 }
run = [{ name = "mine" }, { name = "reno", congestion_control = "reno" }]
workload = [
    { name = "bulk", does = { bulk = {} } },
    { name = "other", congestion_control = "cubic", does = { bulk = {} } },
    { name = "up", start_s = 3, does = { bulk = { direction = "up" } } },
    { name = "web", does = { web = { object_bytes = [3000, 200000], pause_s = 0.3 } } },
]
"#;

const ONE: &str = r#"
name = "one"
duration_s = 10
warmup_s = 2
down = { rate = { constant_mbps = 20 }, delay_ms = 20, queue = { packets = 1000 } }
up = { rate = { constant_mbps = 5 }, delay_ms = 20 }
run = [{ name = "mine" }]
workload = [{ name = "download", does = { bulk = {} } }]
"#;

fn read(text: &str) -> (Scenario, LinkInputs) {
    let path = Path::new("test.toml");
    let scenario = Scenario::parse(text, path).unwrap();
    let inputs = scenario.link_inputs(path).unwrap();
    (scenario, inputs)
}

fn with(own: impl Own + 'static) -> Options<'static> {
    Options {
        own: Some(Arc::new(own)),
        series: true,
        ..Options::default()
    }
}

fn run(text: &str, nth: usize, options: &Options<'_>) -> RunResult {
    let (scenario, inputs) = read(text);
    let run: &Run = &scenario.runs[nth];
    run_one(&scenario, &inputs, run, options).unwrap().unwrap()
}

/// The result without its name.
fn json(mut result: RunResult) -> String {
    result.name.clear();
    result.own_law = None;
    serde_json::to_string(&result).unwrap()
}

/// The simulator's own algorithm, from outside.
#[derive(Debug)]
struct Brought(Algorithm, Mutex<Vec<(String, Side)>>);

impl Own for Brought {
    fn congestion_control(&self, place: &Place<'_>) -> Option<Box<dyn CongestionControl>> {
        let asked = (place.workload.to_owned(), place.side);
        self.1.lock().unwrap().push(asked);
        Some(self.0.build(0))
    }

    fn congestion_control_name(&self) -> Option<&str> {
        Some(self.0.name())
    }
}

#[test]
fn a_congestion_control_that_is_brought_along_is_what_it_is_inside() {
    let series = Options {
        series: true,
        ..Options::default()
    };
    // The side that only requests objects uses the run's own, and sends too little to make a difference.
    let brought = Arc::new(Brought(Algorithm::Reno, Mutex::default()));
    let options = Options {
        own: Some(brought.clone()),
        ..series
    };
    let outside = run(MIXED, 0, &options);
    assert_eq!(outside.congestion_control, "reno");
    let inside = run(
        MIXED,
        1,
        &Options {
            series: true,
            ..Options::default()
        },
    );
    assert_eq!(json(outside), json(inside));
    let asked = brought.1.lock().unwrap();
    let of = |name: &str| -> Vec<Side> {
        let own = asked.iter().filter(|(workload, _)| workload == name);
        own.map(|(_, side)| *side).collect()
    };
    assert_eq!(of("other"), [], "it has its own");
    assert_eq!(of("bulk"), [Side::Server]);
    assert_eq!(of("up"), [Side::Client]);
    assert!(of("web").len() > 3);
}

/// A law's answers, and the arrivals that it was told of.
#[derive(Clone, Debug)]
struct Answers {
    answer: fn(u64) -> Option<u32>,
    told: Arc<Mutex<Vec<Arrival>>>,
    nth: u64,
}

impl Answers {
    fn new(answer: fn(u64) -> Option<u32>) -> Self {
        Self {
            answer,
            told: Arc::default(),
            nth: 0,
        }
    }
}

impl OwnLaw for Answers {
    fn arrives(&mut self, arrival: &Arrival) -> Option<u32> {
        self.nth += 1;
        self.told.lock().unwrap().push(*arrival);
        (self.answer)(self.nth)
    }
}

impl Own for Answers {
    fn law(&self, _place: &Place<'_>) -> Option<Box<dyn OwnLaw>> {
        Some(Box::new(self.clone()))
    }

    fn law_name(&self, side: Side) -> Option<&str> {
        (side == Side::Client).then_some("answers")
    }
}

#[test]
fn a_law_that_wants_nothing_changes_nothing() {
    let plain = Options {
        series: true,
        ..Options::default()
    };
    let without = run(MIXED, 0, &plain);
    let mut with = run(MIXED, 0, &with(Answers::new(|_| None)));
    assert_eq!(with.own_law.as_deref(), Some("answers"));
    // Its round trips are recorded as a curve.
    assert!(with.series.iter().any(|s| s.quantity == "agent_rtt_ms"));
    with.series.retain(|s| s.quantity != "agent_rtt_ms");
    assert_eq!(json(with), json(without));
}

#[test]
fn a_law_is_told_what_has_arrived() {
    let answers = Answers::new(|_| Some(100_000));
    let result = run(ONE, 0, &with(answers.clone()));
    assert!(
        result.link.queue_delay_ms.max < 45.0,
        "{:?}",
        result.link.queue_delay_ms
    );
    let told = answers.told.lock().unwrap();
    for pair in told.windows(2) {
        let [before, after] = pair else {
            unreachable!()
        };
        assert!(before.now <= after.now);
        assert_eq!(
            before.in_order_bytes + u64::from(after.bytes),
            after.in_order_bytes
        );
        assert!(after.read_bytes <= after.in_order_bytes);
        assert!(after.read_bytes >= before.read_bytes);
    }
    let last = told.last().unwrap();
    assert_eq!(last.bytes, 1448);
    assert_eq!(last.segment_bytes, 1448);
    // The handshake's round trip is among them.
    assert!(last.rtt_min <= told.iter().filter_map(|arrival| arrival.rtt).min());
    assert!((40 * MS..50 * MS).contains(&last.rtt_min.unwrap()));
    let samples = told.iter().filter(|arrival| arrival.rtt.is_some()).count();
    assert!((100..told.len()).contains(&samples), "{samples}");
    assert!(last.queue_delay.unwrap() < 30 * MS);
    assert!((98_000..=101_000).contains(&last.window), "{}", last.window);
    assert!(last.host_window > 2 * last.window, "{}", last.host_window);
}

/// Windows that jump, from nothing to more than the host has; and now and then no window for a while.
fn leaping(nth: u64) -> Option<u32> {
    if nth % 2000 > 1000 {
        return Some(0);
    }
    match nth.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 61 {
        0 => None,
        1 => Some(0),
        2 => Some(u32::MAX - 1),
        3 => Some(1),
        other => Some(30_000 * other as u32),
    }
}

#[test]
fn it_keeps_the_promises_whatever_it_wants() {
    let answers = Answers::new(leaping);
    let (scenario, inputs) = read(ONE);
    let options = with(answers.clone());
    let mut session = Session::new(&scenario, &inputs, &scenario.runs[0], &options).unwrap();
    let mut edge = 0;
    let mut least = u64::MAX;
    while !session.is_over() {
        session.advance(Duration::from_micros(300));
        let flow = session.flow(0).unwrap();
        if !flow.established {
            continue;
        }
        let promised = flow.acknowledged_bytes + flow.window_bytes;
        assert!(promised >= edge, "{promised} after {edge}");
        edge = promised;
        least = least.min(flow.window_bytes);
    }
    assert!((2 * 1448..2 * 1448 + 2048).contains(&least), "{least}");
    let told = answers.told.lock().unwrap();
    assert!(
        told.iter()
            .all(|arrival| arrival.window <= arrival.host_window)
    );
    assert!(
        told.iter()
            .any(|arrival| arrival.window < arrival.host_window / 4)
    );
}

#[test]
fn a_session_may_ask_for_a_window_in_its_place() {
    let (scenario, inputs) = read(ONE);
    let options = with(Answers::new(|_| Some(60_000)));
    let mut session = Session::new(&scenario, &inputs, &scenario.runs[0], &options).unwrap();
    let mut window = |told| {
        if let Some(told) = told {
            assert!(session.set_window(0, told));
        }
        session.advance(1000 * MS);
        session.flow(0).unwrap().window_bytes
    };
    let near = |window: u64, bytes: u64| window.abs_diff(bytes) <= 1024;
    assert!(near(window(None), 60_000));
    assert!(near(window(Some(Some(30_000))), 30_000));
    assert!(near(window(Some(None)), 60_000));
}

/// Steps at times of its own, and a window that grows by them.
#[derive(Debug)]
struct Clocked {
    steps: Arc<Mutex<Vec<Instant>>>,
    next: Option<Instant>,
}

impl CongestionControl for Clocked {
    fn init(&mut self, _w: &mut Window, f: &Flight) {
        self.next = Some(f.now + 10 * MS);
    }

    fn ssthresh(&mut self, w: &Window, _f: &Flight) -> u32 {
        w.cwnd
    }

    fn cong_avoid(&mut self, _w: &mut Window, _f: &Flight, _acked: u32) {}

    fn next_step(&self) -> Option<Instant> {
        self.next
    }

    fn step(&mut self, w: &mut Window, f: &Flight) {
        self.steps.lock().unwrap().push(f.now);
        w.cwnd += 1;
        self.next = Some(f.now + 10 * MS);
    }
}

#[derive(Debug)]
struct Clock(Arc<Mutex<Vec<Instant>>>);

impl Own for Clock {
    fn congestion_control(&self, _place: &Place<'_>) -> Option<Box<dyn CongestionControl>> {
        Some(Box::new(Clocked {
            steps: self.0.clone(),
            next: None,
        }))
    }
}

#[test]
fn steps_come_when_they_were_asked_for() {
    let steps = Arc::default();
    let (scenario, inputs) = read(ONE);
    let options = with(Clock(Arc::clone(&steps)));
    let mut session = Session::new(&scenario, &inputs, &scenario.runs[0], &options).unwrap();
    session.advance(1000 * MS);
    let first = {
        let steps = steps.lock().unwrap();
        assert!(steps.windows(2).all(|pair| pair[1] - pair[0] == 10 * MS));
        assert_eq!(
            session.flow(0).unwrap().cwnd_segments as usize,
            10 + steps.len()
        );
        steps.len()
    };
    assert!((90..=96).contains(&first), "{first}");
    // A sender under manual control does nothing by itself.
    session.set_sender(
        0,
        Manual {
            cwnd: Some(7),
            pacing_rate: None,
        },
    );
    session.advance(1000 * MS);
    assert_eq!(steps.lock().unwrap().len(), first);
    assert_eq!(session.flow(0).unwrap().cwnd_segments, 7);
}

#[test]
fn keys_say_that_there_is_something_of_ones_own() {
    let (scenario, _) = read(ONE);
    let keys = Keys::new(&scenario, Path::new("test.toml")).unwrap();
    let run = &scenario.runs[0];
    let of = |stated: &[(&str, &str)]| keys.of_own(run, stated).to_string();
    let all = [
        keys.of(run).to_string(),
        of(&[]),
        of(&[("law", "a 1")]),
        of(&[("law", "a 2")]),
        of(&[("server_law", "a 1")]),
        of(&[("law", "a 1"), ("congestion_control", "a 1")]),
    ];
    for (nth, key) in all.iter().enumerate() {
        assert_eq!(key.ends_with("-own"), nth > 0, "{key}");
        assert_eq!(all.iter().filter(|other| *other == key).count(), 1);
    }
    assert_eq!(of(&[("law", "a 1")]), all[2]);
}

/// Two of the caller's congestion controls beside one of the simulator's.
#[derive(Debug)]
struct Each(Mutex<Vec<String>>);

impl Own for Each {
    fn congestion_control(&self, place: &Place<'_>) -> Option<Box<dyn CongestionControl>> {
        self.0.lock().unwrap().push(place.workload.to_owned());
        let algorithm = match place.workload {
            "bulk" => Algorithm::Reno,
            "up" => Algorithm::Vegas,
            _ => return None,
        };
        Some(algorithm.build(0))
    }
}

#[test]
fn workloads_have_congestion_controls_of_their_own_side_by_side() {
    let each = Arc::new(Each(Mutex::default()));
    let options = Options {
        own: Some(each.clone()),
        series: true,
        ..Options::default()
    };
    let brought = run(MIXED, 0, &options);
    // The side that only acknowledges has the run's, which makes no difference.
    let named = MIXED
        .replace(
            "name = \"bulk\"",
            "name = \"bulk\", congestion_control = \"reno\"",
        )
        .replace(
            "name = \"up\"",
            "name = \"up\", congestion_control = \"vegas\"",
        );
    let inside = run(
        &named,
        0,
        &Options {
            series: true,
            ..Options::default()
        },
    );
    assert_eq!(json(brought), json(inside));
    let asked = each.0.lock().unwrap();
    assert!(!asked.contains(&"other".to_owned()), "it names one itself");
}

/// A workload's law is the one that a run would have for it.
#[test]
fn a_workloads_law_is_the_runs_for_it() {
    let of = |run_keys: &str, workload_keys: &str| {
        let text = ONE
            .replace("name = \"mine\"", &format!("name = \"mine\"{run_keys}"))
            .replace(
                "name = \"download\"",
                &format!("name = \"download\"{workload_keys}"),
            );
        let mut result = run(&text, 0, &Options::default());
        result.law = Law::None;
        json(result)
    };
    let tide = of(", law = \"tide\"", "");
    let linux = of("", "");
    assert_ne!(tide, linux);
    assert_eq!(of("", ", law = \"tide\""), tide);
    assert_eq!(of(", law = \"drwa\"", ", law = \"tide\""), tide);
    assert_eq!(of(", law = \"tide\"", ", law = \"none\""), linux);
}

/// Side by side, each steers its own: the download leaves room to the other, and the upload lowers its queue.
#[test]
fn two_workloads_have_two_laws() {
    let of = |laws: [&str; 2]| {
        let [down, up] = laws;
        let workloads = format!(
            "workload = [{{ name = \"a\"{down}, does = {{ bulk = {{}} }} }}, {{ name = \"b\", does = {{ bulk = {{}} }} }},
                         {{ name = \"c\"{up}, does = {{ bulk = {{ direction = \"up\" }} }} }}]"
        );
        let one = "workload = [{ name = \"download\", does = { bulk = {} } }]";
        run(&ONE.replace(one, &workloads), 0, &Options::default())
    };
    let linux = of(["", ""]);
    let both = of([", law = \"tide\"", ", law = \"drwa\""]);
    let share = |run: &RunResult| run.flows[0].goodput_bps / run.flows[1].goodput_bps;
    assert!(
        share(&both) < 0.9 * share(&linux),
        "{} {}",
        share(&both),
        share(&linux)
    );
    let queue = |run: &RunResult| run.uplink.queue_delay_ms.p95;
    assert!(
        queue(&both) < queue(&linux) / 2.0,
        "{} {}",
        queue(&both),
        queue(&linux)
    );
    assert!(both.flows[2].goodput_bps > 1e6, "{:?}", both.flows[2]);
}
