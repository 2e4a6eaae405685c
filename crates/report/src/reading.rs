//! A result set in words.

use crate::digest::{Digest, counted, digests, ratio, studied};
use crate::number::{about, compared, fixed, mbps, size};
use tidegate_scenario::{Direction, FetchResult, FlowDirection, FlowResult, ResultSet, RunResult};

/// A result set in a few sentences: what the first run did, how each other compares with it, and
/// which runs are in doubt.
pub fn reading(set: &ResultSet) -> Vec<String> {
    let digests = digests(set);
    let Some((first, others)) = digests.split_first() else {
        return vec!["No run was made.".to_owned()];
    };
    let way = match studied(set) {
        Direction::Up => " up",
        Direction::Down => "",
    };
    let mut sentences: Vec<String> = baseline(first, way).into_iter().collect();
    sentences.extend(others.iter().filter_map(|own| against(own, first)));
    sentences.extend(fetches(set));
    sentences.extend(echoes(set));
    sentences.extend(fairness(&digests));
    sentences
}

fn baseline(first: &Digest, way: &str) -> Option<String> {
    let name = name(first.run);
    let delay = first.queue_ms.map(|q| about(q.p95));
    match (first.goodput_bps.map(mbps), delay) {
        (Some(goodput), Some(delay)) => Some(format!(
            "{name}: {goodput} Mbit/s{way}, 95th percentile of queueing delay {delay} ms."
        )),
        (Some(goodput), None) => Some(format!("{name}: {goodput} Mbit/s{way}.")),
        (None, Some(delay)) => Some(format!(
            "{name}: 95th percentile of queueing delay {delay} ms."
        )),
        (None, None) => None,
    }
}

fn against(own: &Digest, first: &Digest) -> Option<String> {
    let delay = own.queue_delay_p95_ms().map(|p95| {
        let share = ratio(Some(p95), first.queue_delay_p95_ms());
        let share = share.map(|r| format!(", {}", compared(r, &first.run.name)));
        let share = share.unwrap_or_default();
        format!("95th percentile of queueing delay {} ms{share}", about(p95))
    });
    let goodput = ratio(own.goodput_bps, first.goodput_bps)
        .map(|r| format!("at {} % of its goodput", fixed(r * 100.0, 0)));
    let parts: Vec<String> = [delay, goodput].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("{}: {}.", name(own.run), parts.join(", ")))
}

/// One sentence for each size that the first run fetched.
fn fetches(set: &ResultSet) -> Vec<String> {
    let told = |wanted: &FetchResult| {
        let median = |run: &RunResult| {
            let same = |f: &&FetchResult| f.name == wanted.name && f.bytes == wanted.bytes;
            counted(run.fetches.iter().find(same)?.time_ms).map(|time| time.p50)
        };
        let what = format!("Fetching {} takes (median)", size(wanted.bytes));
        each_run(set, &what, median)
    };
    let first = set.runs.first().into_iter();
    first
        .flat_map(|run| &run.fetches)
        .filter_map(told)
        .collect()
}

/// One sentence for each ping of the first run.
fn echoes(set: &ResultSet) -> Vec<String> {
    let told = |wanted: &FlowResult| {
        let tail = |run: &RunResult| {
            let same =
                |f: &&FlowResult| f.direction == FlowDirection::Echo && f.name == wanted.name;
            counted(run.flows.iter().find(same)?.rtt_ms).map(|rtt| rtt.p95)
        };
        let what = format!("Round trip of {} (95th percentile)", wanted.name);
        each_run(set, &what, tail)
    };
    let first = set.runs.first().into_iter();
    let flows = first
        .flat_map(|run| &run.flows)
        .filter(|flow| flow.direction == FlowDirection::Echo);
    flows.filter_map(told).collect()
}

/// A time in milliseconds of each run that has it.
fn each_run(
    set: &ResultSet,
    what: &str,
    time: impl Fn(&RunResult) -> Option<f64>,
) -> Option<String> {
    let told = |run: &RunResult| Some(format!("{} {} ms", run.name, about(time(run)?)));
    let times: Vec<String> = set.runs.iter().filter_map(told).collect();
    (!times.is_empty()).then(|| format!("{what}: {}.", times.join(", ")))
}

fn fairness(digests: &[Digest]) -> Option<String> {
    let shares = digests
        .iter()
        .filter_map(|d| Some(format!("{} {}", d.run.name, fixed(d.jain?, 2))));
    let shares: Vec<String> = shares.collect();
    (!shares.is_empty()).then(|| {
        format!(
            "Fairness between the flows (Jain's index, 1 is even): {}.",
            shares.join(", ")
        )
    })
}

/// The run's name, with a caveat if the run is in doubt.
fn name(run: &RunResult) -> String {
    if run.health.warnings.is_empty() {
        run.name.clone()
    } else {
        format!("{} (doubtful, see the warnings)", run.name)
    }
}

#[cfg(test)]
mod tests;
