//! The scenario: two hosts, a link in each direction, workloads, and the runs to compare.

use crate::Workload;
use serde::{Deserialize, Serialize};

/// One experiment: every run in `runs` repeats it with another law, sender or limit.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Short name, used in tables and file names.
    pub name: String,
    /// One sentence for people.
    #[serde(default)]
    pub description: String,
    /// Seconds that each run lasts.
    pub duration_s: f64,
    /// Seconds at the start that no statistic counts.
    #[serde(default)]
    pub warmup_s: f64,
    /// Seed of everything random: loss, and generated traces without a seed of their own.
    #[serde(default = "one")]
    pub seed: u64,
    /// The link from the server to the client.
    pub down: LinkSpec,
    /// The link from the client to the server.
    pub up: LinkSpec,
    /// Further links on the way, for the simulator.
    #[serde(default, rename = "hop", skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<Hop>,
    /// What the two hosts' kernels are set to, unless a run says otherwise.
    #[serde(default)]
    pub hosts: Hosts,
    /// What the hosts do.
    #[serde(rename = "workload")]
    pub workloads: Vec<Workload>,
    /// The variants to compare, in the order in which they are run.
    #[serde(rename = "run")]
    pub runs: Vec<Run>,
}

fn one() -> u64 {
    1
}

/// A further link in one direction, in front of the link under study or behind it: a core link, a
/// shaper at the server. Those of the same direction and side are passed in the order given.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Hop {
    /// Its name in the results.
    pub name: String,
    /// Which way its packets go.
    #[serde(default)]
    pub direction: Direction,
    /// On which side of the link under study it lies.
    #[serde(default = "server")]
    pub side: Side,
    /// What it is like.
    pub link: LinkSpec,
}

fn server() -> Side {
    Side::Server
}

/// One direction of the path.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSpec {
    /// How much the link carries, and when.
    pub rate: RateSpec,
    /// One-way propagation delay, in milliseconds.
    pub delay_ms: f64,
    /// Later values of the propagation delay.
    #[serde(default)]
    pub delay_steps: Vec<DelayStep>,
    /// The buffer in front of the link.
    #[serde(default)]
    pub queue: QueueSpec,
    /// Loss on the link, after the queue.
    #[serde(default)]
    pub loss: Option<LossSpec>,
}

/// The capacity of a link over time.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RateSpec {
    /// The same rate for ever, in Mbit/s (10^6 bit/s).
    ConstantMbps(f64),
    /// A file in Mahimahi's format, looped. Relative paths are relative to the scenario's file.
    Trace(String),
    /// A file of `seconds,bits_per_second`, looped.
    Series(String),
    /// One of the shipped, seeded cell models.
    Generate(GenerateSpec),
}

/// A generated rate process.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct GenerateSpec {
    /// Which technology it resembles.
    pub kind: CellKind,
    /// Overrides the technology's mean rate, in Mbit/s.
    pub mean_mbps: Option<f64>,
    /// Its own seed; the scenario's by default.
    pub seed: Option<u64>,
}

/// Technologies that the shipped generators resemble.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum CellKind {
    /// LTE: bursts every 4 ms.
    Lte,
    /// HSPA: bursts every 10 ms.
    Hspa,
    /// EVDO: slow, bursts every 10 ms, long fades.
    Evdo,
}

/// From `at_s` on, the propagation delay is `ms`.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DelayStep {
    /// Seconds since the start of the run.
    pub at_s: f64,
    /// One-way delay in milliseconds.
    pub ms: f64,
}

/// A queue's limits and policy. With both limits, whichever is reached first counts.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct QueueSpec {
    /// Limit in packets.
    pub packets: Option<usize>,
    /// Limit in bytes.
    pub bytes: Option<usize>,
    /// What happens at the limit.
    #[serde(default)]
    pub policy: QueuePolicy,
    /// CoDel's target (RFC 8289 §4.3), in milliseconds.
    #[serde(default = "codel_target_ms")]
    pub codel_target_ms: f64,
    /// CoDel's interval (RFC 8289 §4.2), in milliseconds.
    #[serde(default = "codel_interval_ms")]
    pub codel_interval_ms: f64,
}

impl Default for QueueSpec {
    fn default() -> Self {
        Self {
            packets: Some(1000),
            bytes: None,
            policy: QueuePolicy::default(),
            codel_target_ms: codel_target_ms(),
            codel_interval_ms: codel_interval_ms(),
        }
    }
}

fn codel_target_ms() -> f64 {
    5.0
}

fn codel_interval_ms() -> f64 {
    100.0
}

/// What a full (or, with CoDel, a standing) queue does.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum QueuePolicy {
    /// The packet that arrives is dropped.
    #[default]
    DropTail,
    /// The oldest packet is dropped.
    DropHead,
    /// CoDel (RFC 8289), drop-tail at the limit.
    Codel,
}

/// Loss that is not the queue's.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LossSpec {
    /// Each packet is lost with this probability, independently.
    Random(f64),
    /// Gilbert's two-state model.
    Bursty {
        /// Long-run share of packets lost.
        probability: f64,
        /// Mean number of packets lost in a row, at least 1.
        mean_length: f64,
    },
}

/// Settings of the hosts' kernels.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hosts {
    /// Congestion control of every sender.
    pub congestion_control: String,
    /// The receivers' `tcp_rmem` maximum in bytes; absent: the kernel's own.
    pub rmem_max: Option<u64>,
    /// Whether TCP timestamps (RFC 7323) are on.
    pub timestamps: bool,
}

impl Default for Hosts {
    fn default() -> Self {
        Self {
            congestion_control: "cubic".into(),
            rmem_max: None,
            timestamps: true,
        }
    }
}

/// Direction of data, seen from the client.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the server to the client.
    #[default]
    Down,
    /// From the client to the server.
    Up,
}

impl Direction {
    /// As scenarios and results spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Up => "up",
        }
    }
}

/// One of the two hosts.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The host behind the access link.
    #[default]
    Client,
    /// The far host.
    Server,
}

/// One variant of the scenario.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Its name in tables and pictures.
    pub name: String,
    /// What steers the client's receive window.
    #[serde(default)]
    pub law: Law,
    /// DRWA's λ.
    #[serde(default = "three")]
    pub lambda: f64,
    /// DRS's static limit in bytes (Algorithm 2); without it Algorithm 1.
    pub limit: Option<u64>,
    /// A fixed receive window in bytes of payload, as textbooks have it, in place of Linux's
    /// autotuned buffer. For the simulator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Overrides `hosts.congestion_control`.
    pub congestion_control: Option<String>,
    /// Overrides `hosts.rmem_max`.
    pub rmem_max: Option<u64>,
}

fn three() -> f64 {
    3.0
}

/// What steers the receive window.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Law {
    /// The kernel alone.
    #[default]
    None,
    /// Dynamic right-sizing as in the DRWA report's Algorithms 1 and 2.
    Drs,
    /// Dynamic receive window adjustment, Algorithm 3.
    Drwa,
    /// Tidegate's own law.
    Tide,
}

impl Law {
    /// As scenarios and results spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Drs => "drs",
            Self::Drwa => "drwa",
            Self::Tide => "tide",
        }
    }
}
