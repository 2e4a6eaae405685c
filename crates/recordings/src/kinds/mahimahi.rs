//! Traces of Mahimahi (Netravali et al., USENIX ATC 2015): each line is the millisecond at which one packet of 1504 bytes may
//! leave, 1500 of IP and 4 of the TUN device. Scenarios read them as they are; here comments, empty lines and spaces are
//! left out, which scenarios refuse.

use super::series::{no_session, only_down};
use crate::packets::Packet;
use crate::recorded::OPPORTUNITY;
use crate::refused::quoted;
use crate::{Form, Import, Kind, Options, Recorded, Refused};
use std::io::BufRead;

const KIND: Kind = Kind::Mahimahi;

pub fn read(from: impl BufRead, options: &Options) -> Result<Import, Refused> {
    only_down(KIND, options)?;
    no_session(KIND, options)?;
    let mut packets: Vec<Packet> = Vec::new();
    let mut left_out = 0;
    for (number, line) in (1..).zip(super::pantheon::lines(from)) {
        let line = line?;
        let text = line.trim_start_matches('\u{feff}').trim();
        if text.is_empty() || text.starts_with('#') {
            left_out += 1;
            continue;
        }
        let ms: u32 = text.parse().map_err(|_| {
            let found = quoted(text);
            let message =
                format!("expected a whole number of milliseconds, 0 to 4294967295, found {found}");
            Refused::line(number, message)
        })?;
        let at_ns = u64::from(ms) * 1_000_000;
        if packets.last().is_some_and(|last| last.at_ns > at_ns) {
            let message = format!(
                "{ms} ms is before the line before, expected times that do not decrease; sort -n the file"
            );
            return Err(Refused::line(number, message));
        }
        let bytes = OPPORTUNITY;
        packets.push(Packet { at_ns, bytes });
    }
    let mut notes = Vec::new();
    if left_out > 0 {
        notes.push(format!("lines left out, empty or comments: {left_out}"));
    }
    Ok(Import {
        kind: KIND,
        recorded: Recorded::Packets(packets),
        form: Form::Mahimahi,
        is: "opportunities of 1500 bytes: a capacity, if whoever recorded it kept the link full; no round trip".into(),
        notes,
    })
}
