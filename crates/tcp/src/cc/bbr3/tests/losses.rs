//! Loss: the bounds, and taking them back.

use super::*;

#[test]
fn loss_above_two_percent_ends_the_probe_and_bounds_what_is_in_flight() {
    let link = Link::new(10_000, 40, 10_000);
    let mut b = flow(link, 2);
    assert!(until(&mut b, State::Up, 5));
    assert_eq!(b.control.inflight_long_term, u32::MAX);
    b.link.buffer = 60;
    assert!(until(&mut b, State::Down, 5));
    assert!(b.control.probe.too_high);
    // BDP and buffer hold 460 segments; two percent more were lost.
    let bound = u64::from(b.control.inflight_long_term);
    assert!((440..=490).contains(&bound), "{bound}");
}

#[test]
fn loss_below_two_percent_does_not_end_the_probe() {
    let mut b = flow(Link::new(10_000, 40, 10_000), 2);
    assert!(until(&mut b, State::Up, 5));
    b.link.loss_every = 100;
    assert!(until(&mut b, State::Down, 5));
    assert!(!b.control.probe.too_high);
}

#[test]
fn a_probe_after_one_that_lost_stops_at_the_bound_and_then_goes_on() {
    let mut b = flow(Link::new(10_000, 40, 10_000), 2);
    assert!(until(&mut b, State::Up, 5));
    b.link.buffer = 60;
    assert!(until(&mut b, State::Down, 5));
    let bound = b.control.inflight_long_term;
    // The way is free again.
    b.link.buffer = 10_000;
    assert!(until(&mut b, State::Up, 5));
    let since = b.now;
    assert!(until(&mut b, State::Down, 5));
    // As soon as that much was in flight, not after three rounds.
    assert!(b.now - since < Duration::from_millis(60));
    assert!(b.control.probe.precautionary);
    assert!(
        b.in_flight.abs_diff(bound) <= 2,
        "{} of {bound}",
        b.in_flight
    );
    // No CRUISE: after a round without loss at once again, and further.
    let since = b.now;
    assert!(until(&mut b, State::Refill, 5));
    assert!(b.now - since < Duration::from_millis(200));
    assert!(until(&mut b, State::Up, 5));
    assert!(until(&mut b, State::Down, 5));
    assert!(b.control.inflight_long_term > bound);
}

#[test]
fn cruise_leaves_fifteen_percent_of_the_bound_free() {
    let mut b = flow(Link::new(10_000, 40, 10_000), 2);
    assert!(until(&mut b, State::Cruise, 5));
    b.control.inflight_long_term = 400;
    b.run(Duration::from_millis(200), |_| {});
    assert_eq!(b.control.state, State::Cruise);
    assert_eq!(b.window.cwnd, 340);
}

#[test]
fn loss_in_cruise_lowers_the_short_term_by_at_most_three_tenths_a_round() {
    let mut b = flow(Link::new(10_000, 40, 400), 2);
    assert!(until(&mut b, State::Cruise, 5));
    b.run(Duration::from_millis(100), |_| {});
    b.link.rate = 4_000;
    let mut bounds: Vec<(u64, u32)> = vec![];
    b.run(Duration::from_millis(1_500), |b| {
        let bound = b.control.short_term;
        if bound.inflight < u32::MAX && b.control.loss_round_start {
            bounds.push((per_second(bound.bandwidth), bound.inflight));
        }
    });
    assert!(bounds.len() >= 2, "{bounds:?}");
    for pair in bounds.windows(2) {
        assert!(pair[1].0 * 100 >= pair[0].0 * 69, "{bounds:?}");
        assert!(pair[1].1 * 100 >= pair[0].1 * 69, "{bounds:?}");
    }
    // Down to what is delivered, not below.
    let last = bounds.last().unwrap();
    assert!(near(last.0, 4_000, 10), "{bounds:?}");
}

#[test]
fn the_short_term_is_forgotten_before_a_probe() {
    let mut b = flow(Link::new(10_000, 40, 400), 2);
    assert!(until(&mut b, State::Cruise, 5));
    b.link.loss_every = 50;
    b.run(Duration::from_millis(300), |_| {});
    assert!(b.control.short_term.inflight < u32::MAX);
    b.link.loss_every = 0;
    assert!(until(&mut b, State::Refill, 5));
    assert_eq!(b.control.short_term.inflight, u32::MAX);
    assert_eq!(b.control.short_term.bandwidth, Bandwidth::INFINITE);
}

#[test]
fn a_loss_of_one_percent_costs_little() {
    let mut link = Link::new(10_000, 40, 1_000);
    link.loss_every = 100;
    let mut b = flow(link, 5);
    let before = b.delivered;
    b.run(Duration::from_secs(20), |_| {});
    let goodput = (b.delivered - before) / 20;
    assert!(goodput >= 8_000, "{goodput}");
}

#[test]
fn a_shallow_buffer_is_not_overrun() {
    // A quarter of a BDP. Version 1 would lose a fifth of each probe.
    let mut b = flow(Link::new(10_000, 40, 100), 5);
    let (delivered, lost) = (b.delivered, b.lost);
    b.run(Duration::from_secs(20), |_| {});
    let (delivered, lost) = (b.delivered - delivered, b.lost - lost);
    assert!(lost * 200 <= delivered, "{lost} of {delivered}");
    assert!(delivered / 20 >= 8_000, "{delivered}");
}

#[test]
fn a_policer_s_rate_is_reached_without_much_loss() {
    let mut link = Link::new(10_000, 40, 10_000);
    link.policer = Some((2_000, 1_000));
    let mut b = flow(link, 10);
    let (delivered, lost) = (b.delivered, b.lost);
    b.run(Duration::from_secs(20), |_| {});
    let (delivered, lost) = (b.delivered - delivered, b.lost - lost);
    assert!(
        (1_500..=2_050).contains(&(delivered / 20)),
        "{}",
        delivered / 20
    );
    assert!(lost * 10 <= delivered, "{lost} of {delivered}");
}

#[test]
fn a_spurious_recovery_restores_bounds_and_probe() {
    let mut b = flow(Link::new(10_000, 40, 10_000), 2);
    assert!(until(&mut b, State::Up, 5));
    let window = b.window.cwnd;
    b.link.buffer = 60;
    assert!(until(&mut b, State::Down, 5));
    assert!(b.control.inflight_long_term < u32::MAX);
    let flight = b.flight();
    let cwnd = b.control.undo_cwnd(&b.window, &flight);
    assert!(cwnd >= window, "{cwnd}");
    assert_eq!(b.control.inflight_long_term, u32::MAX);
    assert_eq!(b.control.state, State::Refill);
}

#[test]
fn a_spurious_recovery_returns_to_startup() {
    let mut b = Bottleneck::new(Bbr3::new(1), Link::new(10_000, 40, 100));
    assert!(until(&mut b, State::Drain, 5));
    let flight = b.flight();
    b.control.undo_cwnd(&b.window, &flight);
    assert_eq!(b.control.state, State::Startup);
    assert!(!b.control.full);
    assert_eq!(b.control.inflight_long_term, u32::MAX);
}

#[test]
fn a_timeout_starts_anew_and_returns_to_the_old_window() {
    let mut b = flow(Link::new(10_000, 40, 10_000), 2);
    assert!(until(&mut b, State::Cruise, 5));
    let window = b.window.cwnd;
    b.timed_out();
    assert_eq!(b.window.cwnd, 1);
    assert!(b.run_until(Duration::from_secs(2), |b| b.recovery == Recovery::Open));
    let back = b.run_until(Duration::from_secs(4), |b| b.window.cwnd * 10 >= window * 9);
    assert!(back, "{} after {window}", b.window.cwnd);
}
