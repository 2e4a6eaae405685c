//! What a link may be made of, as scenarios spell it.

mod check;
mod resolve;

use serde::{Deserialize, Serialize};

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
    /// Such a file, handed out in a scheduler's bursts.
    Scheduled(ScheduledSpec),
    /// Seconds and Mbit/s, the first at 0 s: each rate holds until the next one, the last for ever.
    Steps(Vec<[f64; 2]>),
    /// One rate after the other, each for as long, over and over.
    Slots(SlotsSpec),
    /// One of the shipped, seeded cell models.
    Generate(GenerateSpec),
    /// A user's walk through an LTE cell, looped.
    Walk(WalkSpec),
}

/// Rates that take turns.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SlotsSpec {
    /// The rates in Mbit/s.
    pub mbps: Vec<f64>,
    /// Seconds of each.
    pub slot_s: f64,
    /// Seconds after the start at which the first of them begins.
    #[serde(default)]
    pub late_s: f64,
}

/// A rate series whose capacity leaves in bursts, as a cell's scheduler hands it out.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduledSpec {
    /// A file of `seconds,bits_per_second`, looped.
    pub series: String,
    /// Whether the rate is linear between the rows instead of a step at each.
    #[serde(default)]
    pub interpolate: bool,
    /// Milliseconds from one burst to the next.
    pub burst_ms: f64,
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

/// A signal that is piecewise linear in time, and the rate that LTE's modulation and coding schemes
/// make of it: none below −6.9 dB, all of `peak_mbps` from 19.8 dB on.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WalkSpec {
    /// Rate of the best scheme, in Mbit/s.
    pub peak_mbps: f64,
    /// Seconds and signal-to-noise ratio in dB; the first at 0 s. The walk starts anew at the last
    /// one; a single point stands still.
    pub points: Vec<[f64; 2]>,
    /// Standard deviation of fast fading, in dB.
    #[serde(default)]
    pub fading_db: f64,
    /// How long the fading takes to change, in milliseconds.
    #[serde(default = "coherence_ms")]
    pub coherence_ms: f64,
    /// Its own seed; the scenario's by default.
    pub seed: Option<u64>,
}

fn coherence_ms() -> f64 {
    20.0
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
    /// What happens at the limit, and before.
    #[serde(default)]
    pub policy: QueuePolicy,
    /// CoDel's and FQ-CoDel's target (RFC 8289 §4.3), in milliseconds.
    #[serde(default = "codel_target_ms")]
    pub codel_target_ms: f64,
    /// CoDel's and FQ-CoDel's interval (RFC 8289 §4.2), in milliseconds.
    #[serde(default = "codel_interval_ms")]
    pub codel_interval_ms: f64,
    /// FQ-CoDel: bytes that a flow may send in a round (RFC 8290 §5.2.4).
    #[serde(default = "fq_quantum_bytes")]
    pub fq_quantum_bytes: u32,
    /// FQ-CoDel: queues that flows hash to (RFC 8290 §5.2.5).
    #[serde(default = "fq_flows")]
    pub fq_flows: u32,
    /// PIE's target (RFC 8033 §4.2), in milliseconds.
    #[serde(default = "pie_target_ms")]
    pub pie_target_ms: f64,
    /// RED's min_th in packets: a shorter average queue is left alone. A twelfth of `packets` by
    /// default.
    pub red_min_packets: Option<f64>,
    /// RED's max_th in packets: from here to twice that the drop probability rises to 1. Three times
    /// min_th by default.
    pub red_max_packets: Option<f64>,
    /// RED's max_p: the drop probability at max_th.
    #[serde(default = "red_max_probability")]
    pub red_max_probability: f64,
    /// RED's w_q: the weight of the newest queue length in the average.
    #[serde(default = "red_weight")]
    pub red_weight: f64,
}

impl Default for QueueSpec {
    fn default() -> Self {
        Self {
            packets: Some(1000),
            bytes: None,
            policy: QueuePolicy::default(),
            codel_target_ms: codel_target_ms(),
            codel_interval_ms: codel_interval_ms(),
            fq_quantum_bytes: fq_quantum_bytes(),
            fq_flows: fq_flows(),
            pie_target_ms: pie_target_ms(),
            red_min_packets: None,
            red_max_packets: None,
            red_max_probability: red_max_probability(),
            red_weight: red_weight(),
        }
    }
}

fn codel_target_ms() -> f64 {
    5.0
}

fn codel_interval_ms() -> f64 {
    100.0
}

fn fq_quantum_bytes() -> u32 {
    1500
}

fn fq_flows() -> u32 {
    1024
}

fn pie_target_ms() -> f64 {
    15.0
}

/// Floyd and Jacobson 1993, section VI.
fn red_max_probability() -> f64 {
    0.02
}

/// Floyd and Jacobson 1993, section VI.
fn red_weight() -> f64 {
    0.002
}

/// What a full (or, with active queue management, a standing) queue does.
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
    /// Random early detection, gentle, drop-tail at the limit.
    Red,
    /// PIE (RFC 8033), drop-tail at the limit.
    Pie,
    /// FQ-CoDel (RFC 8290): a CoDel for each flow, and flows served in turn.
    FqCodel,
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

/// A token bucket with a queue, in front of the link's own.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ShaperSpec {
    /// The rate shaped to, in Mbit/s.
    pub mbps: f64,
    /// How many bytes may leave at once; a larger packet never does.
    #[serde(default = "burst_bytes")]
    pub burst_bytes: u32,
    /// How many packets may wait.
    #[serde(default = "queue_packets")]
    pub queue_packets: usize,
}

fn burst_bytes() -> u32 {
    15_000
}

fn queue_packets() -> usize {
    1000
}

/// Other users in the cell, who take the link's time in turn with this one and have queues of their
/// own. Each receives traffic at a constant rate for exponentially distributed times. Their rates are
/// as this link's, random anew or from elsewhere in the recording.
///
/// The two hosts of a scenario are one user, however many flows they have.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct CellSpec {
    /// Users in the cell, this one included.
    pub users: u32,
    /// Who is served when.
    #[serde(default)]
    pub scheduler: SchedulerKind,
    /// Mean load of each of the others, in Mbit/s.
    pub load_mbps: f64,
    /// Mean time with traffic, in seconds.
    #[serde(default = "two_seconds")]
    pub on_s: f64,
    /// Mean time without, in seconds.
    #[serde(default = "two_seconds")]
    pub off_s: f64,
    /// Transmission time interval, in milliseconds.
    #[serde(default = "tti_ms")]
    pub tti_ms: f64,
    /// Proportional fair: over what time a user's average is taken, in seconds.
    #[serde(default = "time_constant_s")]
    pub time_constant_s: f64,
    /// Seed of the others' traffic; the scenario's by default.
    pub seed: Option<u64>,
}

fn two_seconds() -> f64 {
    2.0
}

fn tti_ms() -> f64 {
    1.0
}

/// CDMA-HDR's 1000 slots of 1.67 ms.
fn time_constant_s() -> f64 {
    1.67
}

/// How a cell shares its time.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum SchedulerKind {
    /// The user whose rate is highest compared with what he got on average.
    #[default]
    ProportionalFair,
    /// One after another.
    RoundRobin,
}

/// Retransmission on the link itself, with delivery in order: loss becomes delay.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ArqSpec {
    /// Probability that a transmission fails.
    pub error: Option<f64>,
    /// Instead of `error`, for a link whose rate is a walk: signal in dB and probability, piecewise
    /// linear.
    pub error_by_db: Option<Vec<[f64; 2]>>,
    /// Milliseconds from one transmission to the next.
    #[serde(default = "retry_ms")]
    pub retry_ms: f64,
    /// Transmissions of one packet, the first included; then it is lost.
    #[serde(default = "tries")]
    pub tries: u32,
}

/// HARQ's round trip in LTE.
fn retry_ms() -> f64 {
    8.0
}

fn tries() -> u32 {
    8
}

/// Reordering and duplication.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct DisorderSpec {
    /// Probability that a packet is late, so that those behind it overtake it.
    #[serde(default)]
    pub reorder: f64,
    /// By how many milliseconds.
    #[serde(default = "late_ms")]
    pub late_ms: f64,
    /// Probability that a packet comes twice.
    #[serde(default)]
    pub duplicate: f64,
}

fn late_ms() -> f64 {
    5.0
}

/// A box that holds a TCP stream's packets until they are in order.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct MiddleboxSpec {
    /// How long it holds a packet at most, in milliseconds.
    pub patience_ms: f64,
}

#[cfg(test)]
mod tests;
