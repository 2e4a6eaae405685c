//! The buffer in front of a link, as scenarios spell it. Its keys lie side by side, whatever the policy.

use super::milliseconds;
use crate::complaints::Complaints;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tidegate_link::{
    AbcFeedback, AbcPolicy, DualPi2Policy, FqCodelPolicy, Marking, Policy, QueueConfig,
    QueuePolicy, Rate, RedPolicy,
};

/// The packet that RED takes for typical.
const TYPICAL_BYTES: f64 = 1500.0;

/// A queue's limits and policy. With both limits, whichever is reached first counts.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct QueueSpec {
    /// Limit in packets.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub packets: Option<usize>,
    /// Limit in bytes.
    #[schemars(range(min = 1, max = 10_000_000_000u64))]
    pub bytes: Option<usize>,
    /// What happens at the limit, and before.
    #[serde(default)]
    pub policy: QueuePolicy,
    /// CoDel's and FQ-CoDel's target (RFC 8289 §4.3), in milliseconds.
    #[serde(default = "codel_target_ms")]
    #[schemars(range(min = 0.001, max = 60_000.0))]
    pub codel_target_ms: f64,
    /// CoDel's and FQ-CoDel's interval (RFC 8289 §4.2), in milliseconds.
    #[serde(default = "codel_interval_ms")]
    #[schemars(range(min = 0.001, max = 60_000.0))]
    pub codel_interval_ms: f64,
    /// FQ-CoDel: bytes that a flow may send in a round (RFC 8290 §5.2.4).
    #[serde(default = "fq_quantum_bytes")]
    #[schemars(range(min = 256, max = 1_048_576))]
    pub fq_quantum_bytes: u32,
    /// FQ-CoDel: queues that flows hash to (RFC 8290 §5.2.5).
    #[serde(default = "fq_flows")]
    #[schemars(extend("unit" = "queues"))]
    #[schemars(range(min = 1, max = 65_536))]
    pub fq_flows: u32,
    /// PIE's target (RFC 8033 §4.2), in milliseconds.
    #[serde(default = "pie_target_ms")]
    #[schemars(range(min = 0.001, max = 60_000.0))]
    pub pie_target_ms: f64,
    /// DualPI2's target (RFC 9332 §A.1), in milliseconds; 15 by default.
    #[serde(
        default = "dualpi2_target_ms",
        skip_serializing_if = "is_dualpi2_target"
    )]
    #[schemars(range(min = 0.001, max = 60_000.0))]
    pub dualpi2_target_ms: f64,
    /// DualPI2: a packet that waits for longer in the queue for L4S is marked, in milliseconds; 1 by default.
    #[serde(default = "dualpi2_step_ms", skip_serializing_if = "is_dualpi2_step")]
    #[schemars(range(min = 0.001, max = 60_000.0))]
    pub dualpi2_step_ms: f64,
    /// DualPI2's k: L4S packets are marked with k times the square root of the probability with which others are dropped
    /// or marked; 2 by default.
    #[serde(
        default = "dualpi2_coupling",
        skip_serializing_if = "is_dualpi2_coupling"
    )]
    #[schemars(extend("unit" = "ratio"))]
    #[schemars(range(min = 1, max = 255))]
    pub dualpi2_coupling: u32,
    /// ABC's η (Goyal et al. 2020, equation 1): the part of the link's rate that is aimed at; 0.98 by default.
    #[serde(
        default = "abc_utilisation",
        skip_serializing_if = "is_abc_utilisation"
    )]
    #[schemars(extend("unit" = "ratio"))]
    #[schemars(range(min = 0.01, max = 1.0))]
    pub abc_utilisation: f64,
    /// ABC's d_t: a shorter delay in the queue is left alone, in milliseconds; 50 by default.
    #[serde(default = "abc_threshold_ms", skip_serializing_if = "is_abc_threshold")]
    #[schemars(range(min = 0.0, max = 60_000.0))]
    pub abc_threshold_ms: f64,
    /// ABC's δ: time in which a longer delay than `abc_threshold_ms` is to be drained, in milliseconds; 133 by default.
    #[serde(default = "abc_drain_ms", skip_serializing_if = "is_abc_drain")]
    #[schemars(range(min = 0.001, max = 60_000.0))]
    pub abc_drain_ms: f64,
    /// ABC: the rate that the target is compared with.
    #[serde(default, skip_serializing_if = "is_abc_feedback")]
    pub abc_feedback: AbcFeedback,
    /// RED's min_th in packets: a shorter average queue is left alone. A twelfth of `packets` by
    /// default.
    #[schemars(range(min = 0.0, max = 1_000_000.0))]
    pub red_min_packets: Option<f64>,
    /// RED's max_th in packets: from here to twice that the drop probability rises to 1. Three times
    /// min_th by default.
    #[schemars(range(min = 0.001, max = 3_000_000.0))]
    pub red_max_packets: Option<f64>,
    /// RED's max_p: the drop probability at max_th.
    #[serde(default = "red_max_probability")]
    #[schemars(extend("unit" = "probability"))]
    #[schemars(range(min = 0.000_001, max = 1.0))]
    pub red_max_probability: f64,
    /// RED's w_q: the weight of the newest queue length in the average.
    #[serde(default = "red_weight")]
    #[schemars(range(min = 0.000_001, max = 1.0))]
    pub red_weight: f64,
    /// Whether CoDel, FQ-CoDel, PIE and RED mark packets that are ECN-capable where they would drop them, as
    /// Linux's do with `ecn`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ecn: bool,
    /// CoDel and FQ-CoDel: a packet that is ECN-capable and has waited for longer is marked, each of them
    /// (Linux's `ce_threshold`), in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.001, max = 60_000.0))]
    pub ce_threshold_ms: Option<f64>,
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
            dualpi2_target_ms: dualpi2_target_ms(),
            dualpi2_step_ms: dualpi2_step_ms(),
            dualpi2_coupling: dualpi2_coupling(),
            abc_utilisation: abc_utilisation(),
            abc_threshold_ms: abc_threshold_ms(),
            abc_drain_ms: abc_drain_ms(),
            abc_feedback: AbcFeedback::default(),
            red_min_packets: None,
            red_max_packets: None,
            red_max_probability: red_max_probability(),
            red_weight: red_weight(),
            ecn: false,
            ce_threshold_ms: None,
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
    FqCodelPolicy::default().quantum
}

fn fq_flows() -> u32 {
    FqCodelPolicy::default().flows
}

fn pie_target_ms() -> f64 {
    15.0
}

fn dualpi2_target_ms() -> f64 {
    15.0
}

fn is_dualpi2_target(ms: &f64) -> bool {
    *ms == dualpi2_target_ms()
}

fn dualpi2_step_ms() -> f64 {
    1.0
}

fn is_dualpi2_step(ms: &f64) -> bool {
    *ms == dualpi2_step_ms()
}

fn dualpi2_coupling() -> u32 {
    DualPi2Policy::default().coupling
}

fn is_dualpi2_coupling(k: &u32) -> bool {
    *k == dualpi2_coupling()
}

fn abc_utilisation() -> f64 {
    AbcPolicy::default().utilisation
}

fn is_abc_utilisation(part: &f64) -> bool {
    *part == abc_utilisation()
}

fn abc_threshold_ms() -> f64 {
    50.0
}

fn is_abc_threshold(ms: &f64) -> bool {
    *ms == abc_threshold_ms()
}

fn abc_drain_ms() -> f64 {
    133.0
}

fn is_abc_drain(ms: &f64) -> bool {
    *ms == abc_drain_ms()
}

fn is_abc_feedback(feedback: &AbcFeedback) -> bool {
    *feedback == AbcFeedback::default()
}

/// Floyd and Jacobson 1993, section VI.
fn red_max_probability() -> f64 {
    0.02
}

/// Floyd and Jacobson 1993, section VI.
fn red_weight() -> f64 {
    0.002
}

impl QueueSpec {
    pub(super) fn complain(&self, to: &mut Complaints) {
        let (min, max) = self.red_thresholds();
        let key = match self.red_min_packets {
            Some(_) => "red_min_packets",
            None => "red_max_packets",
        };
        // By default they follow from the limit.
        let sound = to.sound(["packets", "red_min_packets", "red_max_packets"]);
        to.expect(min < max || !sound, key, || {
            format!("red_min_packets = {min} and red_max_packets = {max}, expected min < max")
        });
        self.complain_of_marks(to);
    }

    fn complain_of_marks(&self, to: &mut Complaints) {
        use QueuePolicy::{Abc, Codel, DropHead, DropTail, DualPi2, FqCodel};
        to.expect(
            !self.ecn || !matches!(self.policy, DropTail | DropHead | DualPi2 | Abc),
            "ecn",
            || "ecn is for queues that mark if told to, expected policy = codel, fq-codel, pie or red"
                    .into(),
        );
        to.expect(
            self.ce_threshold_ms.is_none() || matches!(self.policy, Codel | FqCodel),
            "ce_threshold_ms",
            || {
                "ce_threshold_ms is for queues that have such a step, expected policy = codel or fq-codel"
                    .into()
            },
        );
    }

    /// The queue of a link of that rate, from which RED takes the time of a packet.
    pub(super) fn resolve(&self, rate: &Rate) -> QueueConfig {
        QueueConfig {
            packets: self.packets,
            bytes: self.bytes,
            policy: self.policy(rate),
            marking: Marking {
                ecn: self.ecn,
                ce_threshold: self.ce_threshold_ms.map(milliseconds),
            },
        }
    }

    fn policy(&self, rate: &Rate) -> Policy {
        let target = milliseconds(self.codel_target_ms);
        let interval = milliseconds(self.codel_interval_ms);
        match self.policy {
            QueuePolicy::DropTail => Policy::DropTail,
            QueuePolicy::DropHead => Policy::DropHead,
            QueuePolicy::Codel => Policy::Codel { target, interval },
            QueuePolicy::Red => Policy::Red(self.red(rate)),
            QueuePolicy::Pie => Policy::Pie {
                target: milliseconds(self.pie_target_ms),
            },
            QueuePolicy::FqCodel => Policy::FqCodel(FqCodelPolicy {
                target,
                interval,
                quantum: self.fq_quantum_bytes,
                flows: self.fq_flows,
            }),
            QueuePolicy::DualPi2 => Policy::DualPi2(DualPi2Policy {
                target: milliseconds(self.dualpi2_target_ms),
                step: milliseconds(self.dualpi2_step_ms),
                coupling: self.dualpi2_coupling,
                ..DualPi2Policy::default()
            }),
            QueuePolicy::Abc => Policy::Abc(AbcPolicy {
                utilisation: self.abc_utilisation,
                threshold: milliseconds(self.abc_threshold_ms),
                drain: milliseconds(self.abc_drain_ms),
                feedback: self.abc_feedback,
            }),
        }
    }

    fn red(&self, rate: &Rate) -> RedPolicy {
        let (min_packets, max_packets) = self.red_thresholds();
        RedPolicy {
            min_packets,
            max_packets,
            max_probability: self.red_max_probability,
            weight: self.red_weight,
            packet_time: Duration::from_secs_f64(TYPICAL_BYTES * 8.0 / rate.mean_bps()),
        }
    }

    /// RED's min_th and max_th.
    fn red_thresholds(&self) -> (f64, f64) {
        let default = self.packets.unwrap_or(1000) as f64 / 12.0;
        let min = self.red_min_packets.unwrap_or(default);
        (min, self.red_max_packets.unwrap_or(3.0 * min))
    }
}
