//! Chooses the tables of a result set.

use crate::digest::{counted, ratio};
use crate::grid::{Column, Grid, Head};
use crate::number::{fixed, mbps, percent, size};
use crate::summary::{summary, summary_columns};
use tidegate_scenario::{
    ArrivalsResult, FetchResult, FlowClassResult, FlowDirection, FlowResult, Health, HopResult,
    ResultSet, RttAccuracy, RunResult, VideoResult,
};

/// Every table of the set that has content, the main one first.
pub(crate) fn tables(set: &ResultSet) -> Vec<Grid> {
    [
        summary(set),
        fetches(set),
        flows(set),
        arrivals(set),
        videos(set),
        hops(set),
        agent_rtt(set),
        health(set),
    ]
    .into_iter()
    .filter(|grid| !grid.rows.is_empty() && grid.heads.len() > 1)
    .collect()
}

/// Every table with the heads of its columns, whether it has content or not.
pub(crate) fn all_heads() -> Vec<(&'static str, Vec<Head>)> {
    fn heads<T>(columns: Vec<Column<T>>) -> Vec<Head> {
        columns.iter().map(Column::head).collect()
    }
    vec![
        ("", heads(summary_columns())),
        ("Fetches", heads(fetch_columns())),
        ("Flows", heads(flow_columns())),
        ("Flow completion times", heads(arrival_columns())),
        ("Videos", heads(video_columns())),
        ("Further links", heads(hop_columns())),
        ("The agent's RTT against the truth", heads(agent_columns())),
        ("Health of the runs", heads(health_columns())),
    ]
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
        Head::text("workload")
            .about("Name of the workload that fetched.")
            .cell(|r| named(&r.own.name)),
        Head::number("size")
            .about("Size of the object.")
            .cell(|r| Some(r.own.bytes).filter(|n| *n > 0).map(size)),
        Head::number("count")
            .about("Fetches that ended.")
            .cell(|r| Some(r.own.count.to_string())),
        time.statistic("p50")
            .about("From connect to the last byte, median.")
            .cell(|r| ms(median_ms(r.own))),
        time.statistic("vs 1st")
            .unit("%")
            .about("The median in per cent of the first run's.")
            .cell(|r| ratio(median_ms(r.own), r.first.and_then(median_ms)).map(percent)),
        time.statistic("p95")
            .about("From connect to the last byte, 95th percentile.")
            .cell(|r| ms(counted(r.own.time_ms).map(|q| q.p95))),
    ]
}

fn median_ms(fetch: &FetchResult) -> Option<f64> {
    counted(fetch.time_ms).map(|q| q.p50)
}

type Of<'a, T> = (&'a str, &'a T);

/// With more flows than this a table of them tells nothing; the JSON has them.
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
        Head::text("flow")
            .about("The workload's name, with #n for the n-th connection of several.")
            .cell(|(_, flow)| named(&flow.name)),
        Head::text("direction")
            .spare(1)
            .about("Which way its data go; echo: there and back, a ping.")
            .cell(|(_, flow)| named(flow.direction.name())),
        Head::number("goodput")
            .unit("Mbit/s")
            .about("Payload that arrived in a second, warm-up excluded.")
            .cell(|(_, flow)| payload(flow).map(|f| mbps(f.goodput_bps))),
        rtt.statistic("p50")
            .about("The sender's smoothed round trip over time, of a ping its echoes', median.")
            .cell(|(_, flow)| ms(counted(flow.rtt_ms).map(|q| q.p50))),
        rtt.statistic("p95")
            .about("The same, 95th percentile.")
            .cell(|(_, flow)| ms(counted(flow.rtt_ms).map(|q| q.p95))),
        Head::number("retransmits")
            .short("retr.")
            .spare(2)
            .about("Segments that were sent again, whole run.")
            .cell(|(_, flow)| payload(flow).map(|f| f.retransmits.to_string())),
        Head::number("completion")
            .unit("s")
            .about("Seconds from its start to its last byte, if it had an end.")
            .cell(|(_, flow)| flow.completion_s.map(|s| fixed(s, 2))),
    ]
}

/// The flow, unless it is an echo, which carries no payload.
fn payload(flow: &FlowResult) -> Option<&FlowResult> {
    (flow.direction != FlowDirection::Echo).then_some(flow)
}

/// Flows of one size, or of all, in one run.
struct ArrivalRow<'a> {
    run: &'a str,
    workload: &'a ArrivalsResult,
    flows: &'a FlowClassResult,
    is_all: bool,
}

fn arrivals(set: &ResultSet) -> Grid {
    let of_workload = |run, workload| {
        let row = move |flows, is_all| ArrivalRow {
            run,
            workload,
            flows,
            is_all,
        };
        let ArrivalsResult { all, classes, .. } = workload;
        let classes = classes.iter().filter(|class| class.started > 0);
        let rows = std::iter::once(row(all, true));
        rows.chain(classes.map(move |class| row(class, false)))
    };
    let runs = set.runs.iter();
    let rows: Vec<ArrivalRow> = runs
        .flat_map(|run| {
            let workloads = run.arrivals.iter();
            workloads.flat_map(move |workload| of_workload(run.name.as_str(), workload))
        })
        .collect();
    Grid::new("Flow completion times", &rows, arrival_columns())
}

fn arrival_columns<'a>() -> Vec<Column<ArrivalRow<'a>>> {
    let fct = Head::number("FCT").unit("ms");
    let slowdown = Head::number("slowdown").short("slowd.");
    vec![
        Head::run().cell(|r| named(r.run)),
        Head::text("workload")
            .about("Name of the workload whose flows arrived.")
            .cell(|r| named(&r.workload.name)),
        Head::text("sizes")
            .about("Sizes of the flows.")
            .cell(|r| Some(sizes(r))),
        Head::number("flows")
            .about("Flows that arrived after the warm-up.")
            .cell(|r| Some(r.flows.started.to_string())),
        Head::number("unfinished")
            .short("unfin.")
            .about("Those of them whose last byte had not arrived at the end: their times are missing from the other columns.")
            .cell(|r| Some((r.flows.started - r.flows.finished).to_string())),
        fct.statistic("mean")
            .spare(3)
            .about("Flow completion time, from connect to the last byte, mean.")
            .cell(|r| ms(counted(r.flows.fct_ms).map(|q| q.mean))),
        fct.statistic("p50")
            .about("The same, median.")
            .cell(|r| ms(counted(r.flows.fct_ms).map(|q| q.p50))),
        fct.statistic("p95")
            .spare(1)
            .about("The same, 95th percentile.")
            .cell(|r| ms(counted(r.flows.fct_ms).map(|q| q.p95))),
        fct.statistic("p99")
            .about("The same, 99th percentile.")
            .cell(|r| ms(counted(r.flows.fct_ms).map(|q| q.p99))),
        slowdown
            .statistic("mean")
            .about("Completion time divided by what it would be for the flow alone on the idle link, mean.")
            .cell(|r| counted(r.flows.slowdown).map(|q| fixed(q.mean, 2))),
        slowdown
            .statistic("p50")
            .spare(2)
            .about("The same, median.")
            .cell(|r| counted(r.flows.slowdown).map(|q| fixed(q.p50, 2))),
        slowdown
            .statistic("p99")
            .about("The same, 99th percentile.")
            .cell(|r| counted(r.flows.slowdown).map(|q| fixed(q.p99, 2))),
    ]
}

/// The range of sizes of a row's flows: `10–100 KB`.
fn sizes(row: &ArrivalRow) -> String {
    let FlowClassResult {
        from_bytes,
        below_bytes,
        ..
    } = *row.flows;
    match below_bytes {
        _ if row.is_all => "all".into(),
        Some(below) if from_bytes == 0 => format!("< {}", size(below)),
        Some(below) => format!("{} – {}", size(from_bytes), size(below)),
        None => format!("≥ {}", size(from_bytes)),
    }
}

fn videos(set: &ResultSet) -> Grid {
    let all = set.runs.iter();
    let rows: Vec<Of<VideoResult>> = all
        .flat_map(|run| run.videos.iter().map(|v| (run.name.as_str(), v)))
        .collect();
    Grid::new("Videos", &rows, video_columns())
}

fn video_columns<'a>() -> Vec<Column<Of<'a, VideoResult>>> {
    vec![
        Head::run().cell(|(run, _)| named(run)),
        Head::text("video")
            .about("Name of the workload that plays it.")
            .cell(|(_, v)| named(&v.name)),
        Head::number("startup")
            .unit("s")
            .about("Seconds from the start of the workload until it began to play.")
            .cell(|(_, v)| v.startup_s.map(|s| fixed(s, 2))),
        Head::number("stalls")
            .about("How often it ran dry.")
            .cell(|(_, v)| Some(v.stalls.to_string())),
        Head::number("stalled")
            .unit("s")
            .about("For how many seconds in all.")
            .cell(|(_, v)| Some(fixed(v.stalled_s, 1))),
        Head::number("played")
            .unit("s")
            .about("Seconds that were played.")
            .cell(|(_, v)| Some(fixed(v.played_s, 1))),
        Head::number("bit rate")
            .unit("Mbit/s")
            .about("Mean bit rate of the segments, of a video in several.")
            .cell(|(_, v)| v.adaptive.map(|a| mbps(a.bitrate_bps))),
        Head::number("switches")
            .about("How often the bit rate changed from one segment to the next.")
            .cell(|(_, v)| v.adaptive.map(|a| a.switches.to_string())),
        Head::number("QoE")
            .about("Quality of experience of a segment: its Mbit/s, less the weighted changes, stalls and start; the mean.")
            .cell(|(_, v)| v.adaptive.map(|a| fixed(a.qoe_per_segment, 3))),
    ]
}

fn hops(set: &ResultSet) -> Grid {
    let all = set.runs.iter();
    let rows: Vec<Of<HopResult>> = all
        .flat_map(|run| run.hops.iter().map(|hop| (run.name.as_str(), hop)))
        .collect();
    Grid::new("Further links", &rows, hop_columns())
}

fn hop_columns<'a>() -> Vec<Column<Of<'a, HopResult>>> {
    let queue = Head::number("queueing delay").short("queue").unit("ms");
    vec![
        Head::run().cell(|(run, _)| named(run)),
        Head::text("hop")
            .about("Name of the link.")
            .cell(|(_, hop)| named(&hop.name)),
        Head::number("delivered")
            .unit("Mbit/s")
            .about("Bytes that left it in a second, headers included, warm-up excluded.")
            .cell(|(_, hop)| Some(mbps(hop.link.delivered_bps))),
        queue
            .statistic("p50")
            .about("How long packets stood in its queue, median.")
            .cell(|(_, hop)| ms(counted(hop.link.queue_delay_ms).map(|q| q.p50))),
        queue
            .statistic("p95")
            .about("The same, 95th percentile.")
            .cell(|(_, hop)| ms(counted(hop.link.queue_delay_ms).map(|q| q.p95))),
        Head::number("drops")
            .about("Packets that its full queue dropped, whole run.")
            .cell(|(_, hop)| Some(hop.link.drops.to_string())),
        Head::number("losses")
            .about("Packets that it lost as configured, whole run.")
            .cell(|(_, hop)| positive(hop.link.losses)),
    ]
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
        Head::number("bins").about("Stretches of time in which the agent's round trip could be compared with the emulator's.")
            .cell(|(_, rtt)| Some(rtt.bins.to_string())),
        Head::number("true RTT")
            .statistic("median")
            .unit("ms")
            .about("What the emulator knows the round trip to have been.")
            .cell(|(_, rtt)| Some(fixed(rtt.median_truth_ms, 1))),
        error
            .unit("ms")
            .about("By how much the agent's round trip is off.")
            .cell(|(_, rtt)| Some(fixed(rtt.median_error_ms, 2))),
        error
            .unit("%")
            .about("The same, in per cent of the true one.")
            .cell(|(_, rtt)| Some(fixed(rtt.median_relative_error * 100.0, 2))),
    ]
}

fn health(set: &ResultSet) -> Grid {
    let all = set.runs.iter().map(|run| (run.name.as_str(), &run.health));
    let rows: Vec<Of<Health>> = all.filter(|(_, health)| watched(health)).collect();
    Grid::new("Health of the runs", &rows, health_columns())
}

/// Whether a run kept real time: a simulator has nothing to report.
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
            .about("By how much packets left the emulator after they were due, median.")
            .cell(|(_, h)| Some(fixed(h.timing_error_ms.p50, 3))),
        timing
            .statistic("p99")
            .about("The same, 99th percentile; above 1 ms the run warns.")
            .cell(|(_, h)| Some(fixed(h.timing_error_ms.p99, 3))),
        timing
            .statistic("largest")
            .about("The same, of the latest packet.")
            .cell(|(_, h)| Some(fixed(h.timing_error_ms.max, 3))),
        cpu.statistic("emulator")
            .about("Share of one processor that the emulator used.")
            .cell(|(_, h)| Some(percent(h.emulator_cpu))),
        cpu.statistic("machine")
            .about("Share of the whole machine that was busy with what has no low priority (nice).")
            .cell(|(_, h)| Some(percent(h.machine_cpu))),
        Head::number("plumbing losses")
            .short("plumbing")
            .unit("lost")
            .about("Packets that the laboratory itself lost, and not the link: such a run does not count.")
            .cell(|(_, h)| Some(h.plumbing_losses.to_string())),
        Head::number("warnings").about("Reasons for which the run should not be counted; each stands below the tables.")
            .cell(|(_, h)| positive(h.warnings.len() as u64)),
    ]
}

#[cfg(test)]
mod tests;
