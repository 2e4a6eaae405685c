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

/// The most likely bound: of every place between two values, where two probabilities explain best what was
/// lost. None of fewer than two packets or without a loss.
pub fn threshold(mut packets: Vec<(f64, bool)>) -> Option<Threshold> {
    packets.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total = packets.len() as f64;
    let lost = packets.iter().filter(|p| p.1).count() as f64;
    if lost == 0.0 || packets.len() < 2 {
        return None;
    }
    let whole = likelihood(lost, total);
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
        let evidence = likelihood(lost_below, below) + likelihood(lost_above, above) - whole;
        if shares[1] > shares[0] && best.is_none_or(|b| evidence > b.evidence) {
            best = Some(Threshold {
                value: (pair[0].0 + pair[1].0) / 2.0,
                shares,
                evidence,
            });
        }
    }
    best
}

/// Logarithm of the likelihood of so many losses among so many packets, at their own share.
fn likelihood(lost: f64, of: f64) -> f64 {
    let term = |n: f64| if n > 0.0 { n * (n / of).ln() } else { 0.0 };
    term(lost) + term(of - lost)
}
