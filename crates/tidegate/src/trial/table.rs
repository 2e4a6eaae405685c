//! A trial's result for a terminal.

use super::outcome::TrialReport;
use super::verdict::Both;
use super::words::{self, ms, rate};
use tidegate_terminal::{Cell, Style, Table};

/// The verdict, followed by the numbers.
pub fn text(outcome: &TrialReport) -> String {
    let mut table = Table::new(Style::Plain);
    let right = |text: String| Cell::new(text).right();
    let heads = ["without", "with steering"].map(|head| right(head.into()));
    table.heads(std::iter::once(Cell::new("")).chain(heads));
    for [what, without, with, note] in rows(outcome) {
        table.row([
            Cell::new(what),
            right(without),
            right(with),
            Cell::new(note),
        ]);
    }
    table.gap(2);
    let about = &outcome.about;
    let numbers = match outcome.finding.loaded_ms {
        Some(_) => format!("\n{}\n", table.trimmed()),
        None => String::new(),
    };
    format!(
        "{}\n{}\n{numbers}\n{} over {} with {}; round trips to {}; seed {}\n",
        outcome.headline,
        outcome.said.join("\n"),
        words::direction(outcome.finding.direction),
        about.interfaces.join(", "),
        about.law,
        about.pinged,
        about.seed
    )
}

/// Rows of quantity, value without steering, value with steering, and remark.
pub fn rows(outcome: &TrialReport) -> Vec<[String; 4]> {
    let finding = &outcome.finding;
    let row = |what: &str, both: Option<Both>, of: fn(f64) -> String, note: String| {
        let both = both?;
        Some([what.to_owned(), of(both.without), of(both.with), note])
    };
    let pairs = finding.tested.map_or(0, |test| test.pairs);
    let tested = format!("{pairs} pairs of {} s; tested", outcome.about.slot_s);
    let shown = finding.rate_would_have_shown.map_or(String::new(), |part| {
        format!(
            "not tested: only more than {} would show",
            words::told_apart(part)
        )
    });
    let idle = finding.idle_ms;
    let all = [
        Some([
            "delay of the idle link".into(),
            ms(idle),
            String::new(),
            String::new(),
        ]),
        row("delay under load, median", finding.loaded_ms, ms, tested),
        row(
            "delay under load, 95th percentile",
            finding.p95_ms,
            ms,
            "not tested".into(),
        ),
        row("rate", finding.bps, rate, shown),
    ];
    all.into_iter().flatten().collect()
}
