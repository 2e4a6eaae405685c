use super::*;
use crate::cc::tests::driver::{flight, ms, window};

/// A connection with a window of `cwnd` packets, out of CUBIC's way.
fn abc(cwnd: u32) -> (Abc, Window, Flight) {
    let (mut abc, mut w, f) = (Abc::default(), window(cwnd, Window::NO_SSTHRESH), flight());
    abc.init(&mut w, &f);
    (abc, w, f)
}

fn packets(abc: &Abc) -> f64 {
    abc.window as f64 / ONE as f64
}

fn near(ours: f64, expected: f64) {
    assert!((ours - expected).abs() < 0.01, "{ours}, not {expected}");
}

/// An ACK of `acked` packets, `marked` of them braked, that met `in_flight` packets in flight.
fn ack(acked: u32, marked: u32, in_flight: u32) -> RateSample {
    RateSample {
        prior_delivered: 0,
        delivered: None,
        lost: 0,
        acked_sacked: acked,
        marked,
        losses: 0,
        prior_in_flight: in_flight,
        tx_in_flight: in_flight,
        rtt: None,
        app_limited: false,
        ack_delayed: false,
    }
}

/// Equation 3.
#[test]
fn an_acceleration_adds_a_packet_and_a_brake_takes_one() {
    let (mut abc, ..) = abc(100);
    abc.heed(1, 0);
    near(packets(&abc), 101.01);
    abc.heed(1, 1);
    near(packets(&abc), 100.02);
    // An ACK of several.
    abc.heed(4, 3);
    near(packets(&abc), 98.06);
}

/// §3.1.1: from nothing to twice the window in a round trip, and at f = ½ a packet more.
#[test]
fn within_a_round_trip_the_window_doubles_at_most() {
    let round = |braked_of: fn(u32) -> u32| {
        let (mut abc, ..) = abc(100);
        for nth in 0..100 {
            abc.heed(1, braked_of(nth));
        }
        packets(&abc)
    };
    near(round(|_| 0), 200.69);
    near(round(|nth| nth % 2), 100.99);
    assert!(round(|_| 1) < 6.0);
}

/// §4.1: neither window is more than twice what is in flight.
#[test]
fn windows_that_limit_nothing_do_not_grow() {
    let (mut abc, mut w, f) = abc(100);
    abc.control(&mut w, &f, &ack(1, 0, 20));
    assert_eq!(w.cwnd, 45);
    assert_eq!(abc.other.map(|other| other.cwnd), Some(45));
    // Five packets at least, whatever brakes.
    for _ in 0..100 {
        abc.control(&mut w, &f, &ack(1, 1, 20));
    }
    assert_eq!(w.cwnd, 5);
}

/// §4.1: a bottleneck that is no ABC router loses packets, and the other window is halved nearly, as CUBIC's is.
#[test]
fn a_loss_has_cubics_window_count() {
    let (mut abc, mut w, mut f) = abc(100);
    abc.set_state(&mut w, &f, Recovery::Recovery);
    f.recovery = Recovery::Recovery;
    abc.control(&mut w, &f, &ack(1, 0, 100));
    assert_eq!(w.cwnd, 70);
    near(packets(&abc), 101.01);
    // Accelerations go on: it is CUBIC that limits.
    f.recovery = Recovery::Open;
    for _ in 0..10 {
        abc.control(&mut w, &f, &ack(1, 0, 70));
    }
    assert!((70..75).contains(&w.cwnd), "{}", w.cwnd);
}

/// A timeout begins anew.
#[test]
fn a_timeout_begins_with_a_packet_and_may_be_undone() {
    let (mut abc, mut w, f) = abc(100);
    abc.event(&mut w, &f, Event::Timeout);
    abc.control(&mut w, &f, &ack(1, 0, 100));
    assert_eq!(w.cwnd, 2);
    assert_eq!(abc.undo_cwnd(&w, &f), 100);
}

/// A mark only makes one more packet brake, and is no loss: the threshold stays where it was.
#[test]
fn a_brake_is_no_reduction() {
    let (mut abc, mut w, f) = abc(100);
    w.ssthresh = abc.ssthresh(&w, &f);
    abc.set_state(&mut w, &f, Recovery::Cwr);
    abc.control(&mut w, &f, &ack(1, 1, 100));
    assert_eq!((w.cwnd, w.ssthresh), (99, Window::NO_SSTHRESH));
}

/// Twice the window in a smoothed round trip.
#[test]
fn what_leaves_is_paced() {
    let (mut abc, mut w, mut f) = abc(100);
    f.srtt = Some(ms(100));
    f.mss = 1000;
    abc.control(&mut w, &f, &ack(1, 1, 100));
    assert_eq!(w.pacing_rate, Some(2 * 99 * 1000 * 10));
}
