//! Numbers as text.

use tidegate_report::fixed;

/// With as many decimals as anybody compares: three significant digits or so.
pub fn figures(value: f64) -> String {
    match value.abs() {
        v if !v.is_finite() => "–".into(),
        v if v >= 100.0 => fixed(value, 0),
        v if v >= 10.0 => fixed(value, 1),
        _ => fixed(value, 2),
    }
}
