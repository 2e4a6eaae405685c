//! The CSV that NUWiNS' measurements over Starlink and 5G have (github.com/NUWiNS/starlink-measurement): `time` as ISO 8601
//! and `throughput_mbps`, what nuttcp or iperf said of half a second. A file for each direction, protocol and run, or several
//! runs one after another.

use super::series;
use crate::samples::Sample;
use crate::steps::Holds;
use crate::table::Table;
use crate::{Import, Kind, Options, Refused};
use std::io::Read;

const KIND: Kind = Kind::Nuwins;

pub fn read(from: impl Read, options: &Options) -> Result<Import, Refused> {
    let table = Table::open(from)?;
    let time = table.column("time", KIND)?;
    let rate = table.column("throughput_mbps", KIND)?;
    let samples = table.rows().map(|row| {
        let row = row?;
        Ok(Sample {
            line: row.line,
            at_ns: row.at_ns(time)?,
            until_ns: None,
            bps: row.bps(rate, "throughput_mbps", 1e6)?,
            session: String::new(),
        })
    });
    let samples = samples.collect::<Result<_, Refused>>()?;
    let is = "throughput_mbps, of the direction that the file's name says: goodput of nuttcp or iperf; \
              no capacity, no round trip";
    series::import(KIND, samples, Holds::AsARule, options, is.into())
}
