//! The scenario: two hosts, a link in each direction, workloads, and the runs to compare.

use crate::{CakeSpec, LinkSpec, Workload, words};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{EnumString, VariantNames};
use tidegate_laws::{Direction, Law, Params};

/// One experiment: each `[[run]]` repeats it with another law, sender or limit.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Short name, used in tables and file names.
    pub name: String,
    /// One sentence for people.
    #[serde(default)]
    pub description: String,
    /// Seconds that each run lasts.
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub duration_s: f64,
    /// Seconds at the start that no statistic counts.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub warmup_s: f64,
    /// Seed of everything random: loss, and generated traces without a seed of their own.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 9_223_372_036_854_775_807u64))]
    pub seed: u64,
    /// The link from the server to the client.
    pub down: LinkSpec,
    /// The link from the client to the server.
    pub up: LinkSpec,
    /// Further links on the way.
    #[serde(default, rename = "hop", skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub hops: Vec<Hop>,
    /// What the two hosts' kernels are set to, unless a run says otherwise.
    #[serde(default)]
    pub hosts: Hosts,
    /// What the hosts do.
    #[serde(rename = "workload")]
    #[schemars(length(max = 1000))]
    pub workloads: Vec<Workload>,
    /// The variants to compare, in the order in which they are run.
    #[serde(rename = "run")]
    #[schemars(length(max = 1000))]
    pub runs: Vec<Run>,
}

fn one() -> u64 {
    1
}

impl Scenario {
    /// These workloads over a link each way for that many seconds, which all count, and everything else as it is by
    /// itself.
    pub fn new(
        name: impl Into<String>,
        duration_s: f64,
        [down, up]: [LinkSpec; 2],
        workloads: Vec<Workload>,
        runs: Vec<Run>,
    ) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            duration_s,
            warmup_s: 0.0,
            seed: one(),
            down,
            up,
            hops: Vec::new(),
            hosts: Hosts::default(),
            workloads,
            runs,
        }
    }
}

/// A further link in one direction, in front of the link under study or behind it: a core link, a
/// shaper at the server. Those of the same direction and side are passed in the order given.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Hop {
    /// Its name in the results.
    pub name: String,
    /// Which way its packets go.
    #[serde(default)]
    #[schemars(schema_with = "words::direction")]
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

/// Settings of the hosts' kernels.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Hosts {
    /// Congestion control of every sender.
    pub congestion_control: String,
    /// The receivers' `tcp_rmem` maximum in bytes; absent: the kernel's own.
    #[schemars(extend("unit" = "bytes"))]
    #[schemars(range(min = 4096, max = 2_147_483_647))]
    pub rmem_max: Option<u64>,
    /// Whether TCP timestamps (RFC 7323) are on.
    pub timestamps: bool,
    /// Whether receivers tell what has arrived out of order (selective acknowledgements, RFC 2018).
    #[serde(skip_serializing_if = "Clone::clone")]
    pub sack: bool,
    /// Every sender's initial congestion window in segments; absent: the kernel's own, 10.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "segments"))]
    #[schemars(range(min = 1, max = 10_000))]
    pub initial_window: Option<u32>,
    /// Whether a pause lowers a sender's congestion window (`tcp_slow_start_after_idle`).
    pub slow_start_after_idle: bool,
    /// Hosts whose TCP is Tidegate's own instead of the kernel's: for the laboratory, since the
    /// simulator has no other. A kernel opposite that lacks the congestion control uses Reno.
    pub own_tcp: Vec<Side>,
}

impl Default for Hosts {
    fn default() -> Self {
        Self {
            congestion_control: "cubic".into(),
            rmem_max: None,
            timestamps: true,
            sack: true,
            initial_window: None,
            slow_start_after_idle: true,
            own_tcp: Vec::new(),
        }
    }
}

/// One of the two hosts.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The host behind the access link.
    #[default]
    Client,
    /// The far host.
    Server,
}

impl Side {
    /// The other one.
    pub const fn opposite(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }

    /// As scenarios spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// Among whom what is shared is divided.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    Deserialize,
    JsonSchema,
    Serialize,
    PartialEq,
    Eq,
    EnumString,
    VariantNames,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Fair {
    /// Each flow has as much as any other.
    #[default]
    Flow,
    /// Each device has as much as any other, and divides it among its flows.
    Device,
}

impl Fair {
    fn is_by_flow(&self) -> bool {
        *self == Self::Flow
    }
}

/// One variant of the scenario.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Its name in tables and pictures.
    pub name: String,
    /// The law at the client. It steers the receive window of the client's downloads and, if it can, the window
    /// that the client's own stack is told for its uploads.
    #[serde(default)]
    #[schemars(schema_with = "words::law")]
    pub law: Law,
    /// Whether the client's law steers its uploads; absent: if it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uploads: Option<bool>,
    /// Whether `tide` steers downloads without TCP timestamps, by their round trips.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stampless: bool,
    /// Among whom `tide` divides what the client's connections share. For the simulator.
    #[serde(default, skip_serializing_if = "Fair::is_by_flow")]
    pub fair: Fair,
    /// What becomes of the client's workloads that are `windowless`.
    #[serde(default, skip_serializing_if = "Udp::is_leave")]
    pub udp: Udp,
    /// The law at the server. It steers the receive window of the client's uploads.
    #[serde(default, skip_serializing_if = "Law::is_none")]
    #[schemars(schema_with = "words::law")]
    pub server_law: Law,
    /// A shaper with CAKE at the client's router, steered by cake-autorate if it has bounds. For the simulator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cake: Option<CakeSpec>,
    /// DRWA's λ: how many bandwidth-delay products its window is.
    #[serde(default = "three")]
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub lambda: f64,
    /// Largest window in bytes that DRS or DRWA asks for. DRS: the static limit of Algorithm 2;
    /// without it Algorithm 1.
    #[schemars(extend("unit" = "bytes"))]
    #[schemars(range(min = 1, max = 4_294_967_295u64))]
    pub limit: Option<u64>,
    /// RSFC as in Fig. 5.9 of Xu's thesis (2014), to see what the rest is good for: RDmin and RTTmin are
    /// never raised, and there is no monitor state.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_minima: bool,
    /// A fixed receive window in bytes of payload, as textbooks have it, in place of Linux's
    /// autotuned buffer. In the laboratory for the hosts of `own_tcp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("unit" = "bytes"))]
    #[schemars(range(min = 1, max = 1_073_741_824))]
    pub window: Option<u64>,
    /// How receivers keep their buffers from overflowing; classic and adaptive ones need a `window`.
    /// In the laboratory for the hosts of `own_tcp`.
    #[serde(default, skip_serializing_if = "FlowControl::is_linux")]
    pub flow_control: FlowControl,
    /// Explicit congestion notification of every connection, as `net.ipv4.tcp_ecn` has it: off (0), classic (1,
    /// RFC 3168) or accurate (3, RFC 9768). DCTCP asks for classic by itself, Prague for accurate.
    #[serde(default, skip_serializing_if = "EcnMode::is_off")]
    pub ecn: EcnMode,
    /// Overrides `hosts.congestion_control`.
    pub congestion_control: Option<String>,
    /// Overrides `hosts.rmem_max`.
    #[schemars(extend("unit" = "bytes"))]
    #[schemars(range(min = 4096, max = 2_147_483_647))]
    pub rmem_max: Option<u64>,
    /// Overrides `hosts.own_tcp`.
    pub own_tcp: Option<Vec<Side>>,
}

impl Run {
    /// That law at the client, everything else as it is by itself.
    pub fn new(name: impl Into<String>, law: Law) -> Self {
        Self {
            name: name.into(),
            law,
            uploads: None,
            stampless: false,
            fair: Fair::Flow,
            udp: Udp::Leave,
            server_law: Law::None,
            cake: None,
            lambda: three(),
            limit: None,
            keep_minima: false,
            window: None,
            flow_control: FlowControl::Linux,
            ecn: EcnMode::Off,
            congestion_control: None,
            rmem_max: None,
            own_tcp: None,
        }
    }

    /// What steers at that host.
    pub fn law_of(&self, side: Side) -> Law {
        match side {
            Side::Client => self.law,
            Side::Server => self.server_law,
        }
    }

    /// That host's law and its parameters.
    pub fn params_of(&self, side: Side) -> Params {
        Params {
            law: self.law_of(side),
            lambda: self.lambda,
            limit: self
                .limit
                .map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX)),
            keep_minima: self.keep_minima,
            stampless: self.stampless,
        }
    }

    /// Whether connections of the workload have a window that could be lowered: those that have none have one
    /// where they are turned away, and come over TCP.
    pub fn gives_window(&self, workload: &Workload) -> bool {
        !workload.windowless || self.udp == Udp::Fallback
    }

    /// Whether the client's uploads are steered by its own law.
    pub fn steers_uploads(&self) -> bool {
        self.law.steers_uploads() && self.uploads.unwrap_or(true)
    }
}

fn three() -> f64 {
    3.0
}

/// What becomes of traffic without a window that could be lowered.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    Deserialize,
    JsonSchema,
    Serialize,
    PartialEq,
    Eq,
    EnumString,
    VariantNames,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Udp {
    /// What it sends is held back, so that the window stands at the client. With `tide`.
    Hold,
    /// It is turned away, and comes over TCP instead.
    Fallback,
    /// Nothing.
    #[default]
    Leave,
}

impl Udp {
    /// Whether it is left alone.
    pub fn is_leave(&self) -> bool {
        *self == Self::Leave
    }
}

/// How a receiver keeps its buffer from overflowing.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum FlowControl {
    /// As Linux does.
    #[default]
    Linux,
    /// By the window alone, as the AFC paper's baseline has it.
    Classic,
    /// Adaptive flow control: the sender is told how fast the application reads.
    Adaptive,
}

impl FlowControl {
    /// Whether it is Linux's.
    pub fn is_linux(&self) -> bool {
        *self == Self::Linux
    }
}

/// Which explicit congestion notification connections ask for, and agree to at most.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum EcnMode {
    /// None: what would be marked is dropped.
    #[default]
    Off,
    /// RFC 3168: the sender hears of marks once a round trip, and answers as to a loss.
    Classic,
    /// Accurate ECN (RFC 9768): the sender hears of each mark.
    Accurate,
}

impl EcnMode {
    /// Whether there is none.
    pub fn is_off(&self) -> bool {
        *self == Self::Off
    }
}
