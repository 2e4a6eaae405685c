//! The report for a terminal.

use crate::number::figures;
use crate::report::{Comparison, FigureReport, KernelNumber, LeftOut, Report};
use crate::{Entry, Listing, Verdict};
use std::io::IsTerminal;
use tidegate_terminal::{Cell, Color, Style, Table, Text, screen_width};

/// Width if standard output is no terminal.
const PLAIN_WIDTH: u16 = 120;

/// All figures as text: a row for each quantity, and below it the reason if ours differs.
pub fn table(report: &Report) -> Text {
    let mut text = Text::default();
    for each in &report.figures {
        figure(each, &mut text);
    }
    for LeftOut { figure, reason } in &report.left_out {
        text.line(format_args!("{figure} is left out: {reason}"));
    }
    let ours: Vec<Verdict> = report.quantities().map(|q| q.verdict).collect();
    text.line(format_args!(
        "{}; {}",
        tally(&ours),
        match report.seeds {
            1 => "one seed, hence no intervals".into(),
            n => format!("± is the 95 % confidence interval over {n} seeds; a number without one has a single seed, or is the same with each"),
        }
    ));
    let judged = report.quantities().filter(|q| q.verdict != Verdict::Input);
    let pairs = judged.filter_map(|q| Some((q.verdict, q.kernel.as_ref()?.verdict)));
    let (simulators, kernels): (Vec<_>, Vec<_>) = pairs.unzip();
    if !kernels.is_empty() {
        let same = simulators.iter().zip(&kernels).filter(|(a, b)| a == b);
        text.line(format_args!(
            "on the kernel {}; the verdict is the simulator's in {} of {}",
            tally(&kernels),
            same.count(),
            kernels.len()
        ));
    }
    text
}

fn tally(verdicts: &[Verdict]) -> String {
    let count = |verdict| verdicts.iter().filter(|&&v| v == verdict).count();
    let judged = format!(
        "{} hold, {} in direction, {} do not",
        count(Verdict::Holds),
        count(Verdict::Direction),
        count(Verdict::Fails)
    );
    let rest = [(Verdict::Unclear, "unclear"), (Verdict::Input, "inputs")];
    rest.iter()
        .map(|&(verdict, words)| (count(verdict), words))
        .filter(|&(count, _)| count > 0)
        .fold(judged, |all, (count, words)| {
            format!("{all}, {count} are {words}")
        })
}

fn figure(figure: &FigureReport, text: &mut Text) {
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
        table.row(row);
    }
    let numbers: &[usize] = if has_kernel { &[2, 3, 5] } else { &[2, 3] };
    table.right(numbers.iter().copied());
    text.line(format_args!("{}: {}", figure.id, figure.title));
    text.line(&figure.claim);
    text.table(&table);
    for quantity in figure.quantities.iter().filter(|q| !q.derived.is_empty()) {
        text.line(format_args!(
            "  * {}: the paper does not print it: {}",
            quantity.name, quantity.derived
        ));
    }
    let mut said: Vec<&str> = Vec::new();
    for quantity in &figure.quantities {
        let reason = quantity.reason.as_str();
        if !reason.is_empty() && !said.contains(&reason) {
            text.line(format_args!("  {}: {reason}", quantity.name));
            said.push(reason);
        }
    }
    if let Some(doubt) = doubt(figure) {
        text.line(format_args!("  {doubt}"));
    }
    for listing in &figure.listings {
        listed(listing, text);
    }
    text.line("");
}

fn listed(listing: &Listing, text: &mut Text) {
    let mut table = headed(listing.heads.iter());
    for row in &listing.rows {
        table.row(row.iter().map(Entry::shown));
    }
    table.right(listing.number_columns());
    text.line(format_args!("\n{}", listing.title));
    text.table(&table);
}

/// A table with nothing but headings, as wide as the screen.
fn headed<T: Into<Cell>>(headings: impl IntoIterator<Item = T>) -> Table {
    let mut table = Table::new(Style::Horizontal);
    table
        .width(screen_width().unwrap_or(PLAIN_WIDTH))
        .styled(std::io::stdout().is_terminal())
        .heads(headings);
    table
}

fn verdict(verdict: Verdict) -> Cell {
    let cell = Cell::new(verdict.name());
    match verdict {
        Verdict::Holds => cell.colour(Color::Green),
        Verdict::Direction => cell.colour(Color::Yellow),
        Verdict::Fails => cell.colour(Color::Red),
        Verdict::Unclear | Verdict::Input => cell,
    }
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

/// The paper's number and how it is compared; with a star if it is derived.
pub fn papers(quantity: &Comparison) -> String {
    let star = if quantity.derived.is_empty() { "" } else { "*" };
    let paper = figures(quantity.paper) + star;
    match quantity.terms.strip_prefix('±') {
        Some(_) => format!("{paper} ({})", quantity.terms),
        None => format!("{} {paper}", quantity.terms),
    }
}

/// Our number with its interval.
pub fn ours(quantity: &Comparison) -> String {
    with_margin(quantity.ours, quantity.high)
}

/// The kernel's number with its interval.
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
