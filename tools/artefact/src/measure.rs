//! Runs a claim's command and reads its numbers.

use crate::claims::Claim;
use crate::expected::Number;
use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::path::Path;
use std::process::{Command, Stdio};

/// The parts of `reproduce --json`'s output that are read here.
#[derive(Deserialize)]
struct Report {
    figures: Vec<Figure>,
}

#[derive(Deserialize)]
struct Figure {
    id: String,
    quantities: Vec<Quantity>,
}

#[derive(Deserialize)]
struct Quantity {
    name: String,
    unit: String,
    ours: Option<f64>,
    verdict: String,
}

/// The numbers that the claim's command prints.
pub fn measure(claim: &Claim, program: &Path) -> Result<Vec<Number>> {
    let words = shlex::split(&claim.command).context("its command is not closed quotes")?;
    let mut command = Command::new(program);
    command.args(words).arg("--json").stderr(Stdio::inherit());
    let output = command.output();
    let output = output.with_context(|| format!("run {}", program.display()))?;
    ensure!(
        output.status.success(),
        "{} {} ended with {}",
        program.display(),
        claim.command,
        output.status
    );
    let report: Report = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("what {} {} prints", program.display(), claim.command))?;
    Ok(report.figures.into_iter().flat_map(numbers).collect())
}

fn numbers(figure: Figure) -> impl Iterator<Item = Number> {
    let Figure { id, quantities } = figure;
    quantities.into_iter().map(move |quantity| Number {
        figure: id.clone(),
        name: quantity.name,
        unit: quantity.unit,
        value: quantity.ours,
        verdict: quantity.verdict,
    })
}
