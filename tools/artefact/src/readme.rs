//! The committee's page: a template with the table of claims in it.

use crate::claims::{Claim, Claims};
use crate::expected::Expected;
use crate::show::value;
use anyhow::{Context, Result, ensure};
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

/// The line of the template where the table is put.
const MARK: &str = "<!-- claims -->";

/// Prints the page.
pub fn print(template: &Path, claims: &Claims, expected: &Expected) -> Result<()> {
    let text = std::fs::read_to_string(template);
    let text = text.with_context(|| template.display().to_string())?;
    let page = filled(&text, claims, expected);
    let page = page.with_context(|| template.display().to_string())?;
    Ok(tidegate_terminal::data().write_all(page.as_bytes())?)
}

fn filled(template: &str, claims: &Claims, expected: &Expected) -> Result<String> {
    ensure!(
        template.matches(MARK).count() == 1,
        "expected one line {MARK}"
    );
    let mut table = String::from(
        "| claim | command | minutes | numbers | some of them, as expected |\n| --- | --- | --- | --- | --- |\n",
    );
    for claim in &claims.claim {
        row(&mut table, claim, expected)?;
    }
    let tolerance = claims.tolerance;
    let minutes: f64 = claims.claim.iter().map(|claim| claim.minutes).sum();
    let _ = write!(
        table,
        "\nTolerance of each number: {} % of it, or {} in its unit if that is more; its verdict (holds, direction, fails) must \
         be the same. All claims take {minutes:.1} minutes on two cores, after the build. Expected numbers are of behaviour \
         version {}.",
        tolerance.relative * 100.0,
        tolerance.absolute,
        expected.behaviour
    );
    Ok(template.replace(MARK, table.trim_end()))
}

fn row(table: &mut String, claim: &Claim, expected: &Expected) -> Result<()> {
    let numbers = expected.of(&claim.id).with_context(|| {
        format!(
            "no numbers of claim \"{}\"; ./dev artefact expect writes them",
            claim.id
        )
    })?;
    let shown = claim.shown(numbers)?.into_iter().map(|number| {
        let unit = if number.unit.is_empty() { "" } else { " " };
        format!(
            "{} ({}): {}{unit}{}",
            number.name,
            number.figure,
            value(number.value),
            number.unit
        )
    });
    let shown = shown.collect::<Vec<_>>().join("; ").replace('|', "\\|");
    writeln!(
        table,
        "| `{}`: {} ({}) | `tidegate {}` | {} | {} | {shown} |",
        claim.id,
        claim.says,
        claim.page,
        claim.command,
        claim.minutes,
        numbers.len(),
    )?;
    Ok(())
}
