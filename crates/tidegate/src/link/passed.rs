//! What an emulated link did to a command's packets.

use anyhow::Result;
use std::io::Write;
use std::time::Duration;
use tidegate_lab::{LaneRecord, Record};
use tidegate_measure::{BIN, Bin};
use tidegate_terminal::units;

/// A line for each direction with packets.
pub fn summary(record: &Record) -> String {
    let ways = [("down", &record.down), ("up", &record.up)];
    let carried = |(_, lane): &(_, &LaneRecord)| lane.link.at_end.arrived_packets > 0;
    let lines = ways
        .into_iter()
        .filter(carried)
        .map(|(way, lane)| format!("tidegate link: {way} {}\n", line(lane, record.counted)));
    lines.collect()
}

fn line(lane: &LaneRecord, elapsed: Duration) -> String {
    let passed = &lane.link.at_end;
    let queue = lane.link.queue_delay.quantiles_ms();
    let delay = |ms: f64| units::delay((ms * 1e3) as u32);
    let lost = match passed.lost {
        0 => String::new(),
        lost => format!(", {lost} lost on the way"),
    };
    format!(
        "{} in {:.1} s, {}; queue {} (median), {} (95 of 100), {} at most; {} of {} packets dropped{lost}",
        units::bytes(passed.delivered_bytes),
        elapsed.as_secs_f64(),
        units::rate(passed.delivered_bytes as f64 * 8.0 / elapsed.as_secs_f64().max(1e-3)),
        delay(queue.p50),
        delay(queue.p95),
        delay(queue.max),
        passed.dropped,
        passed.arrived_packets,
    )
}

/// The log's columns, and their meaning.
pub const COLUMNS: [(&str, &str); 7] = [
    (
        "time_s",
        "When it begins, in seconds since the link was there.",
    ),
    (
        "down_bps",
        "What left the link towards the command, in bits a second, headers included.",
    ),
    (
        "down_queue_delay_mean_ms",
        "How long those packets had stood in its queue, mean; empty where none passed.",
    ),
    ("down_queue_delay_max_ms", "The same, the longest."),
    ("up_bps", "What left the link from the command."),
    (
        "up_queue_delay_mean_ms",
        "How long it had stood in its queue, mean.",
    ),
    ("up_queue_delay_max_ms", "The same, the longest."),
];

/// Writes rate in bit/s and queueing delay in ms of both directions, a row per bin of time; without packets there is no
/// delay.
pub fn write(record: &Record, to: impl Write) -> Result<()> {
    let mut rows = csv::Writer::from_writer(to);
    rows.write_record(COLUMNS.map(|(name, _)| name))?;
    let ways = [&record.down, &record.up].map(|lane| lane.bins().as_slice());
    let bins = ways.iter().map(|bins| bins.len()).max().unwrap_or(0);
    for at in 0..bins {
        let mut row = vec![format!("{:.1}", at as f64 * BIN.as_secs_f64())];
        row.extend(ways.iter().flat_map(|bins| cells(bins.get(at).copied())));
        rows.write_record(row)?;
    }
    Ok(rows.flush()?)
}

fn cells(bin: Option<Bin>) -> [String; 3] {
    let bin = bin.unwrap_or_default();
    let ms = |delay: Duration| format!("{:.3}", delay.as_secs_f64() * 1e3);
    let bps = bin.bytes as f64 * 8.0 / BIN.as_secs_f64();
    let mean = bin.queued_mean();
    let most = mean.map(|_| bin.queued_max);
    [
        format!("{bps:.0}"),
        mean.map_or(String::new(), ms),
        most.map_or(String::new(), ms),
    ]
}
