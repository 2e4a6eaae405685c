//! mPath transfers: their results, and curves over time:
//!
//! | quantity | of | what |
//! | --- | --- | --- |
//! | `path_packets` | path | its congestion window, while it exists |
//! | `path_bps` | path | UDP payload that it delivers |
//! | `cwnd_packets` | flow | all its paths' windows together |
//!
//! A path is called after the workload and its proxy, or `direct`.

use crate::workload::{TransferLog, TransferSample};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use tidegate_link::Instant;
use tidegate_measure::{BIN, SAMPLE_INTERVAL, curve};
use tidegate_scenario::{Series, TransferResult};

/// The result of a transfer.
pub fn result(log: &TransferLog) -> TransferResult {
    let (_, end) = log.seen();
    TransferResult {
        name: log.name.clone(),
        usable_proxies: end.usable_proxies,
        most_waiting_bytes: end.most_waiting as u64,
        timeouts: end.timeouts,
        aggregations: end.aggregations,
    }
}

/// Samples in a bin.
const PER_BIN: usize = (BIN.as_millis() / SAMPLE_INTERVAL.as_millis()) as usize;

/// All curves of a transfer.
pub fn series(log: &TransferLog) -> Vec<Series> {
    let (samples, end) = log.seen();
    let thinned: Vec<&TransferSample> = samples.iter().step_by(PER_BIN).collect();
    let windows = thinned.iter().map(|sample| (sample.at, sample.window));
    let mut series = vec![curve("cwnd_packets", &log.name, windows.collect())];
    let mut histories: BTreeMap<Option<SocketAddr>, History> = BTreeMap::new();
    for sample in thinned {
        for path in &sample.paths {
            let history = histories.entry(path.proxy).or_default();
            let bits = end.packet_bytes as f64 * 8.0;
            history.add(sample.at, path.window, path.delivered, bits);
        }
    }
    for (proxy, history) in histories {
        let via = proxy.map_or("direct", |at| {
            log.proxies.get(&at).map_or("?", String::as_str)
        });
        let name = format!("{} {via}", log.name);
        series.push(curve("path_packets", &name, history.windows));
        series.push(curve("path_bps", &name, history.rates));
    }
    series
}

/// One proxy's paths, one after another.
#[derive(Default)]
struct History {
    windows: Vec<(Instant, f64)>,
    rates: Vec<(Instant, f64)>,
    last: Option<(Instant, u64)>,
}

impl History {
    /// Adds a sample; `bits` are those of a packet. If a path has delivered less than before, it is a new path.
    fn add(&mut self, at: Instant, window: f64, delivered: u64, bits: f64) {
        self.windows.push((at, window));
        if let Some((before, less)) = self.last
            && let Some(packets) = delivered.checked_sub(less)
        {
            let rate = packets as f64 * bits / (at - before).as_secs_f64();
            self.rates.push((before, rate));
        }
        self.last = Some((at, delivered));
    }
}
