//! Arguments of `tidegate validate`.

use crate::shipped;
use clap::Args;
use std::path::PathBuf;
use tidegate_command::examples::{Example, examples};

/// How `validate` is used.
const EXAMPLES: &[Example] = &[
    (
        "sudo tidegate validate --html validate.html",
        "simulator and kernel side by side",
    ),
    (
        "sudo tidegate validate --random 20 --seed 7 --out drawn",
        "over twenty scenarios that chance draws, which are kept",
    ),
    (
        "tidegate validate --again drawn",
        "the simulator as it is now, over the kernel's results that were kept",
    ),
];

/// Arguments of `validate`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(EXAMPLES))]
pub struct ValidateArgs {
    /// The folder with the scenarios, and with the known differences in reasons.toml
    #[arg(default_value = "scenarios/validate", value_parser = shipped::path())]
    pub scenarios: PathBuf,
    /// Only the scenario of this name, repeatable
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Run each that many times, with another seed and start each time, and compare the medians
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Instead of a folder's scenarios, run N random ones: each once on the kernel and thirty times in the simulator, and
    /// compare the kernel's numbers with the range of these thirty
    #[arg(long, value_name = "N", conflicts_with_all = ["scenarios", "only", "repeat", "html"], value_parser = clap::value_parser!(u32).range(1..))]
    pub random: Option<u32>,
    /// Seed of the first random scenario; each later one has the next seed
    #[arg(long, value_name = "S", default_value_t = 1, requires = "random", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: u64,
    /// Keep the random scenarios in this folder, each with the kernel's result in a folder of its own; of those that differ
    /// most, also a small scenario that differs as much and its curves
    #[arg(long, value_name = "FOLDER", requires = "random")]
    pub out: Option<PathBuf>,
    /// Hold the simulator against the kernel's results that `--out` has kept in this folder; needs no root without `--small`
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["scenarios", "only", "repeat", "html", "random"])]
    pub again: Option<PathBuf>,
    /// Reduce that many of the kept scenarios, those that differ most, to small ones (some minutes each), and show their curves; 1 with `--out`
    #[arg(long, value_name = "N")]
    pub small: Option<usize>,
    /// Run random scenarios in which a number is off by a factor of two N times more on the kernel, one by one: it is off
    /// only if the median is; 2 with `--random`, 0 with `--again`
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=100))]
    pub confirm: Option<u32>,
    /// Print the rows as JSON instead of a table
    #[arg(long)]
    pub json: bool,
    /// Write a self-contained page with the table and, for each scenario, the kernel's curves and
    /// the simulator's in one picture
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}
