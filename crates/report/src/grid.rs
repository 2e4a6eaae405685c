//! A table before its rendering, for a terminal or a browser.

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Names of runs.
    Run,
    /// Words.
    Text,
    /// Numbers.
    Number,
}

/// The head of a column. Neighbours with the same `quantity` belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    /// What the column holds.
    pub(crate) kind: Kind,
    /// The measured quantity: `queueing delay`.
    pub(crate) quantity: &'static str,
    /// The same for narrow screens: `queue`.
    pub(crate) short: &'static str,
    /// Which number of it: `p95`.
    pub(crate) statistic: &'static str,
    /// Its unit: `ms`.
    pub(crate) unit: &'static str,
    /// How readily the column is dropped when there is no room: 0 never, larger numbers first.
    pub(crate) spare: u8,
    /// A sentence on what a reader has to know of it (`tidegate generate reference`).
    pub(crate) about: &'static str,
}

impl Head {
    /// The head of a column of run names.
    pub(crate) fn run() -> Self {
        Self::new(Kind::Run, "run").about("Name of the run: what is compared with what.")
    }

    /// The head of a column of words.
    pub(crate) fn text(quantity: &'static str) -> Self {
        Self::new(Kind::Text, quantity)
    }

    /// The head of a column of numbers.
    pub(crate) fn number(quantity: &'static str) -> Self {
        Self::new(Kind::Number, quantity)
    }

    fn new(kind: Kind, quantity: &'static str) -> Self {
        Self {
            kind,
            quantity,
            short: quantity,
            statistic: "",
            unit: "",
            spare: 0,
            about: "",
        }
    }

    /// Names the quantity for narrow screens.
    pub(crate) fn short(self, short: &'static str) -> Self {
        Self { short, ..self }
    }

    /// Says which number of the quantity it is.
    pub(crate) fn statistic(self, statistic: &'static str) -> Self {
        Self { statistic, ..self }
    }

    /// Says in which unit.
    pub(crate) fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// Says how readily the column is dropped.
    pub(crate) fn spare(self, spare: u8) -> Self {
        Self { spare, ..self }
    }

    /// Says what a reader has to know of it.
    pub(crate) fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// The column below this head: how to get its cell from a row; `None` is an empty cell.
    pub(crate) fn cell<T>(self, cell: fn(&T) -> Option<String>) -> Column<T> {
        Column { head: self, cell }
    }
}

/// A column that is filled from a `T` for each row.
pub(crate) struct Column<T> {
    head: Head,
    cell: fn(&T) -> Option<String>,
}

impl<T> Column<T> {
    /// Its head.
    pub(crate) fn head(&self) -> Head {
        self.head
    }
}

/// Heads and cells. Every row has a cell for every head.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// Subject of the table; empty for the main one.
    pub(crate) title: &'static str,
    /// One a column.
    pub(crate) heads: Vec<Head>,
    /// One a row.
    pub(crate) rows: Vec<Vec<Option<String>>>,
}

impl Grid {
    /// Fills the columns from `rows`; a column in which every cell is empty is left out.
    pub(crate) fn new<T>(title: &'static str, rows: &[T], columns: Vec<Column<T>>) -> Self {
        let full = Self {
            title,
            heads: columns.iter().map(|column| column.head).collect(),
            rows: rows
                .iter()
                .map(|row| columns.iter().map(|c| (c.cell)(row)).collect())
                .collect(),
        };
        full.with_columns(|index| full.rows.iter().any(|row| row[index].is_some()))
    }

    /// The same table without its most expendable columns, until `width` of the rest is at most `limit`, or nothing
    /// more can be dropped.
    pub(crate) fn fitted(self, limit: usize, width: impl Fn(&Self) -> usize) -> Self {
        let mut grid = self;
        while width(&grid) > limit {
            let easiest = grid.heads.iter().map(|head| head.spare).max().unwrap_or(0);
            if easiest == 0 {
                break;
            }
            grid = grid.with_columns(|index| grid.heads[index].spare != easiest);
        }
        grid
    }

    fn with_columns(&self, keep: impl Fn(usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.heads.len()).filter(|index| keep(*index)).collect();
        let pick = |row: &Vec<Option<String>>| kept.iter().map(|i| row[*i].clone()).collect();
        Self {
            title: self.title,
            heads: kept.iter().map(|index| self.heads[*index]).collect(),
            rows: self.rows.iter().map(pick).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
