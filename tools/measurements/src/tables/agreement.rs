//! The simulator against the kernel.

use super::{markdown, of};
use crate::take::Printed;
use anyhow::{Context, Result};
use serde::Deserialize;
use tidegate_report::fixed;
use tidegate_scenario::Comparison;

#[derive(Deserialize)]
struct Rows {
    rows: Vec<Comparison>,
}

/// The quantities that `validate` compares, and the head of the table.
const QUANTITIES: [(&str, &str); 3] = [
    ("goodput_bps", "goodput, Mbit/s: kernel / simulator (apart)"),
    ("rtt_ms.p50", "median RTT, ms"),
    (
        "queue_delay_ms.p95",
        "95th percentile of queueing delay, ms",
    ),
];

/// A line for each scenario; differences in bold, those with a known reason in italics.
pub fn agreement(printed: &[Printed]) -> Result<String> {
    let Rows { rows } = of(printed.first().context("expected a result")?)?;
    let mut names: Vec<&str> = Vec::new();
    for row in &rows {
        if !names.contains(&row.scenario.as_str()) {
            names.push(&row.scenario);
        }
    }
    let quantities: Vec<&str> = quantities(&rows);
    let mut head = vec!["scenario"];
    head.extend(quantities.iter().map(|quantity| head_of(quantity)));
    let lines = names.iter().map(|name| {
        let of = |quantity: &&str| {
            let found = |row: &&Comparison| row.scenario == *name && row.quantity == **quantity;
            rows.iter().find(found).map_or("–".into(), shown)
        };
        let mut line = vec![(*name).to_owned()];
        line.extend(quantities.iter().map(of));
        line
    });
    let agree = rows.iter().filter(|row| row.ok).count();
    Ok(format!(
        "{}\n{agree} of {} numbers agree.\n",
        markdown(&head, lines),
        rows.len()
    ))
}

/// In the order in which they are printed.
fn quantities(rows: &[Comparison]) -> Vec<&str> {
    let mut known: Vec<&str> = Vec::new();
    for row in rows {
        if !known.contains(&row.quantity.as_str()) {
            known.push(&row.quantity);
        }
    }
    known
}

fn head_of(quantity: &str) -> &str {
    let known = QUANTITIES.iter().find(|(name, _)| *name == quantity);
    known.map_or(quantity, |(_, head)| head)
}

fn shown(row: &Comparison) -> String {
    let factor = if row.quantity.ends_with("_bps") {
        1e-6
    } else {
        1.0
    };
    let number = |value: f64| fixed(value * factor, 2);
    let text = format!(
        "{} / {} ({} %)",
        number(row.kernel),
        number(row.sim),
        fixed(row.error * 100.0, 1)
    );
    match (row.ok, &row.reason) {
        (false, _) => format!("**{text}**"),
        (true, Some(_)) => format!("*{text}*"),
        (true, None) => text,
    }
}
