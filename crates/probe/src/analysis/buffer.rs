//! A buffer's size and its unit: the plateau that stays constant across packet sizes and rates (thesis §4.3, Figs. 4.7,
//! 4.8 and 4.10).

use super::flights::Flights;
use super::policy::{DropPolicy, Overflow, common_bound, overflow};
use serde::{Deserialize, Serialize};

/// The unit of a buffer's limit.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A number of packets, whatever their size.
    Packets,
    /// A number of bytes.
    Bytes,
    /// A waiting time, whatever the rate.
    Time,
    /// No plateau is constant, or there was one size only.
    Unclear,
}

/// A buffer.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct Buffer {
    /// The unit of its size.
    pub unit: Unit,
    /// Its size in that unit (seconds for time); in bytes if the unit is unclear.
    pub size: f64,
    /// Which packets it drops when it is full.
    pub policy: DropPolicy,
    /// How much the plateau differs between the trains: largest ÷ smallest, 1 at best.
    pub spread: f64,
    /// Trains that overflowed.
    pub trains: usize,
}

/// A plateau within this factor counts as the same. Packet sizes differ by a factor of seven, and a buffer of bytes
/// leaves less than one packet unused.
const STAYS: f64 = 1.25;

/// The buffer that trains of several packet sizes show; none if none overflowed.
pub fn buffer(trains: &[Flights]) -> Option<Buffer> {
    let found = trains
        .iter()
        .filter_map(|train| Some((train, overflow(train)?)));
    let (full, overflows): (Vec<&Flights>, Vec<Overflow>) = found.unzip();
    let seen: Vec<(f64, Overflow)> = full.iter().map(|t| t.bytes).zip(overflows).collect();
    let policy = policy(&seen)?;
    if policy == DropPolicy::Aqm {
        let managed_ones = full
            .iter()
            .zip(&seen)
            .filter(|(_, (_, o))| o.policy == policy);
        let (trains, overflows): (Vec<&Flights>, Vec<Overflow>) =
            managed_ones.map(|(&train, &(_, o))| (train, o)).unzip();
        return Some(managed(&trains, &overflows));
    }
    let agreeing: Vec<_> = seen
        .into_iter()
        .filter(|(_, o)| o.policy == policy)
        .collect();
    let plateau = |read: fn(&(f64, Overflow)) -> f64| Plateau::of(agreeing.iter().map(read));
    let packets = plateau(|(_, o)| o.packets);
    let bytes = plateau(|(size, o)| o.packets * size);
    let time = plateau(|(_, o)| o.wait_s);
    let (unit, at) = match () {
        () if agreeing.len() < 2 => (Unit::Unclear, bytes),
        () if packets.ratio <= bytes.ratio && packets.ratio <= STAYS => (Unit::Packets, packets),
        // At a constant rate bytes and time are the same: only if the rate changed can time be constant and bytes not.
        () if time.ratio < 0.8 * bytes.ratio
            && time.ratio <= STAYS
            && time_is_steadier(&agreeing) =>
        {
            (Unit::Time, time)
        }
        () if bytes.ratio <= STAYS => (Unit::Bytes, bytes),
        () => (Unit::Unclear, bytes),
    };
    Some(Buffer {
        unit,
        size: at.middle,
        policy,
        spread: at.ratio,
        trains: agreeing.len(),
    })
}

/// A managed queue: the wait above which packets are dropped, from all trains together. If no drain shows it, the least
/// of the trains' bounds: nothing is dropped below it, and a train on a changing link may not have come close to it.
fn managed(trains: &[&Flights], overflows: &[Overflow]) -> Buffer {
    let waits = Plateau::of(overflows.iter().map(|o| o.wait_s));
    Buffer {
        unit: Unit::Time,
        size: common_bound(trains).map_or(waits.least, |bound| bound.value),
        policy: DropPolicy::Aqm,
        spread: waits.ratio,
        trains: trains.len(),
    }
}

/// The policy that most trains show; in a tie that of the first, whose packets are largest.
fn policy(seen: &[(f64, Overflow)]) -> Option<DropPolicy> {
    let votes = |policy| seen.iter().filter(|(_, o)| o.policy == policy).count();
    let mut best: Option<DropPolicy> = None;
    for (_, o) in seen {
        if best.is_none_or(|b| votes(o.policy) > votes(b)) {
            best = Some(o.policy);
        }
    }
    best
}

fn time_is_steadier(agreeing: &[(f64, Overflow)]) -> bool {
    agreeing
        .iter()
        .all(|(_, o)| o.wait_spread < 0.5 * o.packets_spread)
}

/// A quantity over several trains.
#[derive(Clone, Copy, Debug)]
struct Plateau {
    middle: f64,
    least: f64,
    /// Largest ÷ smallest.
    ratio: f64,
}

impl Plateau {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        Self {
            middle: super::median(values),
            least,
            ratio: most / least,
        }
    }
}
