//! The costs of the parts.

use super::{markdown, of};
use crate::take::Printed;
use anyhow::{Context, Result};
use serde::Deserialize;
use tidegate_report::fixed;

#[derive(Deserialize)]
struct Results {
    results: Vec<Cost>,
}

#[derive(Deserialize)]
struct Cost {
    name: String,
    value: f64,
    unit: String,
    versus: Option<String>,
    ratio: Option<f64>,
}

/// As `bench` prints them.
pub fn costs(printed: &[Printed]) -> Result<String> {
    let Results { results } = of(printed.first().context("expected a result")?)?;
    let head = ["what", "value", "to"];
    let rows = results.iter().map(|cost| {
        let against = cost.ratio.zip(cost.versus.as_ref());
        let against = against.map(|(ratio, versus)| format!("{} times {versus}", digits(ratio)));
        vec![
            cost.name.clone(),
            format!("{} {}", digits(cost.value), cost.unit),
            against.unwrap_or_default(),
        ]
    });
    Ok(markdown(&head, rows))
}

/// About three digits.
fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 100.0 => 0,
        v if v >= 10.0 => 1,
        v if v >= 1.0 => 2,
        _ => 3,
    };
    fixed(value, decimals)
}
