//! Powers that are the same everywhere.

/// `base` to the `exponent`, by multiplications alone: the same bits on every machine.
pub(crate) fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut result = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    result
}
