//! A number from several seeds, with its confidence interval.

/// A number and its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Half the width of the interval. None from a single seed, or if all seeds gave the same number: that would say
    /// nothing about another recording or another start.
    pub margin: Option<f64>,
}

impl Estimate {
    /// `value` from all of `seeds`, with an interval by the jackknife: `value_without(i)` is the same
    /// number without the i-th seed.
    ///
    /// For a mean that is Student's interval exactly; for a ratio of means, as the papers report, it
    /// accounts for both (Efron and Stein, "The jackknife estimate of variance", 1981).
    pub fn jackknife(seeds: usize, value: f64, value_without: impl Fn(usize) -> f64) -> Self {
        // The sum of no values is -0: adding 0 clears its sign.
        let value = value + 0.0;
        // Without its only seed, a number has no data left.
        let others = if seeds < 2 { 0 } else { seeds };
        let without: Vec<f64> = (0..others).map(value_without).collect();
        if without.windows(2).all(|pair| pair[0] == pair[1]) {
            return Self {
                value,
                margin: None,
            };
        }
        let n = seeds as f64;
        let centre = without.iter().sum::<f64>() / n;
        let squares: f64 = without.iter().map(|v| (v - centre) * (v - centre)).sum();
        let error = ((n - 1.0) / n * squares).sqrt();
        Self {
            value,
            margin: Some(student_95(seeds - 1) * error),
        }
    }

    /// The mean of some values, with Student's interval; none of no values.
    pub fn mean(values: &[f64]) -> Option<Self> {
        let sum: f64 = values.iter().sum();
        let count = values.len();
        let without = |left_out: usize| (sum - values[left_out]) / (count as f64 - 1.0);
        (count > 0).then(|| Self::jackknife(count, sum / count as f64, without))
    }

    /// The mean of `of` divided by that of `to`, where the two belong together in pairs, as two runs with one seed do. None
    /// of no pairs, or if a divisor is 0.
    pub fn ratio(of: &[f64], to: &[f64]) -> Option<Self> {
        let count = of.len().min(to.len());
        let (above, below): (f64, f64) = (of.iter().sum(), to.iter().sum());
        let without = |left_out: usize| (above - of[left_out]) / (below - to[left_out]);
        let all = (count > 0).then(|| Self::jackknife(count, above / below, without));
        all.filter(|all| all.value.is_finite() && all.margin.is_none_or(f64::is_finite))
    }

    /// Lower end of the interval.
    pub fn low(&self) -> Option<f64> {
        self.margin.map(|margin| self.value - margin)
    }

    /// Upper end of the interval.
    pub fn high(&self) -> Option<f64> {
        self.margin.map(|margin| self.value + margin)
    }

    /// Whether the whole interval lies beyond `bound` on the side to which `side` points.
    pub fn is_beyond(&self, bound: f64, side: f64) -> bool {
        let distance = (self.value - bound) * side.signum();
        distance > self.margin.unwrap_or(0.0)
    }
}

/// Student's t for a two-sided 95 % interval with that many degrees of freedom, at least 1.
///
/// Exact to 30; beyond by the first terms of its expansion around the normal quantile (Abramowitz
/// and Stegun 26.7.5), good to 10⁻⁴ there.
fn student_95(freedom: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042,
    ];
    match TABLE.get(freedom.max(1) - 1) {
        Some(&t) => t,
        None => {
            let (z, n) = (1.959_964_f64, freedom as f64);
            let (z3, z5) = (z * z * z, z * z * z * z * z);
            z + (z3 + z) / (4.0 * n) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * n * n)
        }
    }
}

#[cfg(test)]
mod tests;
