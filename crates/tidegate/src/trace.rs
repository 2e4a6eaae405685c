//! `tidegate trace`: a shipped cell model as a file.

use crate::args::examples::{Example, examples};
use crate::args::values::word;
use crate::exit::BadInput;
use anyhow::Result;
use clap::Args;
use std::io::Write;
use std::time::Duration;
use tidegate_scenario::{CellKind, GenerateSpec};

/// The longest trace that is written, in seconds: a day.
const LONGEST_S: u64 = 86_400;

/// How `trace` is used.
const EXAMPLES: &[Example] = &[(
    "tidegate trace lte --seconds 120 --mean-mbps 20",
    "two minutes of LTE of 20 Mbit/s in Mahimahi's format, to standard output",
)];

/// Arguments of `trace`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(EXAMPLES))]
pub struct TraceArgs {
    /// Technology that it resembles: lte, hspa or evdo
    #[arg(value_parser = word::<CellKind>)]
    pub kind: CellKind,
    /// Length; the trace loops after it
    #[arg(long, default_value_t = 60)]
    pub seconds: u64,
    /// Mean rate; the technology's own if absent
    #[arg(long, value_name = "MBPS")]
    pub mean_mbps: Option<f64>,
    /// Same seed, same trace
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Writes it to standard output.
pub fn run(args: &TraceArgs) -> Result<()> {
    if !(1..=LONGEST_S).contains(&args.seconds) {
        return Err(BadInput(format!(
            "--seconds {}, expected 1 to {LONGEST_S}",
            args.seconds
        ))
        .into());
    }
    if args.mean_mbps.is_some_and(|m| !(m.is_finite() && m > 0.0)) {
        return Err(BadInput("--mean-mbps, expected more than 0".into()).into());
    }
    let spec = GenerateSpec {
        kind: args.kind,
        mean_mbps: args.mean_mbps,
        seed: Some(args.seed),
    };
    let trace = spec
        .model(args.seed)
        .trace(Duration::from_secs(args.seconds));
    write!(tidegate_terminal::data(), "{trace}")?;
    Ok(())
}
