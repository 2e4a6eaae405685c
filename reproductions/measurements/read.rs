//! Reads the tests' findings.

use tidegate_study::Sample;

/// The first value with that name in every run of a case; not a number if there is none.
pub fn numbers(sample: &Sample, case: &str, quantity: &str) -> Vec<f64> {
    let runs = sample.runs(case);
    let read = runs.map(|run| {
        let mut series = run.series.iter();
        let found = series.find(|s| s.quantity == quantity);
        found
            .and_then(|s| s.value.first())
            .copied()
            .unwrap_or(f64::NAN)
    });
    read.collect()
}

/// Their mean.
pub fn number(sample: &Sample, case: &str, quantity: &str) -> f64 {
    crate::means::mean(numbers(sample, case, quantity).into_iter())
}
