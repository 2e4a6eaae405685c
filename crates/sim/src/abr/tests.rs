use super::*;
use tidegate_scenario::{AdaptiveResult, QoeSpec, VideoResult};

fn abr(algorithm: AbrAlgorithm) -> Abr {
    Abr::new(&AdaptiveVideoSpec::of(algorithm))
}

/// The step after segments with those throughputs in Mbit/s.
fn chosen(algorithm: AbrAlgorithm, seen: &[f64], buffered_s: f64, last: usize) -> usize {
    let mut abr = abr(algorithm);
    for mbps in seen {
        abr.choose(buffered_s, Some(last));
        abr.observe(*mbps);
    }
    abr.choose(buffered_s, Some(last))
}

#[test]
fn the_first_segment_is_of_the_lowest_step() {
    for algorithm in [
        AbrAlgorithm::Rate,
        AbrAlgorithm::Bba,
        AbrAlgorithm::RobustMpc,
    ] {
        assert_eq!(abr(algorithm).choose(0.0, None), 0, "{algorithm:?}");
    }
}

/// Of 1, 2 and 4 Mbit/s the harmonic mean is 12/7 = 1.71: 1.2 fits, 1.85 does not.
#[test]
fn by_rate_it_is_the_highest_step_below_the_harmonic_mean() {
    assert_eq!(chosen(AbrAlgorithm::Rate, &[1.0, 2.0, 4.0], 20.0, 0), 2);
    assert_eq!(chosen(AbrAlgorithm::Rate, &[0.1], 20.0, 5), 0);
    // Only five segments count: the sixth from the end is forgotten.
    let seen = [0.1, 5.0, 5.0, 5.0, 5.0, 5.0];
    assert_eq!(chosen(AbrAlgorithm::Rate, &seen, 20.0, 0), 5);
}

/// The ladder spans 0.3 to 4.3 Mbit/s, and the map rises by 0.4 Mbit/s a second from 5 to 15 s.
#[test]
fn by_buffer_it_follows_the_map_with_hysteresis() {
    let at = |buffered_s, last| chosen(AbrAlgorithm::Bba, &[9.0], buffered_s, last);
    assert_eq!(at(5.0, 5), 0);
    assert_eq!(at(15.0, 0), 5);
    // f(8 s) = 1.5: up from 0.3 to the highest below, 1.2; at 1.2 the next is 1.85, so it stays.
    assert_eq!(at(8.0, 0), 2);
    assert_eq!(at(8.0, 2), 2);
    // From 1.85 the highest step below is 1.2, so it stays. From 2.85 the highest below is 1.85, so it falls to the
    // lowest step above, 1.85.
    assert_eq!(at(8.0, 3), 3);
    assert_eq!(at(8.0, 4), 3);
}

/// A ladder of two steps, 1 and 3 Mbit/s, in segments of 2 s.
fn two_steps() -> AdaptiveVideoSpec {
    AdaptiveVideoSpec {
        ladder_kbps: vec![1000.0, 3000.0],
        segment_s: 2.0,
        qoe: QoeSpec {
            switch: 1.0,
            stall_per_s: 3.0,
            startup_per_s: 3.0,
        },
        ..AdaptiveVideoSpec::of(AbrAlgorithm::RobustMpc)
    }
}

/// At 2 Mbit/s a high segment takes 3 s and plays 2, so it costs a second of buffer; a low one takes 1 s and adds one.
/// With 7 s of buffer all five can be high: 15 − 2 for the change. With 1 s three low ones and then two high ones are
/// best: 3 + 6 − 2 = 7; a high one first would stall for 2 s.
#[test]
fn by_prediction_it_buys_quality_with_buffer() {
    let choose = |buffered_s: f64| {
        let mut mpc = RobustMpc::new(&two_steps());
        mpc.choose(&[1.0, 3.0], 2.0, buffered_s, 0)
    };
    assert_eq!(choose(7.0), 1);
    assert_eq!(choose(1.0), 0);
}

/// A prediction of 4 for a throughput of 2 had an error of 1: the next prediction is halved.
#[test]
fn its_prediction_is_lowered_by_the_largest_error() {
    let spec = two_steps();
    let choose = |errs: bool| {
        let mut mpc = RobustMpc::new(&spec);
        mpc.choose(&[1.0, 3.0], if errs { 8.0 } else { 4.0 }, 4.0, 1);
        mpc.observe(4.0);
        mpc.choose(&[1.0, 3.0], 4.0, 2.0, 1)
    };
    // High segments take 1.5 s at 4 Mbit/s, and 3 s at 2.
    assert_eq!(choose(false), 1);
    assert_eq!(choose(true), 0);
}

/// Three segments of 1, 3 and 3 Mbit/s, a stall of 2 s and a start of half a second.
#[test]
fn quality_is_what_the_equation_says() {
    let mut played = Played::default();
    for mbps in [1.0, 3.0, 3.0] {
        played.push(mbps);
    }
    let video = VideoResult {
        startup_s: Some(0.5),
        stalled_s: 2.0,
        ..VideoResult::default()
    };
    let AdaptiveResult {
        segments,
        bitrate_bps,
        switches,
        qoe,
        qoe_per_segment,
    } = played.result(&two_steps().qoe, &video, 0.0);
    assert_eq!((segments, switches), (3, 1));
    assert!((bitrate_bps - 7e6 / 3.0).abs() < 1e-6, "{bitrate_bps}");
    assert!(
        (qoe - (7.0 - 2.0 - 3.0 * 2.0 - 3.0 * 0.5)).abs() < 1e-12,
        "{qoe}"
    );
    assert!((qoe_per_segment - qoe / 3.0).abs() < 1e-12);
}
