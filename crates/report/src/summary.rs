//! A run in one line: columns of the main table, for people, and of a sweep's rows, for programs.

use crate::digest::{Digest, counted, digests, ratio};
use crate::grid::{Column, Grid, Head};
use crate::number::{fixed, mbps, percent};
use crate::responsiveness::rpm;
use crate::tables::{ms, named, positive};
use tidegate_scenario::{
    AdaptiveResult, Direction, FlowClassResult, FlowDirection, FlowResult, Quantiles, ResultSet,
    RunResult,
};

/// A run beside the first one.
pub(crate) struct Row<'a> {
    own: Digest<'a>,
    first: Digest<'a>,
}

/// The main table.
pub(crate) fn summary(set: &ResultSet) -> Grid {
    let digests = digests(set);
    let first = digests.first().copied();
    let rows: Vec<Row> = digests
        .iter()
        .zip(std::iter::repeat(first))
        .filter_map(|(own, first)| {
            Some(Row {
                own: *own,
                first: first?,
            })
        })
        .collect();
    Grid::new("", &rows, summary_columns())
}

/// The columns of the main table.
pub(crate) fn summary_columns<'a>() -> Vec<Column<Row<'a>>> {
    let mut columns = identity();
    columns.extend(speed());
    columns.extend(delay());
    columns.extend(cost());
    columns
}

fn identity<'a>() -> Vec<Column<Row<'a>>> {
    vec![
        Head::run().cell(|r| named(&r.own.run.name)),
        Head::text("law")
            .spare(1)
            .about("What steers the client's receive window; none: the kernel alone.")
            .cell(|r| named(r.own.run.law_name())),
        Head::text("sender")
            .spare(4)
            .about("Congestion control of the senders.")
            .cell(|r| named(&r.own.run.congestion_control)),
    ]
}

fn speed<'a>() -> Vec<Column<Row<'a>>> {
    let goodput = Head::number("goodput");
    let rtt = Head::number("RTT").unit("ms");
    vec![
        goodput.unit("Mbit/s").about("Payload that arrived in a second, all flows of the direction under study together, warm-up excluded.")
            .cell(|r| r.own.goodput_bps.map(mbps)),
        goodput
            .statistic("vs 1st")
            .unit("%")
            .about("The same, in per cent of the first run's.")
            .cell(|r| ratio(r.own.goodput_bps, r.first.goodput_bps).map(percent)),
        Head::number("completion")
            .short("done")
            .unit("s")
            .about("Seconds from the start of a lone flow to its last byte, if it had an end.")
            .cell(|r| r.own.completion_s.map(|s| fixed(s, 2))),
        rtt.statistic("p50")
            .spare(5)
            .about("The sender's smoothed round trip over time, median; of several flows the largest.")
            .cell(|r| ms(r.own.rtt_ms.map(|q| q.p50))),
        rtt.statistic("p95")
            .spare(2)
            .about("The same, 95th percentile.")
            .cell(|r| ms(r.own.rtt_ms.map(|q| q.p95))),
    ]
}

fn delay<'a>() -> Vec<Column<Row<'a>>> {
    let responsiveness = Head::number("responsiveness").short("respons.");
    let queue = Head::number("queueing delay").short("queue").unit("ms");
    vec![
        queue
            .statistic("mean")
            .spare(7)
            .about("How long packets stood in the queue before the link, mean of every packet after the warm-up.")
            .cell(|r| ms(r.own.queue_ms.map(|q| q.mean))),
        queue
            .statistic("p50")
            .about("The same, median.")
            .cell(|r| ms(r.own.queue_ms.map(|q| q.p50))),
        queue.statistic("p95").about("The same, 95th percentile: one packet in twenty waited longer.")
            .cell(|r| ms(r.own.queue_p95_ms())),
        queue
            .statistic("vs 1st")
            .unit("%")
            .about("The 95th percentile in per cent of the first run's.")
            .cell(|r| ratio(r.own.queue_p95_ms(), r.first.queue_p95_ms()).map(percent)),
        queue
            .statistic("p99")
            .spare(6)
            .about("The same, 99th percentile.")
            .cell(|r| ms(r.own.queue_ms.map(|q| q.p99))),
        responsiveness
            .unit("RPM")
            .about("Round trips a minute under load: 60,000 divided by the mean round trip in ms, of fetches on new connections and of the loading connections themselves; the mean of the two.")
            .cell(|r| rpm(r.own.run).map(|rpm| fixed(rpm, 0))),
    ]
}

/// A number, unless nothing tells it.
fn known(number: f64) -> Option<f64> {
    Some(number).filter(|number| !number.is_nan())
}

fn cost<'a>() -> Vec<Column<Row<'a>>> {
    let other = Head::number("other way").spare(11);
    vec![
        Head::number("utilisation")
            .short("util.")
            .unit("%")
            .spare(3)
            .about("Delivered bytes divided by what the link could have carried while a bulk workload wanted all that it could get.")
            .cell(|r| {
                known(r.own.link.utilisation).map(percent)
            }),
        Head::number("drops")
            .spare(8)
            .about("Packets that the full queue dropped, whole run.")
            .cell(|r| Some(r.own.link.drops.to_string())),
        Head::number("losses")
            .spare(10)
            .about("Packets that the link lost as configured, whole run.")
            .cell(|r| positive(r.own.link.losses)),
        Head::number("retransmits")
            .short("retr.")
            .spare(9)
            .about("Segments that were sent again, all flows, whole run.")
            .cell(|r| r.own.retransmits.map(|n| n.to_string())),
        Head::number("Jain's index")
            .short("Jain")
            .about("How evenly several flows share (R. Jain 1984): 1 is evenly, 1/n is all for one of n.")
            .cell(|r| r.own.jain.map(|j| fixed(j, 3))),
        other
            .unit("Mbit/s")
            .about("Goodput of the flows in the other direction.")
            .cell(|r| r.own.other_goodput_bps.map(mbps)),
        other
            .statistic("queue p95")
            .unit("ms")
            .about("95th percentile of the queueing delay in the other direction.")
            .cell(|r| ms(r.own.other_queue_ms.map(|q| q.p95))),
    ]
}

/// A column of a sweep's rows.
pub struct Metric {
    /// Its name, with its unit.
    pub name: &'static str,
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
    about: &'static str,
    of: fn(&Measured) -> Option<f64>,
) -> Metric {
    Metric { name, about, of }
}

/// Columns of a row. For several flows, goodputs are added; of round trips, fetches and pings the largest of each
/// number is taken, as in the tables.
pub const METRICS: [Metric; 39] = [
    metric(
        "goodput_bps",
        "Payload that arrived down in a second, all downloads together, warm-up excluded.",
        |m| m.down.goodput_bps,
    ),
    metric("up_goodput_bps", "The same, up.", |m| m.up.goodput_bps),
    metric(
        "jain",
        "Jain's index of the goodputs of several flows: 1 is evenly.",
        |m| m.studied().jain,
    ),
    metric(
        "retransmits",
        "Segments that were sent again, all flows, whole run.",
        |m| total(m.flows(|f| Some(f.retransmits as f64))),
    ),
    metric(
        "completion_s",
        "Seconds from the start of a flow to its last byte, if it had an end; of several the longest.",
        |m| largest(m.flows(|f| f.completion_s)),
    ),
    metric(
        "rtt_mean_ms",
        "The sender's smoothed round trip over time, mean; of several flows the largest.",
        |m| Some(m.studied().rtt_ms?.mean),
    ),
    metric("rtt_p50_ms", "The same, median.", |m| {
        Some(m.studied().rtt_ms?.p50)
    }),
    metric("rtt_p95_ms", "The same, 95th percentile.", |m| {
        Some(m.studied().rtt_ms?.p95)
    }),
    metric(
        "utilisation",
        "Of the downlink: delivered bytes divided by what it could have carried while a bulk workload wanted all that it could get.",
        |m| known(m.run.link.utilisation),
    ),
    metric(
        "queue_mean_ms",
        "How long packets stood in the downlink's queue, mean of every packet after the warm-up.",
        |m| Some(m.run.link.queue_delay_ms.mean),
    ),
    metric("queue_p50_ms", "The same, median.", |m| {
        Some(m.run.link.queue_delay_ms.p50)
    }),
    metric("queue_p95_ms", "The same, 95th percentile.", |m| {
        Some(m.run.link.queue_delay_ms.p95)
    }),
    metric("queue_p99_ms", "The same, 99th percentile.", |m| {
        Some(m.run.link.queue_delay_ms.p99)
    }),
    metric("queue_max_ms", "The same, the longest.", |m| {
        Some(m.run.link.queue_delay_ms.max)
    }),
    metric(
        "drops",
        "Packets that the downlink's full queue dropped, whole run.",
        |m| Some(m.run.link.drops as f64),
    ),
    metric(
        "losses",
        "Packets that the downlink lost as configured, whole run.",
        |m| Some(m.run.link.losses as f64),
    ),
    metric("up_utilisation", "As utilisation, of the uplink.", |m| {
        known(m.run.uplink.utilisation)
    }),
    metric(
        "up_queue_p50_ms",
        "How long packets stood in the uplink's queue, median.",
        |m| Some(m.run.uplink.queue_delay_ms.p50),
    ),
    metric("up_queue_p95_ms", "The same, 95th percentile.", |m| {
        Some(m.run.uplink.queue_delay_ms.p95)
    }),
    metric(
        "up_drops",
        "Packets that the uplink's full queue dropped, whole run.",
        |m| Some(m.run.uplink.drops as f64),
    ),
    metric(
        "up_losses",
        "Packets that the uplink lost as configured, whole run.",
        |m| Some(m.run.uplink.losses as f64),
    ),
    metric("fetches", "Objects that were fetched.", |m| {
        total(m.run.fetches.iter().map(|f| f.count as f64))
    }),
    metric(
        "fetch_p50_ms",
        "Time of a fetch from connect to the last byte, median; of several sizes the largest.",
        |m| m.fetch(|q| q.p50),
    ),
    metric("fetch_p95_ms", "The same, 95th percentile.", |m| {
        m.fetch(|q| q.p95)
    }),
    metric(
        "ping_p50_ms",
        "Round trip of a ping, median; of several pings the largest.",
        |m| m.ping(|q| q.p50),
    ),
    metric("ping_p95_ms", "The same, 95th percentile.", |m| {
        m.ping(|q| q.p95)
    }),
    metric(
        "responsiveness_rpm",
        "Round trips a minute under load: 60,000 divided by the mean round trip in ms, of fetches on new connections and of the loading connections themselves, the mean of the two; where objects of one packet are fetched beside a load.",
        |m| rpm(m.run),
    ),
    metric(
        "flows_started",
        "Flows that arrived by themselves after the warm-up.",
        |m| m.arrived(|flows| flows.started as f64).reduce(|a, b| a + b),
    ),
    metric(
        "flows_finished",
        "Those of them whose last byte arrived before the end.",
        |m| {
            m.arrived(|flows| flows.finished as f64)
                .reduce(|a, b| a + b)
        },
    ),
    metric(
        "fct_mean_ms",
        "Completion time of flows that arrived by themselves, from connect to the last byte, mean; of several workloads the largest.",
        |m| largest(m.completions(|flows| flows.fct_ms.mean)),
    ),
    metric("fct_p50_ms", "The same, median.", |m| {
        largest(m.completions(|flows| flows.fct_ms.p50))
    }),
    metric("fct_p99_ms", "The same, 99th percentile.", |m| {
        largest(m.completions(|flows| flows.fct_ms.p99))
    }),
    metric(
        "slowdown_mean",
        "Completion time divided by what it would be for the flow alone on the idle link, mean; of several workloads the largest.",
        |m| largest(m.completions(|flows| flows.slowdown.mean)),
    ),
    metric("slowdown_p99", "The same, 99th percentile.", |m| {
        largest(m.completions(|flows| flows.slowdown.p99))
    }),
    metric("stalls", "How often videos ran dry.", |m| {
        total(m.run.videos.iter().map(|v| v.stalls as f64))
    }),
    metric("stalled_s", "For how many seconds in all.", |m| {
        total(m.run.videos.iter().map(|v| v.stalled_s))
    }),
    metric(
        "video_bps",
        "Mean bit rate of the segments of videos in several; of several videos the lowest.",
        |m| smallest(m.adaptive(|video| video.mean_bps)),
    ),
    metric(
        "video_switches",
        "How often their bit rate changed from one segment to the next.",
        |m| {
            m.adaptive(|video| video.switches as f64)
                .reduce(|a, b| a + b)
        },
    ),
    metric(
        "qoe_per_segment",
        "Quality of experience of a segment: its Mbit/s, less the weighted changes, stalls and start, the mean; of several videos the lowest.",
        |m| smallest(m.adaptive(|video| video.qoe_per_segment)),
    ),
];

#[cfg(test)]
mod tests;
