//! Logs of Mahimahi's `mm-link --uplink-log` and of Pantheon's tunnel (Yan et al., USENIX ATC 2018): comments begin with `#`;
//! then a time in ms and `#` with the bytes of an opportunity, `+` with those of a packet that arrived (and its flow), or `-`
//! with those of one that left, its delay (and its flow).

use super::series::{no_session, only_down};
use crate::packets::{Found, in_order};
use crate::recorded::OPPORTUNITY;
use crate::refused::quoted;
use crate::{Form, Import, Kind, Options, Recorded, Refused};
use std::io::BufRead;

const KIND: Kind = Kind::Pantheon;

/// Bytes of an opportunity as Mahimahi counts them, with the TUN device's 4.
const WITH_TUN: u64 = 1504;

/// Latest time that is accepted, in ms: thirty years.
const LATEST_MS: f64 = 1e12;

/// Longest line.
const LONGEST: usize = 4096;

/// The expected form of a line.
const EXPECTED: &str = "expected a time in ms, #, + or -, and a number of bytes";

pub fn read(from: impl BufRead, options: &Options) -> Result<Import, Refused> {
    only_down(KIND, options)?;
    no_session(KIND, options)?;
    let (mut opportunities, mut departures) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(lines(from)) {
        let line = line?;
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        let (at_ns, event, bytes) = event(&line)
            .ok_or_else(|| Refused::line(number, format!("{EXPECTED}; found {}", quoted(&line))))?;
        let found = |bytes| Found {
            at_ns,
            bytes,
            place: number,
        };
        match event {
            // Subtract the TUN device's bytes from an opportunity; other sizes are taken as they are.
            '#' if bytes == WITH_TUN => opportunities.push(found(OPPORTUNITY)),
            '#' => opportunities.push(found(bytes)),
            '-' => departures.push(found(bytes)),
            _ => {}
        }
    }
    let (found, is) = match opportunities.is_empty() {
        false => (
            opportunities,
            "opportunities of a log (lines with #): the capacity that was emulated; no round trip",
        ),
        true => (
            departures,
            "packets that left, of all flows (lines with -; the log has no opportunities): goodput; no capacity, no round trip",
        ),
    };
    if found.is_empty() {
        return Err(Refused::whole(
            "no line with # or -, expected opportunities or packets that left",
        ));
    }
    let (packets, late) = in_order(found, Refused::line)?;
    let mut notes = Vec::new();
    if late > 0 {
        notes.push(format!(
            "lines that were not in order of time and are sorted: {late}"
        ));
    }
    Ok(Import {
        kind: KIND,
        recorded: Recorded::Packets(packets),
        form: Form::Mahimahi,
        is: is.into(),
        notes,
    })
}

/// A line's time, event and number of bytes.
fn event(line: &str) -> Option<(i128, char, u64)> {
    let mut words = line.split_whitespace();
    let ms: f64 = words.next()?.parse().ok()?;
    let event = words.next()?;
    let bytes: u32 = words.next()?.parse().ok()?;
    let known = ["#", "+", "-"].contains(&event);
    let at_ns = (ms * 1e6).round() as i128;
    let good = known && ms.is_finite() && (0.0..=LATEST_MS).contains(&ms);
    good.then_some((at_ns, event.chars().next()?, bytes.into()))
}

/// Lines of text without their ends.
pub(super) fn lines(mut from: impl BufRead) -> impl Iterator<Item = Result<String, Refused>> {
    let mut number = 0;
    std::iter::from_fn(move || {
        number += 1;
        let mut bytes = Vec::new();
        let mut limited = std::io::Read::take(&mut from, LONGEST as u64 + 1);
        match limited.read_until(b'\n', &mut bytes) {
            Ok(0) => return None,
            Ok(_) => {}
            Err(error) => return Some(Err(Refused::unreadable(error))),
        }
        if bytes.len() > LONGEST {
            let message = format!("expected a line of {LONGEST} bytes at most, found a longer one");
            return Some(Err(Refused::line(number, message)));
        }
        let text = String::from_utf8(bytes);
        let text = text.map_err(|_| Refused::line(number, "expected text, found other bytes"));
        Some(text.map(|text| text.trim_end_matches(['\n', '\r']).to_owned()))
    })
}
