//! Speed tests of MONROE-Nettest, a client of RMBT (github.com/lwimmer/rmbt-client): JSON with `res_details`, where each flow
//! of `dl` and `ul` has a `time_series` of `t`, nanoseconds since `time_start_rel_ns`, and `b`, bytes so far. Without details,
//! and in a CSV with a test in each row, there is only the test's mean, `res_dl_throughput_kbps`.

use super::iperf3::documents;
use crate::packets::{Found, in_order};
use crate::table::{Table, bps};
use crate::{Direction, Form, Import, Kind, Options, Recorded, Refused, Step};
use serde::Deserialize;
use std::io::{BufRead, Read};

const KIND: Kind = Kind::Monroe;

/// Length of a test whose length is not given, in nanoseconds: RMBT's default.
const TEST_NS: u64 = 10_000_000_000;

#[derive(Deserialize)]
struct Test {
    res_details: Option<Details>,
    res_dl_throughput_kbps: Option<f64>,
    res_ul_throughput_kbps: Option<f64>,
    res_dl_time_ns: Option<u64>,
    res_ul_time_ns: Option<u64>,
    res_rtt_tcp_payload_client_ns: Option<f64>,
}

#[derive(Deserialize)]
struct Details {
    #[serde(default)]
    dl: Vec<Flow>,
    #[serde(default)]
    ul: Vec<Flow>,
}

#[derive(Deserialize)]
struct Flow {
    #[serde(default)]
    time_start_rel_ns: i64,
    #[serde(default)]
    time_series: Vec<Point>,
}

#[derive(Deserialize)]
struct Point {
    #[serde(alias = "t_end")]
    t: i64,
    b: u64,
}

pub fn read(mut from: impl BufRead, options: &Options) -> Result<Import, Refused> {
    let head = from.fill_buf().map_err(Refused::unreadable)?;
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    match head.trim_ascii_start().first() {
        Some(b'{') => of_json(from, options),
        _ => of_rows(from, options),
    }
}

fn of_json(from: impl Read, options: &Options) -> Result<Import, Refused> {
    let all = serde_json::Deserializer::from_reader(from).into_iter::<Test>();
    let mut all = documents(all)?;
    let test = all.swap_remove(one_of(all.len(), options)?);
    let down = options.direction.unwrap_or_default() == Direction::Down;
    let flows = match (test.res_details, down) {
        (Some(details), true) => details.dl,
        (Some(details), false) => details.ul,
        (None, _) => Vec::new(),
    };
    let mut import = if flows.iter().any(|flow| !flow.time_series.is_empty()) {
        of_flows(&flows)?
    } else {
        let (kbps, length) = match down {
            true => (test.res_dl_throughput_kbps, test.res_dl_time_ns),
            false => (test.res_ul_throughput_kbps, test.res_ul_time_ns),
        };
        let bps = kbps.map(|kbps| bps(kbps, 1e3)).transpose();
        mean(bps.map_err(Refused::whole)?, length)?
    };
    if let Some(ns) = test.res_rtt_tcp_payload_client_ns {
        let ms = ns / 1e6;
        import.notes.push(format!(
            "its round trip, {ms:.1} ms, is no part of what is written: give the scenario's link delay_ms, half of it in each direction"
        ));
    }
    Ok(import)
}

/// A CSV with a test in each row.
fn of_rows(from: impl Read, options: &Options) -> Result<Import, Refused> {
    let (name, length) = match options.direction.unwrap_or_default() {
        Direction::Down => ("res_dl_throughput_kbps", "res_dl_time_ns"),
        Direction::Up => ("res_ul_throughput_kbps", "res_ul_time_ns"),
    };
    let table = Table::open(from)?;
    let rate = table.column(name, KIND)?;
    let length = table.has(length);
    let tests = table.rows().map(|row| {
        let row = row?;
        let length = length.map(|at| row.number(at, "its length")).transpose()?;
        let length = length.flatten().map(|ns| ns as u64);
        Ok((row.bps(rate, name, 1e3)?, length))
    });
    let tests = tests.collect::<Result<Vec<_>, Refused>>()?;
    let (bps, length) = tests[one_of(tests.len(), options)?];
    mean(bps, length)
}

/// The number of the test that was asked for, or of the only one.
fn one_of(count: usize, options: &Options) -> Result<usize, Refused> {
    let asked = options.session.as_deref();
    let index = match asked {
        None if count == 1 => Some(0),
        None => None,
        Some(name) => name.parse::<usize>().ok().and_then(|n| n.checked_sub(1)),
    };
    index.filter(|index| *index < count).ok_or_else(|| {
        Refused::whole(format!(
            "{count} speed tests, which lie apart and are no time series; expected one: choose with --session 1 to {count}"
        ))
    })
}

/// The throughput of all flows together.
fn of_flows(flows: &[Flow]) -> Result<Import, Refused> {
    let mut found = Vec::new();
    for (number, flow) in (1..).zip(flows) {
        // The time before the first sample counts, too.
        found.push(Found {
            at_ns: flow.time_start_rel_ns.into(),
            bytes: 0,
            place: number,
        });
        let mut before = 0;
        for point in &flow.time_series {
            let bytes = point.b.checked_sub(before).ok_or_else(|| {
                let message = "its bytes so far become fewer, expected a sum".to_owned();
                of_flow(number, message)
            })?;
            before = point.b;
            found.push(Found {
                at_ns: i128::from(flow.time_start_rel_ns) + i128::from(point.t),
                bytes,
                place: number,
            });
        }
    }
    found.sort_by_key(|packet| packet.at_ns);
    let (packets, _) = in_order(found, of_flow)?;
    Ok(Import {
        kind: KIND,
        recorded: Recorded::Packets(packets),
        form: Form::Series,
        is: "bytes of all flows of a speed test: goodput over some ten seconds, the slow start of TCP in it; no capacity"
            .into(),
        notes: Vec::new(),
    })
}

fn of_flow(number: u64, message: String) -> Refused {
    Refused::whole(format!("flow {number}: {message}"))
}

/// A test with only a mean.
fn mean(bps: Option<f64>, length: Option<u64>) -> Result<Import, Refused> {
    let Some(bps) = bps else {
        return Err(Refused::whole(
            "no rate in this direction, expected res_dl_throughput_kbps or res_ul_throughput_kbps; did the test fail?",
        ));
    };
    let length_ns = length.filter(|ns| (1..=u64::MAX / 1000).contains(ns));
    let step = Step {
        length_ns: length_ns.unwrap_or(TEST_NS),
        bps,
    };
    Ok(Import {
        kind: KIND,
        recorded: Recorded::Rates(vec![step]),
        form: Form::Series,
        is: "the mean of a speed test, a constant rate: goodput; no capacity, and nothing of how it changed".into(),
        notes: Vec::new(),
    })
}
