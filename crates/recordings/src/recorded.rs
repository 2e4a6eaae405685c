//! The contents of a recording, and how they are written.

use crate::{Packet, Refused, Step};
use std::io::{self, Write};
use std::time::Duration;

/// Bytes of an opportunity in Mahimahi's format from the IP header on: 4 of its 1504 belong to the TUN device.
pub const OPPORTUNITY: u64 = 1500;

/// A nanobit is what a bit/s carries in a nanosecond.
const OPPORTUNITY_NANOBITS: u128 = OPPORTUNITY as u128 * 8 * 1_000_000_000;

/// Most lines that are written: no recording that is read has more than 4 GB.
const MOST_LINES: u64 = 500_000_000;

/// The last millisecond that the format can hold.
const LAST_MS: u64 = u32::MAX as u64;

/// The contents of a recording, from its beginning on.
#[derive(Clone, Debug, PartialEq)]
pub enum Recorded {
    /// A rate at every time.
    Rates(Vec<Step>),
    /// Packets in order of time.
    Packets(Vec<Packet>),
}

/// The form in which a scenario plays a recording.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, strum::Display, strum::EnumString, strum::VariantNames,
)]
#[strum(serialize_all = "lowercase")]
pub enum Form {
    /// `series`: seconds and bits per second.
    Series,
    /// `trace`: the millisecond of an opportunity to send 1500 bytes in each line.
    Mahimahi,
}

/// Summary of a written file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Written {
    /// Lines without a header.
    pub lines: u64,
    /// Time until it starts anew.
    pub period: Duration,
    /// Bytes in that time.
    pub bytes: u64,
}

impl Recorded {
    /// How long it is, in nanoseconds.
    pub fn length_ns(&self) -> u64 {
        match self {
            Self::Rates(steps) => steps.iter().map(|step| step.length_ns).sum(),
            Self::Packets(packets) => packets.last().map_or(0, |packet| packet.at_ns),
        }
    }

    /// Nanobits that it carries in all.
    pub fn nanobits(&self) -> u128 {
        match self {
            Self::Rates(steps) => steps.iter().map(Step::nanobits).sum(),
            Self::Packets(packets) => {
                let bytes = packets.iter().map(|packet| u128::from(packet.bytes));
                bytes.sum::<u128>() * 8_000_000_000
            }
        }
    }

    /// The mean rate in bit/s.
    pub fn mean_bps(&self) -> f64 {
        self.nanobits() as f64 / self.length_ns() as f64
    }

    /// Checks that a link can play it.
    pub(crate) fn check(&self) -> Result<(), Refused> {
        if self.length_ns() == 0 {
            return Err(Refused::whole(
                "all of it is at one moment, expected a recording that lasts",
            ));
        }
        let mean = self.mean_bps();
        match (1.0..=crate::table::MOST_BPS).contains(&mean) {
            true => Ok(()),
            false => Err(Refused::whole(format!(
                "its mean is {mean:e} bit/s, expected 1 bit/s to 100 Gbit/s; is its unit another?"
            ))),
        }
    }

    /// Writes it; packets become a series of their rates in bins of length `bin`.
    ///
    /// # Errors
    /// When writing fails, or if the recording is too short or too long for the form.
    pub fn write(&self, form: Form, bin: Duration, to: &mut impl Write) -> io::Result<Written> {
        match (form, self) {
            (Form::Series, Self::Rates(steps)) => write_series(steps, to),
            (Form::Series, Self::Packets(packets)) => write_series(&in_bins(packets, bin)?, to),
            (Form::Mahimahi, _) => self.write_opportunities(to),
        }
    }

    fn write_opportunities(&self, to: &mut impl Write) -> io::Result<Written> {
        let count = u64::try_from(self.nanobits() / OPPORTUNITY_NANOBITS).unwrap_or(u64::MAX);
        if count == 0 {
            return Err(unfit("carries less than the 1500 bytes of one line"));
        }
        if count > MOST_LINES {
            let message =
                format!("carries {count} times 1500 bytes, expected {MOST_LINES:e} at most");
            return Err(unfit(&(message + "; write it with --as series")));
        }
        let end = self.length_ns().div_ceil(1_000_000).max(1);
        if end > LAST_MS {
            return Err(unfit("is longer than the format's 49 days"));
        }
        let mut left = count;
        let mut line = |ns: u64| {
            left -= 1;
            // The last line also sets the period: without a line at its end, silence there would be lost.
            let ms = if left == 0 {
                end
            } else {
                ns.div_ceil(1_000_000).min(end)
            };
            writeln!(to, "{ms}")
        };
        match self {
            Self::Rates(steps) => of_rates(steps, count, &mut line)?,
            Self::Packets(packets) => of_packets(packets, &mut line)?,
        }
        Ok(Written {
            lines: count,
            period: Duration::from_millis(end),
            bytes: count * OPPORTUNITY,
        })
    }
}

impl Step {
    fn nanobits(&self) -> u128 {
        (self.bps * self.length_ns as f64) as u128
    }
}

/// An error for a recording that does not fit the form.
fn unfit(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Writes a line whenever another 1500 bytes have passed.
fn of_rates(
    steps: &[Step],
    count: u64,
    line: &mut impl FnMut(u64) -> io::Result<()>,
) -> io::Result<()> {
    let (mut start, mut carried, mut written) = (0_u64, 0_u128, 0_u64);
    for step in steps {
        let after = carried + step.nanobits();
        while written < count && u128::from(written + 1) * OPPORTUNITY_NANOBITS <= after {
            let missing = u128::from(written + 1) * OPPORTUNITY_NANOBITS - carried;
            let within = (missing as f64 / step.bps).ceil() as u64;
            line(start + within.min(step.length_ns))?;
            written += 1;
        }
        (start, carried) = (start + step.length_ns, after);
    }
    Ok(())
}

/// Writes a line at each packet that completes another 1500 bytes.
fn of_packets(packets: &[Packet], line: &mut impl FnMut(u64) -> io::Result<()>) -> io::Result<()> {
    let mut waiting = 0;
    for packet in packets {
        waiting += packet.bytes;
        while waiting >= OPPORTUNITY {
            waiting -= OPPORTUNITY;
            line(packet.at_ns)?;
        }
    }
    Ok(())
}

/// The rates of packets in bins.
fn in_bins(packets: &[Packet], bin: Duration) -> io::Result<Vec<Step>> {
    let bin = bin.as_nanos() as u64;
    let end = packets.last().map_or(0, |packet| packet.at_ns);
    let bins = end.div_ceil(bin).max(1);
    if bins > MOST_LINES {
        return Err(unfit(
            "has too many bins, expected 500 million at most; choose a longer --bin-ms",
        ));
    }
    let mut bytes = vec![0_u64; bins as usize];
    for packet in packets {
        // A packet at the very end belongs to the last bin.
        let index = (packet.at_ns / bin).min(bins - 1);
        bytes[index as usize] += packet.bytes;
    }
    let rate = |bytes| bytes as f64 * 8e9 / bin as f64;
    let steps = bytes.into_iter().map(|bytes| Step {
        length_ns: bin,
        bps: rate(bytes),
    });
    Ok(steps.collect())
}

/// Writes rows of whole bits per second. What rounding takes from one row is added to the next.
fn write_series(steps: &[Step], to: &mut impl Write) -> io::Result<Written> {
    writeln!(to, "seconds,bits_per_second")?;
    let rows = with_an_end(steps);
    let (mut start, mut owed, mut bits) = (0_u64, 0.0, 0.0);
    for row in &rows {
        let seconds = row.length_ns as f64 / 1e9;
        let wanted = row.bps * seconds;
        let bps = match row.bps > 0.0 {
            true => ((wanted + owed) / seconds).round().max(0.0),
            false => 0.0,
        };
        owed += wanted - bps * seconds;
        bits += bps * seconds;
        writeln!(to, "{},{bps}", in_seconds(start))?;
        start += row.length_ns;
    }
    if bits == 0.0 {
        return Err(unfit("carries less than 1 bit/s"));
    }
    Ok(Written {
        lines: rows.len() as u64,
        period: Duration::from_nanos(start),
        bytes: (bits / 8.0) as u64,
    })
}

/// The last row of a series lasts as long as the one before it, so a last step of another length is split into two
/// halves.
fn with_an_end(steps: &[Step]) -> Vec<Step> {
    let mut rows = steps.to_vec();
    let ends = match rows[..] {
        [.., before, last] => before.length_ns == last.length_ns,
        _ => false,
    };
    match rows.last_mut() {
        Some(last) if !ends && last.length_ns > 1 => {
            let half = last.length_ns / 2;
            last.length_ns -= half;
            let second = Step {
                length_ns: half,
                bps: last.bps,
            };
            rows.push(second);
        }
        _ => {}
    }
    rows
}

/// Nanoseconds as seconds, without trailing zeros.
fn in_seconds(ns: u64) -> String {
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
