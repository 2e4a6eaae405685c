//! Arguments of `tidegate reproduce`.

use clap::Args;
use std::path::PathBuf;
use tidegate_command::examples::{Example, examples};

/// How `reproduce` is used.
const EXAMPLES: &[Example] = &[
    ("tidegate reproduce", "what there is"),
    (
        "tidegate reproduce drwa --quick",
        "a paper, within two minutes",
    ),
    (
        "tidegate reproduce tide --traces FOLDER --html tide.html",
        "over recorded links, with pictures",
    ),
];

/// Arguments of `reproduce`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(EXAMPLES))]
pub struct ReproduceArgs {
    /// The paper (drwa) or law (tide), then figures of it (fig-15, or 15; table-3), by default all. Without any, papers
    /// and figures are listed
    #[arg(value_name = "PAPER|FIGURE")]
    pub what: Vec<String>,
    /// Only a few seeds or links, so that it takes less than two minutes
    #[arg(long, requires = "what")]
    pub quick: bool,
    /// Run it over the kernel's TCP too, shorter and with one seed, and show both: figures that take minutes, or those
    /// that you name. Needs root
    #[arg(long, requires = "what")]
    pub lab: bool,
    /// Repeat every run with that many seeds
    #[arg(long, requires = "what", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub seeds: Option<u32>,
    /// Runs at a time; as many as there are cores by default
    #[arg(long, requires = "what", value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Print the result as JSON instead of a table
    #[arg(long)]
    pub json: bool,
    /// Write a self-contained page with pictures and numbers
    #[arg(long, requires = "what", value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// tide, rivals, measurements, copa, sprout and abc: run over the recorded links in this folder too. They are
    /// Mahimahi's traces (*.down, *.up; sprout and abc look for those of their papers by name) and, for tide, rivals and
    /// copa, rate series (*.csv)
    #[arg(long, requires = "what", value_name = "FOLDER")]
    pub traces: Option<PathBuf>,
    /// Write one row a run to this file, as soon as it is known
    #[arg(long, requires = "what", value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
    /// Write every run as a scenario for `tidegate sim` into this folder, and run nothing
    #[arg(long, requires = "what", value_name = "FOLDER", conflicts_with_all = ["json", "html"])]
    pub scenarios: Option<PathBuf>,
}
