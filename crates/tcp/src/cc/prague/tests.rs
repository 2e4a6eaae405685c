use super::*;
use crate::cc::tests::driver::{self, MSS, ms, window};

/// A connection with the round trip `rtt`, in congestion avoidance at `cwnd`, long after slow start.
fn settled(cwnd: u32, rtt: Duration) -> (Prague, Window, Flight) {
    let mut f = driver::flight();
    f.srtt = Some(rtt);
    let mut w = window(cwnd, cwnd);
    let mut prague = Prague::default();
    prague.init(&mut w, &f);
    prague.saw_ce = true;
    prague.round = TRANSITION;
    prague.increase = prague.additive_increase(&f);
    (prague, w, f)
}

/// An ACK of `acked` segments, `marked` of them marked.
fn ack(acked: u32, marked: u32) -> RateSample {
    RateSample {
        prior_delivered: 0,
        delivered: None,
        lost: 0,
        acked_sacked: acked,
        marked,
        losses: 0,
        prior_in_flight: 0,
        tx_in_flight: 0,
        rtt: None,
        app_limited: false,
        ack_delayed: false,
    }
}

fn segments(prague: &Prague) -> f64 {
    prague.window as f64 / ONE as f64
}

/// Delivers an ACK that ends a virtual round trip.
fn round(prague: &mut Prague, w: &mut Window, f: &mut Flight, delivered: u64, marked: u64) {
    f.now += TARGET_RTT;
    f.delivered += delivered;
    f.delivered_ce += marked;
    f.snd_una = f.snd_nxt;
    assert!(prague.should_update(w, f));
    prague.update_alpha(f);
    prague.begin_round(w, f);
}

/// §2.4.1: α ← (15/16) α + F/16.
#[test]
fn alpha_is_an_average_of_the_shares_of_marks() {
    let (mut prague, mut w, mut f) = settled(100, ms(25));
    let mut expected = 0.0;
    for marked in [10, 0, 100, 37] {
        round(&mut prague, &mut w, &mut f, 100, marked);
        expected += (marked as f64 / 100.0 - expected) / 16.0;
        let alpha = prague.alpha() as f64 / MAX_ALPHA as f64;
        assert!((alpha - expected).abs() < 1e-6, "{alpha}, not {expected}");
    }
}

/// RTT independence: an average is not updated twice within 25 ms, however short the round trip.
#[test]
fn a_virtual_round_trip_is_25_ms_at_least() {
    let (prague, w, mut f) = settled(100, ms(5));
    f.snd_una = f.snd_nxt;
    f.now += ms(24);
    assert!(!prague.should_update(&w, &f));
    f.now += ms(1);
    assert!(prague.should_update(&w, &f));
}

/// §2.4.4: a segment a round trip of 25 ms, a twenty-fifth of it in one of 5 ms, never more than one.
#[test]
fn a_short_round_trip_grows_by_its_share() {
    for (rtt, growth) in [(25, 1.0), (5, 0.04), (10, 0.16), (80, 1.0)] {
        let (mut prague, mut w, f) = settled(100, ms(rtt));
        for _ in 0..100 {
            prague.grow(&mut w, &f, &ack(1, 0));
        }
        let grown = segments(&prague) - 100.0;
        assert!((grown - growth).abs() < 0.01, "{rtt} ms: {grown}");
    }
}

/// §2.4.3: marked segments let nothing grow, and the others do though there are marks.
#[test]
fn growth_is_of_what_was_not_marked() {
    let (mut prague, mut w, f) = settled(100, ms(25));
    for nth in 0..100 {
        prague.grow(&mut w, &f, &ack(1, nth % 2));
    }
    let grown = segments(&prague) - 100.0;
    assert!((grown - 0.5).abs() < 0.01, "{grown}");
}

/// §2.4.3: α/2 of the window, once in a virtual round trip.
#[test]
fn marks_take_half_of_their_share() {
    let (mut prague, mut w, mut f) = settled(100, ms(10));
    prague.alpha_upscaled = (MAX_ALPHA / 4) << SHIFT_G;
    f.recovery = Recovery::Open;
    prague.set_state(&mut w, &f, Recovery::Cwr);
    assert!((segments(&prague) - 87.5).abs() < 0.001);
    f.now += ms(24);
    prague.set_state(&mut w, &f, Recovery::Cwr);
    assert!((segments(&prague) - 87.5).abs() < 0.001, "too soon");
    f.now += ms(1);
    prague.set_state(&mut w, &f, Recovery::Cwr);
    assert!((segments(&prague) - 87.5 * 0.875).abs() < 0.001);
    // Whole segments follow one by one.
    for _ in 0..50 {
        prague.follow(&mut w);
    }
    assert_eq!((w.cwnd, w.ssthresh), (77, 77));
}

#[test]
fn the_first_mark_ends_slow_start_as_a_loss_would() {
    let mut f = driver::flight();
    f.srtt = Some(ms(25));
    let mut w = window(10, Window::NO_SSTHRESH);
    let mut prague = Prague::default();
    prague.init(&mut w, &f);
    prague.control(&mut w, &f, &ack(30, 0));
    assert_eq!((w.cwnd, segments(&prague)), (40, 40.0));
    prague.control(&mut w, &f, &ack(2, 1));
    assert!(segments(&prague) < 20.1, "{}", segments(&prague));
    assert!(!w.in_slow_start());
    for _ in 0..100 {
        prague.follow(&mut w);
    }
    assert!((20..=21).contains(&w.cwnd), "{}", w.cwnd);
}

#[test]
fn a_loss_halves_the_window_and_may_be_undone() {
    let (mut prague, mut w, f) = settled(100, ms(25));
    prague.set_state(&mut w, &f, Recovery::Recovery);
    assert_eq!(segments(&prague), 50.0);
    prague.grow(&mut w, &f, &ack(10, 0));
    assert_eq!(segments(&prague), 50.0, "not while it is repaired");
    w.cwnd = 50;
    assert_eq!(prague.undo_cwnd(&w, &f), 100);
    assert_eq!(segments(&prague), 100.0);
}

/// §2.5.1: 100 segments in 25 ms are 4000 a second: bursts of one, as 4000/4096 is less.
#[test]
fn what_leaves_is_paced_in_short_bursts() {
    let (mut prague, mut w, f) = settled(100, ms(25));
    prague.pace(&mut w, &f);
    assert_eq!(w.pacing_rate, Some(4000 * u64::from(MSS)));
    assert_eq!(prague.train_segments(), Some(1));
    prague.window *= 10;
    prague.pace(&mut w, &f);
    assert_eq!(prague.train_segments(), Some(9));
}

/// 100 kbit/s is the least, 0.86 segments in 100 ms, from which the window grows by a segment a round trip.
#[test]
fn a_window_of_less_than_a_segment_comes_back_step_by_step() {
    let (mut prague, mut w, mut f) = settled(100, ms(100));
    prague.alpha_upscaled = MAX_ALPHA << SHIFT_G;
    for _ in 0..100 {
        f.now += ms(100);
        prague.set_state(&mut w, &f, Recovery::Cwr);
    }
    assert!((segments(&prague) - 0.863).abs() < 0.001);
    prague.grow(&mut w, &f, &ack(1, 0));
    assert!((segments(&prague) - 1.863).abs() < 0.001);
}

/// A window is used if pacing holds segments back, and not if the application or the peer's window does.
#[test]
fn a_window_that_the_pacing_holds_back_grows() {
    let (mut prague, mut w, mut f) = settled(100, ms(25));
    f.cwnd_limited = false;
    let with_in_flight = |prior_in_flight| RateSample {
        prior_in_flight,
        ..ack(10, 0)
    };
    prague.grow(&mut w, &f, &with_in_flight(30));
    assert_eq!(segments(&prague), 100.0);
    prague.grow(&mut w, &f, &with_in_flight(98));
    assert!(segments(&prague) > 100.0);
}
