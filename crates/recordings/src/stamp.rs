//! Times as files write them, in nanoseconds since a start that is the same for the whole file.

use time::format_description::well_known::Iso8601;
use time::macros::format_description;
use time::{OffsetDateTime, PrimitiveDateTime, format_description::BorrowedFormatItem};

/// G-NetTrack's: `2019.12.16_13.40.04`.
const G_NET_TRACK: &[BorrowedFormatItem<'_>] =
    format_description!("[year].[month].[day]_[hour].[minute].[second]");

/// Largest numbers that count as seconds, milliseconds and microseconds since 1970; larger ones count nanoseconds.
const UNITS: [(f64, f64); 3] = [(1e11, 1e9), (1e14, 1e6), (1e17, 1e3)];

/// Largest number of nanoseconds.
const LARGEST: f64 = 1e20;

/// The expected form of a time.
pub const EXPECTED: &str = "a time: seconds, 2019-12-16T13:40:04.5Z or 2019.12.16_13.40.04";

/// That time.
pub fn stamp(text: &str) -> Option<i128> {
    number(text).or_else(|| date(text))
}

fn number(text: &str) -> Option<i128> {
    let number: f64 = text.parse().ok()?;
    if !number.is_finite() || !(0.0..=LARGEST).contains(&number) {
        return None;
    }
    let unit = UNITS.iter().find(|(most, _)| number < *most);
    Some((number * unit.map_or(1.0, |(_, ns)| *ns)).round() as i128)
}

/// A date without an offset is read as UTC: only differences matter.
fn date(text: &str) -> Option<i128> {
    if let Ok(local) = PrimitiveDateTime::parse(text, G_NET_TRACK) {
        return Some(local.assume_utc().unix_timestamp_nanos());
    }
    // Without bounds there are forms of ISO 8601 without a day.
    let text = text.replacen(' ', "T", 1);
    let offset = OffsetDateTime::parse(&text, &Iso8601::PARSING).ok();
    let local = || PrimitiveDateTime::parse(&text, &Iso8601::PARSING).ok();
    let at = offset.or_else(|| Some(local()?.assume_utc()))?;
    Some(at.unix_timestamp_nanos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_ways_to_write_a_time_agree() {
        let at = Some(1_576_503_604_500_000_000);
        for text in [
            "1576503604.5",
            "1576503604500",
            "1576503604500000",
            "2019-12-16T13:40:04.5Z",
            "2019-12-16T13:40:04.5",
            "2019-12-16 13:40:04.500",
            "2019-12-16T08:40:04.500000-05:00",
        ] {
            assert_eq!(stamp(text), at, "{text}");
        }
        assert_eq!(stamp("2019.12.16_13.40.04"), at.map(|at| at - 500_000_000));
        assert_eq!(stamp("0"), Some(0));
        for bad in [
            "",
            "-1",
            "nan",
            "inf",
            "1e300",
            "noon",
            "2019.13.16_13.40.04",
            "12:00",
        ] {
            assert_eq!(stamp(bad), None, "{bad}");
        }
    }
}
