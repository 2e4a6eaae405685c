//! The report for a terminal.

use crate::Verdict;
use crate::number::figures;
use crate::report::{Comparison, FigureReport, Report};
use comfy_table::{Cell, CellAlignment, Color, ContentArrangement, Table, presets};
use std::io::IsTerminal;

/// Width where nobody says how wide the screen is.
const PLAIN_WIDTH: u16 = 120;

/// All figures as text: a row for each quantity, and below it the reason if ours differs.
pub fn table(report: &Report) -> String {
    let mut text: String = report.figures.iter().map(figure).collect();
    text.push_str(&format!(
        "{} hold, {} in direction, {} do not; {}\n",
        report.count(Verdict::Holds),
        report.count(Verdict::Direction),
        report.count(Verdict::Fails),
        match report.seeds {
            1 => "one seed, hence no intervals".into(),
            n => format!("± is the 95 % confidence interval over {n} seeds"),
        }
    ));
    text
}

fn figure(figure: &FigureReport) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(["", "unit", "paper", "ours", "verdict"]);
    if table.width().is_none() {
        table.set_width(PLAIN_WIDTH);
    }
    if !std::io::stdout().is_terminal() {
        table.force_no_tty();
    }
    for quantity in &figure.quantities {
        let (word, colour) = match quantity.verdict {
            Verdict::Holds => ("holds", Color::Green),
            Verdict::Direction => ("direction", Color::Yellow),
            Verdict::Fails => ("fails", Color::Red),
        };
        table.add_row([
            Cell::new(&quantity.name),
            Cell::new(&quantity.unit),
            Cell::new(papers(quantity)),
            Cell::new(ours(quantity)),
            Cell::new(word).fg(colour),
        ]);
    }
    for column in [2, 3] {
        table
            .column_mut(column)
            .expect("five columns")
            .set_cell_alignment(CellAlignment::Right);
    }
    let mut text = format!(
        "{}: {}\n{}\n{table}\n",
        figure.id, figure.title, figure.claim
    );
    let mut said: Vec<&str> = Vec::new();
    for quantity in &figure.quantities {
        let reason = quantity.reason.as_str();
        if !reason.is_empty() && !said.contains(&reason) {
            text.push_str(&format!("  {}: {reason}\n", quantity.name));
            said.push(reason);
        }
    }
    text.push('\n');
    text
}

/// The paper's number and how it is to be taken.
pub fn papers(quantity: &Comparison) -> String {
    let paper = figures(quantity.paper);
    match quantity.terms.strip_prefix('±') {
        Some(_) => format!("{paper} ({})", quantity.terms),
        None => format!("{} {paper}", quantity.terms),
    }
}

/// Our number with its interval.
pub fn ours(quantity: &Comparison) -> String {
    let margin = quantity.high.map(|high| high - quantity.ours);
    let value = figures(quantity.ours);
    margin.map_or(value.clone(), |m| format!("{value} ± {}", figures(m)))
}
