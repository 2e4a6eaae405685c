//! Numbers as people read them, short enough for a column.

/// Three digits of `value`, which is at least 0.
fn digits(value: f64) -> String {
    match value {
        v if v < 9.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

/// The value in the largest of `units` that leaves a whole number; each is `step` times the one before.
fn scaled(value: f64, step: f64, units: &[&str]) -> String {
    let (mut value, mut units) = (value, units);
    while value >= 0.9995 * step && units.len() > 1 {
        value /= step;
        units = &units[1..];
    }
    format!("{} {}", digits(value), units[0])
}

/// Bytes, in powers of ten as links are.
pub fn bytes(bytes: u64) -> String {
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    scaled(bytes as f64 / 1e3, 1e3, &["kB", "MB", "GB", "TB", "PB"])
}

/// A rate in bits a second.
pub fn rate(bps: f64) -> String {
    if bps < 50.0 {
        return "0".into();
    }
    scaled(bps / 1e3, 1e3, &["kb/s", "Mb/s", "Gb/s", "Tb/s"])
}

/// A delay in µs.
pub fn delay(us: u32) -> String {
    scaled(f64::from(us) / 1e3, 1e3, &["ms", "s"])
}

/// A duration in s.
pub fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds / 60),
        3600..86_400 => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

/// A part of a whole.
pub fn share(part: f64, whole: f64) -> String {
    if whole <= 0.0 {
        return "–".into();
    }
    let percent = 100.0 * part / whole;
    if percent > 0.0 && percent < 1.0 {
        "<1 %".into()
    } else {
        format!("{percent:.0} %")
    }
}

#[cfg(test)]
mod tests {
    use super::{bytes, delay, duration, rate, share};
    #[test]
    fn numbers_keep_their_width_where_the_unit_changes() {
        let told = [0, 999, 1000, 9_949, 9_951, 999_499, 999_500, 32 << 20].map(bytes);
        let expected = [
            "0 B", "999 B", "1.0 kB", "9.9 kB", "10 kB", "999 kB", "1.0 MB", "34 MB",
        ];
        assert_eq!(told, expected);
        let told = [0.0, 200.0, 19_300_000.0, 999_600_000.0].map(rate);
        assert_eq!(told, ["0", "0.2 kb/s", "19 Mb/s", "1.0 Gb/s"]);
        let told = [0, 400, 12_400, 999_400, 1_234_000].map(delay);
        assert_eq!(told, ["0.0 ms", "0.4 ms", "12 ms", "999 ms", "1.2 s"]);
        let told = [59, 61, 3_700, 90_000].map(duration);
        assert_eq!(told, ["59 s", "1 min", "1 h 1 min", "1 d 1 h"]);
    }

    #[test]
    fn a_small_share_is_not_none() {
        let told = [(0.0, 9.0), (0.01, 9.0), (4.5, 9.0), (0.0, 0.0)].map(|(a, b)| share(a, b));
        assert_eq!(told, ["0 %", "<1 %", "50 %", "–"]);
    }
}
