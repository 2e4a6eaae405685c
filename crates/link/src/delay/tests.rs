use super::*;
use proptest::prelude::*;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// 40 ms, 200 ms from 10 s on, 40 ms again from 20 s on; given out of order.
fn route_change() -> DelayProfile {
    let steps = vec![
        (Instant::from_millis(20_000), ms(40)),
        (Instant::from_millis(10_000), ms(200)),
    ];
    DelayProfile::new(ms(40), steps)
}

#[test]
fn a_step_counts_from_its_instant_on() {
    let profile = route_change();
    let just_before = Instant::from_millis(10_000) - Duration::from_nanos(1);
    assert_eq!(profile.at(Instant::ZERO), ms(40));
    assert_eq!(profile.at(just_before), ms(40));
    assert_eq!(profile.at(Instant::from_millis(10_000)), ms(200));
    assert_eq!(profile.at(Instant::from_millis(99_000)), ms(40));
}

#[test]
fn a_step_down_lets_nobody_overtake() {
    let mut way = Propagation::new(route_change());
    let due = |way: &mut Propagation, at| way.due(Instant::from_millis(at));
    assert_eq!(due(&mut way, 9_999), Instant::from_millis(10_039));
    assert_eq!(due(&mut way, 19_999), Instant::from_millis(20_199));
    // Its own 40 ms would be over at 20 050.
    assert_eq!(due(&mut way, 20_010), Instant::from_millis(20_199));
    assert_eq!(due(&mut way, 20_159), Instant::from_millis(20_199));
    assert_eq!(due(&mut way, 20_160), Instant::from_millis(20_200));
}

/// A recording of 30 ms: 12, 9 and 20 ms, so 3, 0 and 11 more than its smallest.
fn recording() -> Arc<DelayTrace> {
    Arc::new(DelayTrace::parse("12\n9\n20\n").expect("valid"))
}

#[test]
fn a_recording_comes_on_top_and_loops() {
    let profile = route_change().above(recording(), Duration::ZERO);
    for (at, delay) in [
        (0, 43),
        (9, 43),
        (10, 40),
        (29, 51),
        (30, 43),
        (10_000, 200),
        (10_010, 211),
    ] {
        assert_eq!(profile.at(Instant::from_millis(at)), ms(delay), "{at}");
    }
}

/// The packet that left last, with 51 ms, arrives at 80 ms; those behind it would arrive at 73 to 79 ms on their own.
#[test]
fn a_recording_that_falls_lets_nobody_overtake() {
    let mut way = Propagation::new(DelayProfile::from(ms(40)).above(recording(), Duration::ZERO));
    let mut due = |at| way.due(Instant::from_millis(at));
    assert_eq!(due(29), Instant::from_millis(80));
    assert_eq!(due(30), Instant::from_millis(80));
    assert_eq!(due(36), Instant::from_millis(80));
    assert_eq!(due(38), Instant::from_millis(81));
}

proptest! {
    /// The walk through the steps agrees with looking each instant up.
    #[test]
    fn propagation_follows_the_profile(
        steps in prop::collection::vec((0u64..2000, 0u64..300), 0..8),
        gaps in prop::collection::vec(0u64..500, 1..20),
        recorded in any::<bool>(),
    ) {
        let steps = steps.iter().map(|&(at, d)| (Instant::from_millis(at), ms(d))).collect();
        let mut profile = DelayProfile::new(ms(50), steps);
        if recorded {
            profile = profile.above(recording(), Duration::ZERO);
        }
        let mut way = Propagation::new(profile.clone());
        let (mut at, mut last) = (Instant::ZERO, Instant::ZERO);
        for gap in gaps {
            at += ms(gap);
            let expected = (at + profile.at(at)).max(last);
            last = way.due(at);
            prop_assert_eq!(last, expected);
        }
    }
}
