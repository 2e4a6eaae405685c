//! Numbers as text.

/// With as many decimals as anybody compares: three significant digits or so.
pub fn figures(value: f64) -> String {
    match value.abs() {
        v if !v.is_finite() => "–".into(),
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}
