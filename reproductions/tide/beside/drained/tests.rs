use super::super::{DURATION_S, END_S};
use super::{drained_s, level_ms};

#[test]
fn a_drained_queue_is_twice_what_it_is_alone_or_20_ms() {
    assert!((level_ms(30.0) - 60.0).abs() < 1e-9);
    assert!((level_ms(3.0) - 20.0).abs() < 1e-9);
}

/// A delay every 100 ms after the other's end, from seconds after it.
fn delays(delay_ms: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    let steps = 0..((DURATION_S - END_S) * 10.0) as u32;
    steps
        .map(|n| f64::from(n) / 10.0)
        .map(|after| (END_S + after, delay_ms(after)))
        .collect()
}

#[test]
fn what_the_other_left_in_the_queue_passes_first() {
    // Packets sent before the other's end leave for 3 s; then the queue is empty.
    let curve = delays(|after| if after < 3.0 { 3000.0 } else { 1.0 });
    assert!(drained_s(&curve, 20.0) < 0.15);
    // Our own queue stands for 2 s more.
    let curve = delays(|after| match after {
        ..3.0 => 3000.0,
        3.0..5.0 => 100.0,
        _ => 1.0,
    });
    let time = drained_s(&curve, 20.0);
    assert!((1.0..2.05).contains(&time), "{time}");
}

#[test]
fn a_dip_is_no_drained_queue() {
    let dips = |after: f64| if after % 2.0 < 0.2 { 0.0 } else { 100.0 };
    let time = drained_s(&delays(dips), 20.0);
    assert!((time - (DURATION_S - END_S)).abs() < 0.2, "{time}");
    // It also counts as not drained if no packet of ours ever leaves.
    assert!((drained_s(&[], 20.0) - (DURATION_S - END_S)).abs() < 1e-9);
}
