//! PROBE_BW without loss.

use super::*;

#[test]
fn the_cycle_is_down_cruise_refill_up() {
    let link = Link::new(10_000, 40, 10_000);
    let mut b = flow(link, 2);
    let seen = states(&mut b, 7);
    let order = [State::Down, State::Cruise, State::Refill, State::Up];
    for pair in seen.windows(2) {
        let at = order.iter().position(|s| *s == pair[0].0).unwrap();
        assert_eq!(pair[1].0, order[(at + 1) % 4], "{seen:?}");
    }
    assert!(seen.len() >= 8, "{seen:?}");
}

#[test]
fn gains_are_those_of_the_state() {
    let mut b = flow(Link::new(10_000, 40, 10_000), 2);
    let mut ups = 0;
    b.run(Duration::from_secs(5), |b| {
        let gain = match b.control.state {
            State::Down => 0.90,
            State::Cruise | State::Refill => 1.0,
            State::Up => 1.25,
            _ => return,
        };
        ups += u32::from(b.control.state == State::Up);
        let expected = per_second(b.control.bandwidth) as f64 * gain * 0.99;
        let paced = b.paced() as f64;
        assert!(
            (paced / expected - 1.0).abs() < 0.005,
            "{:?}: {paced}",
            b.control.state
        );
    });
    assert!(ups > 0);
}

#[test]
fn a_probe_waits_for_two_to_three_seconds() {
    let mut waits = vec![];
    for seed in 0..12 {
        // A BDP of 1000: 63 rounds would take longer.
        let link = Link::new(10_000, 100, 100_000);
        let mut b = Bottleneck::new(Bbr3::new(seed), link);
        assert!(until(&mut b, State::Up, 10) && until(&mut b, State::Down, 5));
        let since = b.now;
        assert!(until(&mut b, State::Refill, 5));
        waits.push((b.now - since).as_secs_f64());
    }
    assert!(waits.iter().all(|w| (2.0..=3.01).contains(w)), "{waits:?}");
    waits.sort_by(f64::total_cmp);
    assert!(waits[11] - waits[0] > 0.5, "{waits:?}");
}

#[test]
fn a_small_window_probes_as_often_as_reno_would() {
    // 20 segments: 20 rounds of 20 ms, not two seconds.
    let link = Link::new(1_000, 20, 10_000);
    let mut b = flow(link, 3);
    assert!(until(&mut b, State::Up, 5) && until(&mut b, State::Down, 5));
    let round = b.control.rounds.count;
    assert!(until(&mut b, State::Refill, 5));
    let took = b.control.rounds.count - round;
    assert!((18..=23).contains(&took), "{took} rounds");
}

#[test]
fn a_large_window_waits_for_no_more_than_63_rounds() {
    let link = Link::new(20_000, 10, 10_000);
    let mut b = flow(link, 3);
    assert!(until(&mut b, State::Up, 5) && until(&mut b, State::Down, 5));
    let round = b.control.rounds.count;
    assert!(until(&mut b, State::Refill, 5));
    let took = b.control.rounds.count - round;
    assert!((62..=63).contains(&took), "{took} rounds");
}

#[test]
fn refill_lasts_one_round() {
    let mut b = flow(Link::new(10_000, 40, 10_000), 2);
    assert!(until(&mut b, State::Refill, 5));
    let (round, since) = (b.control.rounds.count, b.now);
    assert!(until(&mut b, State::Up, 5));
    assert_eq!(b.control.rounds.count, round + 1);
    assert!(b.now - since >= Duration::from_millis(40));
    assert!(b.control.probe.sampling);
}

#[test]
fn up_ends_on_a_plateau_and_down_when_the_queue_is_gone() {
    let link = Link::new(10_000, 40, 10_000);
    let mut b = flow(link, 2);
    assert!(until(&mut b, State::Up, 5));
    let round = b.control.rounds.count;
    let mut largest = 0;
    b.run_until(Duration::from_secs(5), |b| {
        largest = largest.max(b.queue());
        b.control.state == State::Down
    });
    let took = b.control.rounds.count - round;
    assert!((3..=4).contains(&took), "{took} rounds");
    // Never more in flight than 2.25 BDP.
    assert!(largest <= link.bdp() * 5 / 4 + 20, "{largest}");
    assert!(until(&mut b, State::Cruise, 2));
    assert!(
        u64::from(b.in_flight) <= link.bdp() * 102 / 100,
        "{}",
        b.in_flight
    );
    assert!(b.queue() <= 10, "{}", b.queue());
}

#[test]
fn the_pipe_is_full_and_the_queue_short() {
    let link = Link::new(10_000, 40, 10_000);
    let mut b = flow(link, 2);
    let (before, acks, mut sum) = (b.delivered, b.acks, 0);
    b.run(Duration::from_secs(7), |b| sum += b.queue());
    let goodput = (b.delivered - before) / 7;
    assert!(goodput >= 9_750, "{goodput}");
    let mean = sum / (b.acks - acks);
    assert!(mean <= link.bdp() / 4, "{mean}");
}

#[test]
fn down_that_does_not_get_there_ends_with_the_wait() {
    let link = Link::new(10_000, 100, 100_000);
    let mut b = flow(link, 3);
    assert!(until(&mut b, State::Down, 5));
    // A bound of the past that the window's floor does not let it reach.
    b.control.inflight_long_term = 4;
    b.link.rate = 100;
    let (wait, since) = (b.control.probe.wait, b.now);
    assert!(b.run_until(Duration::from_secs(20), |b| b.control.state != State::Down));
    assert_eq!(b.control.state, State::Refill);
    assert!(b.now - since >= wait);
}

#[test]
fn ten_times_the_bandwidth_is_found() {
    let mut b = flow(Link::new(2_000, 40, 10_000), 3);
    // A bound from when the path was slow.
    b.control.inflight_long_term = 100;
    b.link.rate = 20_000;
    assert!(until(&mut b, State::Up, 5));
    let (round, mut bounds) = (b.control.rounds.count, vec![]);
    let found = b.run_until(Duration::from_secs(20), |b| {
        if b.control.rounds.start && b.control.state == State::Up {
            bounds.push(b.control.inflight_long_term);
        }
        near(per_second(b.control.max_bandwidth.get()), 20_000, 10)
    });
    assert!(found, "{}", per_second(b.control.max_bandwidth.get()));
    // The rate grows by a quarter a round, 1.25^n = 10 needs 10.3 rounds; and the bound has to grow
    // first, by 1, 2, 4 … a round.
    let took = b.control.rounds.count - round;
    for (n, pair) in bounds.windows(2).take(5).enumerate() {
        assert!(pair[1] - pair[0] >= 1 << n, "{bounds:?}");
    }
    assert!((10..=20).contains(&took), "{took} rounds: {bounds:?}");
}

#[test]
fn a_tenth_of_the_bandwidth_is_believed_after_two_cycles() {
    let mut b = flow(Link::new(10_000, 40, 600), 3);
    b.link.rate = 1_000;
    let mut shrunk = false;
    let adapted = b.run_until(Duration::from_secs(30), |b| {
        shrunk |= b.control.short_term.bandwidth < b.control.max_bandwidth.get();
        near(per_second(b.control.max_bandwidth.get()), 1_000, 15)
    });
    assert!(
        shrunk && adapted,
        "{}",
        per_second(b.control.max_bandwidth.get())
    );
}

#[test]
fn a_bdp_of_less_than_a_segment_still_has_four_in_flight() {
    let link = Link::new(20, 20, 100);
    let mut b = flow(link, 5);
    b.run(Duration::from_secs(20), |b| assert!(b.window.cwnd >= 4));
    assert!(near(per_second(b.control.max_bandwidth.get()), 20, 10));
}

#[test]
fn what_the_application_limits_is_not_the_path() {
    let mut b = flow(Link::new(10_000, 40, 10_000), 2);
    assert!(until(&mut b, State::Refill, 5));
    let before = b.control.max_bandwidth.get();
    b.link.offered = Some(500);
    assert!(until(&mut b, State::Up, 5));
    b.run(Duration::from_secs(5), |_| {});
    assert_eq!(b.control.max_bandwidth.get(), before);
    // Nothing ends the probe but loss or a plateau, and this is none.
    assert_eq!(b.control.state, State::Up);
}
