//! Curves over time, one point for each bin.
//!
//! | quantity | of | what |
//! | --- | --- | --- |
//! | `queue_delay_ms`, `queue_delay_max_ms` | downlink | true queueing delay, mean and largest |
//! | `up_queue_delay_ms` | uplink | the same, mean |
//! | `delivered_bps`, `up_delivered_bps` | link | bytes delivered, IP headers included |
//! | `capacity_bps` | downlink | bytes that could have been delivered |
//! | `true_rtt_ms` | link | the round trip by the links' delays |

use crate::{Bin, Bins, round_trip};
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_link::Capacity;
use tidegate_scenario::Series;

/// The links' curves until `end`; `capacity` is the downlink's.
pub fn link_curves(down: &Bins, up: &Bins, capacity: &mut Capacity, end: Instant) -> Vec<Series> {
    let width = down.width();
    let bins = end.as_nanos() / width.as_nanos() as u64;
    let times: Vec<Instant> = (0..bins as u32)
        .map(|n| Instant::ZERO + width * n)
        .collect();
    let of = |bins: &Bins, value: &dyn Fn(&Bin) -> Option<f64>| {
        let points = times.iter().zip(bins.as_slice());
        points
            .filter_map(|(&t, bin)| Some((t, value(bin)?)))
            .collect::<Vec<_>>()
    };
    let mean = &|bin: &Bin| bin.queued_mean().map(ms);
    let max = &|bin: &Bin| (bin.packets > 0).then(|| ms(bin.queued_max));
    let rate = &|bin: &Bin| Some(bps(bin.bytes, width));
    let round_trips = times
        .iter()
        .filter_map(|&t| Some((t, ms(round_trip([up, down], t)?))))
        .collect();
    let capacities = times
        .iter()
        .map(|&t| (t, bps(capacity.bytes(t, t + width), width)))
        .collect();
    [
        ("queue_delay_ms", of(down, mean)),
        ("queue_delay_max_ms", of(down, max)),
        ("up_queue_delay_ms", of(up, mean)),
        ("delivered_bps", of(down, rate)),
        ("up_delivered_bps", of(up, rate)),
        ("capacity_bps", capacities),
        ("true_rtt_ms", round_trips),
    ]
    .map(|(quantity, points)| curve(quantity, "", points))
    .into()
}

/// One curve in the schema's terms.
pub fn curve(quantity: &str, flow: &str, points: Vec<(Instant, f64)>) -> Series {
    let (t_s, value) = points
        .into_iter()
        .map(|(t, value)| (t.as_secs_f64(), value))
        .unzip();
    Series {
        quantity: quantity.into(),
        flow: flow.into(),
        t_s,
        value,
    }
}

/// Milliseconds.
pub fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Rate of `bytes` in a bin of `width`.
fn bps(bytes: u64, width: Duration) -> f64 {
    bytes as f64 * 8.0 / width.as_secs_f64()
}
