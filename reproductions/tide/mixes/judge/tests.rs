use super::super::draft::{Draft, Narrow};
use super::super::families::Family;
use super::super::outcome::{Fetched, Outcome};
use super::*;
use tidegate_scenario::{Direction, RateSpec};

/// An access link of 50 Mbit/s: a bulk download beside a stream of 5, objects, and a download behind
/// 10 Mbit/s elsewhere.
const FAMILY: Family = Family {
    name: "example",
    draft: |_| {
        let mut draft = Draft::new(RateSpec::ConstantMbps(50.0), 5.0, 50.0);
        let wide = draft.way("wide", Direction::Down, 20.0, None);
        let narrow = Narrow {
            mbps: 10.0,
            buffer_s: 0.5,
        };
        let slow = draft.way("slow", Direction::Down, 100.0, Some(narrow));
        let stream = WorkloadKind::ConstantRate {
            direction: Direction::Down,
            mbps: 5.0,
        };
        let objects = WorkloadKind::Web {
            object_bytes: vec![100_000],
            pause_s: 1.0,
        };
        draft.bulk("bulk", &wide, Direction::Down, 0.0);
        draft.does("stream", &wide, 0.0, stream);
        draft.bulk("slow bulk", &slow, Direction::Down, 0.0);
        draft.does("objects", &wide, 0.0, objects);
        draft
    },
};

/// Payload's share of a full packet, with TCP timestamps.
const PAYLOAD: f64 = 1448.0 / 1500.0;

fn mix(sender: &'static str) -> Mix {
    Mix {
        sender,
        ..Mix::draw(&FAMILY, 1).unwrap()
    }
}

/// Goodputs of bulk, stream and slow bulk in Mbit/s, objects in Mbit/s and ms, and the queues of the
/// access link and of the slow one in ms.
fn outcome(mbps: [f64; 3], objects: [f64; 2], queues_ms: [f64; 2]) -> Outcome {
    let names = ["bulk", "stream", "slow bulk"].map(String::from);
    let flows = names.into_iter().zip(mbps.map(|mbps| mbps * 1e6));
    Outcome {
        flows: flows.collect(),
        fetches: vec![Fetched {
            name: "objects".into(),
            bps: objects[0] * 1e6,
            mean_ms: objects[1],
        }],
        queues_ms: vec![queues_ms[0], 0.0, 0.0, queues_ms[1]],
    }
}

fn linux() -> Outcome {
    outcome([34.0, 5.0, 8.0], [1.0, 400.0], [200.0, 400.0])
}

fn findings(ours: &Outcome) -> Vec<Finding> {
    judge(&mix("cubic"), [&linux(), &linux()], ours)
}

fn of<'a>(findings: &'a [Finding], criterion: Criterion, of: &str) -> &'a Finding {
    let mut own = findings.iter();
    own.find(|finding| finding.criterion == criterion && finding.of == of)
        .expect("such a finding")
}

fn broken(ours: &Outcome) -> Vec<(Criterion, String)> {
    let findings = findings(ours).into_iter();
    findings
        .filter(|finding| !finding.passes())
        .map(|finding| (finding.criterion, finding.of))
        .collect()
}

#[test]
fn who_takes_nothing_and_shortens_all_hears_no_complaint() {
    let ours = outcome([33.0, 5.0, 9.0], [1.0, 50.0], [20.0, 40.0]);
    assert_eq!(broken(&ours), []);
}

/// The stream wants only its rate, the slow bulk gets only what its link carries, and the objects only what they
/// fetched: the rest is the bulk's.
#[test]
fn a_flow_is_entitled_to_the_smaller_of_linuxs_and_its_share() {
    let ours = outcome([33.0, 5.0, 9.0], [1.0, 50.0], [20.0, 40.0]);
    let findings = findings(&ours);
    let measure = |flow| of(&findings, Criterion::Flow, flow).measure[0];
    let left = 50.0 * PAYLOAD - 5.0 - 10.0 * PAYLOAD - 1.0;
    assert!((measure("bulk") - left).abs() < 1e-6, "{}", measure("bulk"));
    // Linux gave it less than its link carries.
    assert_eq!(measure("slow bulk"), 8.0);
    assert_eq!(measure("stream"), 5.0);
}

#[test]
fn what_linux_gave_one_beyond_its_share_may_be_taken() {
    let greedy = outcome([44.0, 1.0, 1.0], [0.5, 900.0], [200.0, 400.0]);
    let ours = outcome([31.0, 5.0, 9.4], [1.0, 50.0], [20.0, 40.0]);
    let judged = judge(&mix("cubic"), [&greedy, &greedy], &ours);
    let bulk = of(&judged, Criterion::Flow, "bulk");
    assert!(
        (bulk.measure[0] - (40.0 * PAYLOAD - 6.0)).abs() < 1e-6,
        "{}",
        bulk.measure[0]
    );
    assert!(bulk.passes());
}

#[test]
fn each_bound_is_broken_just_beyond_it() {
    let fine = || outcome([34.0, 5.0, 8.0], [1.0, 400.0], [20.0, 40.0]);
    let total = |mbps: f64| Outcome {
        flows: vec![("bulk".into(), mbps * 1e6)],
        ..Outcome::default()
    };
    assert!(super::total([&total(100.0); 2], &total(97.1)).passes());
    assert!(!super::total([&total(100.0); 2], &total(96.9)).passes());
    let mut ours = fine();
    ours.flows[1].1 = 4.49e6;
    assert_eq!(broken(&ours), [(Criterion::Flow, "stream".into())]);
    ours.flows[1].1 = 4.51e6;
    assert_eq!(broken(&ours), []);
    ours.fetches[0].mean_ms = 441.0;
    assert_eq!(broken(&ours), [(Criterion::Fetch, "objects".into())]);
    let mut ours = fine();
    ours.queues_ms = vec![40.1, 0.0, 0.0, 99.0];
    assert_eq!(broken(&ours), [(Criterion::Access, "downlink".into())]);
    ours.queues_ms = vec![39.9, 0.0, 0.0, 100.1];
    assert_eq!(broken(&ours), [(Criterion::Elsewhere, "slow".into())]);
}

/// Compared with one of two runs of Linux that differ by chance, and with both.
#[test]
fn what_chance_alone_takes_is_told_from_what_the_law_takes() {
    let other = outcome([34.0, 4.0, 8.0], [1.0, 400.0], [200.0, 400.0]);
    let passes = |stream_mbps: f64| {
        let ours = outcome([34.0, stream_mbps, 8.0], [1.0, 50.0], [20.0, 40.0]);
        let judged = judge(&mix("cubic"), [&linux(), &other], &ours);
        let stream = of(&judged, Criterion::Flow, "stream");
        (stream.passes(), stream.passes_beside_either())
    };
    assert_eq!(passes(4.6), (true, true));
    assert_eq!(passes(3.7), (false, true));
    assert_eq!(passes(3.5), (false, false));
}

#[test]
fn with_bbr_a_queue_may_be_as_long_as_linuxs() {
    let ours = outcome([34.0, 5.0, 8.0], [1.0, 50.0], [200.0, 430.0]);
    let judged = judge(&mix("bbr"), [&linux(), &linux()], &ours);
    let passes = |link| of(&judged, Criterion::Bbr, link).passes();
    assert_eq!([passes("downlink"), passes("slow")], [true, false]);
}

/// 2 ms and two packets of 12 000 bit at 50 Mbit/s without their headers. The smallest windows of the three flows and
/// of the objects take less than a round trip there and back.
#[test]
fn a_short_queue_passes_whatever_linuxs_was() {
    let short_ms = 2.0 + 2.0 * 0.24 / PAYLOAD;
    let short = outcome([34.0, 5.0, 8.0], [1.0, 400.0], [1.0, 400.0]);
    let passes = |queue_ms| {
        let ours = outcome([34.0, 5.0, 8.0], [1.0, 400.0], [queue_ms, 40.0]);
        let judged = judge(&mix("cubic"), [&short, &short], &ours);
        of(&judged, Criterion::Access, "downlink").passes()
    };
    assert!(passes(short_ms - 0.01) && !passes(short_ms + 0.01));
}

/// 300 windows of two packets are 7.2 Mbit: 144 ms at 50 Mbit/s; 20 ms of these are in flight.
#[test]
fn what_the_smallest_windows_leave_standing_is_short() {
    let crowd = Family {
        name: "crowd",
        draft: |_| {
            let mut draft = Draft::new(RateSpec::ConstantMbps(50.0 / PAYLOAD), 5.0, 50.0);
            let way = draft.way("way", Direction::Down, 20.0, None);
            let bulk = WorkloadKind::Bulk {
                direction: Direction::Down,
                bytes: None,
                flows: 300,
            };
            draft.does("equal", &way, 0.0, bulk);
            draft
        },
    };
    let mix = Mix {
        sender: "cubic",
        ..Mix::draw(&crowd, 1).unwrap()
    };
    let flows = (1..=300).map(|n| (format!("equal#{n}"), 50e6 / 300.0));
    let outcome = |queue_ms| Outcome {
        flows: flows.clone().collect(),
        fetches: Vec::new(),
        queues_ms: vec![queue_ms, 0.0, 0.0],
    };
    let passes = |queue_ms| {
        let judged = judge(&mix, [&outcome(300.0); 2], &outcome(queue_ms));
        of(&judged, Criterion::Access, "downlink").passes()
    };
    assert!(passes(126.0) && !passes(127.0));
}

#[test]
fn a_link_that_is_not_filled_has_no_queue_to_shorten() {
    let mut mix = mix("cubic");
    mix.capacities[DOWN] = 1e9;
    mix.capacities[UP + 1] = 20e6;
    let judged = judge(&mix, [&linux(), &linux()], &linux());
    let queues: Vec<&str> = judged
        .iter()
        .filter(|finding| matches!(finding.criterion, Criterion::Access | Criterion::Elsewhere))
        .map(|finding| finding.of.as_str())
        .collect();
    assert_eq!(queues, ["wide", "slow"]);
}

#[test]
fn who_had_nothing_loses_nothing_and_who_loses_all_complains() {
    let nothing = outcome([34.0, 0.0, 8.0], [1.0, 400.0], [20.0, 40.0]);
    let judged = judge(&mix("cubic"), [&nothing, &nothing], &nothing);
    assert!(of(&judged, Criterion::Flow, "stream").passes());
    assert!(broken(&nothing).contains(&(Criterion::Flow, "stream".into())));
}
