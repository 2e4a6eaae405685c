//! Flows that arrive by themselves: arrival times, sizes, and completion times.

mod common;

use common::{assert_near, run, scenario, try_run};
use proptest::prelude::*;
use tidegate_scenario::{ArrivalsResult, Direction};

/// The flows of that workload's keys, alone on a link of 20 Mbit/s down, 5 up.
fn flows(keys: &str, seconds: f64) -> ArrivalsResult {
    let does = format!("{{ name = 'flows', does = {{ flows = {{ {keys} }} }} }}");
    run(&scenario(20.0, seconds, 1000, &does))
        .arrivals
        .remove(0)
}

/// The formula of the documents: handshake, time to the first byte, packets ÷ rate.
fn ideal_ms(bytes: f64, mbps: f64, direction: Direction) -> f64 {
    let packets = (bytes / 1448.0).ceil();
    let ahead = match direction {
        Direction::Down => 80.0,
        Direction::Up => 60.0,
    };
    ahead + (bytes + packets * 52.0) * 8.0 / mbps / 1e3
}

/// Apart from slow start, nothing delays them.
#[test]
fn a_flow_alone_takes_as_long_as_on_the_idle_link() {
    for (direction, word, mbps) in [(Direction::Down, "down", 20.0), (Direction::Up, "up", 5.0)] {
        for bytes in [100_u64, 20_000, 3_000_000] {
            let does = format!(
                "{{ name = 'flows', does = {{ flows = {{ direction = '{word}', sizes = {{ constant = {{ bytes = {bytes} }} }},
                   arrivals = {{ constant = {{ per_s = 0.1 }} }} }} }} }}"
            );
            let text = scenario(20.0, 109.0, 3000, &does.replace('\n', " "))
                + "hosts = { initial_window = 2500 }\n";
            let flows = run(&text).arrivals.remove(0);
            assert_eq!((flows.all.started, flows.all.finished), (10, 10));
            let fct = flows.all.fct_ms;
            assert_near(fct.p50, ideal_ms(bytes as f64, mbps, direction), 0.02);
            let slowdown = flows.all.slowdown;
            assert!(
                (1.0..1.02).contains(&slowdown.p50) && slowdown.max < 1.02,
                "{word} {bytes}: {slowdown:?}"
            );
        }
    }
}

/// With an initial window of ten segments, a flow of 3 MB takes some round trips more.
#[test]
fn slow_start_slows_a_flow_down() {
    let keys =
        "sizes = { constant = { bytes = 300000 } }, arrivals = { constant = { per_s = 0.1 } }";
    let slowdown = flows(keys, 109.0).all.slowdown;
    assert!((1.2..2.0).contains(&slowdown.p50), "{slowdown:?}");
}

#[test]
fn flows_are_counted_by_size_and_unfinished_ones_too() {
    // A flow takes at least 2.5 s, so the last one does not end in time.
    let keys = "class_bytes = [100000], sizes = { constant = { bytes = 6000000 } }, arrivals = { constant = { per_s = 0.25 } }";
    let flows = flows(keys, 9.0);
    let [small, large] = &flows.classes[..] else {
        panic!("{flows:?}")
    };
    assert_eq!((small.started, small.finished), (0, 0));
    assert_eq!((small.from_bytes, small.below_bytes), (0, Some(100_000)));
    // They arrive at 4 and 8 s.
    assert_eq!((large.started, large.finished), (2, 1));
    assert_eq!((large.from_bytes, large.below_bytes), (100_000, None));
    assert_eq!(flows.all.fct_ms.max, large.fct_ms.max);
    assert_near(flows.offered_bps, 2.0 * 6e6 * 8.0 / 9.0, 1e-9);
    assert!(flows.goodput_bps > 6e6 * 8.0 / 9.0 && flows.goodput_bps < flows.offered_bps);
}

#[test]
fn what_arrives_in_the_warm_up_does_not_count() {
    let keys = "sizes = { constant = { bytes = 1000 } }, arrivals = { constant = { per_s = 1 } }";
    let does = format!("{{ name = 'flows', stop_s = 8.5, does = {{ flows = {{ {keys} }} }} }}");
    let flows = run(&(scenario(20.0, 10.0, 10, &does) + "warmup_s = 4.5\n"))
        .arrivals
        .remove(0);
    assert_eq!((flows.all.started, flows.all.finished), (4, 4));
    assert_near(flows.offered_bps, 4.0 * 8000.0 / 4.0, 1e-9);
}

/// Both runs have the same flows, whatever steers them; another seed has others.
#[test]
fn runs_have_the_same_flows_and_seeds_others() {
    let does = "{ name = 'flows', does = { flows = { sizes = { published = 'web_search' }, arrivals = { poisson = { load = 0.4 } } } } }";
    let text = scenario(20.0, 60.0, 1000, does);
    let two = text.replace(
        "[{ name = \"linux\" }]",
        "[{ name = 'a' }, { name = 'b', law = 'tide', congestion_control = 'bbr' }]",
    );
    let runs = try_run(&two, false).unwrap().runs;
    let offered = |n: usize| {
        (
            runs[n].arrivals[0].all.started,
            runs[n].arrivals[0].offered_bps.to_bits(),
        )
    };
    assert_eq!(offered(0), offered(1));
    let other = run(&(text + "seed = 2\n"));
    assert_ne!(other.arrivals[0].offered_bps.to_bits(), offered(0).1);
}

/// In an overload flows pile up, and the small ones complete: results must separate them by size.
#[test]
fn an_overload_leaves_flows_unfinished() {
    let keys =
        "sizes = { exponential = { mean_bytes = 200000 } }, arrivals = { poisson = { load = 2 } }";
    let flows = flows(keys, 30.0);
    assert!(
        flows.all.finished < flows.all.started * 3 / 4,
        "{:?}",
        flows.all
    );
    assert!(flows.goodput_bps > 15e6, "{}", flows.goodput_bps);
}

/// Ten thousand flows, in seconds, and without leftovers of completed ones.
#[test]
fn ten_thousand_flows_run() {
    let keys = "sizes = { pareto = { shape = 1.2, min_bytes = 1000, max_bytes = 1e6 } }, arrivals = { poisson = { per_s = 100 } }";
    let flows = flows(keys, 100.0);
    assert!(
        (9700..10_300).contains(&flows.all.started),
        "{:?}",
        flows.all
    );
    assert!(
        flows.all.finished > flows.all.started - 20,
        "{:?}",
        flows.all
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// The offered load matches the requested one for all distributions.
    #[test]
    fn the_offered_load_is_what_was_asked_for(seed in 1..1_000_000_u64, load in 0.1..0.8_f64) {
        for (sizes, arrivals) in [
            ("exponential = { mean_bytes = 20000 }", format!("poisson = {{ load = {load} }}")),
            ("constant = { bytes = 20000 }", format!("pareto = {{ shape = 2.5, load = {load} }}")),
            ("lognormal = { median_bytes = 20000, deviation = 0.5 }", format!("lognormal = {{ deviation = 0.5, load = {load} }}")),
        ] {
            let does = format!("{{ name = 'flows', does = {{ flows = {{ sizes = {{ {sizes} }}, arrivals = {{ {arrivals} }} }} }} }}");
            let run = run(&(scenario(20.0, 100.0, 1000, &does) + &format!("seed = {seed}\n")));
            let offered = run.arrivals[0].offered_bps;
            // At least some thousand flows: five standard errors.
            let count = load * 20e6 * 100.0 / 8.0 / 25_000.0;
            let error = 5.0 * 1.5 / count.sqrt();
            prop_assert!(
                (offered - load * 20e6).abs() < error * load * 20e6,
                "seed {}: {} of {}: {}", seed, sizes, arrivals, offered / 20e6
            );
        }
    }
}
