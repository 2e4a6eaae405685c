//! Arguments of `tidegate top`.

use super::order::Order;
use clap::Args;
use std::path::PathBuf;
use tidegate_command::examples::{Example, examples};

/// How `top` is used.
const EXAMPLES: &[Example] = &[
    ("sudo tidegate top --sort rate", "who uses the link"),
    (
        "sudo tidegate top --filter 'down !udp'",
        "downloads over TCP alone",
    ),
    ("sudo tidegate top --names", "names instead of addresses"),
    ("sudo tidegate top --once --json", "one look, for programs"),
];

/// Arguments of `top`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(EXAMPLES))]
pub struct TopArgs {
    /// The agent's socket; if none is given, that of the agent that runs in this network namespace
    #[arg(long, value_name = "FILE")]
    pub socket: Option<PathBuf>,
    /// Without a running agent: the interface to watch, repeatable; those of the default routes if
    /// none is given
    #[arg(long, value_name = "IF")]
    pub iface: Vec<String>,
    /// Seconds between two looks
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = interval)]
    pub interval: f64,
    /// The column to sort flows by, the largest first
    #[arg(long, value_enum, value_name = "COLUMN", default_value_t)]
    pub sort: Order,
    /// Only flows that have all of these words: a port (443), down, up, steered, left, alone, group3, udp, quic, an
    /// interface, a part of an address or of the reason; !WORD for those that do not
    #[arg(long, value_name = "WORDS", default_value = "")]
    pub filter: String,
    /// Show flows that ended or idle, and small ones without a window, too, for as long as the agent remembers them
    #[arg(long)]
    pub all: bool,
    /// Show the far ends' names, as far as the system's resolver knows them, instead of their addresses. Name servers learn
    /// which addresses these are, and whoever has an address chooses its name
    #[arg(long)]
    pub names: bool,
    /// Look twice, print a table, and end
    #[arg(long)]
    pub once: bool,
    /// Print JSON, an object a line, instead of filling the screen
    #[arg(long)]
    pub json: bool,
}

fn interval(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if (0.1..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("expected seconds, from 0.1 to 3600".into()),
    }
}
