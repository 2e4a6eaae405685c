//! Argument values that several commands share.

use std::str::FromStr;
use strum::VariantNames;

/// Parses one of a scenario's words.
pub fn word<T: FromStr + VariantNames>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| {
        let (last, others) = T::VARIANTS.split_last().expect("at least two words");
        format!("expected {} or {last}", others.join(", "))
    })
}

/// Parses a number of bytes, with kB, MB or GB after it.
pub fn bytes(text: &str) -> Result<u64, String> {
    let units = [("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("B", 1.0), ("", 1.0)];
    let (number, unit) = units
        .iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))
        .expect("the empty suffix fits");
    let value = number.trim().parse::<f64>().ok().map(|n| n * unit);
    let value = value.filter(|v| (1e5..=1e12).contains(v));
    value
        .map(|v| v as u64)
        .ok_or_else(|| "expected 100kB to 1000GB, such as 100MB".into())
}
