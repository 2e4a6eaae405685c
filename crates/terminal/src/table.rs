//! Tables.

use crate::shown::{cut, shown, shown_lines};
use comfy_table::presets;
use comfy_table::{Attribute, CellAlignment, ContentArrangement, LineStyle, TableStyle};
use std::fmt::{self, Display};

pub use comfy_table::Color;

/// The most characters in a cell.
const LONGEST: usize = 4000;

/// The lines of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// No lines.
    Plain,
    /// A line below the heads.
    Ruled,
    /// Lines between rows.
    Horizontal,
    /// A box around each cell.
    Boxed,
    /// As in Markdown.
    Markdown,
}

impl Style {
    fn preset(self) -> TableStyle {
        match self {
            Self::Plain => TableStyle::new(),
            Self::Ruled => TableStyle::new().header_separator(LineStyle::none().fill('─')),
            Self::Horizontal => presets::UTF8_HORIZONTAL_ONLY,
            Self::Boxed => presets::UTF8_FULL,
            Self::Markdown => presets::ASCII_MARKDOWN,
        }
    }
}

/// A table, without control characters in its cells, and without colours unless [`Table::styled`] asks for them.
#[derive(Debug)]
pub struct Table(comfy_table::Table);

impl Table {
    /// An empty table, as wide as its cells.
    pub fn new(style: Style) -> Self {
        let mut table = comfy_table::Table::new();
        table.load_style(style.preset());
        table.force_no_tty();
        Self(table)
    }

    /// Limits its width to that many characters; cells are wrapped.
    pub fn width(&mut self, width: u16) -> &mut Self {
        self.0
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(width);
        self
    }

    /// Whether it has its cells' colours.
    pub fn styled(&mut self, is_styled: bool) -> &mut Self {
        match is_styled {
            true => self.0.enforce_styling(),
            false => self.0.force_no_tty(),
        };
        self
    }

    /// Sets the heads of its columns.
    pub fn heads<T: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = T>) -> &mut Self {
        self.0.set_header(inner(cells));
        self
    }

    /// Adds a row.
    pub fn row<T: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = T>) -> &mut Self {
        self.0.add_row(inner(cells));
        self
    }

    /// Puts that many blanks right of each column, and none left of it. Applies to rows added before.
    pub fn gap(&mut self, blanks: u16) -> &mut Self {
        for column in self.0.column_iter_mut() {
            column.set_padding((0, blanks));
        }
        self
    }

    /// Aligns these columns right, as for numbers. Applies to rows added before.
    pub fn right(&mut self, columns: impl IntoIterator<Item = usize>) -> &mut Self {
        for column in columns {
            if let Some(column) = self.0.column_mut(column) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        self
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Its lines, without blanks at their ends.
    pub fn trimmed(&self) -> String {
        self.0.trim_fmt()
    }
}

impl Display for Table {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(to)
    }
}

fn inner<T: Into<Cell>>(cells: impl IntoIterator<Item = T>) -> Vec<comfy_table::Cell> {
    cells.into_iter().map(|cell| cell.into().0).collect()
}

/// A cell of a table.
#[derive(Clone, Debug)]
pub struct Cell(comfy_table::Cell);

impl Cell {
    /// A cell with text in one line.
    pub fn new(text: impl Display) -> Self {
        let text = text.to_string();
        Self(comfy_table::Cell::new(shown(&cut(&text, LONGEST))))
    }

    /// A cell with text in several lines.
    pub fn of_lines(text: impl Display) -> Self {
        let text = text.to_string();
        Self(comfy_table::Cell::new(shown_lines(&cut(&text, LONGEST))))
    }

    /// Aligned right.
    pub fn right(self) -> Self {
        Self(self.0.set_alignment(CellAlignment::Right))
    }

    /// In bold letters.
    pub fn bold(self) -> Self {
        Self(self.0.add_attribute(Attribute::Bold))
    }

    /// In that colour.
    pub fn colour(self, colour: Color) -> Self {
        Self(self.0.fg(colour))
    }
}

impl<T: Display> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

/// The width of the terminal at standard output, in characters.
pub fn screen_width() -> Option<u16> {
    comfy_table::Table::new().width()
}
