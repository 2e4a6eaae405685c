//! The names of laws as arguments.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tidegate_laws::Law;

/// Parses the name of a law.
pub fn law() -> impl TypedValueParser<Value = Law> {
    one_of(Law::ALL)
}

/// Parses the name of a law that steers.
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
