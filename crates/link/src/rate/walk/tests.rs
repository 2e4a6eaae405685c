use super::super::Opportunities;
use super::*;

fn secs(s: u64) -> Duration {
    Duration::from_secs(s)
}

fn walk(points: &[(Duration, f64)], fading: Option<Fading>) -> Arc<SignalWalk> {
    Arc::new(SignalWalk::new(points, 55.547e6, fading, 1).expect("valid"))
}

/// Good to weak and back.
fn there_and_back() -> Arc<SignalWalk> {
    let points = [(secs(0), 20.0), (secs(10), -10.0), (secs(20), 20.0)];
    walk(&points, None)
}

#[test]
fn the_signal_is_piecewise_linear_and_loops() {
    let walk = there_and_back();
    assert_eq!(walk.period(), secs(20));
    for (s, db) in [
        (0, 20.0),
        (5, 5.0),
        (10, -10.0),
        (15, 5.0),
        (20, 20.0),
        (47, -1.0),
    ] {
        assert!((walk.signal_at(Instant::ZERO + secs(s)) - db).abs() < 1e-9);
    }
    let still = self::walk(&[(secs(0), 7.0)], None);
    assert_eq!(still.signal_at(Instant::from_millis(123_456)), 7.0);
}

/// TS 36.213's efficiencies at a peak of 5.5547 bit a symbol.
#[test]
fn the_rate_is_that_of_the_best_scheme() {
    let walk = there_and_back();
    for (db, bps) in [
        (-6.94, 0),
        (-6.93, 1_523_000),
        (0.77, 8_770_000),
        (10.36, 24_063_000),
        (10.37, 27_305_000),
        (19.83, 55_547_000),
        (90.0, 55_547_000),
    ] {
        assert_eq!(walk.bps(db), bps, "{db}");
    }
}

/// Bursts carry what the signal gives, TTI after TTI, and nothing where there is none.
#[test]
fn a_second_carries_its_mean_rate() {
    let walk = there_and_back();
    let mut cursor = SignalWalk::cursor(&walk);
    for s in 0..40 {
        let expected: u64 = (0..1000)
            .map(|ms| walk.bps(walk.signal_at(Instant::from_millis(s * 1000 + ms))))
            .sum();
        let end = Instant::from_millis((s + 1) * 1000);
        let mut bytes = 0;
        while cursor.peek().at <= end {
            bytes += cursor.peek().bytes;
            cursor.advance();
        }
        assert!(bytes.abs_diff(expected / 8000) <= 1, "{s}: {bytes}");
    }
    assert!((walk.mean_bps() - 20e6).abs() < 5e6);
}

/// The fading's standard deviation, and e^(−1) of it left after its coherence time.
#[test]
fn fading_is_a_mean_reverting_walk() {
    let fading = Fading {
        deviation_db: 4.0,
        coherence: Duration::from_millis(50),
    };
    let walk = walk(&[(secs(0), 10.0)], Some(fading));
    let mut signal = Signal::new(walk);
    let samples: Vec<f64> = (1..=400_000)
        .map(|ms| signal.at(Instant::from_millis(ms)) - 10.0)
        .collect();
    let covariance = |lag: usize| {
        let pairs = samples.iter().zip(&samples[lag..]);
        pairs.map(|(a, b)| a * b).sum::<f64>() / (samples.len() - lag) as f64
    };
    assert!((covariance(0).sqrt() - 4.0).abs() < 0.15);
    let left = covariance(50) / covariance(0);
    assert!((left - libm::exp(-1.0)).abs() < 0.05, "{left}");
}

/// A caller that asks for the signal and a rate that follows it see the same one.
#[test]
fn the_signal_asked_for_is_the_signal_sent_by() {
    let fading = Fading {
        deviation_db: 5.0,
        coherence: Duration::from_millis(10),
    };
    let points = [(secs(0), 15.0), (secs(1), 0.0)];
    let walk = walk(&points, Some(fading));
    let (mut sent, mut asked) = (Signal::new(walk.clone()), Signal::new(walk.clone()));
    for ms in 1..5000 {
        let rate = sent.next_nanobits() / TTI.as_nanos() as u64;
        // Ask only now and then, at the end of the interval or within it.
        if ms % 7 == 0 {
            let within = Instant::from_nanos(ms * 1_000_000 - ms % 3 * 300_000);
            assert_eq!(walk.bps(asked.at(within)), rate);
        }
    }
}

#[test]
fn walks_that_cannot_be_walked_are_refused() {
    let new = |points: &[(Duration, f64)]| SignalWalk::new(points, 1e6, None, 1);
    for points in [
        &[][..],
        &[(secs(1), 10.0)],
        &[(secs(0), 10.0), (secs(2), 10.0), (secs(2), 5.0)],
        &[(secs(0), f64::NAN)],
    ] {
        assert_eq!(new(points), Err(WalkError::Points));
    }
    assert_eq!(new(&[(secs(0), -7.0)]), Err(WalkError::Silence));
}
