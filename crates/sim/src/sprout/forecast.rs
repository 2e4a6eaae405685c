//! How many packets will have arrived (§3.3): the 5th percentile of the cumulative count at each tick.
//!
//! The distributions for each certain rate are computed once: the rate walks tick by tick, each tick delivers by
//! Poisson, and the counts of ticks are added as if they were independent, as the authors' program does. The
//! distribution for a belief is their mixture.

use super::HORIZON;
use super::belief::{Belief, RATES, TICK_S, log_poisson, rate};
use std::sync::LazyLock;

/// Probability that fewer packets arrive than forecast (§3.3).
const CAUTION: f64 = 0.05;

/// Largest count of packets in a tick: twice the highest rate's mean. Larger counts are included in it.
const MOST: usize = 40;

/// For each tick, each cumulative count up to its end and each rate: the probability of at most that count.
type Tables = [Vec<[f64; RATES]>; HORIZON];

static TABLES: LazyLock<Tables> = LazyLock::new(tables);

fn tables() -> Tables {
    let arrivals: Vec<[f64; MOST + 1]> = (0..RATES).map(|nth| poisson(rate(nth))).collect();
    let mut tables: Tables = std::array::from_fn(|tick| vec![[0.0; RATES]; MOST * (tick + 1) + 1]);
    for from in 0..RATES {
        let mut belief = Belief::certain(from);
        let mut counts = vec![1.0];
        for table in &mut tables {
            counts = convolve(&counts, &mixture(&belief, &arrivals));
            let mut below = 0.0;
            for (row, count) in table.iter_mut().zip(&counts) {
                below += count;
                row[from] = below;
            }
            belief.evolve();
        }
    }
    tables
}

/// Probabilities of the number of packets in a tick at that rate.
fn poisson(rate: f64) -> [f64; MOST + 1] {
    let mut probabilities = [0.0; MOST + 1];
    let mut log_factorial = 0.0;
    let mut sum = 0.0;
    let (most, few) = probabilities.split_last_mut().expect("MOST + 1");
    for (packets, probability) in few.iter_mut().enumerate() {
        if packets > 0 {
            log_factorial += libm::log(packets as f64);
        }
        let log = log_poisson(rate * TICK_S, packets as u32) - log_factorial;
        *probability = libm::exp(log);
        sum += *probability;
    }
    *most = (1.0 - sum).max(0.0);
    probabilities
}

/// Distribution of a tick's arrivals under that belief.
fn mixture(belief: &Belief, arrivals: &[[f64; MOST + 1]]) -> [f64; MOST + 1] {
    let mut mixture = [0.0; MOST + 1];
    let likely = belief.probabilities().iter().zip(arrivals);
    for (p, arrivals) in likely.filter(|&(&p, _)| p > 0.0) {
        for (sum, of) in mixture.iter_mut().zip(arrivals) {
            *sum += p * of;
        }
    }
    mixture
}

fn convolve(one: &[f64], other: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; one.len() + other.len() - 1];
    for (place, p) in one.iter().enumerate() {
        for (sum, q) in sums[place..].iter_mut().zip(other) {
            *sum += p * q;
        }
    }
    sums
}

/// Packets that will have arrived by the end of each of the next ticks with a probability of at least 95 %.
pub fn cautious(belief: &Belief) -> [u32; HORIZON] {
    let mut least = 0;
    std::array::from_fn(|tick| {
        let table = &TABLES[tick];
        let below = |row: &[f64; RATES]| -> f64 {
            let both = belief.probabilities().iter().zip(row);
            both.map(|(p, below)| p * below).sum()
        };
        // A mixture's distribution function rises with the count, as each of its parts does.
        let count = table.partition_point(|row| below(row) < CAUTION) as u32;
        least = least.max(count);
        least
    })
}

/// Arrivals if that many packets keep arriving in each tick (§3.5, Sprout-EWMA): no caution.
pub fn steady(packets_a_tick: f64) -> [u32; HORIZON] {
    std::array::from_fn(|tick| (packets_a_tick * (tick + 1) as f64) as u32)
}
