//! What can be asked for.

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Keeps the queue in front of an over-buffered access link short from the receiving end, by
/// steering the TCP receive window.
#[derive(Debug, Parser)]
#[command(version, arg_required_else_help = true)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Steer this machine's downloads until interrupted
    Run(RunArgs),
    /// Run a scenario over real kernel TCP between two network namespaces
    Lab(LabArgs),
}

/// Arguments of `run`.
#[derive(Debug, ClapArgs)]
pub struct RunArgs {
    /// Interface to attach to, repeatable; those of the default routes if none is given
    #[arg(long, value_name = "IF")]
    pub iface: Vec<String>,
    /// What steers the window
    #[arg(long, value_enum, default_value_t = LawArg::Tide)]
    pub law: LawArg,
    /// DRWA's λ: the multiple of the smallest RTT at which it holds the RTT
    #[arg(long, default_value_t = 3.0, value_parser = lambda)]
    pub lambda: f64,
    /// DRS's static limit in bytes
    #[arg(long, value_name = "BYTES")]
    pub limit: Option<u32>,
    /// Measure and compute, but change no packet
    #[arg(long)]
    pub dry_run: bool,
    /// One JSON object a second on standard output, instead of text
    #[arg(long)]
    pub json: bool,
    /// Stop by itself after so many seconds
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<f64>,
}

/// Laws that `run` knows.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum LawArg {
    /// Tidegate's own: a forecast of the link's capacity with a margin for its error
    Tide,
    /// Dynamic receive window adjustment, as published
    Drwa,
    /// Dynamic right-sizing: what Linux does, with an optional static limit
    Drs,
}

/// Arguments of `lab`.
#[derive(Debug, ClapArgs)]
pub struct LabArgs {
    /// The scenario, a TOML file
    pub scenario: PathBuf,
    /// Only this run of it, repeatable
    #[arg(long, value_name = "NAME")]
    pub run: Vec<String>,
    /// Print the result as JSON instead of a table
    #[arg(long)]
    pub json: bool,
    /// Include curves over time in the JSON
    #[arg(long, requires = "json")]
    pub series: bool,
    /// Write a self-contained page with tables and pictures
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Use IPv6
    #[arg(short = '6', long)]
    pub ipv6: bool,
}

fn lambda(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value > 0.0 && value <= 1000.0 => Ok(value),
        _ => Err("expected a number above 0, at most 1000".into()),
    }
}
