//! PROBE_BW and PROBE_RTT.

use super::*;

#[test]
fn the_cycle_has_eight_gains_each_a_round_trip_long() {
    let link = Link::new(10_000, 40, 1_000);
    let mut b = flow(link, 2);
    assert_eq!(b.control.mode, Mode::ProbeBw);
    let mut phases = vec![];
    b.run(Duration::from_secs(3), |b| {
        let phase = (b.control.phase, b.control.phase_at);
        if phases.last() != Some(&phase) {
            phases.push(phase);
        }
    });
    for pair in phases.windows(2).skip(1) {
        let ((phase, from), (next, to)) = (pair[0], pair[1]);
        assert_eq!(next, (phase + 1) % 8);
        let took = (to - from).as_secs_f64() * 1000.0;
        // The phase of 3/4 ends as soon as the queue is gone, that of 5/4 when enough is in flight.
        let expected = match phase {
            0 => 40.0..90.0,
            1 => 0.0..42.0,
            _ => 40.0..42.0,
        };
        assert!(expected.contains(&took), "phase {phase} took {took} ms");
    }
    assert!(phases.len() > 60, "{}", phases.len());
}

#[test]
fn gains_are_those_of_the_phase() {
    let mut b = flow(Link::new(10_000, 40, 1_000), 2);
    let mut seen = [false; 8];
    b.run(Duration::from_secs(1), |b| {
        let phase = b.control.phase;
        seen[phase] = true;
        let gain = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0][phase];
        let expected = estimate(b) as f64 * gain * 0.99;
        let paced = b.paced() as f64;
        assert!(
            (paced / expected - 1.0).abs() < 0.002,
            "phase {phase}: {paced}, not {expected}"
        );
    });
    assert_eq!(seen, [true; 8]);
}

#[test]
fn the_pipe_is_full_and_the_queue_short() {
    let link = Link::new(10_000, 40, 10_000);
    let mut b = flow(link, 2);
    let before = b.delivered;
    let (mut sum, mut largest) = (0, 0);
    let acks = b.acks;
    b.run(Duration::from_secs(7), |b| {
        sum += b.queue();
        largest = largest.max(b.queue());
    });
    let goodput = (b.delivered - before) / 7;
    assert!(goodput >= 9_800, "{goodput} of 10000");
    let mean = sum / (b.acks - acks);
    // A quarter of a BDP for one phase of eight, or a little more.
    assert!(mean <= link.bdp() / 8, "{mean} segments on average");
    assert!(largest <= link.bdp() / 2, "{largest} segments at most");
    // Twice the BDP, and the allowances.
    let cwnd = u64::from(b.window.cwnd);
    assert!(
        cwnd >= 2 * link.bdp() && cwnd <= 2 * link.bdp() + 100,
        "{cwnd}"
    );
}

#[test]
fn more_bandwidth_is_found_by_a_quarter_a_round() {
    let mut b = flow(Link::new(5_000, 40, 10_000), 3);
    b.link.rate = 10_000;
    let rounds = b.control.rounds.count;
    assert!(b.run_until(Duration::from_secs(10), |b| near(estimate(b), 10_000, 3)));
    // 1.25^n = 2: at least 3.1 rounds, after a wait of up to seven. The phase goes on, since without a queue the
    // packets in flight never become enough to end it.
    let took = b.control.rounds.count - rounds;
    assert!((4..=13).contains(&took), "{took} rounds");
}

#[test]
fn less_bandwidth_is_believed_after_ten_rounds() {
    let mut b = flow(Link::new(10_000, 40, 10_000), 3);
    b.link.rate = 5_000;
    // The packets in the queue still come at the old rate.
    b.run(Duration::from_millis(100), |_| {});
    let rounds = b.control.rounds.count;
    assert!(b.run_until(Duration::from_secs(10), |b| near(estimate(b), 5_000, 5)));
    let took = b.control.rounds.count - rounds;
    assert!((8..=12).contains(&took), "{took} rounds");
}

#[test]
fn a_round_trip_ten_seconds_old_is_measured_anew() {
    let link = Link::new(10_000, 40, 10_000);
    let mut b = flow(link, 3);
    // Five milliseconds more: never again as short as before.
    b.link.rtt = Duration::from_millis(45);
    b.run(Duration::from_millis(100), |_| {});
    let stamp = b.control.min_rtt_at;
    let window = b.window.cwnd;
    assert!(b.run_until(Duration::from_secs(12), |b| b.control.mode
        == Mode::ProbeRtt));
    assert!(b.now - stamp > Memory::LINUX.min_rtt && b.now - stamp < Duration::from_millis(10_010));
    assert_eq!(b.window.cwnd, 4);
    let began = b.now;
    let mut small_since = None;
    assert!(b.run_until(Duration::from_secs(1), |b| {
        if b.in_flight <= 4 && small_since.is_none() {
            small_since = Some(b.now);
        }
        b.control.mode == Mode::ProbeBw
    }));
    let held = (b.now - small_since.unwrap()).as_secs_f64();
    // Until the first ACK after 200 ms.
    assert!((0.2..=0.2 + 0.046).contains(&held), "{held} s");
    assert!(b.now - began < Duration::from_millis(400));
    assert_eq!(b.control.min_rtt.unwrap().as_millis(), 45);
    // Less the two segments that a probing phase has.
    assert!(b.window.cwnd + 2 >= window, "{} again", b.window.cwnd);
    // The slow samples of those 200 ms have not spoilt the rate.
    b.run(Duration::from_millis(300), |_| {});
    assert!(near(estimate(&b), 10_000, 3), "{}", estimate(&b));
}

#[test]
fn probe_rtt_lasts_a_round_where_that_is_longer() {
    let mut b = flow(Link::new(10_000, 500, 100_000), 12);
    b.link.rtt = Duration::from_millis(510);
    assert!(b.run_until(Duration::from_secs(15), |b| b.control.mode
        == Mode::ProbeRtt));
    assert!(b.run_until(Duration::from_secs(5), |b| {
        b.control.probe_rtt_until.is_some()
    }));
    let began = b.now;
    assert!(b.run_until(Duration::from_secs(5), |b| b.control.mode != Mode::ProbeRtt));
    let held = (b.now - began).as_millis();
    assert!((500..=1100).contains(&held), "{held} ms");
}

/// Flows that share a bottleneck must not all probe at once.
#[test]
fn the_seed_decides_the_first_phase_and_it_is_never_that_of_three_quarters() {
    let mut seen = [0; 8];
    for seed in 0..140 {
        let mut bbr = Bbr::new(seed);
        let mut again = Bbr::new(seed);
        bbr.long_term.reset(Default::default());
        for bbr in [&mut bbr, &mut again] {
            bbr.full = true;
            bbr.mode = Mode::ProbeRtt;
            bbr.probe_rtt_until = Some(Instant::ZERO);
            let mut b = Bottleneck::new(Bbr::new(0), Link::new(100, 10, 10));
            let flight = b.flight();
            bbr.check_probe_rtt_done(&mut b.window, &flight);
        }
        assert_eq!(bbr.phase, again.phase);
        seen[bbr.phase] += 1;
    }
    assert_eq!(seen[1], 0);
    // Seven phases alike: 20 each, give or take.
    assert!(
        seen.iter()
            .enumerate()
            .all(|(i, n)| i == 1 || (8..=36).contains(n)),
        "{seen:?}"
    );
}
