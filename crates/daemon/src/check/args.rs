//! Arguments of `tidegate check`.

use clap::Args;
use std::path::PathBuf;
use tidegate_command::examples::{Example, examples};

/// How `check` is used.
const EXAMPLES: &[Example] = &[
    (
        "sudo tidegate check",
        "what this machine can do, and what to change",
    ),
    (
        "sudo tidegate check --iface wwan0",
        "the same for one interface",
    ),
];

/// Arguments of `check`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(EXAMPLES))]
pub struct CheckArgs {
    /// Look at the interfaces, rules and law of this configuration
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Look at this interface, repeatable, as `run --iface` would use it
    #[arg(long, value_name = "IF")]
    pub iface: Vec<String>,
    /// The socket of a running agent, which is asked for the kinds of traffic; if none is given, that of the one in this
    /// network namespace
    #[arg(long, value_name = "FILE")]
    pub socket: Option<PathBuf>,
    /// List every finding, and which kinds of traffic would be steered
    #[arg(long, short)]
    pub verbose: bool,
    /// Print the findings as JSON instead of text
    #[arg(long)]
    pub json: bool,
}
