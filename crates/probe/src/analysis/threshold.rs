//! Above which value losses happen.

/// A bound between two probabilities of loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Losses happen above this.
    pub value: f64,
    /// Share lost at or below it, and above.
    pub shares: [f64; 2],
    /// Logarithm of the likelihood ratio against one probability everywhere.
    pub evidence: f64,
}

/// The most likely bound: of every place between two values, where losses by chance below and another probability
/// above explain best what was lost. None of fewer than two packets or without a loss.
pub fn threshold(mut packets: Vec<(f64, bool)>) -> Option<Threshold> {
    packets.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total = packets.len() as f64;
    let lost = packets.iter().filter(|p| p.1).count() as f64;
    if lost == 0.0 || packets.len() < 2 {
        return None;
    }
    let whole = likelihood(lost, total, lost / total);
    let mut best: Option<Threshold> = None;
    let (mut below, mut lost_below) = (0.0, 0.0);
    for pair in packets.windows(2) {
        below += 1.0;
        lost_below += f64::from(pair[0].1);
        if pair[0].0 == pair[1].0 {
            continue;
        }
        let (above, lost_above) = (total - below, lost - lost_below);
        let shares = [lost_below / below, lost_above / above];
        let explained =
            likelihood(lost_below, below, CHANCE) + likelihood(lost_above, above, shares[1]);
        let evidence = explained - whole;
        if shares[1] > CHANCE && best.is_none_or(|b| evidence > b.evidence) {
            best = Some(Threshold {
                value: (pair[0].0 + pair[1].0) / 2.0,
                shares,
                evidence,
            });
        }
    }
    best
}

/// Share of packets that a link loses by chance: 0.1 % is much for one, and that again for what is unlucky.
const CHANCE: f64 = 0.002;

/// Logarithm of the likelihood of so many losses among so many packets at that probability.
fn likelihood(lost: f64, of: f64, probability: f64) -> f64 {
    let term = |n: f64, p: f64| if n > 0.0 { n * p.ln() } else { 0.0 };
    term(lost, probability) + term(of - lost, 1.0 - probability)
}
