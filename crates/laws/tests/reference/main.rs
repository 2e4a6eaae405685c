//! The laws against their formulas.
//!
//! Each module is a formula as its paper or header states it, in floating point, with unbounded
//! numbers and unbounded memory, written for the reader; its `agrees` runs the C of `laws/` beside
//! it over random histories. Times are whole microseconds on both sides, since that is what the
//! clocks count; everything else is real.
//!
//! The C runs on the host here. That the kernel's compilation does the same, bit for bit, is the
//! agent's test (`crates/agent/tests/kernel.rs`).

mod afc;
mod delay;
mod rledbat;
mod round;
mod rsfc;
mod rtt;
mod tide;
mod window;

use proptest::test_runner::{Config, RngSeed};

/// The same histories every time.
fn histories(cases: u32) -> Config {
    Config {
        cases,
        rng_seed: RngSeed::Fixed(0x7464),
        failure_persistence: None,
        ..Config::default()
    }
}

/// Asserts that `ours` is within `share` of `formula`, plus `slack`.
#[track_caller]
fn assert_close(ours: f64, formula: f64, share: f64, slack: f64) {
    let allowed = formula.abs() * share + slack;
    assert!(
        (ours - formula).abs() <= allowed,
        "the law says {ours}, the formula {formula}, allowed are {allowed}"
    );
}
