//! Prints the results.

use crate::claims::Claims;
use crate::compare::{Compared, Outcome};
use crate::expected::Number;
use anyhow::Result;
use std::io::Write;
use tidegate_terminal::{Cell, Color, Style, Table, out, screen_width};

/// Width if standard output is no terminal.
const PLAIN_WIDTH: u16 = 120;

/// The claims, and how long they take.
pub fn list(claims: &Claims) -> Result<()> {
    for claim in &claims.claim {
        writeln!(
            out(),
            "{:14} {:>4} min  {}",
            claim.id,
            claim.minutes,
            claim.says
        )?;
    }
    Ok(())
}

/// Prints a claim's numbers: those that tables show, and all that are not as expected.
pub fn outcome(outcome: &Outcome) -> Result<()> {
    let mut table = Table::new(Style::Ruled);
    table.width(screen_width().unwrap_or(PLAIN_WIDTH)).heads([
        "figure",
        "number",
        "unit",
        "expected",
        "measured",
        "tolerance",
        "within",
    ]);
    let mut told = 0;
    for number in outcome.numbers.iter().filter(|n| n.shown || !n.within) {
        table.row(row(number));
        told += 1;
    }
    table.right([3, 4, 5]);
    let mut to = out();
    writeln!(to, "claim {}", outcome.claim)?;
    if told > 0 {
        writeln!(to, "{table}")?;
    }
    let others = outcome.numbers.len() - told;
    writeln!(to, "{others} numbers more are within their tolerance\n")?;
    Ok(())
}

fn row(number: &Compared) -> [Cell; 7] {
    let text = |number: &Option<Number>| match number {
        Some(number) => format!("{}, {}", value(number.value), number.verdict),
        None => "none".into(),
    };
    let within = match number.within {
        true => Cell::new("yes").colour(Color::Green),
        false => Cell::new("NO").colour(Color::Red),
    };
    [
        Cell::new(&number.figure),
        Cell::new(&number.name),
        Cell::new(&number.unit),
        Cell::new(text(&number.expected)),
        Cell::new(text(&number.measured)),
        Cell::new(format!("± {}", value(Some(number.tolerance)))),
        within,
    ]
}

/// Four significant figures: nobody compares more by eye.
pub fn value(value: Option<f64>) -> String {
    match value {
        None => "–".into(),
        Some(value) if value != 0.0 && value.abs() < 0.001 => format!("{value:.1e}"),
        Some(value) if value.abs() < 10.0 => format!("{value:.3}"),
        Some(value) if value.abs() < 1000.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.0}"),
    }
}

/// All claims in a line each.
pub fn sum(outcomes: &[Outcome]) -> Result<()> {
    let mut table = Table::new(Style::Ruled);
    table.heads(["claim", "numbers", "within tolerance", "holds"]);
    for outcome in outcomes {
        let holds = if outcome.holds() { "yes" } else { "NO" };
        table.row([
            outcome.claim.clone(),
            outcome.numbers.len().to_string(),
            outcome.within().to_string(),
            holds.to_owned(),
        ]);
    }
    table.right([1, 2]);
    writeln!(out(), "{table}")?;
    Ok(())
}
