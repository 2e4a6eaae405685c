//! The command line: the commands; each has its arguments beside its code.

pub mod examples;
#[cfg(feature = "full")]
mod full;
pub mod values;

use crate::check::CheckArgs;
use crate::pause::{PauseArgs, ResumeArgs};
use crate::run::RunArgs;
use crate::stop::StopArgs;
use crate::top::TopArgs;
use clap::{Parser, Subcommand};
#[cfg(feature = "full")]
pub use full::FullCommand;

/// The version, and the commit that it was built from.
const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("TIDEGATE_COMMIT"),
    ")"
);

/// Keeps the queue in front of an over-buffered access link short from the receiving end, by
/// steering the TCP receive window.
#[derive(Debug, Parser)]
#[command(version = VERSION, arg_required_else_help = true)]
pub struct CommandLine {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Steer this machine's downloads and uploads until interrupted
    Run(RunArgs),
    /// Show what this kernel supports, what would be used, and what to change
    Check(CheckArgs),
    /// End the agent that runs here, and remove what any agent has left in the kernel
    Stop(StopArgs),
    /// Have the running agent steer nothing for a time, after which it goes on by itself
    Pause(PauseArgs),
    /// End a pause before its time
    Resume(ResumeArgs),
    /// Watch the agent's flows: queueing delay, round trips, windows, rates, and what limits each
    Top(TopArgs),
    /// The commands beside the agent's
    #[cfg(feature = "full")]
    #[command(flatten)]
    Full(FullCommand),
    /// Delay packets on behalf of the agent that starts this process
    #[command(hide = true)]
    Gate,
}
