//! The 5G and 4G datasets of University College Cork (Raca et al., MMSys 2020 and 2018; github.com/uccmisl/5Gdataset), as
//! G-NetTrack Pro has written them: `Timestamp` as `2019.12.16_13.40.04`, `DL_bitrate` and `UL_bitrate` in kbit/s, a row a
//! second or so, what is missing as `-`.

use super::series;
use crate::samples::Sample;
use crate::steps::Holds;
use crate::table::Table;
use crate::{Direction, Import, Kind, Options, Refused};
use std::io::Read;

const KIND: Kind = Kind::FiveGDataset;

pub fn read(from: impl Read, options: &Options) -> Result<Import, Refused> {
    let name = match options.direction.unwrap_or_default() {
        Direction::Down => "DL_bitrate",
        Direction::Up => "UL_bitrate",
    };
    let table = Table::open(from)?;
    let time = table.column("Timestamp", KIND)?;
    let rate = table.column(name, KIND)?;
    let samples = table.rows().map(|row| {
        let row = row?;
        Ok(Sample {
            line: row.line,
            at_ns: row.at_ns(time)?,
            until_ns: None,
            bps: row.bps(rate, name, 1e3)?,
            session: String::new(),
        })
    });
    let samples = samples.collect::<Result<_, Refused>>()?;
    let is = format!(
        "{name}, kbit/s, about once a second: what the phone's applications received or sent; \
         a video or an idle phone leaves the link empty; no capacity, no round trip"
    );
    series::import(KIND, samples, Holds::AsARule, options, is)
}
