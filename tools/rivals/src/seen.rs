//! The recordings of a run in the virtual machine: output of iperf3, of fping and of the script.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use std::ops::Range;
use std::path::Path;

/// One run, as recorded by the machine.
#[derive(Debug)]
pub struct Seen {
    /// When the run began, by the machine's clock, in seconds.
    began: f64,
    download: Download,
    ping: String,
    /// The script's log; empty if the script did not run.
    log: String,
}

/// The part of `iperf3 --json` that is needed.
#[derive(Debug, Deserialize)]
struct Download {
    intervals: Vec<Interval>,
}

#[derive(Debug, Deserialize)]
struct Interval {
    sum: Sum,
}

#[derive(Debug, Deserialize)]
struct Sum {
    start: f64,
    end: f64,
    bytes: f64,
}

impl Seen {
    /// Reads the folder of a run.
    ///
    /// # Errors
    /// If a file is missing, or has not been written by its program.
    pub fn read(folder: &Path) -> Result<Self> {
        let text = |name: &str| {
            let path = folder.join(name);
            std::fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))
        };
        let began = text("began")?;
        let began_us: f64 = began
            .trim()
            .parse()
            .with_context(|| format!("{}/began: expected microseconds", folder.display()))?;
        let download = serde_json::from_str(&text("download")?)
            .with_context(|| format!("{}/download: expected iperf3's JSON", folder.display()))?;
        Ok(Self {
            began: began_us / 1e6,
            download,
            ping: text("ping")?,
            log: if folder.join("log").exists() {
                text("log")?
            } else {
                String::new()
            },
        })
    }

    /// Payload that arrived in those seconds of the run, in bit/s.
    ///
    /// # Errors
    /// If the download did not last.
    pub fn goodput_bps(&self, counted: &Range<f64>) -> Result<f64> {
        // iperf3's intervals are a second, and are listed by their ends.
        let within = |sum: &&Sum| sum.start > counted.start - 0.5 && sum.end < counted.end + 0.5;
        let sums = || {
            self.download
                .intervals
                .iter()
                .map(|interval| &interval.sum)
                .filter(within)
        };
        let seconds: f64 = sums().map(|sum| sum.end - sum.start).sum();
        let expected = counted.end - counted.start;
        ensure!(
            (seconds - expected).abs() < 2.0,
            "the download was seen for {seconds:.1} s, expected {expected:.1}"
        );
        Ok(8.0 * sums().map(|sum| sum.bytes).sum::<f64>() / seconds)
    }

    /// Round trips of those seconds, in milliseconds, by the moment at which each ended.
    ///
    /// # Errors
    /// If there are none.
    pub fn rtts_ms(&self, counted: &Range<f64>) -> Result<Vec<f64>> {
        let answers = self.ping.lines().filter_map(answer);
        let rtts: Vec<f64> = answers
            .filter(|(at, _)| counted.contains(&(at - self.began)))
            .map(|(_, rtt_ms)| rtt_ms)
            .collect();
        ensure!(!rtts.is_empty(), "no ping was answered");
        Ok(rtts)
    }

    /// The mean rate of DEVICE's shaper in those seconds, in bit/s; `None` if the script never set it.
    pub fn shaper_bps(&self, device: &str, counted: &Range<f64>) -> Option<f64> {
        let changes = self.log.lines().filter_map(|line| change(line, device));
        let mut rates: Vec<(f64, f64)> =
            changes.map(|(at, kbit)| (at - self.began, kbit)).collect();
        let last = rates.last()?.1;
        rates.push((counted.end, last));
        let within = |at: f64| at.clamp(counted.start, counted.end);
        let bits: f64 = rates
            .windows(2)
            .map(|pair| (within(pair[1].0) - within(pair[0].0)) * pair[0].1 * 1e3)
            .sum();
        Some(bits / (counted.end - within(rates[0].0)))
    }
}

/// `[1767225605.12345] 10.0.1.2 : [0], 64 bytes, 40.3 ms (40.3 avg, 0% loss)`: the time of arrival, and the round trip.
fn answer(line: &str) -> Option<(f64, f64)> {
    let (at, rest) = line.strip_prefix('[')?.split_once(']')?;
    let (_, rtt) = rest.split_once("bytes, ")?;
    let (rtt, _) = rtt.split_once(" ms")?;
    Some((at.parse().ok()?, rtt.parse().ok()?))
}

/// `SHAPER; DATE; SECONDS; tc qdisc change root dev DEVICE cake bandwidth 20000Kbit`: the time, and the new rate.
fn change(line: &str, device: &str) -> Option<(f64, f64)> {
    let mut fields = line.strip_prefix("SHAPER; ")?.split("; ");
    let at = fields.nth(1)?.parse().ok()?;
    let (of, rate) = fields.next()?.split_once(" cake bandwidth ")?;
    let is_of_device = of.split(' ').next_back() == Some(device);
    let kbit = rate.trim().strip_suffix("Kbit")?.parse().ok()?;
    is_of_device.then_some((at, kbit))
}

#[cfg(test)]
mod tests;
