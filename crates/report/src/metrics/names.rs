//! Where else a column of a sweep's rows is found: its names follow from that of its field.

use super::Metric;
use crate::quantity::Quantity;

/// Statistics of a distribution, as fields of results.
const STATISTICS: [&str; 5] = ["mean", "p50", "p95", "p99", "max"];

/// Units as the last part of a name.
const UNITS: [&str; 3] = ["_ms", "_s", "_bps"];

impl Metric {
    /// The column of single flows, links and so on in Python: `links` and `queue_delay_p95_ms`. The statistic stands before
    /// the unit.
    pub fn of_each(&self) -> Option<(&'static str, String)> {
        let (place, _) = self.field.split_once(['.', '['])?;
        let table = match place {
            "link" | "uplink" => "links",
            list => list,
        };
        Some((table, self.flat()?))
    }

    /// The curve over time of the same quantity, as `--series` and Python name it.
    pub fn curve(&self) -> Option<String> {
        let (quantity, _) = self.parts()?;
        let name = match self.field.starts_with("uplink.") {
            true => format!("up_{quantity}"),
            false => quantity.to_owned(),
        };
        (Quantity::rank(&name) < usize::MAX).then_some(name)
    }

    /// The field's name with its statistic before its unit: `queue_delay_ms.p95` is `queue_delay_p95_ms`.
    fn flat(&self) -> Option<String> {
        let (quantity, statistic) = self.parts()?;
        let Some(statistic) = statistic else {
            return Some(quantity.to_owned());
        };
        let unit = UNITS.into_iter().find(|unit| quantity.ends_with(unit));
        let unit = unit.unwrap_or_default();
        let stem = quantity.strip_suffix(unit).unwrap_or(quantity);
        Some(format!("{stem}_{statistic}{unit}"))
    }

    /// The field's own name, and its statistic if it is a distribution.
    fn parts(&self) -> Option<(&'static str, Option<&'static str>)> {
        let (before, last) = self.field.rsplit_once('.')?;
        if !STATISTICS.contains(&last) {
            return Some((last, None));
        }
        let (_, quantity) = before.rsplit_once('.')?;
        Some((quantity, Some(last)))
    }
}

#[cfg(test)]
mod tests;
