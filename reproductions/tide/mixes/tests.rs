use super::*;
use crate::tide::mixes::families::Family;
use std::collections::BTreeSet;
use tidegate_scenario::{Direction, RateSpec, Scenario, WorkloadKind};
use tidegate_sim::Options;
use tidegate_study::{Results, Study};

/// Enough mixes of each family to see all its parts.
const SEVERAL: usize = 40;

fn several(family: &Family) -> Vec<Mix> {
    (1..=SEVERAL)
        .map(|number| Mix::draw(family, number).unwrap())
        .collect()
}

fn all() -> Vec<Mix> {
    families::ALL.iter().flat_map(several).collect()
}

fn text(mix: &Mix) -> String {
    toml::to_string(&mix.scenario).unwrap()
}

#[test]
fn a_mix_is_the_same_whenever_it_is_drawn_and_no_other() {
    let [once, again] = [all(), all()].map(|mixes| mixes.iter().map(text).collect::<Vec<_>>());
    assert_eq!(once, again);
    let different: BTreeSet<&String> = once.iter().collect();
    assert_eq!(different.len(), once.len());
}

/// Each is written as a file, so that it can be run by itself.
#[test]
fn every_mix_is_a_scenario_that_makes_sense() {
    for mix in all() {
        let scenario = Scenario::parse(&text(&mix), mix.name.as_ref());
        let scenario = scenario.unwrap_or_else(|error| panic!("{}: {error}", mix.name));
        assert_eq!(scenario.hops.len() + 2, mix.capacities.len());
        assert!(mix.counted_s() >= 10.0, "{}", mix.name);
    }
}

#[test]
fn in_full_there_are_200_mixes_and_a_couple_of_each_family_with_quick() {
    let of = |quick| {
        let extent = Extent {
            quick,
            ..Extent::default()
        };
        mixes(&extent).unwrap()
    };
    assert!(of(false).len() >= 200);
    for family in families::ALL {
        let quick = of(true).into_iter();
        let own = quick.filter(|mix| mix.family == family.name);
        assert_eq!(own.count(), 2, "{}", family.name);
    }
}

/// The range of a number over many mixes.
fn range(mixes: &[Mix], read: impl Fn(&Mix) -> f64) -> [f64; 2] {
    let values = || mixes.iter().map(&read);
    [least(values()), most(values())]
}

#[test]
fn mixes_are_as_different_as_links_are() {
    let mixes = all();
    let [slowest, fastest] = range(&mixes, |mix| mix.carried_mbps);
    assert!(slowest < 6.0 && fastest > 900.0, "{slowest} to {fastest}");
    let [nearest, farthest] = range(&mixes, |mix| {
        let workloads = mix.scenario.workloads.iter();
        most(workloads.map(|workload| mix.base_rtt_ms(workload)))
    });
    assert!(
        nearest < 12.0 && farthest > 270.0,
        "{nearest} to {farthest}"
    );
    for sender in ["cubic", "bbr"] {
        let own = mixes.iter().filter(|mix| mix.sender == sender).count();
        assert!(own > mixes.len() / 5, "{sender}: {own}");
    }
    let cells = mixes
        .iter()
        .filter(|mix| matches!(mix.scenario.down.rate, RateSpec::Generate(_)))
        .count();
    assert!(cells > mixes.len() / 20, "{cells} cells");
}

fn mixes_of(name: &str) -> Vec<Mix> {
    let family = families::ALL.iter().find(|family| family.name == name);
    several(family.expect("a family"))
}

fn count(mix: &Mix, which: impl Fn(&WorkloadKind) -> bool) -> f64 {
    let workloads = mix.scenario.workloads.iter();
    workloads.filter(|workload| which(&workload.does)).count() as f64
}

#[test]
fn families_are_of_the_sizes_that_they_promise() {
    let uploads = |mix: &Mix| {
        count(mix, |does| match does {
            WorkloadKind::Bulk { direction, .. } => *direction == Direction::Up,
            _ => false,
        })
    };
    let downloads = |mix: &Mix| count(mix, |does| matches!(does, WorkloadKind::Bulk { .. }));
    assert_eq!(range(&mixes_of("server"), uploads), [3.0, 12.0]);
    assert_eq!(range(&mixes_of("router"), downloads), [2.0, 8.0]);
    let flows = |mix: &Mix| match mix.scenario.workloads[0].does {
        WorkloadKind::Bulk { flows, .. } => flows as f64,
        _ => 0.0,
    };
    assert_eq!(range(&mixes_of("50 equals"), flows), [50.0; 2]);
    assert_eq!(range(&mixes_of("300 equals"), flows), [300.0; 2]);
    let slowest_stream = range(&mixes_of("near stream beside far bulk"), |mix| {
        match mix.scenario.workloads[0].does {
            WorkloadKind::ConstantRate { mbps, .. } => mbps,
            _ => f64::NAN,
        }
    });
    let [slowest, fastest] = slowest_stream;
    assert!((0.1..0.2).contains(&slowest) && (10.0..=20.0).contains(&fastest));
}

/// A LAN's file does not cross the access link, and only its data cross the LAN.
#[test]
fn a_lan_is_beside_the_access_link() {
    for mix in mixes_of("LAN file beside WAN download") {
        let ways: Vec<Vec<usize>> = mix.scenario.workloads.iter().map(|w| mix.way(w)).collect();
        assert!(!ways[0].contains(&0) && ways[1].contains(&0), "{ways:?}");
        assert!(ways[0].iter().all(|link| !ways[1].contains(link)));
    }
}

#[test]
fn the_kernels_sample_is_slow_and_has_both_senders() {
    let sample = kernel::sample().unwrap();
    assert_eq!(sample.len(), 12);
    let names: BTreeSet<&String> = sample.iter().map(|mix| &mix.name).collect();
    assert_eq!(names.len(), sample.len());
    assert!(sample.iter().all(|mix| mix.carried_mbps <= 100.0));
    for sender in ["cubic", "bbr"] {
        assert!(sample.iter().filter(|mix| mix.sender == sender).count() >= 5);
    }
}

/// The first mix of each family for a few seconds: all numbers that are read exist, and every family carries something
/// to judge.
#[test]
fn every_family_runs_and_is_judged() {
    let short = |family| Mix::draw(family, 1)?.lasting(1.0, 4.0);
    let mut mixes: Vec<Mix> = families::ALL
        .iter()
        .map(short)
        .collect::<Result<_>>()
        .unwrap();
    for mix in &mut mixes {
        for workload in &mut mix.scenario.workloads {
            workload.start_s = 0.0;
        }
    }
    let mixes: Arc<[Mix]> = mixes.into();
    let study = Study::new(vec![over(mixes.clone())], 1);
    let mut results = Results::default();
    for job in study.jobs() {
        let result = study.perform(job, &Options::default()).unwrap();
        study.note(job, result.expect("nobody stopped it"), &mut results);
    }
    for judged in judged(&results.all(), &mixes) {
        let total = judged.by(Criterion::Total).next().expect("a total");
        assert!(
            total.linux[0] > 0.0 && total.ours > 0.0,
            "{}",
            judged.mix.name
        );
        assert!(
            judged.by(Criterion::Flow).count() > 0,
            "{}",
            judged.mix.name
        );
    }
    let report = study.report(&results, None);
    let families = &report.figures[0].listings[0];
    assert_eq!(families.rows.len(), families::ALL.len());
}
