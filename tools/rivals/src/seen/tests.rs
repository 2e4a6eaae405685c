//! The output of the programs, as they write it.

use super::*;

const BEGAN: f64 = 1_767_225_600.0;

/// Three seconds of iperf3: 1, 2 and 3 Mbit; two pings; a shaper that goes from 20 to 10 Mbit/s after a second.
fn seen() -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("began", "1767225600000000\n");
    write(
        "download",
        r#"{"start": {"version": "iperf 3.18"}, "intervals": [
            {"streams": [], "sum": {"start": 0, "end": 1.0001, "bytes": 125000, "sender": false}},
            {"streams": [], "sum": {"start": 1.0001, "end": 2, "bytes": 250000, "sender": false}},
            {"streams": [], "sum": {"start": 2, "end": 3, "bytes": 375000, "sender": false}}
        ], "end": {}}"#,
    );
    write(
        "ping",
        "[1767225600.54321] 10.0.1.2 : [0], 64 bytes, 40.3 ms (40.3 avg, 0% loss)\n\
         [1767225601.60000] 10.0.1.2 : [1], timed out (NaN avg, 100% loss)\n\
         [1767225602.60000] 10.0.1.2 : [2], 64 bytes, 1234 ms (637 avg, 33% loss)\n",
    );
    write(
        "log",
        "DEBUG; 2026-01-01-00:00:00; 1767225599.9; Starting: set_shaper_rates\n\
         SHAPER; 2026-01-01-00:00:00; 1767225599.900000; tc qdisc change root dev ifb-wan cake bandwidth 20000Kbit\n\
         SHAPER; 2026-01-01-00:00:00; 1767225599.900001; tc qdisc change root dev wan cake bandwidth 5000Kbit\n\
         SHAPER; 2026-01-01-00:00:01; 1767225601.000000; tc qdisc change root dev ifb-wan cake bandwidth 10000Kbit\n",
    );
    Seen::read(folder.path()).unwrap()
}

#[test]
fn goodput_is_of_the_seconds_that_count() {
    let near = |counted, expected: f64| {
        let bps = seen().goodput_bps(&counted).unwrap();
        assert!((bps / expected - 1.0).abs() < 1e-3, "{bps}");
    };
    near(0.0..3.0, 2e6);
    near(1.0..3.0, 2.5e6);
}

#[test]
fn a_download_that_ended_early_is_an_error() {
    let error = seen().goodput_bps(&(0.0..30.0)).unwrap_err().to_string();
    assert!(
        error.contains("was seen for 3.0 s, expected 30.0"),
        "{error}"
    );
}

#[test]
fn pings_are_those_that_were_answered() {
    assert_eq!(seen().rtts_ms(&(0.0..3.0)).unwrap(), [40.3, 1234.0]);
    assert_eq!(seen().rtts_ms(&(1.0..3.0)).unwrap(), [1234.0]);
    assert!(seen().rtts_ms(&(3.0..9.0)).is_err());
}

#[test]
fn a_shaper_has_its_mean_over_time() {
    let seen = seen();
    assert_eq!(
        seen.shaper_bps("ifb-wan", &(0.0..3.0)),
        Some((20e6 + 2.0 * 10e6) / 3.0)
    );
    assert_eq!(seen.shaper_bps("ifb-wan", &(2.0..3.0)), Some(10e6));
    assert_eq!(seen.shaper_bps("wan", &(0.0..3.0)), Some(5e6));
    assert_eq!(seen.shaper_bps("eth0", &(0.0..3.0)), None);
    assert!((seen.began - BEGAN).abs() < 1e-9);
}

#[test]
fn what_is_missing_is_named() {
    let error = format!("{:#}", Seen::read(Path::new("nowhere")).unwrap_err());
    assert!(error.starts_with("read nowhere/began: "), "{error}");
}
