//! Finds the value above which losses happen.

/// A bound between two probabilities of loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Losses happen above this.
    pub value: f64,
    /// Its largest error: half of the distance between losses; infinite if there are too few.
    pub within: f64,
    /// Share lost at or below it, and above.
    pub shares: [f64; 2],
    /// Logarithm of the likelihood ratio against one probability everywhere.
    pub evidence: f64,
}

/// The most likely bound. For every place between two values it assumes losses by chance below, and another probability
/// above, one for each train; the chosen place explains the losses best. None without two packets and a loss.
pub fn threshold(trains: &[Vec<(f64, bool)>]) -> Option<Threshold> {
    let mut counts: Vec<Count> = trains.iter().map(|train| Count::of(train)).collect();
    let whole: f64 = counts.iter().map(Count::unexplained).sum();
    let mut packets: Vec<(f64, bool, usize)> = Vec::new();
    for (train, of) in trains.iter().enumerate() {
        packets.extend(of.iter().map(|&(value, lost)| (value, lost, train)));
    }
    packets.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut best: Option<Threshold> = None;
    for pair in packets.windows(2) {
        let (value, lost, train) = pair[0];
        counts[train].pass(lost);
        if value == pair[1].0 {
            continue;
        }
        let explained: f64 = counts.iter().map(Count::explained).sum();
        let (shares, evidence) = (Count::shares(&counts), explained - whole);
        if shares[1] > CHANCE && best.is_none_or(|b| evidence > b.evidence) {
            best = Some(Threshold {
                value: f64::midpoint(value, pair[1].0),
                within: f64::INFINITY,
                shares,
                evidence,
            });
        }
    }
    best.map(|found| match gap(&packets, found.value) {
        Some(gap) => Threshold {
            value: found.value - gap / 2.0,
            within: gap / 2.0,
            ..found
        },
        None => found,
    })
}

/// If losses are a distance of g apart, the least one is on average half of g above the bound. g is the mean distance
/// between the least few losses; none if there are fewer than three.
fn gap(packets: &[(f64, bool, usize)], bound: f64) -> Option<f64> {
    let above = packets.iter().filter(|p| p.1 && p.0 > bound);
    let least: Vec<f64> = above.map(|p| p.0).take(A_FEW).collect();
    match least[..] {
        [first, _, .., last] => Some((last - first) / (least.len() - 1) as f64),
        _ => None,
    }
}

/// The number of losses from which a distance is computed.
const A_FEW: usize = 5;

/// Packets of a train, below a value and above it.
#[derive(Clone, Copy, Debug)]
struct Count {
    below: f64,
    lost_below: f64,
    above: f64,
    lost_above: f64,
}

impl Count {
    /// Counts all of a train as above.
    fn of(train: &[(f64, bool)]) -> Self {
        Self {
            below: 0.0,
            lost_below: 0.0,
            above: train.len() as f64,
            lost_above: train.iter().filter(|p| p.1).count() as f64,
        }
    }

    /// One more packet is below.
    fn pass(&mut self, lost: bool) {
        self.below += 1.0;
        self.above -= 1.0;
        self.lost_below += f64::from(lost);
        self.lost_above -= f64::from(lost);
    }

    /// Logarithm of the likelihood of one probability for all of them.
    fn unexplained(&self) -> f64 {
        let (lost, of) = (self.lost_below + self.lost_above, self.below + self.above);
        likelihood(lost, of, lost / of.max(1.0))
    }

    /// Logarithm of the likelihood of losses by chance below, and of any other probability above.
    fn explained(&self) -> f64 {
        let share = self.lost_above / self.above.max(1.0);
        likelihood(self.lost_below, self.below, CHANCE)
            + likelihood(self.lost_above, self.above, share)
    }

    /// Shares lost below and above, over all trains.
    fn shares(counts: &[Self]) -> [f64; 2] {
        let sum = |read: fn(&Self) -> f64| counts.iter().map(read).sum::<f64>();
        [
            sum(|c| c.lost_below) / sum(|c| c.below).max(1.0),
            sum(|c| c.lost_above) / sum(|c| c.above).max(1.0),
        ]
    }
}

/// Share of packets that a link loses by chance: 0.1 % is much for one, and twice that allows for unlucky cases.
const CHANCE: f64 = 0.002;

/// Logarithm of the likelihood of `lost` losses among `of` packets at that probability.
fn likelihood(lost: f64, of: f64, probability: f64) -> f64 {
    let term = |n: f64, p: f64| if n > 0.0 { n * libm::log(p) } else { 0.0 };
    term(lost, probability) + term(of - lost, 1.0 - probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Waits of a drain from 1.6 s down, every tenth packet above 0.8 s lost.
    fn drain(by_chance_at: Option<usize>) -> Vec<(f64, bool)> {
        let wait = |n: usize| 1.6 - 0.004 * n as f64;
        let lost = |n: usize| n.is_multiple_of(10) && wait(n) > 0.8 || by_chance_at == Some(n);
        (0..400).map(|n| (wait(n), lost(n))).collect()
    }

    #[test]
    fn one_lost_by_chance_below_is_outweighed_by_another_train() {
        let trains = [drain(Some(230)), drain(None)];
        let found = threshold(&trains).unwrap();
        assert!((found.value / 0.8 - 1.0).abs() < 0.05, "{found:?}");
        assert!(found.within < 0.05, "{found:?}");
    }
}
