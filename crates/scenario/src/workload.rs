//! What makes sense in a workload.

use crate::WorkloadKind;

impl WorkloadKind {
    /// The first thing about the workload that makes no sense.
    pub(crate) fn complaint(&self) -> Option<String> {
        match self {
            Self::Bulk { bytes, flows, .. } => {
                at_least_one("bulk.flows", *flows).or_else(|| at_least_one("bulk.bytes", (*bytes)?))
            }
            Self::Web {
                object_bytes,
                pause_s,
            } => {
                if object_bytes.is_empty() {
                    return Some("web.object_bytes is empty, expected at least one size".into());
                }
                (!(0.0..=86_400.0).contains(pause_s))
                    .then(|| format!("web.pause_s is {pause_s}, expected 0 to 86400"))
            }
            Self::Chunks {
                chunk_bytes,
                period_s,
            } => at_least_one("chunks.chunk_bytes", *chunk_bytes)
                .or_else(|| positive("chunks.period_s", *period_s)),
            Self::ConstantRate { mbps, .. } => positive("constant_rate.mbps", *mbps),
            Self::Ping { interval_ms } => positive("ping.interval_ms", *interval_ms),
            Self::Command { run, .. } => run
                .is_empty()
                .then(|| "command.run is empty, expected a program and its arguments".into()),
        }
    }
}

fn at_least_one(key: &str, value: u64) -> Option<String> {
    (value == 0).then(|| format!("{key} is 0, expected at least 1"))
}

fn positive(key: &str, value: f64) -> Option<String> {
    // A million is more than anybody means, in every unit here.
    (!(value > 0.0 && value <= 1e6))
        .then(|| format!("{key} is {value}, expected more than 0 and at most 1000000"))
}

#[cfg(test)]
mod tests;
