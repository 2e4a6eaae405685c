//! What ERRANT has emulated (Trevisan et al., *ERRANT: Realistic Emulation of Radio Access Networks*, Computer Networks 176,
//! 2020; github.com/marty90/errant): the file that `errant -l` writes. `time` in seconds since 1970, `download` and `upload`
//! in kbit/s, `rtt` in ms and `loss` in %, drawn from a profile that was fitted to MONROE's speed tests, and in force until the
//! next row.

use super::series;
use crate::samples::Sample;
use crate::steps::Holds;
use crate::table::{Row, Table};
use crate::{Direction, Import, Kind, Options, Refused};
use std::io::Read;

const KIND: Kind = Kind::Errant;

/// Columns that name a profile.
const PROFILE: [&str; 4] = ["operator", "country", "technology", "quality"];

pub fn read(from: impl Read, options: &Options) -> Result<Import, Refused> {
    let name = match options.direction.unwrap_or_default() {
        Direction::Down => "download",
        Direction::Up => "upload",
    };
    let table = Table::open(from)?;
    let time = table.column("time", KIND)?;
    let rate = table.column(name, KIND)?;
    let profile = PROFILE.map(|part| table.has(part));
    let beside = ["rtt", "loss"].map(|name| Some((name, table.has(name)?)));
    let session = |row: &Row| {
        let parts = profile.into_iter().flatten().map(|at| row.cell(at));
        parts.collect::<Vec<_>>().join("/")
    };
    let mut samples = Vec::new();
    let mut others = Vec::new();
    for row in table.rows() {
        let row = row?;
        let sample = Sample {
            line: row.line,
            at_ns: row.at_ns(time)?,
            until_ns: None,
            bps: row.bps(rate, name, 1e3)?,
            session: session(&row),
        };
        for (name, column) in beside.iter().flatten() {
            if let Some(number) = row.number(*column, name)? {
                others.push((sample.session.clone(), *name, number));
            }
        }
        samples.push(sample);
    }
    let chosen = options.session.clone();
    let chosen = chosen.or_else(|| samples.first().map(|sample| sample.session.clone()));
    let is = format!(
        "{name}, kbit/s: the rate of a link that was emulated, drawn anew from a profile of speed tests; \
         a capacity, but no recording of a link"
    );
    let mut import = series::import(KIND, samples, Holds::UntilTheNext, options, is)?;
    for (name, unit, key) in [
        ("rtt", "ms", "delay_ms, half of it in each direction"),
        ("loss", "%", "loss"),
    ] {
        let of_it = |(session, what, _): &&(String, &str, f64)| {
            Some(session) == chosen.as_ref() && *what == name
        };
        let numbers = others.iter().filter(of_it).map(|(.., number)| *number);
        import.notes.extend(beside_it(numbers, name, unit, key));
    }
    Ok(import)
}

/// Columns beside the rate, with the scenario key that each belongs to.
fn beside_it(
    numbers: impl Iterator<Item = f64> + Clone,
    name: &str,
    unit: &str,
    key: &str,
) -> Option<String> {
    let count = numbers.clone().count();
    if count == 0 {
        return None;
    }
    let mean = numbers.clone().sum::<f64>() / count as f64;
    let least = numbers.clone().fold(f64::INFINITY, f64::min);
    let most = numbers.fold(0.0, f64::max);
    Some(format!(
        "its {name}, {least} to {most} {unit}, mean {mean:.1}, is no part of what is written: give the scenario's link {key}"
    ))
}
