//! Argument values that several commands share, or a command and the configuration.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
#[cfg(feature = "full")]
use std::str::FromStr;
#[cfg(feature = "full")]
use strum::VariantNames;
use tidegate_laws::Law;

/// Parses the name of a law.
pub fn law() -> impl TypedValueParser<Value = Law> {
    one_of(Law::ALL)
}

/// Parses the name of a law that steers.
#[cfg(feature = "full")]
pub fn steering_law() -> impl TypedValueParser<Value = Law> {
    one_of(Law::ALL.into_iter().filter(|law| !law.is_none()))
}

/// Parses the name of one of these laws.
fn one_of(laws: impl IntoIterator<Item = Law>) -> impl TypedValueParser<Value = Law> {
    let named = |law: Law| PossibleValue::new(law.name()).help(law.about());
    PossibleValuesParser::new(laws.into_iter().map(named)).map(|name| {
        let mut laws = Law::ALL.into_iter();
        laws.find(|law| law.name() == name)
            .expect("the parser admits no other")
    })
}

/// The value, if it is a valid λ of DRWA.
pub fn lambda_in_range(value: f64) -> Result<f64, String> {
    if value > 0.0 && value <= 1000.0 {
        Ok(value)
    } else {
        Err("expected a number above 0, at most 1000".into())
    }
}

/// Parses one of a scenario's words.
#[cfg(feature = "full")]
pub fn word<T: FromStr + VariantNames>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| {
        let (last, others) = T::VARIANTS.split_last().expect("at least two words");
        format!("expected {} or {last}", others.join(", "))
    })
}

/// Parses a number of bytes, with kB, MB or GB after it.
#[cfg(feature = "full")]
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
