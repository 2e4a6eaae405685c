use super::*;
use std::collections::BTreeSet;
use std::path::Path;
use tidegate_scenario::Scenario;

fn parsed(seed: u64) -> Scenario {
    let text = toml::to_string(&draw(seed).table).unwrap();
    Scenario::parse(&text, Path::new("drawn.toml"))
        .unwrap_or_else(|e| panic!("{seed}: {e}\n{text}"))
}

#[test]
fn the_same_seed_draws_the_same() {
    for seed in 0..50 {
        assert_eq!(draw(seed), draw(seed));
    }
    assert_ne!(draw(1).table, draw(2).table);
}

#[test]
fn both_sides_can_run_whatever_is_drawn() {
    for seed in 0..2000 {
        tidegate_sim::check(&parsed(seed)).unwrap_or_else(|e| panic!("{seed}: {e}"));
    }
    for seed in 0..200 {
        tidegate_lab::check(&parsed(seed)).unwrap_or_else(|e| panic!("{seed}: {e}"));
    }
}

/// Every choice is drawn at some time: otherwise the draw would test less than it seems.
#[test]
fn everything_is_drawn_sometimes() {
    let mut seen = BTreeSet::new();
    for seed in 0..500 {
        let Drawn { table, traces } = draw(seed);
        seen.extend(traces.into_keys().map(str::to_owned));
        let text = toml::to_string(&table).unwrap();
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
        seen.extend(words.map(str::to_owned));
    }
    let words = "constant_mbps steps slots lte hspa evdo random bursty reorder arq middlebox delay_steps shaper drop-head \
                 codel red pie fq-codel dualpi2 bytes cubic reno bbr timestamps sack rmem_max initial_window \
                 slow_start_after_idle drs drwa tide rledbat rsfc limit server_law ecn up web chunks constant_rate reader \
                 ping start_s stop_s steered congestion_control links hop";
    let traces = ["bursts.down", "bursts.up"];
    for word in words.split_whitespace().chain(traces) {
        let is_seen = seen.contains(word) || word.split('.').all(|part| seen.contains(part));
        assert!(is_seen, "{word} is never drawn");
    }
}
