use super::*;

/// A curve in bins of a tenth of a second over so many seconds.
fn curve(seconds: f64, value: impl Fn(f64) -> f64) -> Vec<(f64, f64)> {
    (0..bin(seconds))
        .map(|n| n as f64 / BINS_A_SECOND)
        .map(|t| (t, value(t)))
        .collect()
}

fn throughput(delivered: impl Fn(f64) -> f64) -> Throughput {
    Throughput::new(&curve(45.0, delivered), &curve(45.0, |_| 1.0))
}

#[test]
fn nothing_happens_in_no_time() {
    let flow = throughput(|_| 0.98);
    assert_eq!(flow.back_s(WINDOW_S), 0.0);
    assert!((flow.lost_s() - 0.2).abs() < 1e-9);
    assert_eq!(drained_s(&curve(45.0, |_| 12.0)), 0.0);
}

/// A short relapse within what it has to stay so is part of the recovery, one after it is not.
#[test]
fn what_is_over_stays_over() {
    let hole = |from: f64, to: f64| move |t: f64| f64::from(!(from..to).contains(&t));
    // Windows of 0.5 s are at least 90 % full from half a second after the hole on.
    let flow = throughput(hole(AT_S, AT_S + 0.95));
    assert!(
        (flow.back_s(WINDOW_S) - 1.4).abs() < 1e-9,
        "{}",
        flow.back_s(WINDOW_S)
    );
    assert!((flow.lost_s() - 1.0).abs() < 1e-9);
    let relapse = |at: f64| {
        let [first, second] = [hole(AT_S, AT_S + 0.95), hole(AT_S + at, AT_S + at + 0.95)];
        throughput(move |t| first(t) * second(t)).back_s(WINDOW_S)
    };
    assert!((relapse(3.0) - 4.4).abs() < 1e-9, "{}", relapse(3.0));
    assert!((relapse(5.0) - 1.4).abs() < 1e-9, "{}", relapse(5.0));
}

#[test]
fn what_never_recovers_takes_as_long_as_anybody_waits() {
    let flow = throughput(|t| if t < AT_S { 1.0 } else { 0.5 });
    assert_eq!(flow.back_s(WINDOW_S), HORIZON_S);
    let queue = curve(45.0, |t| if t < AT_S { 30.0 } else { 46.0 });
    assert_eq!(drained_s(&queue), HORIZON_S);
}

#[test]
fn a_queue_is_held_against_what_it_was() {
    // 30 ms before; half as much again is as before, and so is anything short.
    let queue = |after: f64, then: f64| {
        drained_s(&curve(45.0, move |t| match t {
            t if t < AT_S => 30.0,
            t if t < AT_S + 1.0 => after,
            _ => then,
        }))
    };
    assert!((queue(100.0, 44.0) - 1.0).abs() < 1e-9);
    assert_eq!(queue(44.0, 20.0), 0.0);
    // A bin in which nothing came out tells nothing.
    let mut sparse = curve(45.0, |t| if t < AT_S { 5.0 } else { 19.0 });
    sparse.retain(|p| !(AT_S..AT_S + 0.3).contains(&p.0));
    assert_eq!(drained_s(&sparse), 0.0);
}
