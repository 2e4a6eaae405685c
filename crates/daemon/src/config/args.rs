//! Arguments of `tidegate run`.

use super::OnExit;
use super::address::PageAddress;
use crate::compare;
use crate::log::LogFormat;
use crate::udp::{EchoPlace, Otherwise};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use strum::VariantNames;
use tidegate_agent::{Direction, Directions};
use tidegate_command::examples::{Example, examples};
use tidegate_command::values::law;
use tidegate_laws::Law;
use tidegate_scenario::Fair;

/// How `run` is used.
const EXAMPLES: &[Example] = &[
    (
        "sudo tidegate run",
        "steer where the default routes go, until interrupted",
    ),
    (
        "sudo tidegate run --dry-run",
        "change nothing, and say what would be steered",
    ),
    (
        "sudo tidegate run --iface wwan0 --udp hold",
        "on one interface, and slow QUIC down, too",
    ),
    (
        "sudo tidegate run --page",
        "and show in a browser, at http://127.0.0.1:9750/, what the queue does",
    ),
    (
        "sudo tidegate run --page 192.168.1.1",
        "on a router: the page for the home's network",
    ),
    (
        "sudo tidegate run --law rsfc --only downloads",
        "on a server or proxy: uploads that end there",
    ),
];

/// Seconds in a week.
const WEEK: u32 = 7 * 86_400;

/// Arguments of `run`.
#[derive(Debug, Default, Args)]
#[command(after_long_help = examples(EXAMPLES))]
pub struct RunArgs {
    /// Interface to attach to, repeatable; those of the default routes if none is given
    #[arg(long, value_name = "IF")]
    pub iface: Vec<String>,
    /// Configuration, a TOML file; other options override it. SIGHUP makes the agent read it again
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The law that steers the window; tide if neither this nor the file names one
    #[arg(long, value_parser = law())]
    pub law: Option<Law>,
    /// Steer data only in this direction; by default in both if the law can
    #[arg(long, value_enum, value_name = "DIRECTION")]
    pub only: Option<OnlyArg>,
    /// DRWA's λ: it keeps the RTT at this multiple of the smallest RTT; 3 by default
    #[arg(long, value_parser = lambda)]
    pub lambda: Option<f64>,
    /// Largest window in bytes that DRS or DRWA asks for: DRS's static limit
    #[arg(long, value_name = "BYTES")]
    pub limit: Option<u32>,
    /// How tide divides a link: by `flow`, an equal part for each flow, or by `device`, an equal part for each machine
    /// that this one forwards for; by default by device on a router
    #[arg(long, value_parser = fair(), value_name = "WHOM")]
    pub fair: Option<Fair>,
    /// With tide, steer downloads without TCP timestamps, too, by their round trips; do not use it if another machine's
    /// uploads fill the link, since such downloads would give way to them
    #[arg(long)]
    pub stampless: bool,
    /// How to treat QUIC and other UDP, which have no window: `hold` delays their packets here, so that their senders
    /// slow down; `auto`, the default, does so with HTTP/3 alone, if this machine can; `fallback` turns QUIC away, so that
    /// its clients take TCP; `leave` does nothing
    #[arg(long, value_parser = udp(), value_name = "WHAT")]
    pub udp: Option<Otherwise>,
    /// What `hold` applies to if no rule names a direction: `downloads`, the default; `uploads`; or `both`. Held
    /// uploads give way to another machine's download
    #[arg(long, value_enum, value_name = "DIRECTION")]
    pub udp_hold: Option<HoldsArg>,
    /// Where echoes go that measure the delay of held flows: `server`, the default, for each flow's own server, or an
    /// address behind the same link that answers pings
    #[arg(long, value_name = "PLACE")]
    pub udp_echo: Option<EchoPlace>,
    /// Connections that the tables hold; if neither this nor the file says, as many as fit into a 64th of the machine's
    /// memory, 512 to 16384
    #[arg(long, value_name = "N")]
    pub connections: Option<u32>,
    /// Measure and compute, but change no packet
    #[arg(long)]
    pub dry_run: bool,
    /// Let the programs steer on without this process, also if it is killed
    #[arg(long)]
    pub pin: bool,
    /// Whether the programs stay at the end or are detached: `stay` pins them. By default they stay with --pin, and are
    /// detached without
    #[arg(long, value_enum, value_name = "WHAT")]
    pub on_exit: Option<OnExit>,
    /// Let this part of the time, 0.1 at most, pass unsteered, in slots of 14 seconds under load, to measure the
    /// difference
    #[arg(long, value_name = "PART", value_parser = compared_part)]
    pub compare: Option<f64>,
    /// Write a summary to the log each time that many seconds have passed; 0: never
    #[arg(long, value_name = "SECONDS", default_value_t = 3600)]
    pub account: u32,
    /// Write to the log what the last time was like, each time that many seconds have passed; a week by default; 0: never
    #[arg(long, value_name = "SECONDS", default_value_t = WEEK, hide_default_value = true)]
    pub weekly: u32,
    /// One JSON object a second on standard output, instead of text
    #[arg(long)]
    pub json: bool,
    /// Stop by itself after that many seconds
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<f64>,
    /// The socket where `tidegate top` finds this agent; by default /run/tidegate/agent.sock, or, while an agent of
    /// another network namespace has that, one beside it
    #[arg(long, value_name = "FILE")]
    pub socket: Option<PathBuf>,
    /// Serve metrics for Prometheus at http://ADDRESS/metrics
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics: Option<SocketAddr>,
    /// Serve a page for browsers: what the queue does, who uses the link, what is steered and why not; at
    /// http://127.0.0.1:9750/, for this machine alone, if no address is given. Anybody who reaches the address may look
    #[arg(long, value_name = "ADDRESS[:PORT]", num_args = 0..=1, default_missing_value = PageAddress::USUAL)]
    pub page: Option<PageAddress>,
    /// Format of the agent's log: text, or JSON on standard error
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    pub log_format: LogFormat,
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

/// Parses what to do with traffic without a window.
fn udp() -> impl TypedValueParser<Value = Otherwise> {
    PossibleValuesParser::new(Otherwise::VARIANTS)
        .map(|name| Otherwise::from_str(&name).expect("the parser admits no other"))
}

/// Parses how a link is divided.
fn fair() -> impl TypedValueParser<Value = Fair> {
    PossibleValuesParser::new(Fair::VARIANTS)
        .map(|name| Fair::from_str(&name).expect("the parser admits no other"))
}

/// The value, if it is a valid λ of DRWA.
pub fn lambda_in_range(value: f64) -> Result<f64, String> {
    if value > 0.0 && value <= 1000.0 {
        Ok(value)
    } else {
        Err("expected a number above 0, at most 1000".into())
    }
}

fn lambda(text: &str) -> Result<f64, String> {
    lambda_in_range(text.parse().unwrap_or(f64::NAN))
}

fn compared_part(text: &str) -> Result<f64, String> {
    compare::part_in_range(text.parse().unwrap_or(f64::NAN))
}
