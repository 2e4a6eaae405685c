//! Lumos5G 1.0 (Narayanan et al., *Lumos5G: Mapping and Predicting Commercial mmWave 5G Throughput*, IMC 2020): a CSV with a
//! row a second. `Throughput` is what iperf 3.7 received over TCP, in Mbit/s; `seq_num` counts the seconds of a run, and
//! `run_num` the runs of a `mobility_mode` and `trajectory_direction`.

use super::series;
use crate::samples::Sample;
use crate::steps::Holds;
use crate::table::{Row, Table};
use crate::{Import, Kind, Options, Refused};
use std::io::Read;

const KIND: Kind = Kind::Lumos5g;

pub fn read(from: impl Read, options: &Options) -> Result<Import, Refused> {
    series::only_down(KIND, options)?;
    let table = Table::open(from)?;
    let second = table.column("seq_num", KIND)?;
    let rate = table.column("Throughput", KIND)?;
    let run = table.column("run_num", KIND)?;
    let parts = ["mobility_mode", "trajectory_direction"].map(|name| table.has(name));
    let name = |row: &Row| {
        let places = parts.into_iter().flatten().chain([run]);
        places.map(|at| row.cell(at)).collect::<Vec<_>>().join("/")
    };
    let samples = table.rows().map(|row| {
        let row = row?;
        Ok(Sample {
            line: row.line,
            at_ns: row.at_ns(second)?,
            until_ns: None,
            bps: row.bps(rate, "Throughput", 1e6)?,
            session: name(&row),
        })
    });
    let samples = samples.collect::<Result<_, Refused>>()?;
    let is =
        "Throughput, Mbit/s of each second: goodput of iperf3 over TCP; no capacity, no round trip";
    series::import(KIND, samples, Holds::AsARule, options, is.into())
}
