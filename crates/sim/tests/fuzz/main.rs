//! Randomly mutated scenarios: each is refused with an explanation, or runs, within bounds of time and memory.
//!
//! The ordinary run takes the same few hundred every time. `./dev soak` takes new ones for `TIDEGATE_FUZZ_MINUTES`; a
//! failure can be repeated with the `TIDEGATE_FUZZ_SEED` that it prints.

mod bounds;
mod mutate;
mod schema;

use bounds::{Bounds, Counting};
use mutate::Mutator;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tidegate_scenario::Scenario;
use tidegate_sim::{Keys, Options, Session, check};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Virtual time of each run, at most.
const VIRTUAL: Duration = Duration::from_secs(2);

/// Steps in which a run is advanced.
const STEPS: u32 = 50;

/// Real time after which a run is abandoned.
const PATIENCE: Duration = Duration::from_millis(400);

#[test]
fn spoiled_scenarios_are_refused_or_run() {
    let tried = fuzz(1, |cases, _| cases < 300);
    // Most mutants of numbers are out of range; if hardly any ran, nothing would be tested.
    assert!(tried.ran > 60 && tried.refused > 60, "{tried:?}");
}

#[test]
#[ignore = "minutes: ./dev soak"]
fn spoiled_scenarios_for_minutes() {
    let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let seed =
        number("TIDEGATE_FUZZ_SEED").unwrap_or_else(|| now.map_or(1, |now| now.as_secs() << 24));
    let minutes = number("TIDEGATE_FUZZ_MINUTES").unwrap_or(30);
    let tried = fuzz(seed, |_, elapsed| {
        elapsed < Duration::from_secs(60 * minutes)
    });
    eprintln!("{tried:?}");
}

#[derive(Debug, Default)]
struct Tried {
    refused: u64,
    ran: u64,
}

/// Tries one mutant after the other, beginning with that seed.
fn fuzz(first: u64, go_on: impl Fn(u64, Duration) -> bool) -> Tried {
    eprintln!("TIDEGATE_FUZZ_SEED={first}");
    let mutator = Mutator::new(&scenarios());
    let begun = Instant::now();
    let bounds = Bounds::watch();
    let mut tried = Tried::default();
    let mut failed = Vec::new();
    for seed in first.. {
        if !go_on(seed - first, begun.elapsed()) {
            break;
        }
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let (path, text) = mutator.mutant(&mut rng);
        bounds.begin(seed, &text);
        let outcome = catch_unwind(AssertUnwindSafe(|| attempt(&text, &path, &mut rng)));
        match (outcome, bounds.end()) {
            (Ok(Ok(())), Ok(())) => tried.ran += 1,
            (Ok(Err(_)), Ok(())) => tried.refused += 1,
            (Ok(_), Err(bytes)) => failed.push(told(seed, &text, &format!("{bytes} bytes"))),
            (Err(_), _) => failed.push(told(seed, &text, "panic")),
        }
    }
    assert!(failed.is_empty(), "TIDEGATE_FUZZ_SEED of {failed:?}");
    tried
}

fn told(seed: u64, text: &str, what: &str) -> (u64, String) {
    eprintln!("--- seed {seed}: {what}\n{text}\n---");
    (seed, what.to_owned())
}

/// Reads and runs it; the error is the one that a user would see.
fn attempt(text: &str, path: &Path, rng: &mut Pcg64Mcg) -> anyhow::Result<()> {
    let mut scenario = Scenario::parse(text, path)?;
    let inputs = scenario.link_inputs(path)?;
    check(&scenario)?;
    let keys = Keys::new(&scenario, path)?;
    shorten(&mut scenario);
    let nth = rand::RngExt::random_range(rng, 0..scenario.runs.len());
    let run = scenario.runs[nth].clone();
    keys.of(&run);
    let options = Options {
        series: true,
        ..Options::default()
    };
    let mut session = Session::new(&scenario, &inputs, &run, &options)?;
    let begun = Instant::now();
    while !session.is_over() {
        if begun.elapsed() > PATIENCE {
            return Ok(());
        }
        session.advance(VIRTUAL / STEPS);
    }
    let result = session.finish();
    serde_json::to_string(&result)?;
    Ok(())
}

/// Makes everything begin within the shortened run.
fn shorten(scenario: &mut Scenario) {
    let whole = scenario.duration_s;
    let short = whole.min(VIRTUAL.as_secs_f64());
    scenario.duration_s = short;
    scenario.warmup_s *= short / whole;
    for workload in &mut scenario.workloads {
        workload.start_s *= short / whole;
        workload.stop_s = workload.stop_s.map(|stop| stop * short / whole);
    }
}

/// The shipped scenarios.
fn scenarios() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let folders = ["", "validate", "reference", "script"].map(|folder| root.join(folder));
    let files = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).expect("scenarios"));
    let mut files: Vec<_> = files
        .map(|entry| entry.expect("a file").path())
        .filter(|path| {
            path.extension().is_some_and(|end| end == "toml") && !path.ends_with("reasons.toml")
        })
        .collect();
    files.sort();
    files
}
