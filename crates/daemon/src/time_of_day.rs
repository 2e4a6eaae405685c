//! The local time of day.

use std::time::{SystemTime, UNIX_EPOCH};

/// The time now.
pub fn seconds_since_1970() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs_f64()
}

/// A time in seconds since 1970 as local time: `14:05`, with the date if it is on another day than `now_s`.
pub fn local(at_s: u64, now_s: u64) -> String {
    let (at, now) = (broken_down(at_s), broken_down(now_s));
    let time = format!("{:02}:{:02}", at.tm_hour, at.tm_min);
    if (at.tm_year, at.tm_yday) == (now.tm_year, now.tm_yday) {
        return time;
    }
    let (year, month) = (at.tm_year + 1900, at.tm_mon + 1);
    format!("{year}-{month:02}-{:02} {time}", at.tm_mday)
}

fn broken_down(at_s: u64) -> libc::tm {
    // SAFETY: zeroes are a valid tm, which localtime_r fills in.
    unsafe {
        let mut date = std::mem::zeroed();
        libc::localtime_r(&(at_s as libc::time_t), &raw mut date);
        date
    }
}

#[cfg(test)]
mod tests {
    use super::local;

    #[test]
    fn the_date_is_said_of_another_day_alone() {
        // Noon somewhere: in any time zone, an hour later is the same day or the next.
        let noon = 1_772_366_400;
        let same = local(noon, noon);
        assert_eq!(same.len(), "14:05".len(), "{same}");
        let later = local(noon + 2 * 86_400, noon);
        assert_eq!(later.len(), "2026-03-03 14:05".len(), "{later}");
        assert!(
            later.starts_with("2026-03-0") && later.ends_with(&same),
            "{later}"
        );
    }
}
