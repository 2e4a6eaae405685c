//! Tables for a terminal.

use crate::agreement;
use crate::grid::{Grid, Head, Kind};
use crate::tables::{tables, warnings};
use std::io::IsTerminal;
use tidegate_scenario::{Comparison, ResultSet};
use tidegate_terminal::{Cell, Color, Style, Table, Text, screen_width};

/// Width if standard output is no terminal.
const PLAIN_WIDTH: usize = 120;

/// What an empty cell shows.
const EMPTY: &str = "–";

/// Blanks between columns.
const GAP: u16 = 2;

/// A result set as text: one row a run with what it delivered and how long it made packets wait,
/// then fetches, flows, the agent's accuracy and the health of the runs where there are any, and
/// every warning in a box. Columns that are empty in every run are left out; so are the least
/// important ones if the terminal is too narrow. Without a terminal at standard output the text is
/// 120 columns wide at most and has no colours.
pub fn table(set: &ResultSet) -> Text {
    render(set, &Screen::of_standard_output())
}

/// Simulator against kernel as text: a row for each comparison, how many agree, and the known reasons
/// of those that do not. For the same screen as [`table`].
pub fn agreement_table(comparisons: &[Comparison]) -> Text {
    render_agreement(comparisons, &Screen::of_standard_output())
}

fn render_agreement(comparisons: &[Comparison], screen: &Screen) -> Text {
    let mut blocks = vec![
        screen.section(agreement::grid(comparisons)),
        screen.paragraph(&agreement::summary(comparisons)),
    ];
    blocks.extend(agreement::reasons(comparisons).map(|reason| screen.paragraph(&reason)));
    apart(&blocks)
}

fn render(set: &ResultSet, screen: &Screen) -> Text {
    let heading = match set.description.as_str() {
        "" => set.scenario.clone(),
        description => format!("{}: {description}", set.scenario),
    };
    let mut blocks = vec![screen.paragraph(&heading)];
    blocks.extend(tables(set).into_iter().map(|grid| screen.section(grid)));
    blocks.extend(screen.alarm(set));
    apart(&blocks)
}

/// Joins texts with a blank line between them.
fn apart(blocks: &[Text]) -> Text {
    let mut text = Text::default();
    for (number, block) in blocks.iter().enumerate() {
        if number > 0 {
            text.line("");
        }
        text.text(block);
    }
    text
}

/// The screen that the text is for.
struct Screen {
    width: usize,
    styled: bool,
}

impl Screen {
    /// A terminal's own width and colours; without a terminal [`PLAIN_WIDTH`] and none.
    fn of_standard_output() -> Self {
        Self {
            width: screen_width().map_or(PLAIN_WIDTH, usize::from),
            styled: std::io::stdout().is_terminal(),
        }
    }

    /// A table with its title, and a note of the columns for which there was no room.
    fn section(&self, grid: Grid) -> Text {
        let whole = grid.heads.clone();
        let grid = grid.fitted(self.width, natural_width);
        let missing = whole.iter().filter(|head| !grid.heads.contains(head));
        let missing: Vec<String> = missing.map(name).collect();
        let mut text = Text::default();
        if !grid.title.is_empty() {
            text.line(grid.title);
        }
        text.table(&self.grid(&grid));
        if !missing.is_empty() {
            let note = format!("(no room for: {})", missing.join(", "));
            text.text(&self.paragraph(&note));
        }
        text
    }

    fn grid(&self, grid: &Grid) -> Table {
        let mut table = self.table(Style::Ruled);
        let heads = heads(grid).into_iter();
        table.heads(heads.map(|head| Cell::of_lines(head).bold()));
        for row in &grid.rows {
            table.row(row.iter().map(|cell| cell.as_deref().unwrap_or(EMPTY)));
        }
        let kinds = grid.heads.iter().map(|head| head.kind).enumerate();
        let numbers = kinds.filter(|(_, kind)| *kind == Kind::Number);
        table.gap(GAP).right(numbers.map(|(column, _)| column));
        table
    }

    /// All warnings in a box: a run that should not be counted must not be overlooked.
    fn alarm(&self, set: &ResultSet) -> Option<Text> {
        let loud = |text: &str| Cell::new(text).colour(Color::Red).bold();
        let mut table = self.table(Style::Boxed);
        for (run, warning) in warnings(set) {
            table.row([loud("WARNING"), loud(run), loud(warning)]);
        }
        if table.is_empty() {
            return None;
        }
        let mut text = Text::default();
        text.table(&table);
        Some(text)
    }

    /// Words in lines.
    fn paragraph(&self, text: &str) -> Text {
        let mut table = self.table(Style::Plain);
        table.row([text]).gap(0);
        let mut text = Text::default();
        text.table(&table);
        text
    }

    fn table(&self, style: Style) -> Table {
        let mut table = Table::new(style);
        table
            .width(self.width.try_into().unwrap_or(u16::MAX))
            .styled(self.styled);
        table
    }
}

/// The heads as text of several lines: quantity, statistic, unit. A quantity is not repeated if the previous column
/// has the same, and a line that no column needs is left out.
fn heads(grid: &Grid) -> Vec<String> {
    let mut before = "";
    let mut labels: Vec<[&str; 3]> = Vec::new();
    for head in &grid.heads {
        let [quantity, statistic, unit] = label(head);
        let repeated = quantity == before && !statistic.is_empty();
        labels.push([if repeated { "" } else { quantity }, statistic, unit]);
        before = quantity;
    }
    let needed: Vec<usize> = (0..3)
        .filter(|line| labels.iter().any(|label| !label[*line].is_empty()))
        .collect();
    let text = |label: &[&str; 3]| {
        needed
            .iter()
            .map(|line| label[*line])
            .collect::<Vec<_>>()
            .join("\n")
    };
    labels.iter().map(text).collect()
}

/// The head in one line.
fn name(head: &Head) -> String {
    let words = label(head).into_iter().filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

fn label(head: &Head) -> [&'static str; 3] {
    [head.short, head.statistic, head.unit]
}

/// How wide the table is if no cell is wrapped.
fn natural_width(grid: &Grid) -> usize {
    let heads = heads(grid);
    let column = |index: usize| {
        let cells = grid
            .rows
            .iter()
            .map(|row| row[index].as_deref().unwrap_or(EMPTY));
        cells
            .chain(heads[index].lines())
            .map(|text| text.chars().count())
            .max()
            .unwrap_or(0)
    };
    (0..grid.heads.len())
        .map(|index| column(index) + usize::from(GAP))
        .sum()
}

#[cfg(test)]
mod tests;
