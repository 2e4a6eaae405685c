//! Simulator against kernel.

use crate::grid::{Column, Grid, Head};
use crate::number::{fixed, mbps, percent};
use tidegate_scenario::Comparison;

/// A row for each comparison, without the reasons, which are long sentences.
pub(crate) fn grid(comparisons: &[Comparison]) -> Grid {
    Grid::new("", comparisons, columns())
}

/// The same with the reasons, for wide output.
pub(crate) fn grid_with_reasons(comparisons: &[Comparison]) -> Grid {
    let mut columns = columns();
    columns.push(
        Head::text("reason")
            .about("Why it is known to differ.")
            .cell(|c: &Comparison| c.reason.clone()),
    );
    Grid::new("", comparisons, columns)
}

/// The heads of its columns.
pub(crate) fn heads() -> Vec<Head> {
    columns().iter().map(Column::head).collect()
}

fn columns() -> Vec<Column<Comparison>> {
    vec![
        Head::text("scenario").about("The scenario, with its run if it has several.")
            .cell(|c| Some(c.scenario.clone())),
        Head::text("quantity").about("What is compared, as results name it.")
            .cell(|c| Some(c.quantity.clone())),
        Head::number("kernel").about("Measured in the laboratory, over the kernel's TCP.")
            .cell(|c| Some(value(c, c.kernel))),
        Head::number("sim").about("Measured in the simulator.")
            .cell(|c| Some(value(c, c.sim))),
        Head::number("error")
            .unit("%")
            .about("Their difference, in per cent of the kernel's.")
            .cell(|c| Some(percent(c.error))),
        Head::number("allowed")
            .unit("%")
            .about("The largest difference that passes.")
            .cell(|c| Some(percent(c.allowed))),
        Head::text("verdict").about("ok; differs, known (the reason stands below); differs, which makes the exit status 1.")
            .cell(|c| Some(verdict(c).to_owned())),
    ]
}

/// The value in a readable unit, with that unit: rows of a column have different ones.
fn value(comparison: &Comparison, value: f64) -> String {
    match comparison.quantity.as_str() {
        rate if rate.ends_with("bps") => format!("{} Mbit/s", mbps(value)),
        count if count.ends_with("packets") => format!("{} packets", fixed(value, 1)),
        size if size.ends_with("bytes") => format!("{} B", fixed(value, 0)),
        _ => format!("{} ms", fixed(value, 1)),
    }
}

fn verdict(comparison: &Comparison) -> &'static str {
    match (comparison.ok, &comparison.reason) {
        (true, _) => "ok",
        (false, Some(_)) => "differs, known",
        (false, None) => "differs",
    }
}

/// Each known reason of a difference, with the comparisons that it explains.
pub(crate) fn reasons(comparisons: &[Comparison]) -> impl Iterator<Item = String> {
    comparisons.iter().filter_map(|c| {
        let reason = c.reason.as_ref()?;
        Some(format!("{}, {}: {reason}", c.scenario, c.quantity))
    })
}

/// How many agree, in one sentence.
pub(crate) fn summary(comparisons: &[Comparison]) -> String {
    let count = |word| comparisons.iter().filter(|c| verdict(c) == word).count();
    format!(
        "{} of {} agree; {} differ for a known reason, {} for none.",
        count("ok"),
        comparisons.len(),
        count("differs, known"),
        count("differs")
    )
}

#[cfg(test)]
mod tests;
