//! The buffer in front of a link, as scenarios spell it. Its keys lie side by side, whatever the policy.

use super::{milliseconds, milliseconds_ok};
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
    #[schemars(extend("unit" = "queues"))]
    pub fq_flows: u32,
    /// PIE's target (RFC 8033 §4.2), in milliseconds.
    #[serde(default = "pie_target_ms")]
    pub pie_target_ms: f64,
    /// DualPI2's target (RFC 9332 §A.1), in milliseconds; 15 by default.
    #[serde(
        default = "dualpi2_target_ms",
        skip_serializing_if = "is_dualpi2_target"
    )]
    pub dualpi2_target_ms: f64,
    /// DualPI2: a packet that waits for longer in the queue for L4S is marked, in milliseconds; 1 by default.
    #[serde(default = "dualpi2_step_ms", skip_serializing_if = "is_dualpi2_step")]
    pub dualpi2_step_ms: f64,
    /// DualPI2's k: L4S packets are marked with k times the square root of the probability with which others are dropped
    /// or marked; 2 by default.
    #[serde(
        default = "dualpi2_coupling",
        skip_serializing_if = "is_dualpi2_coupling"
    )]
    #[schemars(extend("unit" = "ratio"))]
    pub dualpi2_coupling: u32,
    /// ABC's η (Goyal et al. 2020, equation 1): the part of the link's rate that is aimed at; 0.98 by default.
    #[serde(
        default = "abc_utilisation",
        skip_serializing_if = "is_abc_utilisation"
    )]
    #[schemars(extend("unit" = "ratio"))]
    pub abc_utilisation: f64,
    /// ABC's d_t: a shorter delay in the queue is left alone, in milliseconds; 50 by default.
    #[serde(default = "abc_threshold_ms", skip_serializing_if = "is_abc_threshold")]
    pub abc_threshold_ms: f64,
    /// ABC's δ: time in which a longer delay than `abc_threshold_ms` is to be drained, in milliseconds; 133 by default.
    #[serde(default = "abc_drain_ms", skip_serializing_if = "is_abc_drain")]
    pub abc_drain_ms: f64,
    /// ABC: the rate that the target is compared with.
    #[serde(default, skip_serializing_if = "is_abc_feedback")]
    pub abc_feedback: AbcFeedback,
    /// RED's min_th in packets: a shorter average queue is left alone. A twelfth of `packets` by
    /// default.
    pub red_min_packets: Option<f64>,
    /// RED's max_th in packets: from here to twice that the drop probability rises to 1. Three times
    /// min_th by default.
    pub red_max_packets: Option<f64>,
    /// RED's max_p: the drop probability at max_th.
    #[serde(default = "red_max_probability")]
    #[schemars(extend("unit" = "probability"))]
    pub red_max_probability: f64,
    /// RED's w_q: the weight of the newest queue length in the average.
    #[serde(default = "red_weight")]
    pub red_weight: f64,
    /// Whether CoDel, FQ-CoDel, PIE and RED mark packets that are ECN-capable where they would drop them, as
    /// Linux's do with `ecn`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ecn: bool,
    /// CoDel and FQ-CoDel: a packet that is ECN-capable and has waited for longer is marked, each of them
    /// (Linux's `ce_threshold`), in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
        for (key, limit) in [("packets", self.packets), ("bytes", self.bytes)] {
            to.expect(limit != Some(0), key, || {
                "a queue limit of 0, expected at least 1".into()
            });
        }
        let ms = [self.codel_target_ms, self.codel_interval_ms];
        let wrong = ms.map(|ms| !(ms > 0.0 && milliseconds_ok(ms)));
        let key = if wrong[0] {
            "codel_target_ms"
        } else {
            "codel_interval_ms"
        };
        to.expect(wrong == [false; 2], key, || {
            "codel_target_ms and codel_interval_ms, expected more than 0, at most 60000".into()
        });
        let wrong = [
            self.fq_quantum_bytes == 0,
            !(1..=65_536).contains(&self.fq_flows),
        ];
        let key = if wrong[0] {
            "fq_quantum_bytes"
        } else {
            "fq_flows"
        };
        to.expect(wrong == [false; 2], key, || {
            "fq_quantum_bytes and fq_flows, expected at least 1, flows at most 65536".into()
        });
        to.within("pie_target_ms", self.pie_target_ms, 60_000.0);
        to.within("dualpi2_target_ms", self.dualpi2_target_ms, 60_000.0);
        to.within("dualpi2_step_ms", self.dualpi2_step_ms, 60_000.0);
        to.within("dualpi2_coupling", self.dualpi2_coupling.into(), 255.0);
        to.within("abc_utilisation", self.abc_utilisation, 1.0);
        to.within("abc_drain_ms", self.abc_drain_ms, 60_000.0);
        to.expect(
            milliseconds_ok(self.abc_threshold_ms),
            "abc_threshold_ms",
            || "abc_threshold_ms, expected 0 to 60000".into(),
        );
        let (min, max) = self.red_thresholds();
        let key = match self.red_min_packets {
            Some(_) => "red_min_packets",
            None => "red_max_packets",
        };
        // Both by default are those of a limit of 0, which has been complained of.
        let ok = min >= 0.0 && max > min && max.is_finite() || self.packets == Some(0);
        to.expect(ok, key, || {
            format!("red_min_packets = {min} and red_max_packets = {max}, expected 0 <= min < max")
        });
        to.within("red_max_probability", self.red_max_probability, 1.0);
        to.within("red_weight", self.red_weight, 1.0);
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
        if let Some(threshold) = self.ce_threshold_ms {
            to.within("ce_threshold_ms", threshold, 60_000.0);
            to.expect(
                matches!(self.policy, Codel | FqCodel),
                "ce_threshold_ms",
                || {
                    "ce_threshold_ms is for queues that have such a step, expected policy = codel or fq-codel"
                        .into()
                },
            );
        }
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
