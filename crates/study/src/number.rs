//! Numbers as text.

use tidegate_report::fixed;

/// With about three significant digits, which is what readers compare.
pub fn figures(value: f64) -> String {
    match value.abs() {
        v if !v.is_finite() => "–".into(),
        v if v >= 100.0 => fixed(value, 0),
        v if v >= 10.0 => fixed(value, 1),
        _ => fixed(value, 2),
    }
}
