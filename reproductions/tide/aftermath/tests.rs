use super::*;

/// A curve in bins of a tenth of a second.
fn curve(value: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    (0..450)
        .map(|n| f64::from(n) * BIN_S)
        .map(|t| (t, value(t)))
        .collect()
}

/// Seconds until throughput is back at its wanted value of 1.
fn back(delivered: impl Fn(f64) -> f64) -> f64 {
    back_s(&curve(delivered), &curve(|_| 1.0), WINDOW_S)
}

/// 0 between two times after the change, else 1.
fn hole(from: f64, to: f64) -> impl Fn(f64) -> f64 {
    move |t| f64::from(!(from..to).contains(&(t - AT_S)))
}

#[test]
fn nothing_happens_in_no_time() {
    assert_eq!(back(|_| 0.91), 0.0);
    let queue = curve(|_| 12.0);
    assert_eq!(drained_s(&queue, &queue), 0.0);
}

/// A relapse within the time that a recovery must last is part of the recovery; a later one is not.
#[test]
fn what_is_over_stays_over() {
    let relapse = |at: f64| back(|t| hole(0.0, 0.95)(t) * hole(at, at + 0.95)(t));
    // Windows are full again half a second after the hole; the last bad one ends just before.
    for (at, expected) in [(3.0, 4.4), (5.0, 1.4)] {
        let ours = relapse(at);
        assert!((ours - expected).abs() < 1e-9, "{at}: {ours}");
    }
}

#[test]
fn what_never_recovers_takes_as_long_as_anybody_waits() {
    assert_eq!(back(|t| if t < AT_S { 1.0 } else { 0.5 }), HORIZON_S);
    let queue = curve(|t| if t < AT_S { 30.0 } else { 46.0 });
    assert_eq!(drained_s(&queue, &curve(|_| 30.0)), HORIZON_S);
}

#[test]
fn a_queue_is_held_against_the_references() {
    let usual = curve(|_| 30.0);
    let queue = |first: f64, then: f64| {
        drained_s(
            &curve(|t| if t < AT_S + 1.0 { first } else { then }),
            &usual,
        )
    };
    assert!((queue(100.0, 44.0) - 1.0).abs() < 1e-9);
    assert_eq!(queue(44.0, 20.0), 0.0);
    // A short queue counts as drained, however short the reference's is.
    assert_eq!(drained_s(&curve(|_| 19.0), &curve(|_| 1.0)), 0.0);
}

/// A bin without a delivery says nothing.
#[test]
fn a_gap_in_the_queues_curve_is_no_queue() {
    let mut sparse = curve(|t| if t < AT_S + 0.3 { 500.0 } else { 19.0 });
    sparse.retain(|p| !(AT_S..AT_S + 0.3).contains(&p.0));
    assert_eq!(drained_s(&sparse, &curve(|_| 1.0)), 0.0);
}
