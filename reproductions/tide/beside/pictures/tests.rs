use super::{BIN_S, total};

#[test]
fn flows_that_begin_and_end_apart_add_up_where_both_are() {
    let flow = |bins: std::ops::Range<u32>| bins.map(|n| (f64::from(n) * BIN_S, 1e6)).collect();
    let sum = total([flow(0..3), flow(2..5)].into_iter());
    let values: Vec<f64> = sum.iter().map(|point| point.1).collect();
    assert_eq!(values, [1e6, 1e6, 2e6, 1e6, 1e6]);
    assert!(sum.is_sorted_by(|a, b| a.0 < b.0));
}
