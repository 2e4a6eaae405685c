//! What `iperf3 --json` prints: `intervals`, each with the `bits_per_second` of all streams between `start` and `end`. Of
//! `--bidir` the other direction is in `sum_bidir_reverse`. What was sent while `--omit` lasted is marked `omitted`.

use super::series;
use crate::samples::Sample;
use crate::steps::Holds;
use crate::table::bps;
use crate::{Direction, Import, Kind, Options, Refused};
use serde::Deserialize;
use std::io::Read;

const KIND: Kind = Kind::Iperf3;

/// Gap or overlap between iperf3's intervals that is tolerated: its timers are late by that much.
const JITTER_S: f64 = 0.01;

#[derive(Deserialize)]
struct Document {
    start: Option<Start>,
    #[serde(default)]
    intervals: Vec<Interval>,
    error: Option<String>,
}

#[derive(Deserialize)]
struct Start {
    test_start: Option<Test>,
}

#[derive(Deserialize)]
struct Test {
    #[serde(default)]
    reverse: u8,
}

#[derive(Deserialize)]
struct Interval {
    sum: Option<Sum>,
    sum_bidir_reverse: Option<Sum>,
}

#[derive(Clone, Copy, Deserialize)]
struct Sum {
    start: f64,
    end: f64,
    bits_per_second: Option<f64>,
    #[serde(default)]
    omitted: bool,
    sender: Option<bool>,
}

pub fn read(from: impl Read, options: &Options) -> Result<Import, Refused> {
    let document = chosen(from, options)?;
    if document.intervals.is_empty() {
        return Err(Refused::whole(match document.error {
            Some(error) => format!("iperf3 has failed: {}", crate::refused::message(&error)),
            None => "no intervals, expected those of iperf3 --json; was -i 0 set?".into(),
        }));
    }
    let test = document.start.and_then(|start| start.test_start);
    let reverse = test.is_some_and(|test| test.reverse != 0);
    let way = Way::of(&document.intervals, reverse, options)?;
    let samples = samples(&document.intervals, way)?;
    let options = Options {
        session: None,
        ..options.clone()
    };
    let mut import = series::import(KIND, samples, Holds::AsARule, &options, way.says().into())?;
    let omitted = way.sums(&document.intervals).filter(|(_, sum)| sum.omitted);
    let omitted = omitted.count();
    if omitted > 0 {
        import.notes.push(format!(
            "intervals left out that iperf3 was told to omit: {omitted}"
        ));
    }
    Ok(import)
}

/// The test that was asked for, or the only one.
fn chosen(from: impl Read, options: &Options) -> Result<Document, Refused> {
    let all = serde_json::Deserializer::from_reader(from).into_iter::<Document>();
    let mut all = documents(all)?;
    let count = all.len();
    let index = match &options.session {
        None if count == 1 => Some(0),
        None => None,
        Some(name) => name.parse::<usize>().ok().and_then(|n| n.checked_sub(1)),
    };
    match index.filter(|index| *index < count) {
        Some(index) => Ok(all.swap_remove(index)),
        None => Err(Refused::whole(format!(
            "{count} results of iperf3, expected one: choose with --session 1 to {count}"
        ))),
    }
}

/// All documents of a file, one after another.
pub(super) fn documents<T>(
    all: impl Iterator<Item = serde_json::Result<T>>,
) -> Result<Vec<T>, Refused> {
    let mut documents = Vec::new();
    for document in all {
        documents.push(document.map_err(not_json)?);
    }
    match documents.is_empty() {
        true => Err(Refused::whole("no JSON, expected a result")),
        false => Ok(documents),
    }
}

fn not_json(error: serde_json::Error) -> Refused {
    let line = error.line() as u64;
    let message = error.to_string();
    let what = message.split(" at line ").next().unwrap_or_default();
    let message = match error.is_eof() {
        true => "the JSON ends here unfinished; was the program interrupted?".to_owned(),
        false => format!("not the JSON that was expected: {what}"),
    };
    match line {
        0 => Refused::whole(message),
        line => Refused::line(line, message),
    }
}

/// Which of the sums to read, and what it means.
#[derive(Clone, Copy)]
struct Way {
    /// Whether to read `--bidir`'s other direction.
    other: bool,
    /// Whether the host that wrote the file received it.
    received: bool,
}

impl Way {
    fn of(intervals: &[Interval], reverse: bool, options: &Options) -> Result<Self, Refused> {
        let both = intervals.iter().any(|i| i.sum_bidir_reverse.is_some());
        let sums = intervals.iter().filter_map(|interval| interval.sum);
        let sends = sums.filter_map(|sum| sum.sender).next().unwrap_or(!reverse);
        let received = !sends;
        let wanted = options.direction.map(|way| way == Direction::Down);
        match (both, wanted) {
            (false, None) => Ok(Self {
                other: false,
                received,
            }),
            (false, Some(wanted)) if wanted == received => Ok(Self {
                other: false,
                received,
            }),
            (false, Some(_)) => Err(Refused::whole(format!(
                "the host that wrote this has {} only; leave --direction out",
                if received { "received" } else { "sent" }
            ))),
            (true, Some(wanted)) => Ok(Self {
                other: wanted != received,
                received: wanted,
            }),
            (true, None) => Err(Refused::whole(
                "a test of both directions (--bidir), expected one; say --direction down or up",
            )),
        }
    }

    /// Its sums, each with the number of its interval.
    fn sums(self, intervals: &[Interval]) -> impl Iterator<Item = (u64, Sum)> {
        let of = move |interval: &Interval| match self.other {
            true => interval.sum_bidir_reverse,
            false => interval.sum,
        };
        let numbered = (1..).zip(intervals);
        numbered.filter_map(move |(number, interval)| Some((number, of(interval)?)))
    }

    fn says(self) -> &'static str {
        match self.received {
            true => {
                "bits_per_second as iperf3 received it: goodput, which may not have filled the link; no round trip"
            }
            false => {
                "bits_per_second as iperf3 wrote it into its socket: the first seconds also filled the sender's \
                 buffer, and goodput may not have filled the link; no round trip"
            }
        }
    }
}

/// One sample for each interval. The jitter of timers between intervals is removed.
fn samples(intervals: &[Interval], way: Way) -> Result<Vec<Sample>, Refused> {
    let mut samples: Vec<Sample> = Vec::new();
    let mut end = 0.0;
    for (number, sum) in way.sums(intervals).filter(|(_, sum)| !sum.omitted) {
        let refused = |what: &str| {
            Refused::whole(format!(
                "interval {number}, {} to {} s: {what}",
                sum.start, sum.end
            ))
        };
        let times = [sum.start, sum.end];
        if times
            .iter()
            .any(|t| !t.is_finite() || !(0.0..=1e9).contains(t))
            || sum.end <= sum.start
        {
            return Err(refused("expected an end after the start"));
        }
        if sum.start < end - JITTER_S {
            return Err(refused(
                "begins before the one before has ended; are these two results?",
            ));
        }
        let start = match (sum.start - end).abs() <= JITTER_S {
            true => end,
            false => sum.start,
        };
        if sum.end <= start {
            return Err(refused("ends before the one before"));
        }
        let rate = sum.bits_per_second.map(|rate| bps(rate, 1.0));
        let rate = rate.transpose().map_err(|what| refused(&what))?;
        end = sum.end;
        samples.push(Sample {
            line: number,
            at_ns: (start * 1e9).round() as i128,
            until_ns: Some((end * 1e9).round() as i128),
            bps: rate,
            session: "1".into(),
        });
    }
    match samples.is_empty() {
        true => Err(Refused::whole(
            "no interval that counts, expected at least one",
        )),
        false => Ok(samples),
    }
}
