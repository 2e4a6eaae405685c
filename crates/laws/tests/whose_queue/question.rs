//! The question itself: when the window is lower, which pauses are silences, and what they tell.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use tidegate_laws::sys;

const LEN: u64 = 1_448;
/// The others' share from which on a queue is not ours.
const OTHERS: f64 = sys::TG_QUESTION_OTHERS as f64 / sys::TG_QUESTION_ONE as f64;

fn config() -> Config {
    Config {
        cases: 300,
        rng_seed: RngSeed::Fixed(0x7464),
        failure_persistence: None,
        ..Config::default()
    }
}

/// A question that is asked from `begun_us` on.
fn asked(begun_us: u64, half_us: u32, less: u32) -> sys::tg_question {
    let mut question = sys::tg_question::default();
    // SAFETY: the record is exclusively ours.
    unsafe { sys::tg_question_ask(&raw mut question, begun_us, half_us, less) };
    question
}

fn hear(question: &mut sys::tg_question, at_us: f64, queue_us: f64) {
    // SAFETY: the record is exclusively ours.
    unsafe { sys::tg_question_hear(question, at_us as u32, queue_us as u32, LEN) }
}

fn is_sure(question: &sys::tg_question) -> bool {
    // SAFETY: the record is only read.
    unsafe { sys::tg_question_is_sure(question, 4) != 0 }
}

/// Silences as long as the time with packets between them. In each the others go on, and the queue falls by our share
/// alone. Then it comes up again.
fn periods(share: f64, half_us: f64, gap_us: f64, count: u32) -> sys::tg_question {
    let mut question = asked(1, half_us as u32, 10 * LEN as u32);
    let steps = (half_us / gap_us) as u32;
    for period in 0..count {
        for step in 0..=steps {
            let since_us = f64::from(step) * gap_us;
            let at_us = f64::from(period) * (half_us + f64::from(steps) * gap_us) + since_us;
            let risen = f64::from(step) / f64::from(steps);
            let queue_us = 300_000.0 - (1.0 - share) * half_us * (1.0 - risen);
            hear(&mut question, at_us, queue_us);
        }
    }
    question
}

/// The mean part that a question has heard, in silences of `silent_us`, each with one packet counted in it.
fn part(question: &sys::tg_question, silent_us: f64, gap_us: f64) -> f64 {
    let sent = 2.0 * gap_us / silent_us;
    let bound = sent + (1.0 - sent) * OTHERS;
    let weight = silent_us / 64.0;
    question.sum as f64 / f64::from(question.silences) / weight + bound
}

proptest! {
    #![proptest_config(config())]

    /// The window is lower for a half, as before for a half, over and over; and never before the question begins.
    #[test]
    fn the_window_is_lower_in_each_first_half(
        begun_us in 1u64..1_000_000_000_000,
        half_us in 1u32..1_000_000,
        halves in 0u64..200,
        into in 0.0f64..1.0,
    ) {
        let question = asked(begun_us, half_us, 7_000);
        // SAFETY: the record is only read.
        let less = |at_us| unsafe { sys::tg_question_less(&raw const question, at_us) };
        let at_us = begun_us + halves * u64::from(half_us) + (into * f64::from(half_us)) as u64;
        prop_assert_eq!(less(at_us), if halves % 2 == 0 { 7_000 } else { 0 });
        prop_assert_eq!(less(begun_us - 1), 0);
    }

    /// In silences of known length, while others have a known share, the part that is heard is that share; and it is
    /// soon sure on which side of the bound it is.
    #[test]
    fn the_part_is_the_others_share(
        share in 0.0f64..1.0,
        half_us in 32_000.0f64..250_000.0,
        segments in 20.0f64..200.0,
    ) {
        let gap_us = half_us / segments;
        let question = periods(share, half_us, gap_us, 10);
        prop_assert!((8..=9).contains(&question.silences), "{}", question.silences);
        let heard = part(&question, half_us, gap_us);
        prop_assert!((heard - share).abs() < 0.03, "{heard}");
        let bound = OTHERS + 2.0 / segments;
        if (share - bound).abs() > 0.15 {
            prop_assert!(is_sure(&question));
            prop_assert_eq!(question.sum > 0, share > bound);
        }
    }

    /// Packets that come at random times have pauses, but no silences.
    #[test]
    fn pauses_are_no_silences(
        half_us in 32_000.0f64..250_000.0,
        noise in prop::collection::vec(0.0f64..2.0, 500),
    ) {
        let mut question = asked(1, half_us as u32, 10 * LEN as u32);
        let mut at_us = 0.0;
        for gap in noise {
            at_us += gap * half_us / 40.0;
            hear(&mut question, at_us, 100_000.0);
        }
        prop_assert_eq!(question.silences, 0);
    }

    /// Three silences tell nothing, whatever they show.
    #[test]
    fn a_few_silences_tell_nothing(share in 0.0f64..1.0) {
        let question = periods(share, 50_000.0, 1_000.0, sys::TG_QUESTION_FIRST);
        prop_assert!(question.silences < sys::TG_QUESTION_FIRST);
        prop_assert!(!is_sure(&question));
    }
}

/// A path that has become longer does not fall: its part is all of the silence.
#[test]
fn a_delay_that_does_not_fall_is_no_queue_of_ours() {
    let question = periods(1.0, 50_000.0, 1_000.0, 8);
    assert!(question.sum > 0 && is_sure(&question));
}

/// If the parts differ among themselves as much as from the bound, nothing is sure.
#[test]
fn parts_that_contradict_each_other_are_not_sure() {
    let mut question = asked(1, 50_000, 10 * LEN as u32);
    let mut at_us = 0.0;
    for period in 0..20 {
        // In every second period the queue does not fall.
        let fall_us = if period % 2 == 0 { 50_000.0 } else { 0.0 };
        for step in 0..=50 {
            at_us += if step == 0 { 50_000.0 } else { 1_000.0 };
            let queue_us = 300_000.0 - fall_us * (1.0 - f64::from(step) / 50.0);
            hear(&mut question, at_us, queue_us);
        }
    }
    assert!(question.silences > 15, "{}", question.silences);
    assert!(!is_sure(&question), "{}", question.sum);
}

/// With a clock of whole milliseconds a packet may seem to have entered before its predecessor, or before the question
/// began. The question goes on.
#[test]
fn a_packet_that_seems_to_come_before_the_first_ends_nothing() {
    for (first_us, second_us) in [(500, 300), (0, 0)] {
        let mut path = sys::tg_tide {
            state: sys::TG_TIDE_RUNNING,
            h_us: 40_000,
            question: asked(7_000_000, 32_000, 14_480),
            ..Default::default()
        };
        for entered_us in [first_us, second_us] {
            let arrival = sys::tg_arrival {
                now_us: 7_100_000 + entered_us,
                queue_us: 100_000,
                len: 1_448,
                fresh: 1,
                ..Default::default()
            };
            // SAFETY: the record is exclusively ours.
            unsafe { sys::tg_tide_hear(&raw mut path, &raw const arrival) };
        }
        assert_eq!(path.question.begun_us, 7_000_000, "{first_us} {second_us}");
    }
}
