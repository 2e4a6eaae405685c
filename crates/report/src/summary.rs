//! A run in one line: the columns of the main table.

use crate::digest::{Digest, digests, ratio};
use crate::grid::{Column, Grid, Head};
use crate::number::{fixed, mbps, percent};
use crate::responsiveness::rpm;
use crate::tables::{ms, named, positive};
use tidegate_scenario::ResultSet;

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
        goodput.unit("Mbit/s").about("Payload that arrived in a second, warm-up excluded: that of all flows of the direction under study, divided by the time in which there was at least one.")
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
            .cell(|r| ms(r.own.queue_delay_p95_ms())),
        queue
            .statistic("vs 1st")
            .unit("%")
            .about("The 95th percentile in per cent of the first run's.")
            .cell(|r| ratio(r.own.queue_delay_p95_ms(), r.first.queue_delay_p95_ms()).map(percent)),
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
pub(crate) fn known(number: f64) -> Option<f64> {
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
