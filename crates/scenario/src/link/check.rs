//! What makes no sense in a link.

use super::*;

impl crate::LinkSpec {
    /// A link of that rate and one-way delay with the default queue and nothing else.
    pub fn new(rate: RateSpec, delay_ms: f64) -> Self {
        Self {
            rate,
            delay_ms,
            delay_steps: Vec::new(),
            delay_trace: None,
            queue: QueueSpec::default(),
            loss: None,
            shaper: None,
            cell: None,
            arq: None,
            disorder: None,
            middlebox: None,
        }
    }

    /// The first thing about the link that makes no sense.
    pub fn complaint(&self) -> Option<String> {
        self.delay_complaint()
            .or_else(|| self.rate.complaint())
            .or_else(|| self.queue.complaint())
            .or_else(|| self.loss?.complaint())
            .or_else(|| self.shaper?.complaint())
            .or_else(|| self.cell?.complaint())
            .or_else(|| self.arq.as_ref()?.complaint(&self.rate))
            .or_else(|| self.disorder?.complaint())
            .or_else(|| {
                within(
                    "middlebox.patience_ms",
                    self.middlebox?.patience_ms,
                    60_000.0,
                )
            })
    }

    fn delay_complaint(&self) -> Option<String> {
        if !milliseconds_ok(self.delay_ms) {
            return Some(format!(
                "delay_ms is {}, expected 0 to 60000",
                self.delay_ms
            ));
        }
        if let Some(s) = self
            .delay_steps
            .iter()
            .find(|s| !milliseconds_ok(s.ms) || s.at_s.is_nan() || s.at_s < 0.0)
        {
            return Some(format!(
                "delay step {{ at_s = {}, ms = {} }}, expected at_s >= 0 and ms 0 to 60000",
                s.at_s, s.ms
            ));
        }
        let out_of_order = self.delay_steps.windows(2).any(|w| w[0].at_s >= w[1].at_s);
        out_of_order.then(|| "delay_steps out of order, expected increasing at_s".into())
    }
}

impl RateSpec {
    /// The first thing about the rate that makes no sense, as far as can be told without its file.
    fn complaint(&self) -> Option<String> {
        let (name, mbps) = match self {
            RateSpec::ConstantMbps(mbps) => ("constant_mbps", *mbps),
            RateSpec::Generate(g) => ("mean_mbps", g.mean_mbps?),
            RateSpec::Steps(steps) => return steps_complaint(steps),
            RateSpec::Slots(slots) => return slots.complaint(),
            RateSpec::Walk(walk) => return walk.complaint(),
            RateSpec::Scheduled(scheduled) => return scheduled.complaint(),
            RateSpec::Trace(_) | RateSpec::Series(_) => return None,
        };
        let positive = mbps.is_finite() && mbps > 0.0;
        (!positive).then(|| format!("{name} is {mbps}, expected more than 0"))
    }
}

impl SlotsSpec {
    fn complaint(&self) -> Option<String> {
        within("rate.slots.slot_s", self.slot_s, 86_400.0)
            .or_else(|| {
                let late = outside_a_day(&[[self.late_s, 0.0]])?;
                Some(format!(
                    "rate.slots.late_s is {late}, expected 0 to 86400"
                ))
            })
            .or_else(|| {
                let fast = self.mbps.iter().find(|mbps| **mbps > 1e6)?;
                Some(format!(
                    "rate.slots.mbps, a rate of {fast} Mbit/s, expected at most 1000000"
                ))
            })
            .or_else(|| {
                self.build().err()?;
                Some("rate.slots.mbps, expected rates of at least 0, one above 0".into())
            })
    }
}

impl ScheduledSpec {
    fn complaint(&self) -> Option<String> {
        let ok = (0.1..=100.0).contains(&self.burst_ms);
        (!ok).then(|| {
            format!(
                "scheduled.burst_ms is {}, expected 0.1 to 100",
                self.burst_ms
            )
        })
    }
}

fn steps_complaint(steps: &[[f64; 2]]) -> Option<String> {
    if let Some(late) = outside_a_day(steps) {
        return Some(format!(
            "rate.steps, a step at {late} s, expected 0 to 86400"
        ));
    }
    if let Some(step) = steps.iter().find(|s| s[1] > 1e6) {
        return Some(format!(
            "rate.steps, a rate of {} Mbit/s, expected at most 1000000",
            step[1]
        ));
    }
    let refusal = resolve::rate_steps(steps).err()?;
    Some(format!("rate.steps: {refusal}"))
}

/// The first point in time, in seconds, that lies on no day.
fn outside_a_day(points: &[[f64; 2]]) -> Option<f64> {
    let mut seconds = points.iter().map(|p| p[0]);
    seconds.find(|s| !(0.0..=86_400.0).contains(s))
}

impl WalkSpec {
    fn complaint(&self) -> Option<String> {
        within("walk.peak_mbps", self.peak_mbps, 1e6)
            .or_else(|| within("walk.coherence_ms", self.coherence_ms, 60_000.0))
            .or_else(|| {
                let ok = (0.0..=100.0).contains(&self.fading_db);
                (!ok).then(|| format!("walk.fading_db is {}, expected 0 to 100", self.fading_db))
            })
            .or_else(|| {
                let late = outside_a_day(&self.points)?;
                Some(format!(
                    "walk.points, a point at {late} s, expected 0 to 86400"
                ))
            })
            .or_else(|| {
                let refusal = self.build(0).err()?;
                Some(format!("walk.points: {refusal}"))
            })
    }
}

impl QueueSpec {
    fn complaint(&self) -> Option<String> {
        if self.packets == Some(0) || self.bytes == Some(0) {
            return Some("a queue limit of 0, expected at least 1".into());
        }
        let codel_ms = [self.codel_target_ms, self.codel_interval_ms];
        if !codel_ms.iter().all(|&ms| ms > 0.0 && milliseconds_ok(ms)) {
            return Some(
                "codel_target_ms and codel_interval_ms, expected more than 0, at most 60000".into(),
            );
        }
        if self.fq_quantum_bytes == 0 || !(1..=65_536).contains(&self.fq_flows) {
            return Some(
                "fq_quantum_bytes and fq_flows, expected at least 1, flows at most 65536".into(),
            );
        }
        within("pie_target_ms", self.pie_target_ms, 60_000.0).or_else(|| self.red_complaint())
    }

    fn red_complaint(&self) -> Option<String> {
        let (min, max) = self.red_thresholds();
        if !(min >= 0.0 && max > min && max.is_finite()) {
            return Some(format!(
                "red_min_packets = {min} and red_max_packets = {max}, expected 0 <= min < max"
            ));
        }
        within("red_max_probability", self.red_max_probability, 1.0)
            .or_else(|| within("red_weight", self.red_weight, 1.0))
    }
}

impl LossSpec {
    fn complaint(self) -> Option<String> {
        match self {
            Self::Random(p) => (!probability_ok(p))
                .then(|| format!("loss.random is {p}, expected 0 to less than 1")),
            Self::Bursty {
                probability,
                mean_length,
            } if !probability_ok(probability) || mean_length.is_nan() || mean_length < 1.0 => Some(
                "loss.bursty, expected probability 0 to less than 1 and mean_length >= 1".into(),
            ),
            // Every run of losses is followed by at least one packet that arrives.
            Self::Bursty {
                probability,
                mean_length,
            } if probability > mean_length / (mean_length + 1.0) => Some(format!(
                "loss.bursty, a probability of {probability} cannot be had in runs of mean_length = \
                 {mean_length}, expected at most mean_length / (mean_length + 1)"
            )),
            Self::Bursty { .. } => None,
        }
    }
}

impl ShaperSpec {
    fn complaint(self) -> Option<String> {
        within("shaper.mbps", self.mbps, 1e6).or_else(|| {
            (self.burst_bytes < 1500 || self.queue_packets == 0).then(|| {
                "shaper.burst_bytes and shaper.queue_packets, expected at least 1500 and 1, or nothing \
                 passes"
                    .into()
            })
        })
    }
}

impl CellSpec {
    fn complaint(self) -> Option<String> {
        if !(1..=1000).contains(&self.users) {
            return Some(format!("cell.users is {}, expected 1 to 1000", self.users));
        }
        if !(0.0..=1e6).contains(&self.load_mbps) {
            return Some(format!(
                "cell.load_mbps is {}, expected 0 to 1000000",
                self.load_mbps
            ));
        }
        let [on, off, tti, time_constant] = [
            self.on_s,
            self.off_s,
            self.tti_ms / 1e3,
            self.time_constant_s,
        ];
        within("cell.on_s", on, 86_400.0)
            .or_else(|| within("cell.off_s", off, 86_400.0))
            .or_else(|| within("cell.time_constant_s", time_constant, 86_400.0))
            .or_else(|| {
                let ok = (1e-4..=1.0).contains(&tti) && tti <= on.min(off).min(time_constant);
                (!ok).then(|| {
                    format!(
                        "cell.tti_ms is {}, expected 0.1 to 1000 and no more than on_s, off_s and \
                         time_constant_s",
                        self.tti_ms
                    )
                })
            })
    }
}

impl ArqSpec {
    fn complaint(&self, rate: &RateSpec) -> Option<String> {
        let errors = match (self.error, &self.error_by_db) {
            (Some(p), None) => vec![p],
            (None, Some(curve)) => {
                if !matches!(rate, RateSpec::Walk(_)) {
                    return Some("arq.error_by_db, expected a rate that is a walk".into());
                }
                let in_order = curve.windows(2).all(|w| w[0][0] < w[1][0]);
                if curve.is_empty() || !in_order || curve.iter().any(|p| !p[0].is_finite()) {
                    return Some("arq.error_by_db, expected points in order of dB".into());
                }
                curve.iter().map(|p| p[1]).collect()
            }
            _ => return Some("arq, expected either error or error_by_db".into()),
        };
        if let Some(p) = errors.into_iter().find(|p| !(0.0..=1.0).contains(p)) {
            return Some(format!("arq, an error probability of {p}, expected 0 to 1"));
        }
        if !(1..=1000).contains(&self.tries) {
            return Some(format!("arq.tries is {}, expected 1 to 1000", self.tries));
        }
        within("arq.retry_ms", self.retry_ms, 60_000.0)
    }
}

impl DisorderSpec {
    fn complaint(self) -> Option<String> {
        for (name, p) in [("reorder", self.reorder), ("duplicate", self.duplicate)] {
            if !(0.0..=1.0).contains(&p) {
                return Some(format!("disorder.{name} is {p}, expected 0 to 1"));
            }
        }
        within("disorder.late_ms", self.late_ms, 60_000.0)
    }
}

/// A complaint unless the value is above 0 and at most `max`.
fn within(name: &str, value: f64, max: f64) -> Option<String> {
    let ok = value > 0.0 && value <= max;
    (!ok).then(|| format!("{name} is {value}, expected more than 0 and at most {max}"))
}

fn milliseconds_ok(ms: f64) -> bool {
    (0.0..=60_000.0).contains(&ms)
}

fn probability_ok(p: f64) -> bool {
    (0.0..1.0).contains(&p)
}
