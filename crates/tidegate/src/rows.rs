//! Results of a sweep as rows of a CSV file that can be gone on with.

mod sweep;

use crate::exit::BadInput;
use anyhow::{Context, Result};
use csv::Writer;
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use sweep::Sweep;
use tidegate_report::jain;
use tidegate_scenario::{FlowResult, Quantiles, RunResult};

/// A file of rows: first what identifies a run, then what it measured.
pub struct Rows {
    writer: Writer<File>,
    present: HashSet<Vec<String>>,
}

impl Rows {
    /// A new file, in which the columns `identifiers` say which run a row is of.
    ///
    /// # Errors
    /// When there is something in it already, or it cannot be written.
    pub fn create(path: &Path, identifiers: &[String]) -> Result<Self> {
        let (file, text) = open(path)?;
        if !text.is_empty() {
            let advice = "give --out another file (sim --resume goes on with one)";
            return Err(BadInput(format!("{} exists; {advice}", path.display())).into());
        }
        Self::with_header(file, identifiers)
    }

    /// A file that may exist, to be gone on with. It holds runs of one `sweep` alone, named by all their
    /// identities. Each of these ends with the run's [key](tidegate_sim::Key), so that nothing is mixed
    /// that has the same name and was run otherwise. A torn last line is removed.
    ///
    /// # Errors
    /// When it has other columns, or a row of a run that is not one of `sweep`: then it is left as it was.
    /// When it cannot be written.
    pub fn resume(path: &Path, identifiers: &[String], sweep: &[Vec<String>]) -> Result<Self> {
        let (mut file, text) = open(path)?;
        let whole = &text[..text.rfind('\n').map_or(0, |at| at + 1)];
        let columns: Vec<_> = header(identifiers).collect();
        let present = Sweep::new(identifiers, sweep)
            .rows_of(whole, &columns)
            .map_err(|(line, problem)| BadInput(format!("{}:{line}: {problem}", path.display())))?;
        file.set_len(whole.len() as u64)?;
        file.seek(SeekFrom::End(0))?;
        if whole.is_empty() {
            return Self::with_header(file, identifiers);
        }
        let writer = Writer::from_writer(file);
        Ok(Self { writer, present })
    }

    fn with_header(file: File, identifiers: &[String]) -> Result<Self> {
        let mut rows = Self {
            writer: Writer::from_writer(file),
            present: HashSet::new(),
        };
        rows.write(header(identifiers))?;
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

/// The file, made if there is none, and what is in it.
fn open(path: &Path) -> Result<(File, String)> {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .with_context(|| format!("open {}", path.display()))?;
    let mut text = String::new();
    file.read_to_string(&mut text)
        .with_context(|| format!("read {}", path.display()))?;
    Ok((file, text))
}

/// All columns.
fn header(identifiers: &[String]) -> impl Iterator<Item = &str> {
    identifiers.iter().map(String::as_str).chain(METRICS)
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
    let (down, up, pings) = (of("down"), of("up"), of("echo"));
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
