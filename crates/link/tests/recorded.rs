//! The parsers and the generated cells against recorded traces, which are not shipped: where there
//! is no `../../../shared/traces`, these tests say so and pass.

use std::path::PathBuf;
use std::time::Duration;
use tidegate_link::{Capacity, CellKind, CellModel, DelayTrace, Instant, Rate, RateSeries, Trace};
use tidegate_testing::skipped;

/// The text of a recorded trace.
fn recorded(name: &str) -> Option<String> {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../../shared/traces", name]
        .iter()
        .collect();
    let text = std::fs::read_to_string(&path);
    if let Err(error) = &text {
        skipped(format!("{}: {error}", path.display()));
    }
    text.ok()
}

/// The statistics that distinguish a trace, without its mean: rates over one-second windows as ratios of the mean, and
/// gaps between opportunities.
#[derive(Debug)]
struct Character {
    p50: f64,
    p95: f64,
    /// Standard deviation.
    spread: f64,
    /// Gaps above 300 ms, a minute.
    gaps: f64,
    /// Longest gap in seconds.
    longest_gap: f64,
}

impl Character {
    fn of(trace: &Trace) -> Self {
        let mut capacity = Capacity::new(&Rate::from(trace.clone()));
        let at = |s: u64| Instant::from_millis(1000 * s);
        let mut rates: Vec<f64> = (0..trace.period().as_secs())
            .map(|s| capacity.bytes(at(s), at(s + 1)) as f64 * 8.0 / trace.mean_bps())
            .collect();
        rates.sort_by(f64::total_cmp);
        let percentile = |p: usize| rates[rates.len() * p / 100];
        let variance: f64 = rates.iter().map(|r| (r - 1.0) * (r - 1.0)).sum();
        let gaps = gaps_ms(trace);
        let long = gaps.iter().filter(|&&gap| gap > 300).count();
        Self {
            p50: percentile(50),
            p95: percentile(95),
            spread: (variance / rates.len() as f64).sqrt(),
            gaps: long as f64 * 60.0 / trace.period().as_secs_f64(),
            longest_gap: gaps.into_iter().max().unwrap_or(0) as f64 / 1e3,
        }
    }
}

/// Milliseconds from each opportunity to the next.
fn gaps_ms(trace: &Trace) -> Vec<u64> {
    let text = trace.to_string();
    let lines: Vec<u64> = text
        .lines()
        .map(|ms| ms.parse().expect("a number"))
        .collect();
    lines.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// Whether `ours` is within a factor of `theirs`.
fn assert_like(what: &str, ours: f64, theirs: f64, factor: f64) {
    assert!(
        ours < theirs * factor && theirs < ours * factor,
        "{what}: generated {ours:.3}, recorded {theirs:.3}, expected a factor below {factor}"
    );
}

#[test]
fn recorded_traces_are_read_and_written_as_they_are() {
    for (name, mbps) in [
        ("mahimahi/TMobile-LTE-driving.down", 12.77),
        ("mahimahi/ATT-LTE-driving.up", 0.83),
        ("mahimahi/Verizon-EVDO-driving.down", 0.52),
        ("starlink/leocc-starlink.down", 48.75),
    ] {
        let Some(text) = recorded(name) else { continue };
        let trace = Trace::parse(&text).expect(name);
        assert_eq!(trace.to_string().trim_end(), text.trim_end(), "{name}");
        assert!(
            (trace.mean_bps() / 1e6 - mbps).abs() < 0.01,
            "{name}: {}",
            trace.mean_bps()
        );
    }
}

#[test]
fn recorded_series_are_read() {
    for (name, seconds) in [
        ("rates/lte-nyc-subway-7.csv", 4910),
        ("rates/5g-ireland-driving-1.csv", 311),
    ] {
        let Some(text) = recorded(name) else { continue };
        let series = RateSeries::parse(&text).expect(name);
        assert_eq!(series.period(), Duration::from_secs(seconds), "{name}");
    }
}

#[test]
fn recorded_delays_are_read() {
    let name = "starlink/leocc-starlink.delay";
    let Some(text) = recorded(name) else { return };
    let delays = DelayTrace::parse(&text).expect(name);
    assert_eq!(delays.period(), Duration::from_millis(119_990));
}

/// A generated cell resembles a recorded one as much as two recorded LTE links resemble each other.
#[test]
fn generated_cells_resemble_recorded_ones() {
    for (cell, name) in [
        (CellKind::Lte, "mahimahi/TMobile-LTE-driving.down"),
        (CellKind::Lte, "mahimahi/ATT-LTE-driving.down"),
        (CellKind::Lte, "mahimahi/Verizon-LTE-short.down"),
        (CellKind::Hspa, "mahimahi/TMobile-UMTS-driving.down"),
        (CellKind::Evdo, "mahimahi/Verizon-EVDO-driving.down"),
    ] {
        let Some(text) = recorded(name) else { continue };
        let theirs = Trace::parse(&text).expect(name);
        let ours =
            CellModel::new(cell, Some(theirs.mean_bps()), 1).trace(Duration::from_secs(7200));
        assert_like(name, ours.mean_bps(), theirs.mean_bps(), 1.1);
        let (ours, theirs) = (Character::of(&ours), Character::of(&theirs));
        eprintln!("{name}:\n  generated {ours:.2?}\n  recorded  {theirs:.2?}");
        assert_like(&format!("{name}: p50"), ours.p50, theirs.p50, 1.3);
        assert_like(&format!("{name}: p95"), ours.p95, theirs.p95, 1.3);
        assert_like(&format!("{name}: spread"), ours.spread, theirs.spread, 1.35);
        assert_like(&format!("{name}: gaps"), ours.gaps, theirs.gaps, 4.0);
        assert_like(
            &format!("{name}: longest gap"),
            ours.longest_gap,
            theirs.longest_gap,
            1.5,
        );
    }
}
