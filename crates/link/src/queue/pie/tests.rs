use super::*;

const TARGET: Duration = Duration::from_millis(15);

fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

/// §4.2 by hand: a delay that has come up from nothing to 100 ms.
#[test]
fn the_first_update_is_scaled_down() {
    let mut pie = Pie::new(TARGET, 1);
    pie.left(ms(10), Duration::from_millis(100), 10_000);
    pie.catch_up(ms(15));
    let expected = (0.125 * 0.085 + 1.25 * 0.1) / 2048.0;
    assert!((pie.drop_prob - expected).abs() < 1e-12);
    // The delay stands: only its distance from the target counts, and the scale is that of 10⁻⁴.
    pie.catch_up(ms(30));
    let expected = expected + 0.125 * 0.085 / 128.0;
    assert!((pie.drop_prob - expected).abs() < 1e-12);
}

/// The scales of §4.2 at each side of their borders.
#[test]
fn scales() {
    for (below, here, above) in [
        (1e-6, 2048.0, 512.0),
        (1e-5, 512.0, 128.0),
        (1e-4, 128.0, 32.0),
        (1e-3, 32.0, 8.0),
        (1e-2, 8.0, 2.0),
        (1e-1, 2.0, 1.0),
    ] {
        let scale = |drop_prob| {
            let pie = Pie {
                drop_prob,
                ..Pie::new(TARGET, 1)
            };
            1.0 / pie.scale()
        };
        assert_eq!((scale(below * 0.999), scale(below)), (here, above));
    }
}

/// §5.5, and Linux's addition for delays above 250 ms.
#[test]
fn the_probability_rises_in_bounded_steps() {
    for (delay_ms, step) in [(240, 0.02), (260, 0.04)] {
        let delay = Duration::from_millis(delay_ms);
        let mut pie = Pie {
            drop_prob: 0.5,
            ..Pie::new(TARGET, 1)
        };
        pie.left(ms(1), delay, 10_000);
        pie.catch_up(ms(15));
        assert!(
            (pie.drop_prob - 0.5 - step).abs() < 1e-12,
            "{}",
            pie.drop_prob
        );
    }
}

/// §4.4: nothing is dropped for 150 ms after a rest. §5.4: nothing is dropped before the probabilities add up to 0.85,
/// and a packet is dropped for certain at 8.5.
#[test]
fn a_burst_passes_and_drops_are_spaced() {
    let mut pie = Pie::new(TARGET, 1);
    let mut first = None;
    for now in 1..400 {
        pie.left(ms(now), Duration::from_millis(200), 100_000);
        if pie.refuses(ms(now), 100_000) {
            first.get_or_insert(now);
        }
    }
    assert!(first > Some(151), "{first:?}");

    let mut pie = Pie {
        drop_prob: 0.1,
        burst_allowance: Duration::ZERO,
        qdelay: TARGET,
        next_update: Instant::MAX,
        ..Pie::new(TARGET, 1)
    };
    let drops: Vec<_> = (0..10_000)
        .filter(|_| pie.refuses(ms(1), 100_000))
        .collect();
    let distances: Vec<_> = drops.windows(2).map(|w| w[1] - w[0]).collect();
    assert!(
        distances.iter().all(|d| (9..=85).contains(d)),
        "{distances:?}"
    );
    // After 8 packets that cannot be dropped the distance is geometric with mean 10.
    let mean = distances.iter().sum::<i32>() as f64 / distances.len() as f64;
    assert!((17.0..19.0).contains(&mean), "{mean}");
}

/// §4.1: nothing is dropped while two packets wait or the delay is short.
#[test]
fn the_queue_is_never_emptied_by_drops() {
    let congested = || Pie {
        drop_prob: 1.0,
        burst_allowance: Duration::ZERO,
        qdelay: TARGET,
        next_update: Instant::MAX,
        ..Pie::new(TARGET, 1)
    };
    let refuses = |mut pie: Pie, backlog| (0..10).any(|_| pie.refuses(ms(1), backlog));
    assert!(!refuses(congested(), 2999));
    assert!(refuses(congested(), 3000));
    let short = Pie {
        drop_prob: 0.19,
        qdelay: Duration::from_millis(7),
        ..congested()
    };
    assert!(!refuses(short, 3000));
}

/// Missed updates are made up for when the next packet comes, however late. After an hour at rest no congestion is
/// left, and the timer keeps its phase.
#[test]
fn updates_do_not_depend_on_when_they_are_asked_for() {
    let congested = || {
        let mut pie = Pie::new(TARGET, 1);
        for now in 1..300 {
            pie.left(ms(now), Duration::from_millis(100), 10_000);
        }
        pie.left(ms(300), Duration::from_millis(100), 0);
        pie
    };
    let (mut often, mut late) = (congested(), congested());
    for now in 301..3_600_000 {
        if now % 7 == 0 {
            often.catch_up(ms(now));
        }
    }
    late.catch_up(ms(3_599_999));
    often.catch_up(ms(3_599_999));
    assert_eq!(format!("{often:?}"), format!("{late:?}"));
    assert_eq!(late.drop_prob, 0.0);
    assert_eq!(late.burst_allowance, MAX_BURST);
    assert_eq!(late.next_update, ms(3_600_000));
}
