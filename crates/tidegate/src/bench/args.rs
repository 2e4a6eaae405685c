//! Arguments of `tidegate bench`.

use clap::{Args, ValueEnum};
use std::path::PathBuf;
use tidegate_command::examples::{Example, examples};
use tidegate_command::values::law;
use tidegate_laws::Law;

/// How `bench` is used.
const EXAMPLES: &[Example] = &[
    ("tidegate bench sim laws", "some parts"),
    (
        "sudo tidegate bench agent --against OTHER",
        "the agent beside another build's",
    ),
];

/// Arguments of `bench`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(EXAMPLES))]
pub struct BenchArgs {
    /// Which parts; all if none is named
    #[arg(value_enum)]
    pub parts: Vec<Part>,
    /// How long to soak
    #[arg(long, default_value_t = 30.0)]
    pub minutes: f64,
    /// Connections that stay open while it soaks, mostly idle, half of them from behind NAT
    #[arg(long, value_name = "COUNT", default_value_t = 10_000)]
    pub idle: u32,
    /// Rate of the soak's link towards the client, in Mbit/s
    #[arg(long, value_name = "MBITS", default_value_t = 80.0)]
    pub down: f64,
    /// Rate of the soak's link from the client, in Mbit/s
    #[arg(long, value_name = "MBITS", default_value_t = 40.0)]
    pub up: f64,
    /// The law that steers while it soaks; `none` shows failures that the agent does not cause
    #[arg(long, value_parser = law(), default_value = "tide")]
    pub law: Law,
    /// Another `tidegate` program, or an object of its kernel programs, to compare with: cost a packet and goodput
    /// (parts "packets", "hold" and "agent")
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,
    /// Print the results as JSON instead of a table
    #[arg(long)]
    pub json: bool,
}

/// What can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Nanoseconds a packet of each law
    Laws,
    /// Packets a second of the link model
    Link,
    /// Segments a second of the simulator, beside ns-3 if that is installed
    Sim,
    /// Nanoseconds a packet of the kernel programs, and what they cost in goodput
    Agent,
    /// Nanoseconds a packet of the kernel programs, by law, for flows that share a queue and others that do
    /// not, beside law none and another build
    Packets,
    /// What the hold costs: nanoseconds a packet of its programs, beside the agent's and another build's; the
    /// gate's process and the agent's thread, while QUIC downloads are held
    Hold,
    /// Throughput and timing of the laboratory
    Lab,
    /// mPath on one core: goodput beside the kernel's TCP and QUIC; packets a second through a proxy, and
    /// what each costs
    Mpath,
    /// Connections that come and go over a lossy link under the agent, for half an hour; never with
    /// other parts, nor unless it is named
    Soak,
}
