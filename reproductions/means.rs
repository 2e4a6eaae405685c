//! Means and extremes of some values.

/// The mean; not a number if there are none.
pub fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for value in values {
        sum += value;
        count += 1.0;
    }
    sum / count
}

/// The geometric mean of positive values.
pub fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    libm::exp(mean(values.map(libm::log)))
}

/// The least value.
pub fn least(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}

/// The largest value.
pub fn most(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::NEG_INFINITY, f64::max)
}
