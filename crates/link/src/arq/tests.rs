use super::*;

const RETRY: Duration = Duration::from_millis(8);

fn process(error: BlockError, tries: u32) -> ArqProcess {
    let arq = Arq {
        error,
        retry: RETRY,
        tries,
    };
    ArqProcess::new(arq, 1)
}

/// Retries that each of `n` packets took; none if it was lost. The packets are far apart, so none waits for another.
fn retries(p: f64, tries: u32, n: u64) -> Vec<Option<u32>> {
    let mut arq = process(BlockError::Constant(p), tries);
    (0..n)
        .map(|i| {
            let at = Instant::from_millis(i * 1_000_000);
            let delay = arq.deliver(at)? - at;
            let retries = (delay.as_nanos() / RETRY.as_nanos()) as u32;
            assert_eq!(delay, RETRY * retries);
            Some(retries)
        })
        .collect()
}

/// k retries with probability (1 − p) pᵏ, and loss with pⁿ.
#[test]
fn retries_are_geometric() {
    let (p, n) = (0.3f64, 100_000);
    let outcomes = retries(p, 4, n);
    let share = |of| outcomes.iter().filter(|o| **o == of).count() as f64 / n as f64;
    for k in 0..4 {
        let expected = (1.0 - p) * libm::pow(p, k as f64);
        assert!((share(Some(k)) - expected).abs() < 0.005, "{k}");
    }
    assert!((share(None) - libm::pow(p, 4.0)).abs() < 0.002);
    assert_eq!(share(Some(4)), 0.0);
}

/// The same packets close together: each is delivered when the slowest so far has been delivered or
/// given up, to the nanosecond.
#[test]
fn delivery_is_in_order_and_waits_for_the_slowest() {
    let (p, tries, n) = (0.4, 3, 10_000);
    let mut arq = process(BlockError::Constant(p), tries);
    let mut settled = Instant::ZERO;
    for (i, retries) in (0..).zip(retries(p, tries, n)) {
        let at = Instant::from_millis(i);
        settled = settled.max(at + RETRY * retries.unwrap_or(tries - 1));
        assert_eq!(arq.deliver(at), retries.map(|_| settled));
    }
}

#[test]
fn certainties() {
    for (p, tries, lost) in [(0.0, 1, false), (1.0, 5, true)] {
        let at = Instant::from_millis(5);
        let delivered = process(BlockError::Constant(p), tries).deliver(at);
        assert_eq!(delivered, (!lost).then_some(at));
    }
}

/// A signal that falls from 20 to 0 dB and jumps back: the share of failures follows the curve.
#[test]
fn errors_follow_the_signal() {
    let second = Duration::from_secs(1);
    let points = [(Duration::ZERO, 20.0), (second, 0.0)];
    let walk = Arc::new(SignalWalk::new(&points, 1e6, None, 1).expect("valid"));
    let curve = vec![(0.0, 0.8), (10.0, 0.2)];
    let mut arq = process(BlockError::Signal { walk, curve }, 1);
    let mut lost = [0; 10];
    for i in 0..1_000_000u64 {
        // A packet each 20 µs, counted by the tenth of a second.
        let at = Instant::from_nanos(i * 20_000 + 1);
        let tenth = at.as_nanos() / 100_000_000 % 10;
        lost[tenth as usize] += u32::from(arq.deliver(at).is_none());
    }
    for (tenth, lost) in (0..).zip(lost) {
        let db = 19.0 - 2.0 * f64::from(tenth);
        let expected = (0.8 - 0.06 * db).max(0.2);
        let share = f64::from(lost) / 100_000.0;
        assert!(
            (share - expected).abs() < 0.01,
            "{tenth}: {share} {expected}"
        );
    }
}

#[test]
fn interpolation_is_linear_within_and_constant_beyond() {
    let points = [(0.0, 1.0), (10.0, 3.0), (20.0, -1.0)];
    for (x, y) in [
        (-5.0, 1.0),
        (0.0, 1.0),
        (5.0, 2.0),
        (10.0, 3.0),
        (15.0, 1.0),
        (20.0, -1.0),
        (99.0, -1.0),
    ] {
        assert_eq!(interpolate(&points, x), y);
    }
    assert_eq!(interpolate(&[], 1.0), 0.0);
}
