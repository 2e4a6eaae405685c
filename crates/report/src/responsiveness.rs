//! How many round trips a minute the link answers while it is loaded, as
//! draft-ietf-ippm-responsiveness counts them, without TLS and HTTP.

use crate::digest::counted;
use tidegate_scenario::{FlowDirection, RunResult};

/// Largest object that fits into one packet: a larger one takes more than a handshake and an answer.
const ONE_PACKET: u64 = 1400;
/// From `connect` to the answer: the handshake, and the request with its answer.
const ROUND_TRIPS: f64 = 2.0;

/// Round trips a minute under load: the mean of two rates. New connections beside the load are measured by fetches of
/// objects of one packet, the loading connections by their senders' round trips. Means include everything, so a lost
/// handshake counts with its second of waiting. None without such fetches or without load.
pub(crate) fn rpm(run: &RunResult) -> Option<f64> {
    let small = run.fetches.iter().filter(|fetch| fetch.bytes <= ONE_PACKET);
    let new = small
        .filter_map(|fetch| Some(counted(fetch.time_ms)?.mean / ROUND_TRIPS))
        .reduce(f64::max)?;
    let loading = run.flows.iter();
    let loading = loading.filter(|flow| flow.direction != FlowDirection::Echo);
    let own: Vec<f64> = loading
        .filter_map(|flow| Some(counted(flow.rtt_ms)?.mean))
        .collect();
    let own_ms = own.iter().sum::<f64>() / own.len() as f64;
    (!own.is_empty()).then(|| (a_minute(new) + a_minute(own_ms)) / 2.0)
}

fn a_minute(round_trip_ms: f64) -> f64 {
    60_000.0 / round_trip_ms
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::flow;
    use tidegate_scenario::{FetchResult, Quantiles};

    fn fetch(bytes: u64, mean: f64) -> FetchResult {
        FetchResult {
            bytes,
            count: 9,
            time_ms: Quantiles {
                mean,
                max: mean,
                ..Quantiles::default()
            },
            ..FetchResult::default()
        }
    }

    #[test]
    fn new_connections_and_those_that_load_count_for_a_half_each() {
        let mut load = flow("load", 9.0, 0.0);
        load.rtt_ms.mean = 100.0;
        load.rtt_ms.max = 100.0;
        let mut run = RunResult {
            flows: vec![load.clone(), load],
            fetches: vec![fetch(1000, 400.0), fetch(60_000, 9000.0)],
            ..RunResult::default()
        };
        // 600 and 300 a minute.
        assert_eq!(rpm(&run), Some(450.0));
        run.fetches.remove(0);
        assert_eq!(rpm(&run), None, "an object of many packets tells nothing");
        run.fetches = vec![fetch(1000, 400.0)];
        run.flows.clear();
        assert_eq!(rpm(&run), None, "without load");
    }
}
