//! The result: the same schema from laboratory and simulator, so that they can be compared.

use crate::{Direction, Law, words};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All runs of one scenario.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct ResultSet {
    /// The scenario's name.
    pub scenario: String,
    /// One sentence for people.
    pub description: String,
    /// Seed of everything random.
    #[serde(default)]
    pub seed: u64,
    /// One entry a run, in the scenario's order.
    pub runs: Vec<RunResult>,
}

/// What one run measured.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct RunResult {
    /// The run's name.
    pub name: String,
    /// The law that steered the client's window.
    #[schemars(schema_with = "words::law")]
    pub law: Law,
    /// The name of a law of the caller's own, which steered in its place, in the simulator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_law: Option<String>,
    /// The same at the server, in place of the run's `server_law`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_server_law: Option<String>,
    /// Congestion control of the senders.
    pub congestion_control: String,
    /// One entry a connection; many short ones of a workload are in `fetches` instead.
    pub flows: Vec<FlowResult>,
    /// Objects fetched, by size.
    #[serde(default)]
    pub fetches: Vec<FetchResult>,
    /// Workloads whose flows arrive by themselves.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrivals: Vec<ArrivalsResult>,
    /// The downlink: the link under study.
    pub link: LinkResult,
    /// The uplink.
    pub uplink: LinkResult,
    /// Further links on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hops: Vec<HopResult>,
    /// The shapers at the client's router, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cake: Option<CakeResult>,
    /// Videos played.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub videos: Vec<VideoResult>,
    /// What became of workloads without a window, where they were not left alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<HeldResult>,
    /// What mPath transfers needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transfers: Vec<TransferResult>,
    /// Whether the run may be believed.
    pub health: Health,
    /// How the agent's own RTT compares with the truth; absent without an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_rtt: Option<RttAccuracy>,
    /// Curves over time, on request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub series: Vec<Series>,
}

impl RunResult {
    /// What people call the law.
    pub fn law_name(&self) -> &str {
        self.own_law.as_deref().unwrap_or(self.law.name())
    }
}

/// Shapers with CAKE at the client's router.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct CakeResult {
    /// Of what arrives.
    pub down: ShapedResult,
    /// Of what leaves.
    pub up: ShapedResult,
}

/// What one shaper did.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct ShapedResult {
    /// The mean of its rate, warm-up excluded.
    pub rate_bps: f64,
    /// Queueing delay of every packet that it let go, warm-up excluded.
    pub queue_delay_ms: Quantiles,
    /// Packets that it dropped, whole run.
    pub drops: u64,
    /// Packets that it marked (CE), whole run; absent: none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub marks: u64,
}

/// One connection.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct FlowResult {
    /// The workload's name, with `#n` for the n-th of several.
    pub name: String,
    /// Which way its data go.
    pub direction: FlowDirection,
    /// Payload delivered to the application per second, from `from_s` to `to_s`.
    pub goodput_bps: f64,
    /// When its goodput begins to count, in seconds of the run: with its start, or with the warm-up's end.
    #[serde(default)]
    pub from_s: f64,
    /// Until when it counts: its last byte, its stop, or the end of the run.
    #[serde(default)]
    pub to_s: f64,
    /// The sender's smoothed RTT over time, warm-up excluded.
    pub rtt_ms: Quantiles,
    /// Segments sent again, whole run.
    pub retransmits: u64,
    /// Seconds from its start to its last byte, if it had an end.
    pub completion_s: Option<f64>,
    /// How long ago the newest packet that had arrived was sent, over time, warm-up excluded; of Sprout alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_ms: Option<Quantiles>,
}

/// Which way a flow's data go.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum FlowDirection {
    /// From the server to the client.
    #[default]
    Down,
    /// From the client to the server.
    Up,
    /// There and back: a ping, which has only round trips.
    Echo,
}

impl From<Direction> for FlowDirection {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Down => Self::Down,
            Direction::Up => Self::Up,
        }
    }
}

impl FlowDirection {
    /// As results spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Up => "up",
            Self::Echo => "echo",
        }
    }
}

/// Fetches of one object size.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct FetchResult {
    /// The workload's name.
    pub name: String,
    /// Size of the object.
    pub bytes: u64,
    /// Fetches that ended.
    pub count: u64,
    /// From `connect` to the last byte.
    pub time_ms: Quantiles,
}

/// Flows of a workload that arrived after the warm-up.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct ArrivalsResult {
    /// The workload's name.
    pub name: String,
    /// Which way their data go.
    pub direction: FlowDirection,
    /// Payload of those that arrived, per second, whether or not it was delivered.
    pub offered_bps: f64,
    /// Payload delivered to applications per second, that of unfinished flows included, from `from_s` to `to_s`.
    pub goodput_bps: f64,
    /// When they begin to count, in seconds of the run: with the workload's start, or with the warm-up's end.
    #[serde(default)]
    pub from_s: f64,
    /// Until when they count.
    #[serde(default)]
    pub to_s: f64,
    /// All of them.
    pub all: FlowClassResult,
    /// By size.
    pub classes: Vec<FlowClassResult>,
}

/// Completion times of flows of some size. Of those that did not finish nothing is in them: where many did not, they say less
/// than they seem to.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct FlowClassResult {
    /// The smallest size in bytes.
    pub from_bytes: u64,
    /// Sizes are below that many bytes; absent: there is no limit.
    pub below_bytes: Option<u64>,
    /// Flows that arrived.
    pub started: u64,
    /// Those of them whose last byte arrived before the term ended.
    pub finished: u64,
    /// From `connect` to the last byte (flow completion time).
    pub fct_ms: Quantiles,
    /// That, divided by what it would be at best for the flow alone on the idle link: a round trip for the handshake, the time
    /// until the first byte, and its packets at the mean rate of the slowest link.
    pub slowdown: Quantiles,
}

/// One direction of the link.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct LinkResult {
    /// Delivered bytes ÷ bytes that the link could have carried while a bulk workload wanted all that
    /// it could get; absent (here NaN) if none did.
    #[serde(default = "unknown", skip_serializing_if = "is_unknown")]
    pub utilisation: f64,
    /// Bytes delivered per second, headers included, warm-up excluded.
    pub delivered_bps: f64,
    /// True queueing delay of every packet delivered after the warm-up.
    pub queue_delay_ms: Quantiles,
    /// Packets dropped by the queue, whole run.
    pub drops: u64,
    /// Packets lost on the link by configuration, whole run.
    pub losses: u64,
    /// Packets marked by the queue (CE), whole run; absent: none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub marks: u64,
}

/// A number that nothing tells.
fn unknown() -> f64 {
    f64::NAN
}

fn is_unknown(number: &f64) -> bool {
    number.is_nan()
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// A further link on the way.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct HopResult {
    /// The hop's name.
    pub name: String,
    /// What became of its packets; its utilisation is over the demand of its direction.
    pub link: LinkResult,
}

/// How a video played, whole run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct VideoResult {
    /// The workload's name.
    pub name: String,
    /// Seconds from the start of the workload until it began to play; absent if it never did.
    pub startup_s: Option<f64>,
    /// How often it ran dry.
    pub stalls: u64,
    /// For how many seconds in all.
    pub stalled_s: f64,
    /// Seconds that were played.
    pub played_s: f64,
    /// Of one in several bit rates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<AdaptiveResult>,
}

/// How good a video in several bit rates was, whole run.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct AdaptiveResult {
    /// Segments that came whole.
    pub segments: u64,
    /// Mean of their bit rates.
    pub bitrate_bps: f64,
    /// How often the bit rate changed from one to the next.
    pub switches: u64,
    /// Quality of experience: the segments' Mbit/s, less the weighted changes, stalls and start.
    pub qoe: f64,
    /// The same, divided by the number of segments.
    pub qoe_per_segment: f64,
}

/// What became of a workload's packets at the client because they have no window, whole run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct HeldResult {
    /// The workload's name, in the laboratory with `#n` for the n-th flow of several.
    pub name: String,
    /// Packets that arrived.
    pub arrived: u64,
    /// Those of them that were signalled as congestion.
    pub signalled: u64,
    /// Packets that left.
    pub left: u64,
    /// Those of them that waited.
    pub held: u64,
    /// How long these did; the laboratory does not see that.
    pub wait_ms: Quantiles,
}

/// What an mPath transfer needed, whole run.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct TransferResult {
    /// The workload's name.
    pub name: String,
    /// Proxies that answered a probe and were not given up for good.
    pub usable_proxies: usize,
    /// Most bytes that waited at the receiver for those before them.
    pub most_waiting_bytes: u64,
    /// Timeouts of the direct path.
    pub timeouts: u64,
    /// Shared losses that moved load to the direct path.
    pub aggregations: u64,
}

/// A distribution in a few numbers. All zero where nothing was counted.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct Quantiles {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest.
    pub max: f64,
}

/// How well the laboratory kept time. The simulator's is perfect by construction.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct Health {
    /// Delivered minus due, every packet.
    pub timing_error_ms: Quantiles,
    /// Packets that the laboratory's own plumbing lost: not the link's.
    pub plumbing_losses: u64,
    /// Share of one core used by the emulator.
    pub emulator_cpu: f64,
    /// Share of the whole machine that was busy with what has no low priority (nice).
    pub machine_cpu: f64,
    /// Why the run should not be counted; empty if it may.
    pub warnings: Vec<String>,
}

/// The agent's RTT against the emulator's truth, in bins of time.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct RttAccuracy {
    /// Bins compared.
    pub bins: u64,
    /// Median of the difference between the agent's RTT and the truth, whatever its sign.
    pub median_error_ms: f64,
    /// Median of that difference ÷ the truth.
    pub median_relative_error: f64,
    /// Median of the truth.
    pub median_truth_ms: f64,
}

/// One curve.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct Series {
    /// Which quantity, with its unit: `queue_delay_ms`, `rtt_ms`, `window_bytes`, `goodput_bps`, …
    pub quantity: String,
    /// The flow it belongs to; empty for the link.
    pub flow: String,
    /// Seconds since the start of the run.
    pub t_s: Vec<f64>,
    /// Values, one for each time.
    pub value: Vec<f64>,
}
