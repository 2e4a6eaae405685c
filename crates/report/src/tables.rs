//! Which tables a result set fills.

use crate::digest::{counted, ratio};
use crate::grid::{Column, Grid, Head};
use crate::number::{fixed, mbps, percent, size};
use crate::summary::summary;
use tidegate_scenario::{
    FetchResult, FlowDirection, FlowResult, Health, HopResult, ResultSet, RttAccuracy, RunResult,
    VideoResult,
};

/// Every table of the set that has something to say, the main one first.
pub(crate) fn tables(set: &ResultSet) -> Vec<Grid> {
    [
        summary(set),
        fetches(set),
        flows(set),
        videos(set),
        hops(set),
        agent_rtt(set),
        health(set),
    ]
    .into_iter()
    .filter(|grid| !grid.rows.is_empty() && grid.heads.len() > 1)
    .collect()
}

/// The warnings of all runs: each with the run's name.
pub(crate) fn warnings<'a>(set: &'a ResultSet) -> Vec<(&'a str, &'a str)> {
    let named = |run: &'a RunResult| {
        run.health
            .warnings
            .iter()
            .map(move |warning| (run.name.as_str(), warning.as_str()))
    };
    set.runs.iter().flat_map(named).collect()
}

pub(crate) fn named(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

pub(crate) fn positive(count: u64) -> Option<String> {
    (count > 0).then(|| count.to_string())
}

pub(crate) fn ms(value: Option<f64>) -> Option<String> {
    value.map(|v| fixed(v, 1))
}

/// Fetches of one size in one run, and in the first run.
struct FetchRow<'a> {
    run: &'a str,
    own: &'a FetchResult,
    first: Option<&'a FetchResult>,
}

fn fetches(set: &ResultSet) -> Grid {
    let twin = |own: &FetchResult| {
        let first = set.runs.first()?;
        first
            .fetches
            .iter()
            .find(|f| f.name == own.name && f.bytes == own.bytes)
    };
    let mut rows: Vec<FetchRow> = set
        .runs
        .iter()
        .flat_map(|run| run.fetches.iter().map(move |own| (run.name.as_str(), own)))
        .map(|(run, own)| FetchRow {
            run,
            own,
            first: twin(own),
        })
        .collect();
    // The runs of one size below each other, in their order.
    rows.sort_by_key(|row| (&row.own.name, row.own.bytes));
    Grid::new("Fetches", &rows, fetch_columns())
}

fn fetch_columns<'a>() -> Vec<Column<FetchRow<'a>>> {
    let time = Head::number("time").unit("ms");
    vec![
        Head::run().cell(|r| named(r.run)),
        Head::text("workload").cell(|r| named(&r.own.name)),
        Head::number("size").cell(|r| Some(r.own.bytes).filter(|n| *n > 0).map(size)),
        Head::number("count").cell(|r| Some(r.own.count.to_string())),
        time.statistic("p50").cell(|r| ms(median_ms(r.own))),
        time.statistic("vs 1st")
            .unit("%")
            .cell(|r| ratio(median_ms(r.own), r.first.and_then(median_ms)).map(percent)),
        time.statistic("p95")
            .cell(|r| ms(counted(r.own.time_ms).map(|q| q.p95))),
    ]
}

fn median_ms(fetch: &FetchResult) -> Option<f64> {
    counted(fetch.time_ms).map(|q| q.p50)
}

type Of<'a, T> = (&'a str, &'a T);

/// With more flows than that a table of them tells nobody anything; the JSON has them.
const MOST_FLOWS: usize = 50;

fn flows(set: &ResultSet) -> Grid {
    let most = set.runs.iter().map(|run| run.flows.len()).max();
    let several = (2..=MOST_FLOWS).contains(&most.unwrap_or(0));
    let all = set
        .runs
        .iter()
        .flat_map(|run| run.flows.iter().map(|f| (run.name.as_str(), f)));
    let rows: Vec<Of<FlowResult>> = all.filter(|_| several).collect();
    Grid::new("Flows", &rows, flow_columns())
}

fn flow_columns<'a>() -> Vec<Column<Of<'a, FlowResult>>> {
    let rtt = Head::number("RTT").unit("ms");
    vec![
        Head::run().cell(|(run, _)| named(run)),
        Head::text("flow").cell(|(_, flow)| named(&flow.name)),
        Head::text("direction")
            .spare(1)
            .cell(|(_, flow)| named(flow.direction.name())),
        Head::number("goodput")
            .unit("Mbit/s")
            .cell(|(_, flow)| payload(flow).map(|f| mbps(f.goodput_bps))),
        rtt.statistic("p50")
            .cell(|(_, flow)| ms(counted(flow.rtt_ms).map(|q| q.p50))),
        rtt.statistic("p95")
            .cell(|(_, flow)| ms(counted(flow.rtt_ms).map(|q| q.p95))),
        Head::number("retransmits")
            .short("retr.")
            .spare(2)
            .cell(|(_, flow)| payload(flow).map(|f| f.retransmits.to_string())),
        Head::number("completion")
            .unit("s")
            .cell(|(_, flow)| flow.completion_s.map(|s| fixed(s, 2))),
    ]
}

/// The flow, unless it is an echo, which carries nothing for anybody.
fn payload(flow: &FlowResult) -> Option<&FlowResult> {
    (flow.direction != FlowDirection::Echo).then_some(flow)
}

fn videos(set: &ResultSet) -> Grid {
    let all = set.runs.iter();
    let rows: Vec<Of<VideoResult>> = all
        .flat_map(|run| run.videos.iter().map(|v| (run.name.as_str(), v)))
        .collect();
    let columns: Vec<Column<Of<VideoResult>>> = vec![
        Head::run().cell(|(run, _)| named(run)),
        Head::text("video").cell(|(_, v)| named(&v.name)),
        Head::number("startup")
            .unit("s")
            .cell(|(_, v)| v.startup_s.map(|s| fixed(s, 2))),
        Head::number("stalls").cell(|(_, v)| Some(v.stalls.to_string())),
        Head::number("stalled")
            .unit("s")
            .cell(|(_, v)| Some(fixed(v.stalled_s, 1))),
        Head::number("played")
            .unit("s")
            .cell(|(_, v)| Some(fixed(v.played_s, 1))),
    ];
    Grid::new("Videos", &rows, columns)
}

fn hops(set: &ResultSet) -> Grid {
    let all = set.runs.iter();
    let rows: Vec<Of<HopResult>> = all
        .flat_map(|run| run.hops.iter().map(|hop| (run.name.as_str(), hop)))
        .collect();
    let queue = Head::number("queueing delay").short("queue").unit("ms");
    let columns: Vec<Column<Of<HopResult>>> = vec![
        Head::run().cell(|(run, _)| named(run)),
        Head::text("hop").cell(|(_, hop)| named(&hop.name)),
        Head::number("delivered")
            .unit("Mbit/s")
            .cell(|(_, hop)| Some(mbps(hop.link.delivered_bps))),
        queue
            .statistic("p50")
            .cell(|(_, hop)| ms(counted(hop.link.queue_delay_ms).map(|q| q.p50))),
        queue
            .statistic("p95")
            .cell(|(_, hop)| ms(counted(hop.link.queue_delay_ms).map(|q| q.p95))),
        Head::number("drops").cell(|(_, hop)| Some(hop.link.drops.to_string())),
        Head::number("losses").cell(|(_, hop)| positive(hop.link.losses)),
    ];
    Grid::new("Further links", &rows, columns)
}

fn agent_rtt(set: &ResultSet) -> Grid {
    let all = set
        .runs
        .iter()
        .map(|run| (run.name.as_str(), run.agent_rtt.as_ref()));
    let rows: Vec<Of<RttAccuracy>> = all
        .filter_map(|(run, rtt)| rtt.map(|rtt| (run, rtt)))
        .collect();
    Grid::new("The agent's RTT against the truth", &rows, agent_columns())
}

fn agent_columns<'a>() -> Vec<Column<Of<'a, RttAccuracy>>> {
    let error = Head::number("error").statistic("median");
    vec![
        Head::run().cell(|(run, _)| named(run)),
        Head::number("bins").cell(|(_, rtt)| Some(rtt.bins.to_string())),
        Head::number("true RTT")
            .statistic("median")
            .unit("ms")
            .cell(|(_, rtt)| Some(fixed(rtt.median_truth_ms, 1))),
        error
            .unit("ms")
            .cell(|(_, rtt)| Some(fixed(rtt.median_error_ms, 2))),
        error
            .unit("%")
            .cell(|(_, rtt)| Some(fixed(rtt.median_relative_error * 100.0, 2))),
    ]
}

fn health(set: &ResultSet) -> Grid {
    let all = set.runs.iter().map(|run| (run.name.as_str(), &run.health));
    let rows: Vec<Of<Health>> = all.filter(|(_, health)| watched(health)).collect();
    Grid::new("Health of the runs", &rows, health_columns())
}

/// Whether there was anything to keep time of: a simulator has nothing to report.
fn watched(health: &Health) -> bool {
    counted(health.timing_error_ms).is_some()
        || health.plumbing_losses > 0
        || health.emulator_cpu > 0.0
        || health.machine_cpu > 0.0
}

fn health_columns<'a>() -> Vec<Column<Of<'a, Health>>> {
    let timing = Head::number("timing error").short("timing").unit("ms");
    let cpu = Head::number("CPU").unit("%");
    vec![
        Head::run().cell(|(run, _)| named(run)),
        timing
            .statistic("p50")
            .spare(1)
            .cell(|(_, h)| Some(fixed(h.timing_error_ms.p50, 3))),
        timing
            .statistic("p99")
            .cell(|(_, h)| Some(fixed(h.timing_error_ms.p99, 3))),
        timing
            .statistic("largest")
            .cell(|(_, h)| Some(fixed(h.timing_error_ms.max, 3))),
        cpu.statistic("emulator")
            .cell(|(_, h)| Some(percent(h.emulator_cpu))),
        cpu.statistic("machine")
            .cell(|(_, h)| Some(percent(h.machine_cpu))),
        Head::number("plumbing losses")
            .short("plumbing")
            .unit("lost")
            .cell(|(_, h)| Some(h.plumbing_losses.to_string())),
        Head::number("warnings").cell(|(_, h)| positive(h.warnings.len() as u64)),
    ]
}

#[cfg(test)]
mod tests;
