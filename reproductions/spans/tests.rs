use super::*;
use tidegate_scenario::{RunResult, Series};
use tidegate_study::Results;

/// Bins of a tenth of a second, each with its number as value: times are sums of fractions.
#[test]
fn a_span_holds_the_bins_that_begin_in_it() {
    let bins = 0..100;
    let curve = |quantity: &str, factor: f64| Series {
        quantity: quantity.into(),
        flow: String::new(),
        t_s: bins.clone().map(|n| f64::from(n) * 0.1).collect(),
        value: bins.clone().map(|n| f64::from(n) * factor).collect(),
    };
    let mut results = Results::default();
    let run = RunResult {
        series: vec![curve("delivered_bps", 1.0), curve("capacity_bps", 4.0)],
        ..RunResult::default()
    };
    results.add("case", run);
    let sample = results.all();
    let span = Span(0.3, 2.3);
    // Bins 3 to 22: the 19th of twenty is the 95th percentile.
    assert!((span.peak(&sample, "case", "delivered_bps") - 22.0).abs() < 1e-9);
    assert!((span.p95(&sample, "case", "delivered_bps") - 21.0).abs() < 1e-9);
    assert!((span.utilisation(&sample, "case") - 25.0).abs() < 1e-9);
    // Three quarters of two seconds.
    assert!((span.lost_s(&sample, "case") - 1.5).abs() < 1e-9);
}
