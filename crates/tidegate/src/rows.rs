//! Results of a sweep as rows of a CSV file that can be gone on with.

use crate::exit::BadInput;
use anyhow::{Context, Result};
use csv::{ReaderBuilder, Writer};
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use tidegate_report::jain;
use tidegate_scenario::{FlowDirection, FlowResult, Quantiles, RunResult};

/// A file of rows: first what identifies a run, then what it measured.
pub struct Rows {
    writer: Writer<File>,
    present: HashSet<Vec<String>>,
}

impl Rows {
    /// A new file whose rows are identified by `keys`; with `resume` it may exist, and its rows are
    /// [present](Self::has). A torn last line is removed.
    ///
    /// # Errors
    /// When the file exists and is not to be gone on with, was written by a sweep with other columns,
    /// or cannot be written.
    pub fn open(path: &Path, keys: &[String], resume: bool) -> Result<Self> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .with_context(|| format!("open {}", path.display()))?;
        let text = heal(&mut file).with_context(|| format!("read {}", path.display()))?;
        if !text.is_empty() && !resume {
            return Err(BadInput(format!(
                "{} exists; --resume goes on with it",
                path.display()
            ))
            .into());
        }
        let header: Vec<&str> = keys.iter().map(String::as_str).chain(METRICS).collect();
        let present = present(&text, &header, keys.len())
            .map_err(|problem| BadInput(format!("{}: {problem}", path.display())))?;
        file.seek(SeekFrom::End(0))?;
        let mut rows = Self {
            writer: Writer::from_writer(file),
            present,
        };
        if text.is_empty() {
            rows.write(header)?;
        }
        Ok(rows)
    }

    /// Whether the run with that identity has a row already.
    pub fn has(&self, identity: &[String]) -> bool {
        self.present.contains(identity)
    }

    /// Appends a run's row; it is in the file when this returns.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(&mut self, identity: &[String], run: &RunResult) -> Result<()> {
        let row = identity.iter().cloned().chain(metrics(run));
        self.write(row)
    }

    fn write<T: AsRef<[u8]>>(&mut self, row: impl IntoIterator<Item = T>) -> Result<()> {
        self.writer.write_record(row)?;
        Ok(self.writer.flush()?)
    }
}

/// The file's text, after what follows its last line break has been cut off.
fn heal(file: &mut File) -> Result<String> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    let whole = text.rfind('\n').map_or(0, |at| at + 1);
    if whole < text.len() {
        text.truncate(whole);
        file.set_len(whole as u64)?;
    }
    Ok(text)
}

/// The identities, in the first `keys` columns, of all rows.
fn present(text: &str, header: &[&str], keys: usize) -> Result<HashSet<Vec<String>>, String> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text.as_bytes());
    let mut records = reader.records();
    match records.next() {
        None => return Ok(HashSet::new()),
        Some(Ok(first)) if first.iter().eq(header.iter().copied()) => {}
        Some(_) => {
            return Err(format!(
                "written by another sweep: its first line should be {}",
                header.join(",")
            ));
        }
    }
    records
        .map(|record| {
            let record = record.map_err(|e| e.to_string())?;
            Ok(record.iter().take(keys).map(str::to_owned).collect())
        })
        .collect()
}

/// What a row says of a run. Of several flows, goodputs are added up, and of round trips, fetches and
/// pings the largest of each number is taken, as in the tables; what there was none of is empty.
const METRICS: [&str; 28] = [
    "goodput_bps",
    "up_goodput_bps",
    "jain",
    "retransmits",
    "completion_s",
    "rtt_mean_ms",
    "rtt_p50_ms",
    "rtt_p95_ms",
    "utilisation",
    "queue_mean_ms",
    "queue_p50_ms",
    "queue_p95_ms",
    "queue_p99_ms",
    "queue_max_ms",
    "drops",
    "losses",
    "up_utilisation",
    "up_queue_p50_ms",
    "up_queue_p95_ms",
    "up_drops",
    "up_losses",
    "fetches",
    "fetch_p50_ms",
    "fetch_p95_ms",
    "ping_p50_ms",
    "ping_p95_ms",
    "stalls",
    "stalled_s",
];

fn metrics(run: &RunResult) -> [String; METRICS.len()] {
    let of = |direction| -> Vec<&FlowResult> {
        let flows = run.flows.iter();
        flows.filter(|f| f.direction == direction).collect()
    };
    let (down, up, pings) = (
        of(FlowDirection::Down),
        of(FlowDirection::Up),
        of(FlowDirection::Echo),
    );
    let rtt = |flows: &[&FlowResult], pick: fn(&Quantiles) -> f64| {
        let counted = flows.iter().filter(|f| f.rtt_ms.max > 0.0);
        largest(counted.map(|f| pick(&f.rtt_ms)))
    };
    let studied = if down.is_empty() { &up } else { &down };
    let goodputs: Vec<f64> = studied.iter().map(|f| f.goodput_bps).collect();
    let fetch = |pick: fn(&Quantiles) -> f64| largest(run.fetches.iter().map(|f| pick(&f.time_ms)));
    let fetches: u64 = run.fetches.iter().map(|f| f.count).sum();
    let stalls: u64 = run.videos.iter().map(|v| v.stalls).sum();
    let stalled: f64 = run.videos.iter().map(|v| v.stalled_s).sum();
    let (link, uplink) = (&run.link, &run.uplink);
    let (queue, up_queue) = (&link.queue_delay_ms, &uplink.queue_delay_ms);
    [
        goodput(&down),
        goodput(&up),
        cell(jain(&goodputs).filter(|_| goodputs.len() > 1)),
        run.flows
            .iter()
            .map(|f| f.retransmits)
            .sum::<u64>()
            .to_string(),
        cell(largest(run.flows.iter().filter_map(|f| f.completion_s))),
        cell(rtt(studied, |q| q.mean)),
        cell(rtt(studied, |q| q.p50)),
        cell(rtt(studied, |q| q.p95)),
        link.utilisation.to_string(),
        queue.mean.to_string(),
        queue.p50.to_string(),
        queue.p95.to_string(),
        queue.p99.to_string(),
        queue.max.to_string(),
        link.drops.to_string(),
        link.losses.to_string(),
        uplink.utilisation.to_string(),
        up_queue.p50.to_string(),
        up_queue.p95.to_string(),
        uplink.drops.to_string(),
        uplink.losses.to_string(),
        fetches.to_string(),
        cell(fetch(|q| q.p50)),
        cell(fetch(|q| q.p95)),
        cell(rtt(&pings, |q| q.p50)),
        cell(rtt(&pings, |q| q.p95)),
        stalls.to_string(),
        stalled.to_string(),
    ]
}

fn goodput(flows: &[&FlowResult]) -> String {
    cell(flows.iter().map(|f| f.goodput_bps).reduce(|a, b| a + b))
}

fn largest(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.reduce(f64::max)
}

fn cell(value: Option<f64>) -> String {
    value.map(|v| v.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
