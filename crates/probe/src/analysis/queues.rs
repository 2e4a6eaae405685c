//! Whether devices share a queue, and how they share the link (thesis §4.3, Figs. 4.11 to 4.13).

use crate::Arrival;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// Whether a second device's packets stand in the same queue.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Queues {
    /// Each device has its own.
    Own,
    /// They share one.
    Shared,
}

/// A quiet flow in the busy one's queue waits as long as the busy one; in another queue it waits only for turns.
const SHARED: f64 = 0.5;

/// Whether a device that sends little shares a queue with one that fills its own, from arrivals before and during that
/// (Fig. 4.12). None if the busy device's packets did not wait, or nothing arrived.
pub fn queues(quiet: &[Arrival], busy: &[Arrival]) -> Option<Queues> {
    let full_from = busy.iter().map(|a| a.arrived).min()?;
    let mut waits = [waits_ms(busy), waits_ms(quiet)].map(|waits| {
        let later = waits.into_iter().filter(|w| w.0 > full_from);
        later.map(|w| w.1).collect::<Vec<f64>>()
    });
    let [busy_ms, quiet_ms] = waits.each_mut().map(|w| super::quantile(w, 0.75));
    if busy_ms.is_nan() || busy_ms <= LEAST_MS || quiet_ms.is_nan() {
        return None;
    }
    Some(match quiet_ms > SHARED * busy_ms {
        true => Queues::Shared,
        false => Queues::Own,
    })
}

/// Shorter waits show nothing.
const LEAST_MS: f64 = 20.0;

/// When each packet arrived, and how much longer it waited than the one that waited least, in milliseconds.
fn waits_ms(arrivals: &[Arrival]) -> Vec<(Instant, f64)> {
    let least = arrivals.iter().map(Arrival::one_way_ns).min().unwrap_or(0);
    let wait = |a: &Arrival| {
        (
            a.arrived,
            (a.one_way_ns().saturating_sub(least)) as f64 / 1e6,
        )
    };
    arrivals.iter().map(wait).collect()
}

/// The rate of each flow in [`from`, `to`), in bit/s.
pub fn shares_bps<F: AsRef<[Arrival]>>(flows: &[F], from: Instant, to: Instant) -> Vec<f64> {
    let seconds = (to - from).max(Duration::from_nanos(1)).as_secs_f64();
    let within = |a: &&Arrival| a.arrived >= from && a.arrived < to;
    let bytes = |flow: &F| -> u64 {
        let counted = flow.as_ref().iter().filter(within);
        counted.map(|a| u64::from(a.bytes)).sum()
    };
    flows
        .iter()
        .map(|flow| bytes(flow) as f64 * 8.0 / seconds)
        .collect()
}

/// R. Jain's index of fairness: 1 if all get the same, 1/n if one gets everything.
pub fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|s| s * s).sum();
    if squares > 0.0 {
        sum * sum / (shares.len() as f64 * squares)
    } else {
        1.0
    }
}
