//! How evenly flows share.

/// Jain's fairness index (Jain, Chiu and Hawe, DEC-TR-301, 1984): 1 if all shares are equal, 1/n if
/// one of n has everything. `None` if there are no shares, none is positive, or one is negative or
/// not finite.
pub fn jain(shares: &[f64]) -> Option<f64> {
    let largest = shares.iter().copied().fold(0.0, f64::max);
    let sound = shares
        .iter()
        .all(|share| share.is_finite() && *share >= 0.0);
    if !sound || largest <= 0.0 {
        return None;
    }
    // The index does not depend on the unit; shares of the largest neither overflow nor vanish.
    let parts = || shares.iter().map(|share| share / largest);
    let sum: f64 = parts().sum();
    let squares: f64 = parts().map(|part| part * part).sum();
    Some(sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests;
