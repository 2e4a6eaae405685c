//! Arguments of `tidegate try`.

use super::{LEAST, MOST, Plan};
use crate::values::bytes;
use clap::{ArgGroup, Args};
use std::ffi::OsString;
use std::path::PathBuf;
use tidegate_command::examples::{Example, examples};
use tidegate_command::values::steering_law;
use tidegate_laws::Law;

/// How `try` is used.
const EXAMPLES: &[Example] = &[
    (
        "sudo tidegate try --url https://example.org/large.file --page try.html",
        "does it help here? Three minutes, a large file, and a page to share",
    ),
    (
        "sudo tidegate try --ping example.org -- iperf3 -c server -R -t 60",
        "with any command as load",
    ),
    (
        "sudo tidegate try --probe server --key probe.key --upload",
        "the uplink, with your own `tidegate probe serve`",
    ),
];

/// Arguments of `try`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("load").required(true).args(["command", "url", "probe"]))]
#[command(after_long_help = examples(EXAMPLES))]
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

/// Enough pairs for a verdict, and few enough to compute all sign choices.
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
