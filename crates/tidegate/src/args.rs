//! What can be asked for.

use crate::compare;
use crate::config::OnExit;
use crate::mpath::MpathCommand;
use crate::run::log::LogFormat;
use crate::run::serve::SOCKET;
use crate::top::order::Order;
use crate::udp::EchoPlace;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use serde::Deserialize;
use std::ffi::OsString;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use strum::VariantNames;
use tidegate_agent::{Direction, Directions};
use tidegate_laws::Law;
use tidegate_scenario::{CellKind, Fair, QueuePolicy, Udp, Variation};

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
    /// Steer this machine's downloads and uploads until interrupted
    Run(RunArgs),
    /// Say what this kernel supports, what would be used, and what to change
    Check(CheckArgs),
    /// End the agent that runs here, and remove what any agent has left in the kernel
    Stop(StopArgs),
    /// Watch the agent's flows: queueing delay, round trips, windows, rates, and what limits each
    Top(TopArgs),
    /// Run a scenario over real kernel TCP between two network namespaces
    Lab(LabArgs),
    /// Run a scenario in virtual time over Tidegate's own TCP, with sweeps over all cores
    Sim(SimArgs),
    /// Do a paper's figures again in virtual time, and lay them beside what the paper prints
    Reproduce(ReproduceArgs),
    /// Hold the simulator against the kernel: run the same scenarios in both and compare
    Validate(ValidateArgs),
    /// Run any command behind an emulated link
    Link(LinkArgs),
    /// Tell what a link does to packets: rate, bursts, buffer, drop policy, latency under load
    Probe(ProbeArgs),
    /// Measure what the parts of Tidegate cost on this machine
    Bench(BenchArgs),
    /// Write a trace of one of the shipped cell models, in Mahimahi's format
    Trace(TraceArgs),
    /// Carry bulk transfers around congested core links
    #[command(subcommand)]
    Mpath(MpathCommand),
    /// Let packets wait for the agent that starts this process
    #[command(hide = true)]
    Gate,
    /// Write the manual pages, or the completions of a shell, that the package ships
    #[command(hide = true)]
    Generate(GenerateArgs),
}

/// Arguments of `run`.
#[derive(Debug, Default, ClapArgs)]
pub struct RunArgs {
    /// Interface to attach to, repeatable; those of the default routes if none is given
    #[arg(long, value_name = "IF")]
    pub iface: Vec<String>,
    /// Configuration, a TOML file; other options go before what it says. SIGHUP has it read again
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// What steers the window; tide if neither this nor the file says
    #[arg(long, value_parser = law())]
    pub law: Option<Law>,
    /// Steer data in this direction alone; otherwise in both if the law can
    #[arg(long, value_enum, value_name = "DIRECTION")]
    pub only: Option<OnlyArg>,
    /// DRWA's λ: the multiple of the smallest RTT at which it holds the RTT; 3 by default
    #[arg(long, value_parser = lambda)]
    pub lambda: Option<f64>,
    /// DRS's static limit in bytes
    #[arg(long, value_name = "BYTES")]
    pub limit: Option<u32>,
    /// Among whom tide divides a link: `flow`, each flow like any other, or `device`, each of the machines that this one
    /// forwards for; by default by device where it forwards
    #[arg(long, value_parser = fair(), value_name = "WHOM")]
    pub fair: Option<Fair>,
    /// With tide, steer downloads without TCP timestamps, too, by their round trips: not behind a link that another
    /// machine's uploads fill, to which they would give way
    #[arg(long)]
    pub stampless: bool,
    /// What becomes of QUIC and other UDP, which have no window: `hold` lets what they send wait, so that
    /// their senders slow down; `fallback` turns QUIC away, so that its clients take TCP; `leave`, the
    /// default, does nothing
    #[arg(long, value_parser = udp(), value_name = "WHAT")]
    pub udp: Option<Udp>,
    /// What `hold` is about where no rule asks for a direction: `downloads`, the default; `uploads`; or `both`. Uploads give
    /// way to another machine's download
    #[arg(long, value_enum, value_name = "DIRECTION")]
    pub udp_hold: Option<HoldsArg>,
    /// Where echoes go that tell the delay of what is held: `server`, the default, for each flow's own, or an address
    /// that lies behind the same link and answers
    #[arg(long, value_name = "PLACE")]
    pub udp_echo: Option<EchoPlace>,
    /// Connections that the tables hold; if neither this nor the file says, as many as fit into a 64th of the machine's
    /// memory, 512 to 16384
    #[arg(long, value_name = "N")]
    pub connections: Option<u32>,
    /// Measure and compute, but change no packet
    #[arg(long)]
    pub dry_run: bool,
    /// Have the programs steer on without this process, also if it is killed
    #[arg(long)]
    pub pin: bool,
    /// What becomes of the programs at the end: `stay` pins them. With --pin they stay, otherwise they
    /// are detached
    #[arg(long, value_enum, value_name = "WHAT")]
    pub on_exit: Option<OnExit>,
    /// Let this part of the time, 0.1 at most, pass unsteered, in trials of 14 seconds under load, so that the
    /// difference can be told
    #[arg(long, value_name = "PART", value_parser = compared_part)]
    pub compare: Option<f64>,
    /// Write what was done into the log every so many seconds; 0: never
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    pub account: u32,
    /// One JSON object a second on standard output, instead of text
    #[arg(long)]
    pub json: bool,
    /// Stop by itself after so many seconds
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<f64>,
    /// Where `tidegate top` finds this agent
    #[arg(long, value_name = "FILE", default_value = SOCKET)]
    pub socket: PathBuf,
    /// Serve metrics for Prometheus at http://ADDRESS/metrics
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics: Option<SocketAddr>,
    /// How the agent's log looks: sentences, or JSON on standard error
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub log_format: LogFormat,
}

/// Arguments of `top`.
#[derive(Debug, ClapArgs)]
pub struct TopArgs {
    /// Where the agent is found
    #[arg(long, value_name = "FILE", default_value = SOCKET)]
    pub socket: PathBuf,
    /// Without a running agent: the interface to watch, repeatable; those of the default routes if
    /// none is given
    #[arg(long, value_name = "IF")]
    pub iface: Vec<String>,
    /// Seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = interval)]
    pub interval: f64,
    /// What the flows are sorted by, the largest first
    #[arg(long, value_enum, value_name = "COLUMN", default_value_t)]
    pub sort: Order,
    /// Only flows that have all of these words: a port (443), down, up, steered, left, alone, group3, udp, quic, an
    /// interface, a part of an address or of the reason; !WORD for those that do not
    #[arg(long, value_name = "WORDS", default_value = "")]
    pub filter: String,
    /// Show flows that ended or idle, and small ones without a window, too, for as long as the agent remembers them
    #[arg(long)]
    pub all: bool,
    /// Look twice, print a table, and end
    #[arg(long)]
    pub once: bool,
    /// Print JSON, an object a line, instead of filling the screen
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `check`.
#[derive(Debug, ClapArgs)]
pub struct CheckArgs {
    /// Look at the interfaces, rules and law of this configuration
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where a running agent is asked of what the traffic consists
    #[arg(long, value_name = "FILE", default_value = SOCKET)]
    pub socket: PathBuf,
    /// Print the findings as JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `stop`.
#[derive(Debug, ClapArgs)]
pub struct StopArgs {
    /// Print what was ended and removed as JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Directions that `run` knows.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum OnlyArg {
    /// Data that arrive
    Downloads,
    /// Data that leave
    Uploads,
}

impl From<OnlyArg> for Direction {
    fn from(only: OnlyArg) -> Self {
        match only {
            OnlyArg::Downloads => Self::Down,
            OnlyArg::Uploads => Self::Up,
        }
    }
}

/// What of UDP is held.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum HoldsArg {
    /// Data that arrive
    #[default]
    Downloads,
    /// Data that leave
    Uploads,
    /// All
    Both,
}

impl From<HoldsArg> for Directions {
    fn from(holds: HoldsArg) -> Self {
        match holds {
            HoldsArg::Downloads => Self::Downloads,
            HoldsArg::Uploads => Self::Uploads,
            HoldsArg::Both => Self::Both,
        }
    }
}

/// A law, by its name.
fn law() -> impl TypedValueParser<Value = Law> {
    let named = |law: Law| PossibleValue::new(law.name()).help(law.about());
    PossibleValuesParser::new(Law::ALL.map(named)).map(|name| {
        let mut laws = Law::ALL.into_iter();
        laws.find(|law| law.name() == name)
            .expect("the parser admits no other")
    })
}

/// What becomes of traffic without a window, by its name.
fn udp() -> impl TypedValueParser<Value = Udp> {
    PossibleValuesParser::new(Udp::VARIANTS)
        .map(|name| Udp::from_str(&name).expect("the parser admits no other"))
}

/// Among whom a link is divided, by its name.
fn fair() -> impl TypedValueParser<Value = Fair> {
    PossibleValuesParser::new(Fair::VARIANTS)
        .map(|name| Fair::from_str(&name).expect("the parser admits no other"))
}

/// Which scenario, which variants and runs of it, and how the result is shown.
#[derive(Debug, ClapArgs)]
pub struct ScenarioArgs {
    /// The scenario, a TOML file
    pub scenario: PathBuf,
    /// Put values in place of the scenario's, each in turn; repeat for every combination. Values are
    /// TOML, or words: `--vary down.delay_ms=40,140`, `--vary down.rate.trace=FILE,FILE`
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
    /// Repeat everything with so many seeds, from the scenario's own on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub seeds: u32,
    /// Runs at a time; as many as there are cores by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Write one row a run to this file, as soon as it is known
    #[arg(long, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
    /// Go on with a file of `--out`: what it holds is not run again. One with rows of other sweeps, or of a
    /// scenario that has changed since, is refused
    #[arg(long, requires = "out", conflicts_with_all = ["json", "html"])]
    pub resume: bool,
}

/// Arguments of `reproduce`.
#[derive(Debug, ClapArgs)]
pub struct ReproduceArgs {
    /// The paper (drwa) or law (tide), then those of its figures that are wanted (fig-15, or 15;
    /// table-3); all if none is named
    #[arg(value_name = "PAPER|FIGURE")]
    pub what: Vec<String>,
    /// A few seeds or links only, to be done within two minutes
    #[arg(long)]
    pub quick: bool,
    /// Run it over the kernel's TCP too, shorter and with one seed, and show both: what takes minutes,
    /// or the figures that are named. Needs root
    #[arg(long)]
    pub lab: bool,
    /// Repeat every run with so many seeds
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub seeds: Option<u32>,
    /// Runs at a time; as many as there are cores by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Print the result as JSON instead of a table
    #[arg(long)]
    pub json: bool,
    /// Write a self-contained page with pictures and numbers
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// tide and measurements: run over every recorded link in this folder too, Mahimahi's traces
    /// (*.down, *.up) and, tide only, rate series (*.csv)
    #[arg(long, value_name = "FOLDER")]
    pub traces: Option<PathBuf>,
    /// Write one row a run to this file, as soon as it is known
    #[arg(long, value_name = "FILE.csv")]
    pub out: Option<PathBuf>,
    /// Write every run as a scenario for `tidegate sim` into this folder, and run nothing
    #[arg(long, value_name = "FOLDER", conflicts_with_all = ["json", "html"])]
    pub scenarios: Option<PathBuf>,
}

/// Arguments of `validate`.
#[derive(Debug, ClapArgs)]
pub struct ValidateArgs {
    /// The folder with the scenarios, and with the known differences in reasons.toml
    #[arg(default_value = "scenarios/validate")]
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
    /// What a full queue does: drop-tail, drop-head, codel, red, pie or fq-codel
    #[arg(long, value_name = "POLICY", default_value = "drop-tail", value_parser = word::<QueuePolicy>)]
    pub policy: QueuePolicy,
    /// Share of packets lost at random, each way
    #[arg(long, value_name = "SHARE")]
    pub loss: Option<f64>,
    /// Seed of loss and of cell models
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

fn interval(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.1..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected seconds, from 0.1 to 3600".into()),
    }
}

/// One of a scenario's words.
fn word<T: FromStr + VariantNames>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| {
        let (last, others) = T::VARIANTS.split_last().expect("at least two words");
        format!("expected {} or {last}", others.join(", "))
    })
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
    /// Another `tidegate` program, or an object of its kernel programs, whose cost a packet is put beside
    /// this one's (parts "packets" and "hold")
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
    /// Which end this is
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
    /// What one session may be sent, such as 200MB
    #[arg(long, value_name = "BYTES", default_value = "200MB", value_parser = bytes)]
    pub max_session_data: u64,
    /// What all sessions may be sent as long as this runs
    #[arg(long, value_name = "BYTES", default_value = "10GB", value_parser = bytes)]
    pub max_data: u64,
    /// How fast, in Mbit/s
    #[arg(long, value_name = "MBPS", default_value_t = 100)]
    pub max_rate: u32,
}

/// Arguments of `probe run`.
#[derive(Debug, ClapArgs)]
pub struct ProbeRunArgs {
    /// The server, with its port if that is not 4817
    #[arg(value_name = "HOST")]
    pub host: String,
    /// What is measured; without: down, up, both, responsiveness, and devices if there is --beside
    #[arg(value_enum, value_name = "TEST")]
    pub tests: Vec<ProbeTest>,
    /// A file with the server's key
    #[arg(long, value_name = "FILE")]
    pub key: PathBuf,
    /// What it may cost at most, both directions together
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
fn bytes(text: &str) -> Result<u64, String> {
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

/// What can be written of the command's own definitions.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum Generated {
    /// A manual page for each command
    Man,
    /// Completions for bash, zsh and fish
    Completions,
}

fn lambda(text: &str) -> Result<f64, String> {
    lambda_in_range(text.parse().unwrap_or(f64::NAN))
}

fn compared_part(text: &str) -> Result<f64, String> {
    compared_in_range(text.parse().unwrap_or(f64::NAN))
}

/// A part of the time that may pass unsteered, if it is one.
pub fn compared_in_range(value: f64) -> Result<f64, String> {
    if (0.0..=compare::MOST).contains(&value) {
        Ok(value)
    } else {
        Err(format!(
            "expected a part of the time, from 0 to {}",
            compare::MOST
        ))
    }
}

/// DRWA's λ, if it is one.
pub fn lambda_in_range(value: f64) -> Result<f64, String> {
    if value > 0.0 && value <= 1000.0 {
        Ok(value)
    } else {
        Err("expected a number above 0, at most 1000".into())
    }
}
