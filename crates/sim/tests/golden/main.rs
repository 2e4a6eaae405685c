//! Pins the simulator's behaviour: a hash of each run of many small scenarios that together touch every part of it.
//! `hashes.txt` holds them; its first line is the version of that behaviour.
//!
//! If you change the behaviour of a law, a link, TCP, an application or a measurement on purpose, raise
//! [`tidegate_sim::BEHAVIOUR_VERSION`] and regenerate the file:
//!
//! ```text
//! TIDEGATE_GOLDEN=write cargo test -p tidegate-sim --test golden
//! ```

mod cases;
mod file;

use cases::{Case, cases};
use file::{Golden, Hashes};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use tidegate_sim::{BEHAVIOUR_VERSION, Options, run_scenario};

#[test]
fn every_run_has_the_result_that_it_had() {
    let now = Golden {
        version: BEHAVIOUR_VERSION,
        hashes: hashes(&cases()),
    };
    let committed = Golden::read();
    if std::env::var_os("TIDEGATE_GOLDEN").is_some_and(|asked| asked == "write") {
        now.may_replace(&committed)
            .unwrap_or_else(|e| panic!("{e}"));
        now.write();
    } else {
        now.equals(&committed).unwrap_or_else(|e| panic!("{e}"));
    }
}

/// A hash of each run of each case, found on all cores.
fn hashes(cases: &[Case]) -> Hashes {
    let next = AtomicUsize::new(0);
    let all = Mutex::new(Hashes::new());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = hashes_of(case);
                    all.lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .extend(found);
                }
            });
        }
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn hashes_of(case: &Case) -> Hashes {
    let options = Options {
        series: true,
        ..Options::default()
    };
    let result = run_scenario(&case.scenario, &case.inputs, &options);
    let result = result.unwrap_or_else(|e| panic!("{}: {e:#}", case.name));
    let runs = result.runs.iter().map(|run| {
        // Hash a value with sorted keys: the order of a structure's fields is not behaviour.
        let value = serde_json::to_value(run).expect("results can be serialised");
        let hash = blake3::hash(value.to_string().as_bytes()).to_hex();
        (format!("{}/{}", case.name, run.name), hash[..32].to_owned())
    });
    runs.collect()
}
