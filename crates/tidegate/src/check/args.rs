//! Arguments of `tidegate check`.

use crate::run::serve::SOCKET;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Look at the interfaces, rules and law of this configuration
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The socket of a running agent, which is asked for the kinds of traffic
    #[arg(long, value_name = "FILE", default_value = SOCKET)]
    pub socket: PathBuf,
    /// Print the findings as JSON instead of text
    #[arg(long)]
    pub json: bool,
}
