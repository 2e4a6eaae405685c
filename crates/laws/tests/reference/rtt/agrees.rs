use super::{EdgeRtt, TimestampRtt};
use crate::histories;
use proptest::prelude::*;
use std::collections::{HashSet, VecDeque};
use tidegate_laws::sys;

/// One step of a history: `gap_us` later we send, or a segment of the peer's arrives.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A segment of ours leaves; its echo is back after `round_trip_us`.
    Sent { round_trip_us: u64 },
    /// The echoes that the peer has sent by now arrive, each `repeats` times; or only the newest, if our segments that
    /// the others would echo came in one bunch.
    Arrivals { repeats: usize, bunched: bool },
}

type Step = (u64, Event);

/// Round trips that wander between `range`, with jumps of up to eightfold.
fn steps(range: std::ops::Range<u64>) -> impl Strategy<Value = Vec<Step>> {
    let sent = range.prop_map(|round_trip_us| Event::Sent { round_trip_us });
    let event = prop_oneof![
        3 => sent,
        2 => (1usize..4, any::<bool>())
            .prop_map(|(repeats, bunched)| Event::Arrivals { repeats, bunched }),
    ];
    let gap = prop_oneof![4 => 0u64..3_000, 1 => 0u64..60_000];
    prop::collection::vec((gap, event), 20..600)
}

/// Both clocks begin shortly before they wrap.
const EPOCH_US: u64 = (1 << 32) - 700_000;
const EPOCH_TICKS: u64 = (1 << 32) - 300;

/// Samples of the C and of the formula, each with its time.
struct Samples {
    ours: Vec<(u64, u64)>,
    formula: Vec<(u64, u64)>,
}

/// Runs a history in which our clock's tick lasts `tick_us`. The peer echoes in order.
fn run(steps: &[Step], tick_us: u64) -> Samples {
    let mut c = sys::tg_rtt::default();
    let mut table = TimestampRtt::default();
    let mut echoes: VecDeque<(u64, u64)> = VecDeque::new();
    let mut samples = Samples {
        ours: Vec::new(),
        formula: Vec::new(),
    };
    let mut now = EPOCH_US;
    for &(gap, event) in steps {
        now += gap;
        match event {
            Event::Sent { round_trip_us } => {
                let tsval = EPOCH_TICKS + (now - EPOCH_US) / tick_us;
                table.sent(tsval, now);
                // SAFETY: the record is exclusively ours.
                unsafe { sys::tg_rtt_sent(&mut c, tsval as u32, now as u32) };
                let back = now + round_trip_us;
                let back = echoes.back().map_or(back, |&(last, _)| back.max(last));
                echoes.push_back((back, tsval));
            }
            Event::Arrivals { repeats, bunched } => {
                let back = echoes.partition_point(|&(back, _)| back <= now);
                let skipped = if bunched { back.saturating_sub(1) } else { 0 };
                for (_, tsecr) in echoes.drain(..back).skip(skipped) {
                    for _ in 0..repeats {
                        samples
                            .formula
                            .extend(table.echoed(tsecr, now).map(|s| (now, s)));
                        // SAFETY: as above.
                        let ours = unsafe { sys::tg_rtt_echoed(&mut c, tsecr as u32, now as u32) };
                        samples
                            .ours
                            .extend((ours != 0).then_some((now, ours.into())));
                    }
                }
            }
        }
    }
    samples
}

proptest! {
    #![proptest_config(histories(100))]

    /// Every sample that the ring yields is one that a table of every TSval would yield.
    #[test]
    fn no_sample_is_false(
        steps in prop_oneof![steps(100..2_000), steps(1_000..300_000), steps(40_000..41_000)],
        tick_us in prop_oneof![Just(1), Just(1_000), Just(4_000), Just(10_000)],
    ) {
        let samples = run(&steps, tick_us);
        let formula: HashSet<_> = samples.formula.into_iter().collect();
        for sample in &samples.ours {
            prop_assert!(formula.contains(sample), "{sample:?}");
        }
    }

    /// While a round trip stays the same, the ring yields a sample at least every eighth of it, if the table does.
    #[test]
    fn samples_are_not_rare(
        round_trip_us in 2_000u64..500_000,
        gaps in prop::collection::vec(1u64..1_500, 1_500),
    ) {
        let steps: Vec<Step> = gaps
            .iter()
            .flat_map(|&gap| {
                [(gap, Event::Sent { round_trip_us }), (0, Event::Arrivals { repeats: 1, bunched: false })]
            })
            .collect();
        let samples = run(&steps, 1_000);
        let began = EPOCH_US + 2 * round_trip_us;
        let widest = |samples: &[(u64, u64)]| {
            let times: Vec<u64> =
                samples.iter().map(|s| s.0).filter(|&t| t > began).collect();
            times.windows(2).map(|t| t[1] - t[0]).max()
        };
        if let Some(formula) = widest(&samples.formula) {
            let ours = widest(&samples.ours).unwrap_or(u64::MAX);
            prop_assert!(ours <= round_trip_us / 8 + 2 * formula, "{ours} against {formula}");
        }
    }

    /// However much the round trip grows at once, the first echo that returns is measured, and so are those behind it.
    #[test]
    fn a_round_trip_that_grows_a_hundredfold_is_measured(
        before_us in 1_000u64..20_000,
        factor in 2u64..100,
        gap_us in 200u64..2_000,
    ) {
        let half = 40 * before_us / gap_us;
        let rest = (before_us * factor + 40 * before_us) / gap_us;
        let step = |round_trip_us| {
            [(gap_us, Event::Sent { round_trip_us }), (0, Event::Arrivals { repeats: 1, bunched: false })]
        };
        let mut steps: Vec<Step> = (0..half).flat_map(|_| step(before_us)).collect();
        steps.extend((0..rest).flat_map(|_| step(before_us * factor)));
        let samples = run(&steps, 1_000);
        let grown = |samples: &[(u64, u64)]| -> Vec<u64> {
            samples.iter().filter(|s| s.1 >= before_us * factor).map(|s| s.0).collect()
        };
        let (formula, ours) = (grown(&samples.formula), grown(&samples.ours));
        // At worst the ring knows every sixth part of what is in flight.
        let allowed = before_us * factor / 6 + 2 * gap_us + 1_000;
        prop_assert!(ours[0] - formula[0] <= allowed);
        for pair in ours.windows(2) {
            prop_assert!(pair[1] - pair[0] <= allowed, "{pair:?}");
        }
    }

    /// Every sample that the ring yields without timestamps is the formula's for some edge that these data are the
    /// first to pass, and the shortest of those that the ring has noted: none is shorter than the newest promise.
    #[test]
    fn no_sample_of_an_edge_is_false(
        start in prop_oneof![Just(0u64), Just((1 << 32) - 50_000)],
        steps in prop::collection::vec(
            (0u64..50_000, any::<bool>(), 0u64..20_000, 0u64..100_000), 1..300),
    ) {
        let mut c = sys::tg_rtt::default();
        let mut formula = EdgeRtt::default();
        let (mut now, mut received) = (EPOCH_US, start);
        for (gap, leaves, bytes, window) in steps {
            now += gap;
            if leaves {
                if let Some((was, edge)) = formula.acknowledged(received, window, now) {
                    // SAFETY: the record is exclusively ours.
                    unsafe { sys::tg_rtt_promised(&mut c, was as u32, edge as u32, 1, now as u32) };
                }
            } else {
                received += bytes;
                // SAFETY: as above.
                let ours = unsafe { sys::tg_rtt_used(&mut c, received as u32, now as u32) };
                let samples = formula.received(received, now);
                prop_assert!(ours == 0 || samples.contains(&u64::from(ours)), "{ours}: {samples:?}");
            }
        }
    }

    /// A sender that fills the window is timed exactly, many times a round trip.
    #[test]
    fn a_filled_window_is_timed(
        round_trip_us in 5_000u64..500_000,
        gap_us in 200u64..1_200,
        window in 20_000u64..400_000,
    ) {
        let mut c = sys::tg_rtt::default();
        let mut sent = VecDeque::new();
        let (mut edge, mut ack, mut now) = (window, 0, EPOCH_US);
        let mut samples = 0;
        for _ in 0..20 * round_trip_us / gap_us {
            now += gap_us;
            ack += 1_000;
            let was = std::mem::replace(&mut edge, ack + window);
            // SAFETY: the record is exclusively ours.
            unsafe { sys::tg_rtt_promised(&mut c, was as u32, edge as u32, 1_000, now as u32) };
            sent.push_back((now + round_trip_us, edge));
            while let Some((_, end)) = sent.pop_front_if(|(at, _)| *at <= now) {
                // SAFETY: as above.
                let ours = unsafe { sys::tg_rtt_used(&mut c, end as u32, now as u32) };
                samples += u64::from(ours != 0);
                let late_us = u64::from(ours).saturating_sub(round_trip_us);
                prop_assert!(ours == 0 || u64::from(ours) >= round_trip_us, "{ours}");
                prop_assert!(late_us <= gap_us, "{ours}");
            }
        }
        prop_assert!(samples >= 19 * 8.min(round_trip_us / gap_us), "{samples}");
    }
}

/// A path shorter than the clock's tick: the TSval leaves many times, and echoes of its first departure are still in
/// flight when it leaves again.
#[test]
fn a_tsval_that_leaves_again_after_its_echo_is_no_second_moment() {
    let mut c = sys::tg_rtt::default();
    // SAFETY: the record is exclusively ours.
    unsafe {
        sys::tg_rtt_sent(&mut c, 7, 1_000);
        assert_eq!(sys::tg_rtt_echoed(&mut c, 7, 1_300), 300);
        sys::tg_rtt_sent(&mut c, 7, 1_400);
        assert_eq!(sys::tg_rtt_echoed(&mut c, 7, 1_450), 0);
    }
}
