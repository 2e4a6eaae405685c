//! Results are the same on every platform: nothing that this program needs to run a scenario, in our crates or in
//! their dependencies, calls the platform's mathematical library for functions that IEEE 754 does not define to the
//! last bit. Clippy refuses such calls in our own sources (`clippy.toml`); this test looks at the compiled program.

mod common;

use object::{Object, ObjectSymbol};
use std::collections::BTreeSet;

/// C's functions of `double` whose last bit differs between implementations, and the compiler's powers of whole
/// exponents; those of `float` have an f behind.
const INEXACT: [&str; 38] = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "cos",
    "cosh",
    "cospi",
    "erf",
    "erfc",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "hypot",
    "j0",
    "j1",
    "jn",
    "lgamma",
    "lgamma_r",
    "log",
    "log10",
    "log1p",
    "log2",
    "pow",
    "rsqrt",
    "sin",
    "sincos",
    "sinh",
    "sinpi",
    "tan",
    "tanh",
    "tgamma",
    "__powidf2",
    "__powisf2",
];

/// `log2` is hdrhistogram's, which asks it once, at the bounds of `tidegate_measure::Durations`: 1, whose
/// logarithm is exact, and 2000, whose logarithm is rounded up to a whole number from 10.97.
const ALLOWED: [&str; 1] = ["log2"];

#[test]
fn nothing_is_left_to_the_platforms_mathematics() {
    // Run a scenario, so that this program contains everything that one needs.
    let run = common::run(&common::scenario(
        5.0,
        1.0,
        50,
        "{ name = 'bulk', does = { bulk = {} } }",
    ));
    assert!(run.flows[0].goodput_bps > 0.0);
    // Finding `log2` also shows that the search works.
    assert_eq!(inexact(), BTreeSet::from(ALLOWED));
}

/// The inexact functions that this program imports, or contains from a static library.
fn inexact() -> BTreeSet<&'static str> {
    let path = std::env::current_exe().expect("this program has a path");
    let program = std::fs::read(path).expect("this program can be read");
    let program = object::File::parse(&*program).expect("this program is an object file");
    let symbols = program.symbols().chain(program.dynamic_symbols());
    symbols
        .filter_map(|s| s.name().ok())
        .filter_map(known)
        .collect()
}

/// The function of `INEXACT` that a symbol names, with or without a version.
fn known(symbol: &str) -> Option<&'static str> {
    let name = symbol.split('@').next()?;
    let is_it = |function: &&str| name == *function || name.strip_suffix('f') == Some(function);
    INEXACT.into_iter().find(is_it)
}

#[test]
fn functions_are_known_by_their_symbols() {
    for symbol in [
        "exp",
        "expf",
        "exp@GLIBC_2.29",
        "powf@@GLIBC_2.27",
        "__powidf2",
    ] {
        assert!(known(symbol).is_some(), "{symbol}");
    }
    for symbol in [
        "sqrt",
        "floor",
        "fma",
        "fmod",
        "_ZN4libm4math3exp3exp17h0123E",
        "explode",
    ] {
        assert_eq!(known(symbol), None, "{symbol}");
    }
}
