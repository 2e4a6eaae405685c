//! Arguments of `tidegate sim`.

use crate::scenarios::ScenarioArgs;
use clap::Args;
use std::path::PathBuf;
use tidegate_command::examples::{Example, examples};

/// How `sim` is used.
const EXAMPLES: &[Example] = &[
    (
        "tidegate sim scenarios/lte-download.toml",
        "the same in virtual time, without root",
    ),
    (
        "tidegate sim scenarios/lte-download.toml --vary down.delay_ms=10,40,140 --seeds 8 --out sweep.csv",
        "over three delays and eight seeds",
    ),
];

/// Arguments of `sim`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(EXAMPLES))]
pub struct SimArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Repeat everything with that many seeds, beginning with the scenario's own, and show means with 95 % confidence
    /// intervals
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub seeds: u32,
    /// Runs at a time; as many as there are cores by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Write one row a run to this file, as soon as it is known; or, if this is a folder's name (FOLDER/), to
    /// files in it, each of some seconds of work, written whole or not at all
    #[arg(long, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
    /// Continue the file or folder of `--out`: runs whose rows are there are not run again. Rows of other sweeps, or of
    /// a scenario that has changed since, are refused
    #[arg(long, requires = "out", conflicts_with_all = ["json", "html"])]
    pub resume: bool,
}
