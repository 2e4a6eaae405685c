//! Arguments of `tidegate link`.

use crate::values::word;
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use tidegate_command::examples::{Example, examples};
use tidegate_scenario::QueuePolicy;

/// How `link` is used.
const EXAMPLES: &[Example] = &[
    (
        "sudo tidegate link --down lte --up 5 -- curl -o /dev/null https://example.org/file",
        "a download behind LTE",
    ),
    (
        "sudo tidegate link --down 20 --up 2 --queue 500 -- bash",
        "a shell behind a slow link",
    ),
    (
        "sudo tidegate link --down 'steps = [[0, 20], [30, 2]]' --log passed.csv -- iperf3 -c server -R",
        "a rate that falls, and what passed",
    ),
    (
        "sudo tidegate link --check",
        "does this machine's firewall let links pass?",
    ),
];

/// Arguments of `link`.
#[derive(Debug, Args)]
#[command(after_long_help = examples(EXAMPLES))]
pub struct LinkArgs {
    /// Towards the command: Mbit/s, a cell model (lte, hspa, evdo), a trace in Mahimahi's format, a
    /// rate series (a file that ends in .csv: seconds,bits_per_second), or any rate as a scenario has
    /// it: --down 'steps = [[0, 20], [30, 2]]'
    #[arg(long, value_name = "RATE|CELL|FILE", default_value = "lte")]
    pub down: String,
    /// Away from it, in the same way
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
    /// Say whether this machine lets packets of a link pass, or which chain of its firewall drops them, and run nothing
    #[arg(long, conflicts_with = "command")]
    pub check: bool,
    /// The command and its arguments
    #[arg(last = true, required_unless_present = "check", value_name = "CMD")]
    pub command: Vec<OsString>,
}
