use super::{Drwa, Rounds, drs};
use crate::{assert_close, histories};
use proptest::prelude::*;
use tidegate_laws::sys;

/// A packet: time since the one before it in µs, bytes, and an RTT sample in µs if it yields one.
type Packet = (u64, u32, Option<u64>);

/// Packets of a flow whose round trip wanders between 1 ms and 2 s.
fn packets() -> impl Strategy<Value = Vec<Packet>> {
    let rtts = prop_oneof![1_000u64..5_000, 20_000u64..80_000, 100_000u64..2_000_000];
    let gap = prop_oneof![Just(0u64), 1u64..5_000, 1u64..200_000];
    let bytes = prop_oneof![4 => Just(1448u32), 1 => 0u32..65_000];
    prop::collection::vec((gap, bytes, prop::option::weighted(0.6, rtts)), 10..600)
}

/// A round's end.
struct Round {
    data_rcvd: u64,
    rtt_est_us: f64,
    rtt_min_us: f64,
}

/// Runs both counters and hands each round that both end to `check`, with the C's record.
fn run(packets: &[Packet], mut check: impl FnMut(&sys::tg_round, Round)) -> usize {
    // Soon before our clock wraps.
    let mut now_us = (1u64 << 32) - 1_000_000;
    let mut c = sys::tg_round::default();
    let mut formula = Rounds::default();
    let mut rounds = 0;
    for &(gap, bytes, sample_us) in packets {
        now_us += gap;
        let sample = sample_us.unwrap_or(0) as u32;
        // SAFETY: the record is exclusively ours.
        let ours = unsafe { sys::tg_round_arrived(&mut c, bytes, sample, now_us as u32) };
        let data_rcvd = formula.arrived(bytes.into(), sample_us, now_us);
        assert_eq!(ours, data_rcvd.unwrap_or(0), "bytes of the round");
        let (Some(data_rcvd), Some(rtt_est_us), Some(rtt_min_us)) =
            (data_rcvd, formula.rtt_est_us, formula.rtt_min_us)
        else {
            continue;
        };
        rounds += 1;
        check(
            &c,
            Round {
                data_rcvd,
                rtt_est_us,
                rtt_min_us,
            },
        );
    }
    rounds
}

proptest! {
    #![proptest_config(histories(150))]

    /// Bytes are exact, RTTs are rounded down to whole microseconds.
    #[test]
    fn rounds_are_counted_alike(packets in packets()) {
        run(&packets, |c, round| {
            assert_eq!(f64::from(c.rtt_us), round.rtt_est_us.floor());
            assert_eq!(f64::from(c.rtt_min_us), round.rtt_min_us.floor());
        });
    }

    #[test]
    fn drs_is_exact(packets in packets(), limit in prop_oneof![Just(u32::MAX), 2_896u32..4_000_000]) {
        let mut c = sys::tg_drs::default();
        let mut rwnd = 0.0;
        run(&packets, |_, round| {
            // SAFETY: the record is exclusively ours.
            let ours = unsafe { sys::tg_drs_round(&mut c, round.data_rcvd, limit) };
            rwnd = drs(rwnd, round.data_rcvd, limit.into());
            assert_eq!(f64::from(ours), rwnd);
        });
    }

    /// λ is rounded to 1/256 and both RTTs to a microsecond, which 0.5 % cover; the window to a
    /// byte, and λ times an estimate that was rounded to a byte.
    #[test]
    fn drwa_is_its_formula(packets in packets(), lambda in 1.0f64..8.0) {
        let lambda_q8 = (lambda * 256.0).round() as u32;
        let mut c = sys::tg_drwa::default();
        let mut formula = Drwa::new(lambda);
        run(&packets, |rounds, round| {
            // SAFETY: the records are exclusively ours.
            let ours = unsafe { sys::tg_drwa_round(&mut c, rounds, round.data_rcvd, lambda_q8) };
            let rwnd = formula.adjust(round.data_rcvd, round.rtt_min_us, round.rtt_est_us);
            assert_close(ours.into(), rwnd, 0.005, 1.0 + lambda);
        });
    }
}

/// A test of laws that never meets a round would hold for any law.
#[test]
fn histories_have_rounds() {
    let packets: Vec<Packet> = (0..5_000)
        .map(|i| (1_000, 1448, (i % 8 == 0).then_some(50_000)))
        .collect();
    assert!(run(&packets, |_, _| ()) >= 98);
}

/// The steady state of Algorithm 3 (section 4.3): a link of a known rate, a window-limited sender,
/// RTTest settles at λ·RTTmin.
#[test]
fn drwa_settles_at_lambda_times_rtt_min() {
    const BYTES_PER_US: f64 = 2.5;
    const RTT_MIN_US: f64 = 40_000.0;
    let mut c = sys::tg_drwa::default();
    // Eight times what fits is under way.
    let mut window = 8.0 * BYTES_PER_US * RTT_MIN_US;
    let mut rtt_us = 0.0;
    for _ in 0..200 {
        rtt_us = f64::max(window / BYTES_PER_US, RTT_MIN_US);
        let delivered = f64::min(window, BYTES_PER_US * rtt_us);
        let round = sys::tg_round {
            rtt_us: rtt_us as u32,
            rtt_min_us: RTT_MIN_US as u32,
            ..sys::tg_round::default()
        };
        // SAFETY: the records are exclusively ours.
        window = unsafe { sys::tg_drwa_round(&mut c, &round, delivered as u64, 3 * 256) }.into();
    }
    assert_close(rtt_us, 3.0 * RTT_MIN_US, 0.01, 0.0);
}
