//! The sign-flip test of paired differences: exact for any distribution.
//!
//! Within a pair, chance decided which slot came first. So, if steering does nothing, each pair's difference could
//! equally have had the other sign, and we compare the observed differences with all `2^n` choices of signs (R. A.
//! Fisher, The Design of Experiments, 1935, section 21). The confidence interval is the inverted test: J. A. Hartigan,
//! Using subsample values as typical values, JASA 64 (1969).

use serde::Serialize;

/// The significance level, stricter than usual. Six pairs cannot quite reach it: their smallest p is two of `2^6`
/// choices, which we accept.
pub const LEVEL: f64 = 1.0 / 40.0;

/// The least number of pairs: with five, the smallest p is two of `2^5` choices, which no usual level accepts.
pub const LEAST: usize = 6;

/// The largest number of pairs: with more, computing all choices would take too long.
pub const MOST: usize = 16;

/// The test's result.
#[derive(Clone, Copy, Debug, Serialize, PartialEq)]
pub struct SignFlip {
    /// How many pairs.
    pub pairs: usize,
    /// Their mean difference.
    pub mean: f64,
    /// The probability that chance alone gives a mean at least as far from 0, on either side.
    pub p: f64,
    /// Confidence interval of the difference: from here
    pub low: f64,
    /// to here,
    pub high: f64,
    /// with this confidence.
    pub confidence: f64,
}

impl SignFlip {
    /// Tests differences, one per pair; none if there are fewer than [`LEAST`] or more than [`MOST`].
    pub fn of(differences: &[f64]) -> Option<Self> {
        let pairs = differences.len();
        if !(LEAST..=MOST).contains(&pairs) || differences.iter().any(|d| !d.is_finite()) {
            return None;
        }
        let (low, high, confidence) = interval(differences);
        Some(Self {
            pairs,
            mean: differences.iter().sum::<f64>() / pairs as f64,
            p: probability(differences),
            low,
            high,
            confidence,
        })
    }

    /// Whether the difference is significant: chance alone would rarely give it.
    pub fn is_significant(&self) -> bool {
        self.p <= 1.0 - self.confidence
    }

    /// A difference of this size would have shown: half of the interval's length.
    pub fn would_have_shown(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// Among all choices of signs, the part whose sum is at least as far from 0 as that of the differences.
fn probability(differences: &[f64]) -> f64 {
    let sum = |signs: u32| -> f64 {
        let signed = differences.iter().enumerate();
        let signed = signed.map(|(i, d)| if signs >> i & 1 == 1 { -d } else { *d });
        signed.sum()
    };
    let choices = 1_u32 << differences.len();
    // Sums that differ only by rounding are equal.
    let rounding: f64 = differences.iter().map(|d| d.abs()).sum::<f64>() * 1e-9;
    let seen = sum(0).abs() - rounding;
    let as_far = (0..choices).filter(|signs| sum(*signs).abs() >= seen);
    as_far.count() as f64 / f64::from(choices)
}

/// The means of all subsets of the differences divide the line into `2^n` parts, and the true difference lies in each
/// with the same probability (Hartigan's theorem). The interval leaves out the outermost parts on both sides, as many
/// as [`LEVEL`] allows.
fn interval(differences: &[f64]) -> (f64, f64, f64) {
    let mean = |part: u32| {
        let chosen = differences.iter().enumerate();
        let chosen = chosen.filter(|(i, _)| part >> i & 1 == 1);
        chosen.map(|(_, d)| d).sum::<f64>() / f64::from(part.count_ones())
    };
    let choices = 1_u32 << differences.len();
    let mut means: Vec<f64> = (1..choices).map(mean).collect();
    means.sort_by(f64::total_cmp);
    let outside = (f64::from(choices) * LEVEL / 2.0).max(1.0) as usize;
    let confidence = 1.0 - 2.0 * outside as f64 / f64::from(choices);
    (means[outside - 1], means[means.len() - outside], confidence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn six_pairs_of_one_sign_are_the_least_that_can_be_significant() {
        let six = SignFlip::of(&[3.0, 1.0, 4.0, 1.5, 9.0, 2.6]).unwrap();
        assert_eq!(six.p, 2.0 / 64.0);
        assert!(six.is_significant());
        assert_eq!((six.low, six.high), (1.0, 9.0));
        assert_eq!(six.confidence, 62.0 / 64.0);
        assert_eq!(SignFlip::of(&[1.0; 5]), None);
        let torn = SignFlip::of(&[3.0, 1.0, 4.0, 1.5, 9.0, -0.1]).unwrap();
        assert_eq!(torn.p, 4.0 / 64.0);
        assert!(!torn.is_significant());
    }

    /// Counted by hand: Darwin's maize with 15 pairs, for which Fisher gives 1726 of 32768 choices.
    #[test]
    fn fishers_own_example() {
        let eighths = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48];
        let found = SignFlip::of(&eighths.map(f64::from)).unwrap();
        assert_eq!((found.p * 32768.0).round(), 1726.0);
    }

    #[test]
    fn nothing_at_all_is_no_difference() {
        let none = SignFlip::of(&[0.0; 8]).unwrap();
        assert_eq!(
            (none.p, none.mean, none.low, none.high),
            (1.0, 0.0, 0.0, 0.0)
        );
    }

    #[test]
    fn what_is_not_a_number_tells_nothing() {
        assert_eq!(SignFlip::of(&[f64::NAN, 1.0, 1.0, 1.0, 1.0, 1.0]), None);
    }

    proptest! {
        /// The interval is the inverted test: it excludes 0 exactly if the test is significant.
        #[test]
        fn interval_and_probability_agree(
            differences in prop::collection::vec(-1e3..1e3f64, LEAST..=10)
        ) {
            let found = SignFlip::of(&differences).unwrap();
            let zero_is_outside = found.low > 0.0 || found.high < 0.0;
            prop_assert_eq!(found.p <= 1.0 - found.confidence + 1e-12, zero_is_outside);
            prop_assert!(found.low <= found.mean && found.mean <= found.high);
        }

        /// Swapping the two sides gives the same result.
        #[test]
        fn it_is_the_same_either_way_round(
            differences in prop::collection::vec(-1e3..1e3f64, LEAST..=9)
        ) {
            let turned: Vec<_> = differences.iter().map(|d| -d).collect();
            let (one, other) = (SignFlip::of(&differences).unwrap(), SignFlip::of(&turned).unwrap());
            prop_assert_eq!(one.p, other.p);
            prop_assert!((one.low + other.high).abs() < 1e-9);
        }
    }
}
