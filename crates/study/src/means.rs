//! Combines a scenario's runs over several seeds in one table: means with their 95 % confidence intervals.

use crate::Estimate;
use tidegate_report::{METRICS, Measured};
use tidegate_scenario::ResultSet;
use tidegate_terminal::{Cell, Style, Table};

/// A column: its metric, its heading, its scale and its decimals.
struct Column {
    metric: &'static str,
    head: &'static str,
    scale: f64,
    decimals: usize,
}

const fn column(metric: &'static str, head: &'static str, scale: f64, decimals: usize) -> Column {
    Column {
        metric,
        head,
        scale,
        decimals,
    }
}

const COLUMNS: [Column; 16] = [
    column("goodput_bps", "goodput\nMbit/s", 1e-6, 2),
    column("up_goodput_bps", "up\nMbit/s", 1e-6, 2),
    column("completion_s", "done\ns", 1.0, 2),
    column("rtt_p50_ms", "RTT p50\nms", 1.0, 1),
    column("queue_delay_mean_ms", "queue mean\nms", 1.0, 1),
    column("queue_delay_p95_ms", "queue p95\nms", 1.0, 1),
    column("utilisation", "util.\n%", 100.0, 1),
    column("drops", "drops\n", 1.0, 0),
    column("retransmits", "retr.\n", 1.0, 0),
    column("jain", "Jain\n", 1.0, 3),
    column("fetch_time_p95_ms", "fetch p95\nms", 1.0, 0),
    column("ping_rtt_p95_ms", "ping p95\nms", 1.0, 1),
    column("responsiveness_rpm", "respons.\nRPM", 1.0, 0),
    column("fct_mean_ms", "FCT mean\nms", 1.0, 0),
    column("slowdown_mean", "slowdown\nmean", 1.0, 2),
    column("qoe_per_segment", "QoE\n", 1.0, 2),
];

/// Note below the table if a link plays a recording.
const ONE_PIECE: &str = "Each seed plays the same piece of a recording: no interval tells of the rest. begin_by_seed = true on its \
     link begins it elsewhere for each.\n";

/// The table of `sets`, which differ only in their seeds; `one_piece`: a link plays the same piece of its recording in
/// all of them.
pub fn means(sets: &[ResultSet], one_piece: bool) -> String {
    let Some(first) = sets.first() else {
        return String::new();
    };
    let runs: Vec<_> = first.runs.iter().map(|run| run.name.clone()).collect();
    let estimates = |column: &Column| -> Vec<Option<Estimate>> {
        let of_run = |run| Estimate::mean(&values(sets, run, column));
        (0..runs.len()).map(of_run).collect()
    };
    let columns = COLUMNS.iter().map(|column| (column, estimates(column)));
    let columns: Vec<_> = columns.filter(|(_, all)| tells_something(all)).collect();
    let mut table = Table::new(Style::Plain);
    let heads = columns
        .iter()
        .map(|(column, _)| Cell::of_lines(column.head).right());
    table.heads(std::iter::once(Cell::new("run")).chain(heads));
    for (at, run) in runs.into_iter().enumerate() {
        let cells = columns.iter().map(|(column, all)| {
            let text = all[at].map(|estimate| written(estimate, column));
            number(text.unwrap_or_else(|| "–".into()))
        });
        table.row(std::iter::once(Cell::new(run)).chain(cells));
    }
    table.gap(2);
    // A variant's name ends with its seed, which varies fastest.
    let name = first.scenario.rsplit_once(" seed=");
    let name = name.map_or(first.scenario.as_str(), |(name, _)| name);
    let means = match are_alike(sets) {
        true => format!(
            "the same with all {} seeds: nothing that it measures is random",
            sets.len()
        ),
        false => format!("means over {} seeds, ± 95 % confidence", sets.len()),
    };
    let about = if one_piece { ONE_PIECE } else { "" };
    format!("{name}: {means}\n{}\n{about}", table.trimmed())
}

/// Whether all seeds gave the same numbers.
fn are_alike(sets: &[ResultSet]) -> bool {
    let numbers = |set: &ResultSet| -> Vec<Option<f64>> {
        let measured = set.runs.iter().map(Measured::new);
        let values = measured.flat_map(|run| METRICS.iter().map(move |metric| metric.value(&run)));
        values.collect()
    };
    let mut all = sets.iter().map(numbers);
    let first = all.next();
    sets.len() > 1 && all.all(|numbers| Some(&numbers) == first.as_ref())
}

fn number(text: String) -> Cell {
    Cell::new(text).right()
}

/// The values that each seed measured in that run.
fn values(sets: &[ResultSet], run: usize, column: &Column) -> Vec<f64> {
    let metric = METRICS.iter().find(|metric| metric.name == column.metric);
    let of_seed = |set: &ResultSet| metric?.value(&Measured::new(set.runs.get(run)?));
    sets.iter().filter_map(of_seed).collect()
}

fn tells_something(all: &[Option<Estimate>]) -> bool {
    all.iter().flatten().any(|estimate| estimate.value != 0.0)
}

fn written(estimate: Estimate, column: &Column) -> String {
    let decimals = column.decimals;
    let value = estimate.value * column.scale;
    let shown = |value: f64| format!("{value:.decimals$}");
    let margin = estimate.margin.map(|margin| shown(margin * column.scale));
    match margin {
        // ±0.0 would claim more precision than the seeds have shown, and no interval that nothing is random.
        Some(margin) if margin == shown(0.0) => {
            format!(
                "{} <±{}",
                shown(value),
                shown((0..decimals).fold(1.0, |last, _| last / 10.0))
            )
        }
        Some(margin) => format!("{} ±{margin}", shown(value)),
        None => shown(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_of_a_metric_that_there_is() {
        for column in COLUMNS {
            assert!(
                METRICS.iter().any(|m| m.name == column.metric),
                "{}",
                column.metric
            );
        }
    }
}
