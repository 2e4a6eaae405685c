//! `tidegate trace`: writes a shipped cell model as a trace, and imports other people's recordings for scenarios.

mod import;

use crate::values::word;
use anyhow::Result;
use clap::{Args, Subcommand};
use std::io::{BufWriter, Write};
use std::time::Duration;
use tidegate_command::examples::{Example, examples};
use tidegate_command::exit::BadInput;
use tidegate_scenario::{CellKind, GenerateSpec};

/// The longest trace that we write, in seconds: a day.
const LONGEST_S: u64 = 86_400;

/// The most lines that we write: we read no recording above 4 GB.
const MOST_LINES: f64 = 5e8;

/// How `trace` is used.
const EXAMPLES: &[Example] = &[
    (
        "tidegate trace lte --seconds 120 --mean-mbps 20",
        "two minutes of LTE of 20 Mbit/s in Mahimahi's format, to standard output",
    ),
    (
        "tidegate trace import --from 5gdataset drive.csv -o drive-series.csv",
        "somebody else's recording as what a scenario plays",
    ),
];

/// Arguments of `trace`.
#[derive(Debug, Args)]
#[command(
    after_long_help = examples(EXAMPLES),
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub struct TraceArgs {
    #[command(subcommand)]
    pub import: Option<ImportCommand>,
    /// Technology that it resembles: lte, hspa or evdo
    #[arg(value_parser = word::<CellKind>, required = true)]
    pub kind: Option<CellKind>,
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

/// What `trace` does beside writing a model's trace.
#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// Turn other people's recordings of links into what a scenario plays
    #[command(long_about = import::ABOUT)]
    Import(import::ImportArgs),
}

/// Writes a trace, or imports recordings.
pub fn run(args: &TraceArgs) -> Result<()> {
    match (&args.import, args.kind) {
        (Some(ImportCommand::Import(args)), _) => import::run(args),
        (None, Some(kind)) => write(kind, args),
        (None, None) => unreachable!("clap requires one of the two"),
    }
}

/// Writes a model's trace to standard output.
fn write(kind: CellKind, args: &TraceArgs) -> Result<()> {
    if !(1..=LONGEST_S).contains(&args.seconds) {
        return Err(BadInput(format!(
            "--seconds {}, expected 1 to {LONGEST_S}",
            args.seconds
        ))
        .into());
    }
    let range = tidegate_scenario::range("down.rate.generate.mean_mbps").expect("a scenario's");
    if let Some(mbps) = args.mean_mbps.filter(|mbps| !range.spans(*mbps)) {
        return Err(BadInput(format!("--mean-mbps {mbps}, expected {range}")).into());
    }
    let spec = GenerateSpec {
        kind,
        mean_mbps: args.mean_mbps,
        seed: Some(args.seed),
    };
    let model = spec.model(args.seed);
    let lines = model.mean_bps() / 12e3 * args.seconds as f64;
    if lines > MOST_LINES {
        return Err(BadInput(format!(
            "--seconds {} of {} Mbit/s are some {lines:.0e} lines, expected {MOST_LINES:.0e} at most",
            args.seconds,
            model.mean_bps() / 1e6
        ))
        .into());
    }
    let trace = model.trace(Duration::from_secs(args.seconds));
    // Unbuffered standard output makes a system call for each line, and an hour has four million lines.
    let mut out = BufWriter::new(tidegate_terminal::data());
    write!(out, "{trace}")?;
    out.flush()?;
    Ok(())
}
