//! Tables of scenarios' results.

use super::{cell, cells, markdown, metric, one, sets};
use crate::take::Printed;
use anyhow::{Context, Result};
use tidegate_scenario::{FlowResult, ResultSet, RunResult};

/// A line for each run: its goodput, also relative to the first run's, and its delay.
pub fn runs(printed: &[Printed]) -> Result<String> {
    let set = one(printed)?;
    let head = [
        "run",
        "goodput, Mbit/s",
        "of the first",
        "sender's RTT, ms: median / p95",
        "queueing delay, ms: mean / median / p95",
        "drops",
        "used",
    ];
    let rows = set.runs.iter().map(|run| {
        vec![
            run.name.clone(),
            goodput(run),
            of_the_first(run, &set),
            round_trips(run),
            queue(run),
            run.link.drops.to_string(),
            used(run),
        ]
    });
    Ok(markdown(&head, rows))
}

/// The same for two flows that share the link, and the share of each.
pub fn shares(printed: &[Printed]) -> Result<String> {
    let set = one(printed)?;
    let flows = set.runs.first().map(|run| run.flows.as_slice());
    let names = flows.unwrap_or_default().iter().map(|flow| &flow.name);
    let each: Vec<String> = names.map(|name| format!("{name}, Mbit/s")).collect();
    let mut head = vec!["run"];
    head.extend(each.iter().map(String::as_str));
    head.extend([
        "Jain",
        "sender's RTT, ms: median / p95",
        "queueing delay, ms: mean / median / p95",
        "drops",
    ]);
    let rows = set.runs.iter().map(|run| {
        let mut row = vec![run.name.clone()];
        row.extend(run.flows.iter().map(|flow| mbps(flow.goodput_bps)));
        row.extend([
            cell(metric(run, "jain"), 1.0, 3),
            round_trips(run),
            queue(run),
            run.link.drops.to_string(),
        ]);
        row
    });
    Ok(markdown(&head, rows))
}

/// A download and an upload beside each other.
pub fn both_ways(printed: &[Printed]) -> Result<String> {
    let set = one(printed)?;
    let head = [
        "run",
        "download, upload, Mbit/s",
        "their senders' RTT, ms: median / p95",
        "queueing delay down, ms: mean / median / p95",
        "up, ms: mean / median / p95",
        "drops down, up",
        "used down, up",
    ];
    let rows = set.runs.iter().map(|run| {
        let each =
            |of: fn(&FlowResult) -> String| run.flows.iter().map(of).collect::<Vec<_>>().join(", ");
        let up = run.uplink.queue_delay_ms;
        vec![
            run.name.clone(),
            each(|flow| mbps(flow.goodput_bps)),
            each(|flow| {
                let rtt = flow.rtt_ms;
                cells([Some(rtt.p50), Some(rtt.p95)], 1.0, 1)
            }),
            queue(run),
            cells([Some(up.mean), Some(up.p50), Some(up.p95)], 1.0, 1),
            format!("{}, {}", run.link.drops, run.uplink.drops),
            format!(
                "{}, {}",
                used(run),
                cell(Some(run.uplink.utilisation), 100.0, 1) + " %"
            ),
        ]
    });
    Ok(markdown(&head, rows))
}

/// An upload.
pub fn uplink(printed: &[Printed]) -> Result<String> {
    let set = one(printed)?;
    let head = [
        "run",
        "goodput, Mbit/s",
        "sender's RTT, ms: median / p95",
        "uplink's queue, ms: mean / p95",
        "drops",
    ];
    let rows = set.runs.iter().map(|run| {
        let queue = run.uplink.queue_delay_ms;
        vec![
            run.name.clone(),
            cell(metric(run, "up_goodput_bps"), 1e-6, 3),
            round_trips(run),
            cells([Some(queue.mean), Some(queue.p95)], 1.0, 1),
            run.uplink.drops.to_string(),
        ]
    });
    Ok(markdown(&head, rows))
}

/// Objects by size, a line for each run of a size.
pub fn fetches(printed: &[Printed]) -> Result<String> {
    let set = one(printed)?;
    let head = [
        "run",
        "size",
        "fetched",
        "median, ms",
        "95th percentile, ms",
    ];
    let mut rows = Vec::new();
    let sizes = set.runs.first().map(|run| run.fetches.len()).unwrap_or(0);
    for nth in 0..sizes {
        for run in &set.runs {
            let Some(fetch) = run.fetches.get(nth) else {
                continue;
            };
            rows.push(vec![
                run.name.clone(),
                format!("{:.2} kB", fetch.bytes as f64 / 1e3),
                fetch.count.to_string(),
                cell(Some(fetch.time_ms.p50), 1.0, 1),
                cell(Some(fetch.time_ms.p95), 1.0, 1),
            ]);
        }
    }
    Ok(markdown(&head, rows))
}

/// Chunks from a server that pauses, alone and beside a download.
pub fn chunks(printed: &[Printed]) -> Result<String> {
    let set = one(printed)?;
    let head = [
        "run",
        "alone: median / p95, ms",
        "beside a download: median / p95, ms",
        "download, Mbit/s",
    ];
    let rows = set.runs.iter().map(|run| {
        let time = |name: &str| {
            let fetch = run.fetches.iter().find(|fetch| fetch.name == name);
            let of =
                |pick: fn(&tidegate_scenario::Quantiles) -> f64| fetch.map(|f| pick(&f.time_ms));
            cells([of(|q| q.p50), of(|q| q.p95)], 1.0, 1)
        };
        let download = run.flows.iter().find(|flow| flow.name == "download");
        vec![
            run.name.clone(),
            time("chunks-alone"),
            time("chunks-beside"),
            cell(download.map(|flow| flow.goodput_bps), 1e-6, 2),
        ]
    });
    Ok(markdown(&head, rows.collect::<Vec<_>>()))
}

/// The runs of every variant.
pub fn recorded(printed: &[Printed]) -> Result<String> {
    let head = [
        "recording",
        "run",
        "goodput, Mbit/s",
        "used",
        "queueing delay, ms: mean / median / p95",
    ];
    let mut rows = Vec::new();
    for set in sets(printed.first().context("expected a result")?)? {
        // A variant's name ends with the file's.
        let name = set.scenario.rsplit_once('=').map(|(_, file)| file);
        let name = name.unwrap_or(&set.scenario);
        let name = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        for run in &set.runs {
            rows.push(vec![
                name.to_owned(),
                run.name.clone(),
                goodput(run),
                used(run),
                queue(run),
            ]);
        }
    }
    Ok(markdown(&head, rows))
}

/// A line for each variant, a column for each run.
pub fn static_limit(printed: &[Printed]) -> Result<String> {
    let sets = sets(printed.first().context("expected a result")?)?;
    let first = sets.first().context("expected a result")?;
    let mut head = vec!["rate, base RTT"];
    head.extend(first.runs.iter().map(|run| run.name.as_str()));
    let rows = sets.iter().map(|set| {
        let value = |key: &str| -> Option<f64> {
            let (_, rest) = set.scenario.split_once(&format!("{key}="))?;
            rest.split(' ').next()?.parse().ok()
        };
        let rate = value("constant_mbps").unwrap_or(f64::NAN);
        // The path back takes 10 ms.
        let rtt = value("delay_ms").unwrap_or(f64::NAN) + 10.0;
        let mut row = vec![format!("{rate} Mbit/s, {rtt} ms")];
        row.extend(set.runs.iter().map(|run| {
            let rtt = cell(metric(run, "rtt_p50_ms"), 1.0, 1);
            format!("{} ({rtt})", goodput(run))
        }));
        row
    });
    Ok(markdown(&head, rows))
}

/// The error of the agent's round trips, over all scenarios.
pub fn agent_rtt(printed: &[Printed]) -> Result<String> {
    let head = [
        "scenario",
        "run",
        "bins",
        "median truth, ms",
        "median error, ms",
        "median error, %",
    ];
    let mut rows = Vec::new();
    for printed in printed {
        for set in sets(printed)? {
            for run in &set.runs {
                let Some(rtt) = run.agent_rtt else { continue };
                rows.push(vec![
                    set.scenario.clone(),
                    run.name.clone(),
                    rtt.bins.to_string(),
                    cell(Some(rtt.median_truth_ms), 1.0, 1),
                    cell(Some(rtt.median_error_ms), 1.0, 2),
                    cell(Some(rtt.median_relative_error), 100.0, 2),
                ]);
            }
        }
    }
    Ok(markdown(&head, rows))
}

/// The rate of a reader of 4 Mbit/s.
const READS_BPS: f64 = 4e6;

/// A reader with each flow control.
pub fn reader(printed: &[Printed]) -> Result<String> {
    let set = one(printed)?;
    let head = ["flow control", "goodput, Mbit/s", "of 4"];
    let rows = set.runs.iter().map(|run| {
        let bps = metric(run, "goodput_bps");
        let share = bps.map(|bps| bps / READS_BPS);
        vec![run.name.clone(), goodput(run), cell(share, 100.0, 0) + " %"]
    });
    Ok(markdown(&head, rows))
}

/// The same in real time, beside the simulator for the same time.
pub fn reader_both(printed: &[Printed]) -> Result<String> {
    let [lab, sim] = printed else {
        anyhow::bail!("expected two results");
    };
    let [lab, sim] = [
        one(std::slice::from_ref(lab))?,
        one(std::slice::from_ref(sim))?,
    ];
    let head = ["flow control", "in real time, Mbit/s", "simulator, Mbit/s"];
    let rows = lab
        .runs
        .iter()
        .zip(&sim.runs)
        .map(|(lab, sim)| vec![lab.name.clone(), goodput(lab), goodput(sim)]);
    Ok(markdown(&head, rows))
}

fn goodput(run: &RunResult) -> String {
    cell(metric(run, "goodput_bps"), 1e-6, 2)
}

fn mbps(bps: f64) -> String {
    cell(Some(bps), 1e-6, 2)
}

fn of_the_first(run: &RunResult, set: &ResultSet) -> String {
    let first = set.runs.first().and_then(|run| metric(run, "goodput_bps"));
    let ratio = metric(run, "goodput_bps").zip(first);
    let ratio = ratio
        .filter(|(_, first)| *first > 0.0)
        .map(|(own, first)| own / first);
    cell(ratio, 100.0, 1) + " %"
}

fn round_trips(run: &RunResult) -> String {
    cells(
        [metric(run, "rtt_p50_ms"), metric(run, "rtt_p95_ms")],
        1.0,
        1,
    )
}

fn queue(run: &RunResult) -> String {
    let of = run.link.queue_delay_ms;
    cells([Some(of.mean), Some(of.p50), Some(of.p95)], 1.0, 1)
}

fn used(run: &RunResult) -> String {
    cell(Some(run.link.utilisation), 100.0, 1) + " %"
}

#[cfg(test)]
mod tests;
