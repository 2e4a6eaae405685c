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
        let [first, second] = [draw(seed), draw(seed)];
        assert_eq!(first.table, second.table);
        assert_eq!(first.trace, second.trace);
    }
    assert_ne!(draw(1).table, draw(2).table);
}

#[test]
fn whatever_is_drawn_runs_in_the_simulator() {
    for seed in 0..2000 {
        tidegate_sim::check(&parsed(seed)).unwrap_or_else(|e| panic!("{seed}: {e}"));
    }
}

/// A grammar of which a rule is never used shows nothing.
#[test]
fn everything_is_drawn_sometimes() {
    let mut seen = BTreeSet::new();
    for seed in 0..500 {
        let Drawn { table, trace } = draw(seed);
        seen.extend(trace.map(|_| TRACE.to_owned()));
        let text = toml::to_string(&table).unwrap();
        let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
        seen.extend(words.map(str::to_owned));
    }
    for word in [
        TRACE,
        "constant_mbps",
        "steps",
        "slots",
        "lte",
        "hspa",
        "evdo",
        "random",
        "bursty",
        "reorder",
        "arq",
        "drop-head",
        "codel",
        "red",
        "pie",
        "fq-codel",
        "cubic",
        "reno",
        "bbr",
        "timestamps",
        "rmem_max",
        "drs",
        "drwa",
        "tide",
        "rledbat",
        "ecn",
        "up",
        "web",
        "chunks",
        "constant_rate",
        "reader",
        "stop_s",
    ] {
        assert!(seen.contains(word), "{word} is never drawn");
    }
}
