//! Meanings of the columns of tables and of sweeps' rows, for the reference pages.

use crate::grid::Head;
use crate::{agreement, tables};

/// A table, and what its columns mean.
pub struct TableMeaning {
    /// As it is headed; empty: the main one.
    pub title: &'static str,
    /// In their order.
    pub columns: Vec<ColumnMeaning>,
}

/// A column, and what it means.
pub struct ColumnMeaning {
    /// Quantity and statistic, as in its head: `queueing delay p95`.
    pub name: String,
    /// Its unit, if it has one.
    pub unit: &'static str,
    /// What it is.
    pub about: &'static str,
}

/// The meanings for every table of results, and for the comparison of simulator and kernel.
pub fn meanings() -> Vec<TableMeaning> {
    let results = tables::all_heads().into_iter();
    let agreement = ("Simulator and kernel", agreement::heads());
    let all = results.chain([agreement]);
    all.map(|(title, heads)| TableMeaning {
        title,
        columns: heads.into_iter().map(meaning).collect(),
    })
    .collect()
}

fn meaning(head: Head) -> ColumnMeaning {
    let mut name = head.quantity.to_owned();
    if head.short != head.quantity {
        name.push_str(&format!(" ({})", head.short));
    }
    if !head.statistic.is_empty() {
        name.push_str(&format!(", {}", head.statistic));
    }
    ColumnMeaning {
        name,
        unit: head.unit,
        about: head.about,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::METRICS;

    #[test]
    fn every_column_says_what_it_is() {
        for table in meanings() {
            for column in &table.columns {
                let sentence = column.about.ends_with('.') || column.about.contains(';');
                assert!(
                    sentence,
                    "{} / {}: {:?}",
                    table.title, column.name, column.about
                );
            }
        }
        for metric in METRICS {
            assert!(metric.about.ends_with('.'), "{}", metric.name);
        }
    }
}
