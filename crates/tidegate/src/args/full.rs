//! The commands of the whole program, which the agent alone does without.

use super::one_of;
use crate::mpath::MpathCommand;
use crate::shipped;
use crate::trial::{LEAST, MOST, Plan};
use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{ArgGroup, Args as ClapArgs, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use strum::VariantNames;
use tidegate_laws::Law;
use tidegate_scenario::{CellKind, QueuePolicy, Variation};

/// The commands beside the agent's.
#[derive(Debug, Subcommand)]
pub enum FullCommand {
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

/// A scenario, its variants and runs, and how the result is shown.
#[derive(Debug, ClapArgs)]
pub struct ScenarioArgs {
    /// The scenario, a TOML file; `scenarios/…`, where there is no such folder here, is the installed package's
    #[arg(value_parser = shipped())]
    pub scenario: PathBuf,
    /// Replace a value of the scenario by each of these; with several --vary every combination is run. Values are TOML,
    /// or words: `--vary down.delay_ms=40,140`, `--vary down.rate.trace=FILE,FILE`; runs, workloads and hops by name,
    /// by number or all: `--vary run.drwa.lambda=2,3`, `--vary workload.*.start_s=0,5`
    #[arg(long, value_name = "KEY=VALUE,…")]
    pub vary: Vec<Variation>,
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
}

/// Arguments of `lab`.
#[derive(Debug, ClapArgs)]
pub struct LabArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Use IPv6
    #[arg(short = '6', long)]
    pub ipv6: bool,
}

/// Arguments of `sim`.
#[derive(Debug, ClapArgs)]
pub struct SimArgs {
    /// The scenario.
    #[command(flatten)]
    pub scenario: ScenarioArgs,
    /// Repeat everything with so many seeds, beginning with the scenario's own, and show means with 95 % confidence
    /// intervals
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
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

/// Arguments of `reproduce`.
#[derive(Debug, ClapArgs)]
pub struct ReproduceArgs {
    /// The paper (drwa) or law (tide), then figures of it (fig-15, or 15; table-3), by default all; without a paper,
    /// lists papers and figures
    #[arg(value_name = "PAPER|FIGURE")]
    pub what: Vec<String>,
    /// Only a few seeds or links, so that it takes less than two minutes
    #[arg(long, requires = "what")]
    pub quick: bool,
    /// Run it over the kernel's TCP too, shorter and with one seed, and show both: figures that take minutes, or those
    /// that you name. Needs root
    #[arg(long, requires = "what")]
    pub lab: bool,
    /// Repeat every run with so many seeds
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
    /// tide, rivals and measurements: run over every recorded link in this folder too, Mahimahi's traces
    /// (*.down, *.up) and, tide and rivals only, rate series (*.csv)
    #[arg(long, requires = "what", value_name = "FOLDER")]
    pub traces: Option<PathBuf>,
    /// Write one row a run to this file, as soon as it is known
    #[arg(long, requires = "what", value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
    /// Write every run as a scenario for `tidegate sim` into this folder, and run nothing
    #[arg(long, requires = "what", value_name = "FOLDER", conflicts_with_all = ["json", "html"])]
    pub scenarios: Option<PathBuf>,
}

/// Arguments of `validate`.
#[derive(Debug, ClapArgs)]
pub struct ValidateArgs {
    /// The folder with the scenarios, and with the known differences in reasons.toml
    #[arg(default_value = "scenarios/validate", value_parser = shipped())]
    pub scenarios: PathBuf,
    /// Only the scenario of this name, repeatable
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,
    /// Run each so many times, each with another seed and start, and compare the medians
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub repeat: u32,
    /// Print the rows as JSON instead of a table
    #[arg(long)]
    pub json: bool,
    /// Write a self-contained page with the table and, for each scenario, the kernel's curves and
    /// the simulator's in one picture
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Arguments of `link`.
#[derive(Debug, ClapArgs)]
pub struct LinkArgs {
    /// Towards the command: Mbit/s, a cell model (lte, hspa, evdo), a trace in Mahimahi's format, a
    /// rate series (a file that ends in .csv: seconds,bits_per_second), or any rate as a scenario has
    /// it: --down 'steps = [[0, 20], [30, 2]]'
    #[arg(long, value_name = "RATE|CELL|FILE", default_value = "lte")]
    pub down: String,
    /// Away from it, likewise
    #[arg(long, value_name = "RATE|CELL|FILE", default_value = "5")]
    pub up: String,
    /// Propagation delay, one way
    #[arg(long, value_name = "MS", default_value_t = 25.0)]
    pub delay: f64,
    /// Packets that each queue holds
    #[arg(long, value_name = "PACKETS", default_value_t = 2000)]
    pub queue: usize,
    /// Bytes that each queue holds, if fewer
    #[arg(long, value_name = "BYTES")]
    pub queue_bytes: Option<usize>,
    /// Queue discipline: drop-tail, drop-head, codel, red, pie, fq-codel, dualpi2 or abc
    #[arg(long, value_name = "POLICY", default_value = "drop-tail", value_parser = word::<QueuePolicy>)]
    pub policy: QueuePolicy,
    /// Share of packets lost at random, each way
    #[arg(long, value_name = "SHARE")]
    pub loss: Option<f64>,
    /// Seed of loss and of cell models
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// An interface by which the command reaches the outside, repeatable; by default those of the default routes
    #[arg(long, value_name = "DEV")]
    pub via: Vec<String>,
    /// When the command has ended, write rates and queueing delays of each tenth of a second to this file
    #[arg(long, value_name = "FILE.csv")]
    pub log: Option<PathBuf>,
    /// Run the command as root, with every capability; otherwise it runs as the caller of sudo, doas or pkexec
    #[arg(long)]
    pub root: bool,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// One of a scenario's words.
fn word<T: FromStr + VariantNames>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| {
        let (last, others) = T::VARIANTS.split_last().expect("at least two words");
        format!("expected {} or {last}", others.join(", "))
    })
}

/// A file or folder, which the package may have brought along.
fn shipped() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().map(|path| shipped::find(&path))
}

/// Arguments of `bench`.
#[derive(Debug, ClapArgs)]
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
    #[arg(long, value_parser = super::law(), default_value = "tide")]
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

/// Arguments of `probe`.
#[derive(Debug, ClapArgs)]
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

/// Arguments of `probe serve`.
#[derive(Debug, ClapArgs)]
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

/// Arguments of `probe run`.
#[derive(Debug, ClapArgs)]
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

/// Bytes, with kB, MB or GB behind.
pub fn bytes(text: &str) -> Result<u64, String> {
    let units = [("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("B", 1.0), ("", 1.0)];
    let (number, unit) = units
        .iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))
        .expect("the empty suffix fits");
    let value = number.trim().parse::<f64>().ok().map(|n| n * unit);
    let value = value.filter(|v| (1e5..=1e12).contains(v));
    value
        .map(|v| v as u64)
        .ok_or_else(|| "expected 100kB to 1000GB, such as 100MB".into())
}

/// Arguments of `try`.
#[derive(Debug, ClapArgs)]
#[command(group = ArgGroup::new("load").required(true).args(["command", "url", "probe"]))]
pub struct TryArgs {
    /// Load the link with downloads from this URL, by curl or wget again and again; repeatable, all at the same time
    #[arg(long, value_name = "URL")]
    pub url: Vec<String>,
    /// Load the link with connections to your own `tidegate probe serve`
    #[arg(long, value_name = "HOST", requires = "key")]
    pub probe: Option<String>,
    /// A file with that server's key
    #[arg(long, value_name = "FILE", requires = "probe")]
    pub key: Option<PathBuf>,
    /// With --probe: load the uplink instead of the downlink
    #[arg(long, requires = "probe")]
    pub upload: bool,
    /// The host to which round trips are measured, by ICMP or, if that is not answered, by TCP at this port or 443; by
    /// default the load's own host if it is known
    #[arg(long, value_name = "HOST[:PORT]")]
    pub ping: Option<String>,
    /// Interface to steer on, repeatable; those of the default routes if none is given
    #[arg(long, value_name = "IF")]
    pub iface: Vec<String>,
    /// The law that steers the window
    #[arg(long, value_parser = steering_law(), default_value = "tide")]
    pub law: Law,
    /// Pairs of slots that count, one with steering and one without; one more comes first and does not count. Six are
    /// enough if the delay does not vary much
    #[arg(long, value_name = "N", default_value_t = Plan::USUAL.pairs, value_parser = pairs)]
    pub pairs: usize,
    /// Length of a slot
    #[arg(long, value_name = "SECONDS", default_value_t = Plan::USUAL.slot.as_secs_f64(), value_parser = slot)]
    pub slot: f64,
    /// Most data that it may take, both directions together
    #[arg(long, value_name = "BYTES", default_value = "2GB", value_parser = bytes)]
    pub max_data: u64,
    /// Seed for the order of the slots; a new one each time if absent
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Begin without asking
    #[arg(long)]
    pub yes: bool,
    /// Print the result as JSON instead of text
    #[arg(long)]
    pub json: bool,
    /// Write a self-contained page to keep or to share
    #[arg(long, value_name = "FILE.html")]
    pub page: Option<PathBuf>,
    /// Run the command as root; otherwise it runs as whoever called sudo, doas or pkexec
    #[arg(long)]
    pub root: bool,
    /// A command that loads the link, with its arguments: started anew in every slot, ended with it
    #[arg(last = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// Any that steers, by its name.
fn steering_law() -> impl TypedValueParser<Value = Law> {
    one_of(Law::ALL.into_iter().filter(|law| !law.is_none()))
}

/// As many as can tell anything, and can be computed.
fn pairs(text: &str) -> Result<usize, String> {
    let value = text.parse().ok().filter(|n| (LEAST..=MOST).contains(n));
    value.ok_or_else(|| {
        format!("expected {LEAST} to {MOST}: fewer cannot tell a difference from chance")
    })
}

/// Long enough for a queue to build up.
fn slot(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|s| (2.0..=120.0).contains(s));
    value.ok_or_else(|| "expected seconds, from 2 to 120".into())
}

/// Arguments of `trace`.
#[derive(Debug, ClapArgs)]
pub struct TraceArgs {
    /// Technology that it resembles: lte, hspa or evdo
    #[arg(value_parser = word::<CellKind>)]
    pub kind: CellKind,
    /// Length; the trace loops after it
    #[arg(long, default_value_t = 60)]
    pub seconds: u64,
    /// Mean rate; the technology's own if absent
    #[arg(long, value_name = "MBPS")]
    pub mean_mbps: Option<f64>,
    /// Same seed, same trace
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Arguments of `generate`.
#[derive(Debug, ClapArgs)]
pub struct GenerateArgs {
    /// What to write
    #[arg(value_enum)]
    pub what: Generated,
    /// The folder to write it into
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

/// What can be generated from the command's own definitions.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Generated {
    /// A manual page for each command
    Man,
    /// Completions for bash, zsh and fish
    Completions,
    /// The reference of scenarios, results, and columns
    Reference,
}
