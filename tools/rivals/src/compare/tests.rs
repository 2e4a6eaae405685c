//! A recorded run beside its simulation.

use super::*;

const SCENARIO: &str = "
    name = 'short'
    duration_s = 4
    warmup_s = 1
    down = { rate = { constant_mbps = 4 }, delay_ms = 20, queue = { bytes = 100000 } }
    up = { rate = { constant_mbps = 4 }, delay_ms = 20, queue = { bytes = 100000 } }
    workload = [{ name = 'download', does = { bulk = {} } }, { name = 'ping', does = { ping = { interval_ms = 50 } } }]
    run = [{ name = 'fixed', cake = { down = { mbps = 2 }, up = { mbps = 2 } } }]
";

/// Four seconds of 2 Mbit/s and a ping of 50 ms.
fn write_seen(folder: &Path) {
    std::fs::create_dir_all(folder).unwrap();
    let sums = (0..4).map(|s| {
        format!(
            r#"{{"sum": {{"start": {s}, "end": {}, "bytes": 250000}}}}"#,
            s + 1
        )
    });
    let intervals = sums.collect::<Vec<_>>().join(", ");
    let write = |name: &str, text: String| std::fs::write(folder.join(name), text).unwrap();
    write("began", "1000000".into());
    write("download", format!(r#"{{"intervals": [{intervals}]}}"#));
    write(
        "ping",
        "[3.5] 10.0.1.2 : [0], 64 bytes, 50.0 ms (50.0 avg, 0% loss)\n".into(),
    );
}

#[test]
fn both_sides_stand_side_by_side_with_their_ratio() {
    let folder = tempfile::tempdir().unwrap();
    write_seen(&folder.path().join("fixed"));
    let path = Path::new("short.toml");
    let scenario = Scenario::parse(SCENARIO, path).unwrap();
    let all = Comparison::of(&scenario, path, folder.path()).unwrap();
    let whats: Vec<_> = all.iter().map(|row| row.what).collect();
    assert_eq!(whats, [GOODPUT, MEDIAN, P95]);
    assert_eq!((all[0].kernel, all[1].kernel), (2.0, 50.0));
    assert!((1.7..2.0).contains(&all[0].model), "{all:?}");
    assert!(all.iter().all(|row| row.ratio == row.model / row.kernel));
    let text = table(&all).to_string();
    assert!(
        text.contains("ping, p95, ms") && text.contains("50.00"),
        "{text}"
    );
}

#[test]
fn a_run_that_was_not_seen_is_named() {
    let path = Path::new("short.toml");
    let scenario = Scenario::parse(SCENARIO, path).unwrap();
    let error = Comparison::of(&scenario, path, Path::new("nowhere")).unwrap_err();
    assert!(format!("{error:#}").starts_with("nowhere/fixed: read nowhere/fixed/began"));
}
