//! Arguments of `tidegate probe`.

use crate::values::bytes;
use clap::{Args, Subcommand, ValueEnum};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use tidegate_command::examples::{Example, examples};

/// Arguments of `probe`.
#[derive(Debug, Args)]
pub struct ProbeArgs {
    /// The end of the measurement
    #[command(subcommand)]
    pub end: ProbeEnd,
}

/// The two ends of a measurement.
#[derive(Debug, Subcommand)]
pub enum ProbeEnd {
    /// Answer those who have the key, until interrupted
    Serve(ProbeServeArgs),
    /// Measure the link to a server
    Run(ProbeRunArgs),
}

/// How `probe serve` is used.
const SERVE_EXAMPLES: &[Example] = &[
    (
        "tidegate probe serve --key probe.key",
        "answer at port 4817; a firewall has to let in UDP and TCP at it",
    ),
    (
        "tidegate probe serve --max-rate 500 --max-data 50GB",
        "for faster links",
    ),
];

/// Arguments of `probe serve`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(SERVE_EXAMPLES))]
pub struct ProbeServeArgs {
    /// Where to listen, UDP
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "[::]:4817")]
    pub listen: SocketAddr,
    /// A file with the key, 64 hexadecimal digits; without it a new one is printed
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Most that the server sends in one session, such as 200MB
    #[arg(long, value_name = "BYTES", default_value = "200MB", value_parser = bytes)]
    pub max_session_data: u64,
    /// Most that the server sends in all sessions, as long as it runs
    #[arg(long, value_name = "BYTES", default_value = "10GB", value_parser = bytes)]
    pub max_data: u64,
    /// Largest rate, in Mbit/s
    #[arg(long, value_name = "MBPS", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_rate: u32,
}

/// How `probe run` is used.
const RUN_EXAMPLES: &[Example] = &[
    (
        "tidegate probe run server --key probe.key",
        "measure the link to a server",
    ),
    (
        "tidegate probe run server --key probe.key responsiveness --max-data 30MB --yes",
        "one test, without a question",
    ),
];

/// Arguments of `probe run`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(RUN_EXAMPLES))]
pub struct ProbeRunArgs {
    /// The server, with its port if that is not 4817
    #[arg(value_name = "HOST")]
    pub host: String,
    /// What to measure; by default down, up, both, responsiveness, and devices if there is --beside
    #[arg(value_enum, value_name = "TEST")]
    pub tests: Vec<ProbeTest>,
    /// A file with the server's key
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// Most data that it may take, both directions together
    #[arg(long, value_name = "BYTES", default_value = "100MB", value_parser = bytes)]
    pub max_data: u64,
    /// The address, on this machine, of a second device that reaches the server, for the test devices;
    /// again for a third
    #[arg(long, value_name = "ADDRESS")]
    pub beside: Vec<IpAddr>,
    /// How long the test rate lasts
    #[arg(long, value_name = "MINUTES", default_value_t = 10.0, value_parser = minutes)]
    pub minutes: f64,
    /// Begin without asking
    #[arg(long)]
    pub yes: bool,
    /// Print the result as JSON instead of a table
    #[arg(long)]
    pub json: bool,
    /// Write a self-contained page with pictures
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write what the downlink carried as a trace in Mahimahi's format
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ProbeTest {
    /// The downlink
    Down,
    /// The uplink
    Up,
    /// A download beside an upload that saturates the uplink
    Both,
    /// Whether two devices share a queue, and how two or three share the link
    Devices,
    /// Round trips a minute under load by TCP, after draft-ietf-ippm-responsiveness
    Responsiveness,
    /// The downlink's rate over minutes, by a short train every five seconds
    Rate,
}

/// A tenth of a minute to a day.
fn minutes(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|m| (0.1..=1440.0).contains(m));
    value.ok_or_else(|| "expected 0.1 to 1440, such as 10".into())
}
