//! The report for a terminal.

use crate::number::figures;
use crate::report::{Comparison, FigureReport, KernelNumber, LeftOut, Report};
use crate::{Entry, Listing, Verdict};
use comfy_table::{Cell, CellAlignment, Color, ContentArrangement, Table, presets};
use std::io::IsTerminal;

/// Width where nobody says how wide the screen is.
const PLAIN_WIDTH: u16 = 120;

/// All figures as text: a row for each quantity, and below it the reason if ours differs.
pub fn table(report: &Report) -> String {
    let mut text: String = report.figures.iter().map(figure).collect();
    for LeftOut { figure, reason } in &report.left_out {
        text.push_str(&format!("{figure} is left out: {reason}\n"));
    }
    let ours: Vec<Verdict> = report.quantities().map(|q| q.verdict).collect();
    text.push_str(&format!(
        "{}; {}\n",
        tally(&ours),
        match report.seeds {
            1 => "one seed, hence no intervals".into(),
            n => format!("± is the 95 % confidence interval over {n} seeds"),
        }
    ));
    let pairs = report
        .quantities()
        .filter_map(|q| Some((q.verdict, q.kernel.as_ref()?.verdict)));
    let (simulators, kernels): (Vec<_>, Vec<_>) = pairs.unzip();
    if !kernels.is_empty() {
        let same = simulators.iter().zip(&kernels).filter(|(a, b)| a == b);
        text.push_str(&format!(
            "on the kernel {}; the verdict is the simulator's in {} of {}\n",
            tally(&kernels),
            same.count(),
            kernels.len()
        ));
    }
    text
}

fn tally(verdicts: &[Verdict]) -> String {
    let count = |verdict| verdicts.iter().filter(|&&v| v == verdict).count();
    format!(
        "{} hold, {} in direction, {} do not",
        count(Verdict::Holds),
        count(Verdict::Direction),
        count(Verdict::Fails)
    )
}

fn figure(figure: &FigureReport) -> String {
    let has_kernel = figure.has_kernel();
    let mut headings = vec!["", "unit", "paper"];
    headings.extend(match has_kernel {
        true => ["simulator", "verdict", "kernel", "verdict"].as_slice(),
        false => &["ours", "verdict"],
    });
    let mut table = headed(headings);
    for quantity in &figure.quantities {
        let mut row = vec![
            Cell::new(&quantity.name),
            Cell::new(&quantity.unit),
            Cell::new(papers(quantity)),
            Cell::new(ours(quantity)),
            verdict(quantity.verdict),
        ];
        if let Some(kernel) = &quantity.kernel {
            row.extend([Cell::new(kernels(kernel)), verdict(kernel.verdict)]);
        }
        table.add_row(row);
    }
    let numbers: &[usize] = if has_kernel { &[2, 3, 5] } else { &[2, 3] };
    for &column in numbers {
        align_right(&mut table, column);
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
    if let Some(doubt) = doubt(figure) {
        text.push_str(&format!("  {doubt}\n"));
    }
    for listing in &figure.listings {
        text.push_str(&listed(listing));
    }
    text.push('\n');
    text
}

fn listed(listing: &Listing) -> String {
    let mut table = headed(listing.heads.iter());
    for row in &listing.rows {
        table.add_row(row.iter().map(Entry::shown));
    }
    for column in listing.number_columns() {
        align_right(&mut table, column);
    }
    format!("\n{}\n{table}\n", listing.title)
}

/// A table with nothing but headings, as wide as the screen.
fn headed(headings: impl IntoIterator<Item = impl Into<Cell>>) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(headings.into_iter().map(Into::into).collect::<Vec<Cell>>());
    if table.width().is_none() {
        table.set_width(PLAIN_WIDTH);
    }
    if !std::io::stdout().is_terminal() {
        table.force_no_tty();
    }
    table
}

fn align_right(table: &mut Table, column: usize) {
    table
        .column_mut(column)
        .expect("a heading for each")
        .set_cell_alignment(CellAlignment::Right);
}

fn verdict(verdict: Verdict) -> Cell {
    let colour = match verdict {
        Verdict::Holds => Color::Green,
        Verdict::Direction => Color::Yellow,
        Verdict::Fails => Color::Red,
    };
    Cell::new(verdict.name()).fg(colour)
}

/// How many runs on the kernel should not be counted, and what the first of them says.
pub fn doubt(figure: &FigureReport) -> Option<String> {
    let first = figure.doubtful.first()?;
    Some(format!(
        "{} of the runs on the kernel should not be counted; {}, seed {}: {}",
        figure.doubtful.len(),
        first.case,
        first.seed,
        first.warnings.join("; ")
    ))
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
    with_margin(quantity.ours, quantity.high)
}

/// The kernel's, likewise.
pub fn kernels(kernel: &KernelNumber) -> String {
    with_margin(kernel.value, kernel.high)
}

fn with_margin(value: f64, high: Option<f64>) -> String {
    let text = figures(value);
    match high {
        Some(high) => format!("{text} ± {}", figures(high - value)),
        None => text,
    }
}

#[cfg(test)]
mod tests;
