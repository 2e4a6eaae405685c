use super::*;
use crate::QueueConfig;
use crate::queue::Queue;
use crate::queue::tests::Marked;

/// At this rate a packet takes a millisecond, so the window holds 20.
const MBPS: f64 = 12.0;
const PACKET: usize = 1500;

fn router(policy: AbcPolicy) -> Abc {
    Abc::new(policy, &Rate::constant(MBPS * 1e6))
}

fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

/// f after a packet has left every `gap` ms for a second, with `waiting` packets behind the last.
fn settled(policy: AbcPolicy, gap: u64, waiting: usize) -> f64 {
    let mut router = router(policy);
    let departures = (1..=1000 / gap).map(|nth| ms(1000 + nth * gap));
    let fractions = departures.map(|at| router.fraction(at, PACKET, waiting * PACKET));
    fractions.last().expect("something left")
}

fn near(ours: f64, expected: f64) {
    assert!((ours - expected).abs() < 1e-9, "{ours}, not {expected}");
}

/// Equation 2 with equation 1 below the threshold: ½ · η · µ/cr.
#[test]
fn a_link_that_is_used_keeps_eta_of_its_rate() {
    let policy = AbcPolicy::default();
    near(settled(policy, 1, 0), 0.49);
    // Half used, each packet may be followed by two.
    near(settled(policy, 2, 0), 0.98);
    near(settled(policy, 4, 0), 1.0);
}

/// Equation 1: 51 packets wait for 51 ms, one more than the threshold; the excess is to drain in δ.
#[test]
fn what_waits_beyond_the_threshold_is_drained_in_delta() {
    let policy = AbcPolicy::default();
    near(settled(policy, 1, 49), 0.49);
    near(settled(policy, 1, 49 + 19), 0.5 * (0.98 - 19.0 / 133.0));
    let quick = AbcPolicy {
        threshold: Duration::ZERO,
        drain: Duration::from_millis(100),
        ..policy
    };
    near(settled(quick, 1, 9), 0.5 * (0.98 - 0.1));
    // The target never falls below zero.
    near(settled(policy, 1, 200), 0.0);
}

/// With few packets in a window, one more can have left than the link carries in it.
#[test]
fn a_slow_link_that_is_used_keeps_eta_of_its_rate() {
    let mut slow = Abc::new(AbcPolicy::default(), &Rate::constant(1e6));
    for nth in 1..100 {
        let fraction = slow.fraction(ms(12 * nth), PACKET, PACKET);
        if nth > 1 {
            near(fraction, 0.49);
        }
    }
}

/// A pause ends: the rates are those of the last 20 ms, not of the pause.
#[test]
fn old_departures_do_not_count() {
    let mut router = router(AbcPolicy::default());
    for nth in 1..=100 {
        router.fraction(ms(nth), PACKET, 0);
    }
    near(
        router.fraction(ms(115), PACKET, 0),
        0.5 * 0.98 * 20.0 / 6.0_f64.max(9.8),
    );
    near(router.fraction(ms(500), PACKET, 0), 1.0);
}

/// Fig. 2's variant: twice as much arrives as leaves.
#[test]
fn the_rate_of_arrivals_is_that_of_departures_and_of_what_the_queue_grew_by() {
    let policy = AbcPolicy {
        feedback: AbcFeedback::Enqueue,
        threshold: Duration::from_secs(1),
        ..AbcPolicy::default()
    };
    let mut router = router(policy);
    let last = (1..=200u64)
        .map(|nth| router.fraction(ms(nth), PACKET, nth as usize * PACKET))
        .last();
    near(last.expect("200 of them"), 0.245);
}

/// Algorithm 1: of many packets the share f accelerates, spread evenly.
#[test]
fn the_bucket_accelerates_the_fraction() {
    for fraction in [0.0, 0.1, 0.49, 0.5, 0.7, 1.0] {
        let mut router = router(AbcPolicy::default());
        let all: Vec<bool> = (0..1000).map(|_| router.accelerates(fraction)).collect();
        for part in all[100..].chunks(100) {
            let accelerated = part.iter().filter(|&&accelerates| accelerates).count();
            let expected = 100.0 * fraction;
            assert!(
                (accelerated as f64 - expected).abs() <= 1.0,
                "{fraction}: {accelerated}"
            );
        }
    }
}

/// tokenLimit: after a pause only a few packets accelerate in a row.
#[test]
fn the_bucket_holds_five() {
    let mut router = router(AbcPolicy::default());
    for _ in 0..100 {
        router.accelerates(1.0);
    }
    let row = (0..100).take_while(|_| router.accelerates(0.0)).count();
    assert_eq!(
        row, 3,
        "the last has spent one, and more than one is needed"
    );
}

/// A brake is CE; what is not ECN-capable is left alone, and what brakes already goes on doing so.
#[test]
fn only_what_is_capable_is_marked() {
    let config = QueueConfig {
        policy: crate::Policy::Abc(AbcPolicy::default()),
        ..QueueConfig::default()
    };
    for (ecn, braked) in [
        (Ecn::Ect0, 51),
        (Ecn::Ect1, 51),
        (Ecn::NotEct, 0),
        (Ecn::Ce, 0),
    ] {
        let mut queue = Queue::new(config, &Rate::constant(MBPS * 1e6), 1);
        for nth in 1..=1100 {
            queue.push(Queued {
                packet: Marked(ecn),
                arrival: ms(nth),
            });
            let left = queue.pop(ms(nth)).expect("it was pushed").packet.0;
            assert!(left == ecn || left == Ecn::Ce && ecn.is_capable());
        }
        let share = (queue.marked() as f64 / 11.0).round() as u64;
        assert!(share.abs_diff(braked) <= 1, "{ecn:?}: {share} %");
        assert_eq!(queue.dropped(), 0);
    }
}
