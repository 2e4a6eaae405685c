//! The numbers of a run that programs read: the columns of a sweep's rows, and where else each of them is found.

mod names;

use crate::digest::{Digest, counted};
use crate::responsiveness::rpm;
use crate::summary::known;
use tidegate_scenario::{
    AdaptiveResult, Direction, FlowClassResult, FlowDirection, FlowResult, LinkResult, Quantiles,
    RunResult,
};

/// A column of a sweep's rows.
pub struct Metric {
    /// Its name, with its unit.
    pub name: &'static str,
    /// Its field in a run of `--json`; `[]` stands for each entry of a list. Empty: it is computed from several fields.
    pub field: &'static str,
    /// Its column in the tables for people: the table's title (empty: the main one), a colon, and the column's name as
    /// in [`crate::meanings`]. Empty: no table shows it.
    pub shown: &'static str,
    /// What it is, in a sentence.
    pub about: &'static str,
    of: fn(&Measured) -> Option<f64>,
}

impl Metric {
    /// A run's number in the unit that the name states; none if the run has none.
    pub fn value(&self, measured: &Measured) -> Option<f64> {
        (self.of)(measured)
    }

    /// The number as it is written; empty if the run has none.
    pub fn cell(&self, measured: &Measured) -> String {
        let value = self.value(measured);
        // Adding 0 takes the sign from a negative one.
        value.map(|v| (v + 0.0).to_string()).unwrap_or_default()
    }
}

/// Results of a run, for each direction.
pub struct Measured<'a> {
    run: &'a RunResult,
    down: Digest<'a>,
    up: Digest<'a>,
}

impl<'a> Measured<'a> {
    /// The results of one run.
    pub fn new(run: &'a RunResult) -> Self {
        Self {
            run,
            down: Digest::new(run, Direction::Down),
            up: Digest::new(run, Direction::Up),
        }
    }

    /// The direction under study: down, unless no download was run.
    fn studied(&self) -> &Digest<'a> {
        match self.down.goodput_bps {
            Some(_) => &self.down,
            None => &self.up,
        }
    }

    fn ping(&self, pick: fn(&Quantiles) -> f64) -> Option<f64> {
        let flows = self.run.flows.iter();
        let pings = flows.filter(|f| f.direction == FlowDirection::Echo);
        largest(pings.filter_map(|f| Some(pick(&counted(f.rtt_ms)?))))
    }

    fn fetch(&self, pick: fn(&Quantiles) -> f64) -> Option<f64> {
        largest(self.run.fetches.iter().map(|f| pick(&f.time_ms)))
    }

    /// A number of each video in several bit rates.
    fn adaptive(&self, of: fn(&AdaptiveResult) -> f64) -> impl Iterator<Item = f64> {
        let videos = self.run.videos.iter();
        videos.filter_map(move |video| video.adaptive.as_ref().map(of))
    }

    /// A number of each workload's flows.
    fn arrived(&self, of: fn(&FlowClassResult) -> f64) -> impl Iterator<Item = f64> {
        self.run
            .arrivals
            .iter()
            .map(move |arrivals| of(&arrivals.all))
    }

    /// The same, of those classes in which flows have finished.
    fn completions(&self, of: fn(&FlowClassResult) -> f64) -> impl Iterator<Item = f64> {
        let arrivals = self.run.arrivals.iter();
        let finished = arrivals.filter(|arrivals| arrivals.all.finished > 0);
        finished.map(move |arrivals| of(&arrivals.all))
    }

    fn flows(&self, of: fn(&FlowResult) -> Option<f64>) -> impl Iterator<Item = f64> {
        self.run.flows.iter().filter_map(of)
    }
}

/// The sum; none of no values.
fn sum(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.reduce(|a, b| a + b)
}

/// Queueing delay of a link, if packets passed it.
fn passed(link: &LinkResult) -> Option<Quantiles> {
    Some(link.queue_delay_ms).filter(|_| link.delivered_bps > 0.0)
}

/// The sum; 0 if there are no values, since Rust's sum of no floats is -0.
fn total(values: impl Iterator<Item = f64>) -> Option<f64> {
    Some(values.fold(0.0, |sum, value| sum + value))
}

fn largest(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.reduce(f64::max)
}

fn smallest(values: impl Iterator<Item = f64>) -> Option<f64> {
    values.reduce(f64::min)
}

const fn metric(
    name: &'static str,
    field: &'static str,
    shown: &'static str,
    about: &'static str,
    of: fn(&Measured) -> Option<f64>,
) -> Metric {
    Metric {
        name,
        field,
        shown,
        about,
        of,
    }
}

/// Columns of a row. For several flows, goodput is that of all of them together; of round trips, fetches and pings the largest of each
/// number is taken, as in the tables.
pub const METRICS: [Metric; 39] = [
    metric(
        "goodput_bps",
        "flows[].goodput_bps",
        ":goodput",
        "Payload that arrived down in a second, warm-up excluded: that of all downloads, divided by the time in which there was at least one.",
        |m| m.down.goodput_bps,
    ),
    metric(
        "up_goodput_bps",
        "flows[].goodput_bps",
        ":goodput",
        "The same, up.",
        |m| m.up.goodput_bps,
    ),
    metric(
        "jain",
        "",
        ":Jain's index (Jain)",
        "Jain's index of the goodputs of several flows, each over its own time: 1 is evenly. It is missing if they were never all there at one time.",
        |m| m.studied().jain,
    ),
    metric(
        "retransmits",
        "flows[].retransmits",
        ":retransmits (retr.)",
        "Segments that were sent again, all flows, whole run.",
        |m| total(m.flows(|f| Some(f.retransmits as f64))),
    ),
    metric(
        "completion_s",
        "flows[].completion_s",
        ":completion (done)",
        "Seconds from the start of a flow to its last byte, if it had an end; of several the longest.",
        |m| largest(m.flows(|f| f.completion_s)),
    ),
    metric(
        "rtt_mean_ms",
        "flows[].rtt_ms.mean",
        "",
        "The sender's smoothed round trip over time, mean; of several flows the largest.",
        |m| Some(m.studied().rtt_ms?.mean),
    ),
    metric(
        "rtt_p50_ms",
        "flows[].rtt_ms.p50",
        ":RTT, p50",
        "The same, median.",
        |m| Some(m.studied().rtt_ms?.p50),
    ),
    metric(
        "rtt_p95_ms",
        "flows[].rtt_ms.p95",
        ":RTT, p95",
        "The same, 95th percentile.",
        |m| Some(m.studied().rtt_ms?.p95),
    ),
    metric(
        "utilisation",
        "link.utilisation",
        ":utilisation (util.)",
        "Of the downlink: delivered bytes divided by what it could have carried while a bulk workload wanted all that it could get.",
        |m| known(m.run.link.utilisation),
    ),
    metric(
        "queue_delay_mean_ms",
        "link.queue_delay_ms.mean",
        ":queueing delay (queue), mean",
        "How long packets stood in the downlink's queue, mean of every packet after the warm-up.",
        |m| Some(passed(&m.run.link)?.mean),
    ),
    metric(
        "queue_delay_p50_ms",
        "link.queue_delay_ms.p50",
        ":queueing delay (queue), p50",
        "The same, median.",
        |m| Some(passed(&m.run.link)?.p50),
    ),
    metric(
        "queue_delay_p95_ms",
        "link.queue_delay_ms.p95",
        ":queueing delay (queue), p95",
        "The same, 95th percentile.",
        |m| Some(passed(&m.run.link)?.p95),
    ),
    metric(
        "queue_delay_p99_ms",
        "link.queue_delay_ms.p99",
        ":queueing delay (queue), p99",
        "The same, 99th percentile.",
        |m| Some(passed(&m.run.link)?.p99),
    ),
    metric(
        "queue_delay_max_ms",
        "link.queue_delay_ms.max",
        "",
        "The same, the longest.",
        |m| Some(passed(&m.run.link)?.max),
    ),
    metric(
        "drops",
        "link.drops",
        ":drops",
        "Packets that the downlink's full queue dropped, whole run.",
        |m| Some(m.run.link.drops as f64),
    ),
    metric(
        "losses",
        "link.losses",
        ":losses",
        "Packets that the downlink lost as configured, whole run.",
        |m| Some(m.run.link.losses as f64),
    ),
    metric(
        "up_utilisation",
        "uplink.utilisation",
        "",
        "As utilisation, of the uplink.",
        |m| known(m.run.uplink.utilisation),
    ),
    metric(
        "up_queue_delay_p50_ms",
        "uplink.queue_delay_ms.p50",
        "",
        "How long packets stood in the uplink's queue, median.",
        |m| Some(passed(&m.run.uplink)?.p50),
    ),
    metric(
        "up_queue_delay_p95_ms",
        "uplink.queue_delay_ms.p95",
        "",
        "The same, 95th percentile.",
        |m| Some(passed(&m.run.uplink)?.p95),
    ),
    metric(
        "up_drops",
        "uplink.drops",
        "",
        "Packets that the uplink's full queue dropped, whole run.",
        |m| Some(m.run.uplink.drops as f64),
    ),
    metric(
        "up_losses",
        "uplink.losses",
        "",
        "Packets that the uplink lost as configured, whole run.",
        |m| Some(m.run.uplink.losses as f64),
    ),
    metric(
        "fetch_count",
        "fetches[].count",
        "Fetches:count",
        "Objects that were fetched.",
        |m| sum(m.run.fetches.iter().map(|f| f.count as f64)),
    ),
    metric(
        "fetch_time_p50_ms",
        "fetches[].time_ms.p50",
        "Fetches:time, p50",
        "Time of a fetch from connect to the last byte, median; of several sizes the largest.",
        |m| m.fetch(|q| q.p50),
    ),
    metric(
        "fetch_time_p95_ms",
        "fetches[].time_ms.p95",
        "Fetches:time, p95",
        "The same, 95th percentile.",
        |m| m.fetch(|q| q.p95),
    ),
    metric(
        "ping_rtt_p50_ms",
        "flows[].rtt_ms.p50",
        "Flows:RTT, p50",
        "Round trip of a ping, median; of several pings the largest.",
        |m| m.ping(|q| q.p50),
    ),
    metric(
        "ping_rtt_p95_ms",
        "flows[].rtt_ms.p95",
        "Flows:RTT, p95",
        "The same, 95th percentile.",
        |m| m.ping(|q| q.p95),
    ),
    metric(
        "responsiveness_rpm",
        "",
        ":responsiveness (respons.)",
        "Round trips a minute under load: 60,000 divided by the mean round trip in ms, of fetches on new connections and of the loading connections themselves, the mean of the two; where objects of one packet are fetched beside a load.",
        |m| rpm(m.run),
    ),
    metric(
        "flows_started",
        "arrivals[].all.started",
        "Flow completion times:flows",
        "Flows that arrived by themselves after the warm-up.",
        |m| sum(m.arrived(|flows| flows.started as f64)),
    ),
    metric(
        "flows_finished",
        "arrivals[].all.finished",
        "",
        "Those of them whose last byte arrived before the end.",
        |m| sum(m.arrived(|flows| flows.finished as f64)),
    ),
    metric(
        "fct_mean_ms",
        "arrivals[].all.fct_ms.mean",
        "Flow completion times:FCT, mean",
        "Completion time of flows that arrived by themselves, from connect to the last byte, mean; of several workloads the largest.",
        |m| largest(m.completions(|flows| flows.fct_ms.mean)),
    ),
    metric(
        "fct_p50_ms",
        "arrivals[].all.fct_ms.p50",
        "Flow completion times:FCT, p50",
        "The same, median.",
        |m| largest(m.completions(|flows| flows.fct_ms.p50)),
    ),
    metric(
        "fct_p99_ms",
        "arrivals[].all.fct_ms.p99",
        "Flow completion times:FCT, p99",
        "The same, 99th percentile.",
        |m| largest(m.completions(|flows| flows.fct_ms.p99)),
    ),
    metric(
        "slowdown_mean",
        "arrivals[].all.slowdown.mean",
        "Flow completion times:slowdown (slowd.), mean",
        "Completion time divided by what it would be for the flow alone on the idle link, mean; of several workloads the largest.",
        |m| largest(m.completions(|flows| flows.slowdown.mean)),
    ),
    metric(
        "slowdown_p99",
        "arrivals[].all.slowdown.p99",
        "Flow completion times:slowdown (slowd.), p99",
        "The same, 99th percentile.",
        |m| largest(m.completions(|flows| flows.slowdown.p99)),
    ),
    metric(
        "stalls",
        "videos[].stalls",
        "Videos:stalls",
        "How often videos ran dry.",
        |m| sum(m.run.videos.iter().map(|v| v.stalls as f64)),
    ),
    metric(
        "stalled_s",
        "videos[].stalled_s",
        "Videos:stalled",
        "For how many seconds in all.",
        |m| sum(m.run.videos.iter().map(|v| v.stalled_s)),
    ),
    metric(
        "video_bitrate_bps",
        "videos[].adaptive.bitrate_bps",
        "Videos:bit rate",
        "Mean bit rate of the segments of videos in several; of several videos the lowest.",
        |m| smallest(m.adaptive(|video| video.bitrate_bps)),
    ),
    metric(
        "video_switches",
        "videos[].adaptive.switches",
        "Videos:switches",
        "How often their bit rate changed from one segment to the next.",
        |m| sum(m.adaptive(|video| video.switches as f64)),
    ),
    metric(
        "qoe_per_segment",
        "videos[].adaptive.qoe_per_segment",
        "Videos:QoE",
        "Quality of experience of a segment: its Mbit/s, less the weighted changes, stalls and start, the mean; of several videos the lowest.",
        |m| smallest(m.adaptive(|video| video.qoe_per_segment)),
    ),
];

#[cfg(test)]
mod tests;
