//! Loss, policers, ACKs in bursts, pauses.

use super::*;

#[test]
fn random_loss_of_a_twentieth_costs_what_is_lost_and_no_more() {
    let mut link = Link::new(10_000, 40, 1_000);
    link.loss_every = 20;
    let mut b = flow(link, 3);
    let before = b.delivered;
    b.run(Duration::from_secs(6), |_| {});
    let goodput = (b.delivered - before) / 6;
    assert!(goodput >= 9_000, "{goodput} of 10000");
}

#[test]
fn the_first_round_of_recovery_sends_what_is_delivered() {
    let link = Link::new(10_000, 40, 10_000);
    let mut b = flow(link, 3);
    let window = b.window.cwnd;
    b.link.loss_every = 1_000;
    assert!(b.run_until(Duration::from_secs(1), |b| b.recovery == Recovery::Recovery));
    assert!(b.control.conserving);
    // Room for what was just delivered.
    let (cwnd, round) = (b.window.cwnd, b.control.rounds.count);
    assert_eq!(cwnd, b.in_flight + 1);
    b.link.loss_every = 0;
    let mut acks = 0;
    b.run_until(Duration::from_secs(1), |b| {
        if b.control.rounds.count == round {
            assert_eq!(b.window.cwnd, cwnd);
            acks += 1;
        }
        b.control.rounds.count > round
    });
    assert!(acks > 350, "{acks}");
    assert!(!b.control.conserving);
    b.run_until(Duration::from_secs(1), |b| b.recovery == Recovery::Open);
    assert!(
        b.window.cwnd >= window.min(b.control.prior_cwnd),
        "{} again",
        b.window.cwnd
    );
}

#[test]
fn a_policer_is_found_out_and_kept_to_for_48_rounds() {
    let mut link = Link::new(10_000, 40, 10_000);
    link.policer = Some((2_000, 1_000));
    let mut b = Bottleneck::new(Bbr::new(1), link);
    assert!(b.run_until(Duration::from_secs(60), |b| {
        b.control.long_term.rate().is_some()
    }));
    assert!(near(estimate(&b), 2_000, 10), "{}", estimate(&b));
    // From here on nearly nothing is lost.
    assert!(b.run_until(Duration::from_secs(5), |b| b.control.mode == Mode::ProbeBw));
    b.run(Duration::from_millis(500), |_| {});
    let (lost, delivered, round) = (b.lost, b.delivered, b.control.rounds.count);
    assert!(b.run_until(Duration::from_secs(30), |b| {
        b.control.long_term.rate().is_none()
    }));
    let (lost, delivered) = (b.lost - lost, b.delivered - delivered);
    assert!(lost * 50 <= delivered, "{lost} of {delivered}");
    let rounds = b.control.rounds.count - round;
    assert!((30..=48).contains(&rounds), "{rounds} rounds");
}

#[test]
fn a_shallow_queue_is_no_policer() {
    let mut b = Bottleneck::new(Bbr::new(1), Link::new(10_000, 40, 100));
    b.run(Duration::from_secs(20), |b| {
        assert!(b.control.long_term.rate().is_none())
    });
}

#[test]
fn acks_that_come_in_bursts_get_room() {
    let mut link = Link::new(10_000, 10, 10_000);
    let plain = flow(link, 5).window.cwnd;
    link.ack_slot = Duration::from_millis(20);
    let b = flow(link, 5);
    // In 20 ms the link delivers 200 segments.
    let allowed = b.control.aggregation.allowance(b.control.bandwidth());
    assert!((150..=420).contains(&allowed), "{allowed}");
    assert!(
        b.window.cwnd >= plain + 150,
        "{} and {plain}",
        b.window.cwnd
    );
    let before = b.delivered;
    let mut b = b;
    b.run(Duration::from_secs(3), |_| {});
    assert!(
        b.delivered - before >= 3 * 9_500,
        "{}",
        b.delivered - before
    );
}

#[test]
fn after_a_pause_it_goes_on_at_the_old_rate() {
    let mut b = flow(Link::new(10_000, 40, 10_000), 3);
    b.link.offered = Some(1);
    b.run(Duration::from_secs(3), |_| {});
    assert!(near(estimate(&b), 10_000, 3), "{}", estimate(&b));
    // Paced at the rate itself, whatever the phase.
    let flight = Flight {
        app_limited: true,
        ..b.flight()
    };
    b.control.phase = 0;
    b.control
        .event(&mut b.window, &flight, Event::TransmitStart);
    assert!(near(b.paced(), 9_900, 3), "{}", b.paced());
    assert!(b.control.restarting);
}

#[test]
fn a_pause_longer_than_the_round_trips_window_needs_no_probe() {
    let mut b = flow(Link::new(10_000, 40, 10_000), 3);
    b.link.offered = Some(1);
    b.run(Duration::from_secs(15), |b| {
        assert_ne!(b.control.mode, Mode::ProbeRtt)
    });
}

#[test]
fn a_timeout_starts_with_one_segment_and_returns_to_the_old_window() {
    let mut b = flow(Link::new(10_000, 40, 10_000), 3);
    let window = b.window.cwnd;
    b.timed_out();
    assert_eq!(b.window.cwnd, 1);
    assert!(b.run_until(Duration::from_secs(2), |b| b.recovery == Recovery::Open));
    assert!(
        b.window.cwnd >= window * 9 / 10,
        "{} after {window}",
        b.window.cwnd
    );
}

#[test]
fn what_was_spurious_is_taken_back() {
    let mut b = flow(Link::new(10_000, 40, 10_000), 1);
    b.control.full_rounds = 2;
    let flight = b.flight();
    b.control
        .long_term
        .sample(b.control.totals(&flight), true, 1, false, MSS);
    let cwnd = b.control.undo_cwnd(&b.window, &flight);
    assert_eq!(cwnd, b.window.cwnd);
    assert_eq!(
        (b.control.full_bandwidth, b.control.full_rounds),
        (Bandwidth::ZERO, 0)
    );
}
