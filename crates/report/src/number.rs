//! Numbers as text.

/// With that many decimals; a value that rounds to zero has no sign.
pub fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let is_nothing = text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.'));
    match text.strip_prefix('-') {
        Some(nothing) if is_nothing => nothing.to_owned(),
        _ => text,
    }
}

/// bit/s as Mbit/s: two decimals, and on slow links as many as two significant figures need.
pub fn mbps(bps: f64) -> String {
    let mbps = bps / 1e6;
    let decimals = match mbps.abs() {
        m if m < 5e-7 => 2,
        m if m < 0.000_995 => 6,
        m if m < 0.009_95 => 4,
        m if m < 0.0995 => 3,
        _ => 2,
    };
    fixed(mbps, decimals)
}

/// A share of one as a percentage.
pub(crate) fn percent(share: f64) -> String {
    fixed(share * 100.0, 1)
}

/// Milliseconds in a sentence, with as many figures as a reader remembers.
pub(crate) fn about(value: f64) -> String {
    fixed(value, if value.abs() < 9.95 { 1 } else { 0 })
}

/// A size in bytes with an SI prefix: `100 kB`.
pub(crate) fn size(bytes: u64) -> String {
    let units = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    match units.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => {
            let text = format!("{:.2}", bytes as f64 / *unit as f64);
            format!(
                "{} {name}",
                text.trim_end_matches('0').trim_end_matches('.')
            )
        }
        None => format!("{bytes} B"),
    }
}

/// How `ratio` compares with `whose`, in words: `1/61 of linux's`, `78 % of linux's`, `the same as
/// linux's`, `1.4 times linux's`.
pub(crate) fn compared(ratio: f64, whose: &str) -> String {
    match ratio {
        r if r <= 0.0 => format!("nothing against {whose}'s"),
        r if r < 0.67 => format!("1/{} of {whose}'s", parts(1.0 / r)),
        r if r < 0.97 => format!("{:.0} % of {whose}'s", r * 100.0),
        r if r <= 1.03 => format!("the same as {whose}'s"),
        r => format!("{} times {whose}'s", parts(r)),
    }
}

fn parts(n: f64) -> String {
    let text = if n < 9.95 {
        format!("{n:.1}")
    } else {
        format!("{n:.0}")
    };
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests;
