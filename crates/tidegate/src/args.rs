//! The command line: the commands; each has its arguments beside its code.

#[cfg(test)]
mod tests;

use crate::bench::BenchArgs;
use crate::generate::GenerateArgs;
use crate::lab::LabArgs;
use crate::link::LinkArgs;
use crate::mpath::MpathCommand;
use crate::probe::ProbeArgs;
use crate::reproduce::ReproduceArgs;
use crate::sim::SimArgs;
use crate::trace::TraceArgs;
use crate::trial::TryArgs;
use crate::validate::ValidateArgs;
use clap::{Parser, Subcommand};
use tidegate_daemon::AgentCommand;

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
    /// The agent's commands
    #[command(flatten)]
    Agent(AgentCommand),
    /// Run a scenario over real kernel TCP between two network namespaces
    Lab(LabArgs),
    /// Run a scenario in virtual time over Tidegate's own TCP, with sweeps over all cores
    Sim(SimArgs),
    /// Reproduce a paper's figures in virtual time, beside the printed ones
    Reproduce(ReproduceArgs),
    /// Compare the simulator with the kernel: run the same scenarios in both
    Validate(ValidateArgs),
    /// Run any command behind an emulated link
    Link(LinkArgs),
    /// Measure a link: rate, bursts, buffer (bufferbloat), drop policy, latency under load
    Probe(ProbeArgs),
    /// Try steering on your own link, in turns with and without: does it help here?
    Try(TryArgs),
    /// Measure what the parts of Tidegate cost on this machine
    Bench(BenchArgs),
    /// Write a trace of one of the shipped cell models, in Mahimahi's format
    Trace(TraceArgs),
    /// Carry bulk transfers around congested core links
    #[command(subcommand)]
    Mpath(MpathCommand),
    /// Write the manual pages and the completions of shells that the package ships, or the reference
    #[command(hide = true)]
    Generate(GenerateArgs),
}
