//! The same seed gives the same bytes.

mod common;

use common::{scenario, try_run};
use tidegate_scenario::ResultSet;

/// All random parts at once.
fn busy(seed: u64) -> String {
    let workloads = "
        { name = 'bulk', does = { bulk = { flows = 4 } } },
        { name = 'web', does = { web = { object_bytes = [8000, 30000] } } },
        { name = 'page', does = { page = { object_bytes = [9000, 5000, 5000] } } },
        { name = 'ping', does = { ping = { interval_ms = 7 } } }";
    let text = scenario(20.0, 15.0, 60, workloads)
        .replace("rate = { constant_mbps = 20 }", "rate = { generate = { kind = 'lte' } }")
        .replace("delay_ms = 20, queue", "delay_ms = 20, loss = { random = 0.01 }, queue")
        .replace(
            "run = [{ name = \"linux\" }]",
            "run = [{ name = 'linux' }, { name = 'tide', law = 'tide' }, { name = 'bbr', congestion_control = 'bbr' }]",
        );
    format!("seed = {seed}\n{text}")
}

fn bytes(set: &ResultSet) -> String {
    serde_json::to_string(set).unwrap()
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_does_not() {
    let run = |seed| try_run(&busy(seed), true).unwrap();
    let (first, again, other) = (run(3), run(3), run(4));
    assert_eq!(bytes(&first), bytes(&again));
    assert_ne!(bytes(&first), bytes(&other));
    assert!(first.runs.iter().all(|r| r.link.drops + r.link.losses > 20));
}

#[test]
fn looking_at_a_run_does_not_change_it() {
    let mut seen = try_run(&busy(3), true).unwrap();
    for run in &mut seen.runs {
        assert!(run.series.len() > 10);
        run.series.clear();
    }
    let unseen = try_run(&busy(3), false).unwrap();
    assert_eq!(bytes(&seen), bytes(&unseen));
}
