//! STARTUP and DRAIN.

use super::*;

#[test]
fn startup_ends_on_a_bandwidth_plateau() {
    let link = Link::new(10_000, 40, 1_000_000);
    let mut b = Bottleneck::new(Bbr3::new(1), link);
    let mut full_rounds = vec![];
    let done = b.run_until(Duration::from_secs(10), |b| {
        if b.control.rounds.start {
            full_rounds.push(b.control.full_rounds);
        }
        b.control.state != State::Startup
    });
    assert!(done);
    assert_eq!(b.control.state, State::Drain);
    assert!(b.control.full && b.control.full_now);
    assert_eq!(full_rounds[full_rounds.len() - 3..], [1, 2, 3]);
    let found = per_second(b.control.max_bandwidth.get());
    assert!(near(found, 10_000, 2), "{found}");
    // The second round delivers the initial window, the next ones twice as much each; and three
    // rounds to be sure.
    let expected = 2.0 + libm::log2(link.bdp() as f64 / 10.0) + 3.0;
    let rounds = f64::from(b.control.rounds.count);
    assert!(
        (rounds - expected).abs() <= 1.0,
        "{rounds} rounds, not {expected}"
    );
    // The window is two BDPs, one of them in the queue (§5.3.1.1).
    assert!(near(b.queue(), link.bdp(), 10), "{} queued", b.queue());
}

#[test]
fn startup_ends_on_loss_even_if_the_application_is_slow() {
    let mut link = Link::new(10_000, 40, 1_000);
    link.offered = Some(4_000);
    let mut b = flow(link, 3);
    assert_eq!(b.control.state, State::Startup);
    b.link.loss_every = 12;
    // Whatever is in flight is less than a BDP, so that DRAIN ends at once.
    assert!(leaves(&mut b, State::Startup, 2));
    assert!(b.control.full && b.control.full_now);
    assert!(b.control.inflight_long_term < u32::MAX);
}

#[test]
fn a_loss_rate_below_two_percent_does_not_end_startup() {
    let mut link = Link::new(10_000, 40, 1_000);
    link.offered = Some(4_000);
    link.loss_every = 60;
    let b = flow(link, 5);
    assert_eq!(b.control.state, State::Startup);
    assert_eq!(b.control.inflight_long_term, u32::MAX);
}

#[test]
fn startup_ends_on_loss_where_the_buffer_is_shallow() {
    let link = Link::new(10_000, 40, 100);
    let mut b = Bottleneck::new(Bbr3::new(1), link);
    assert!(until(&mut b, State::Drain, 5));
    let bound = u64::from(b.control.inflight_long_term);
    // The bound is a round's delivery, or a BDP: not the two BDPs of the window.
    assert!(
        bound >= link.bdp() * 9 / 10 && bound <= link.bdp() + 120,
        "{bound}"
    );
}

#[test]
fn an_application_that_is_slow_never_ends_startup() {
    let mut link = Link::new(10_000, 40, 1_000);
    link.offered = Some(500);
    let b = flow(link, 8);
    assert_eq!(b.control.state, State::Startup);
}

#[test]
fn drain_ends_when_in_flight_is_a_bdp() {
    let link = Link::new(10_000, 40, 1_000_000);
    let mut b = Bottleneck::new(Bbr3::new(1), link);
    assert!(until(&mut b, State::Drain, 5));
    assert!(near(b.paced(), 10_000 / 2 * 99 / 100, 2), "{}", b.paced());
    let round = b.control.rounds.count;
    assert!(leaves(&mut b, State::Drain, 5));
    assert!(near(b.in_flight.into(), link.bdp(), 2), "{}", b.in_flight);
    assert!(b.control.rounds.count - round <= 2);
}

#[test]
fn drain_ends_after_three_rounds_all_the_same() {
    // When the bandwidth is known it falls to a fifth: half of what it was still fills the queue.
    let mut b = Bottleneck::new(Bbr3::new(1), Link::new(10_000, 10, 1_000_000));
    assert!(b.run_until(Duration::from_secs(5), |b| b.control.full_rounds == 1));
    b.link.rate = 2_000;
    assert!(until(&mut b, State::Drain, 5));
    let round = b.control.rounds.count;
    assert!(leaves(&mut b, State::Drain, 10));
    assert_eq!(b.control.rounds.count - round, 4);
    assert!(b.in_flight > b.control.bdp(Gain::ONE), "{}", b.in_flight);
}

#[test]
fn the_first_rate_is_the_initial_window_in_a_round_trip() {
    let b = Bottleneck::new(Bbr3::new(1), Link::new(1_000, 50, 100));
    let expected = 10.0 / 0.050 * 4.0 * std::f64::consts::LN_2 * 0.99;
    let paced = b.paced() as f64;
    assert!(
        (paced / expected - 1.0).abs() < 0.005,
        "{paced}, not {expected}"
    );
}

#[test]
fn acks_in_bursts_do_not_keep_startup_from_the_bandwidth() {
    let mut link = Link::new(10_000, 10, 10_000);
    link.ack_slot = Duration::from_millis(20);
    let b = flow(link, 5);
    assert!(near(per_second(b.control.max_bandwidth.get()), 10_000, 5));
    let extra = b.control.extra_acked.get();
    assert!((150..=420).contains(&extra), "{extra}");
    assert!(
        u64::from(b.window.cwnd) > 2 * link.bdp(),
        "{}",
        b.window.cwnd
    );
}
