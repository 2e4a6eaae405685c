use super::*;
use crate::{Claim, Quantity, Verdict};
use std::path::Path;
use tidegate_scenario::{Direction, FlowResult, Scenario, WorkloadKind};

fn case(name: &str, curves: &[&'static str]) -> Case {
    let text = "name = \"x\"\nduration_s = 5\n\
         down = { rate = { constant_mbps = 8 }, delay_ms = 10 }\n\
         up = { rate = { constant_mbps = 8 }, delay_ms = 10 }\n\
         [[workload]]\nname = \"download\"\ndoes = { bulk = {} }\n[[run]]\nname = \"r\"\n";
    Case {
        name: name.into(),
        scenario: Scenario::parse(text, Path::new("x")).unwrap(),
        curves: curves.to_vec(),
        once: false,
    }
}

fn figure(cases: Vec<Case>, quantities: Vec<Quantity>) -> Figure {
    Figure {
        id: "fig-1",
        title: "a title",
        claim: "a claim",
        method: "",
        cases,
        quantities,
        draw: Box::new(|_| Vec::new()),
    }
}

fn result(mbps: f64) -> RunResult {
    let flow = FlowResult {
        goodput_bps: mbps * 1e6,
        ..FlowResult::default()
    };
    RunResult {
        flows: vec![flow],
        ..RunResult::default()
    }
}

#[test]
fn a_case_of_several_figures_is_run_once_with_all_curves() {
    let first = figure(vec![case("a", &["rtt_ms"]), case("b", &[])], Vec::new());
    let second = figure(vec![case("a", &["cwnd_packets"])], Vec::new());
    let study = Study::new(vec![first, second], 3);
    assert_eq!(study.jobs().len(), 2 * 3);
    assert_eq!(study.cases[0].curves, ["cwnd_packets", "rtt_ms"]);
}

#[test]
fn a_run_fills_its_link_and_keeps_the_curves_asked_for() {
    let study = Study::new(vec![figure(vec![case("a", &["rtt_ms"])], Vec::new())], 1);
    let run = study.perform(study.jobs()[0], &Options::default());
    let run = run.unwrap().unwrap();
    // 8 Mbit/s of IP packets are 7.7 of payload, less what slow start costs in 5 s.
    let mbps = run.flows[0].goodput_bps / 1e6;
    assert!((7.2..=7.73).contains(&mbps), "{mbps}");
    let kept: Vec<&str> = run.series.iter().map(|s| s.quantity.as_str()).collect();
    assert_eq!(kept, ["rtt_ms"]);
}

#[test]
fn a_report_reads_all_seeds_and_explains_only_what_differs() {
    let near = |paper| Claim::Near {
        paper,
        within: 0.5,
        neutral: 0.0,
    };
    let quantity = |paper| {
        Quantity::new("goodput", "Mbit/s", near(paper), |sample| {
            sample.goodput("a")
        })
        .because("the link is another")
    };
    // A number from which the model was derived proves nothing, however near ours is.
    let quantities = vec![
        quantity(6.0),
        quantity(9.0),
        quantity(6.0).input(true).derived("2 · 3"),
    ];
    let study = Study::new(vec![figure(vec![case("a", &[])], quantities)], 3);
    let mut results = Results::default();
    for (job, mbps) in study.jobs().into_iter().zip([5.0, 6.0, 7.0]) {
        study.note(job, result(mbps), &mut results);
    }
    let report = study.report(&results, None);
    let [holds, direction, input] = report.figures[0].quantities.as_slice() else {
        panic!("three quantities");
    };
    assert_eq!((input.verdict, input.reason.as_str()), (Verdict::Input, ""));
    let table = crate::table(&report).to_string();
    assert!(
        table.contains("* (±0.5)")
            && table.contains("* goodput: the paper does not print it: 2 · 3"),
        "{table}"
    );
    assert!(
        table.contains("1 hold, 1 in direction, 0 do not, 1 are inputs"),
        "{table}"
    );
    // Student with two degrees of freedom: 4.303 · 1 / √3.
    assert!((holds.ours - 6.0).abs() < 1e-12);
    assert!((holds.high.unwrap() - 6.0 - 4.303 / 3.0_f64.sqrt()).abs() < 1e-9);
    assert_eq!((holds.verdict, holds.reason.as_str()), (Verdict::Holds, ""));
    assert_eq!(direction.verdict, Verdict::Direction);
    assert_eq!(direction.reason, "the link is another");
}

#[test]
fn each_flow_has_a_curve_of_its_own() {
    let mut two = case("a", &["goodput_bps"]);
    two.scenario.workloads[0].does = WorkloadKind::Bulk {
        direction: Direction::Down,
        bytes: None,
        flows: 2,
    };
    let study = Study::new(vec![figure(vec![two], Vec::new())], 1);
    let job = study.jobs()[0];
    let run = study.perform(job, &Options::default()).unwrap().unwrap();
    let mut results = Results::default();
    study.note(job, run, &mut results);
    let curve = |flow, quantity| {
        let sample = results.all();
        let mut seeds = sample.flow_curves("a", flow, quantity);
        seeds.next().expect("a seed")
    };
    assert!(!curve("download#1", "goodput_bps").is_empty());
    assert!(!curve("download#2", "goodput_bps").is_empty());
    assert!(curve("download#3", "goodput_bps").is_empty());
    assert!(curve("download#1", "rtt_ms").is_empty());
}
