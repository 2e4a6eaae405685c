//! PROBE_RTT.

use super::*;

#[test]
fn an_old_round_trip_is_measured_anew_with_half_the_bdp_of_the_old() {
    let link = Link::new(10_000, 40, 10_000);
    let mut b = flow(link, 3);
    b.link.rtt = Duration::from_millis(50);
    b.run(Duration::from_millis(100), |_| {});
    let stamp = b.control.min_rtt_at;
    let expected = u64::from(b.control.bdp(PROBE_RTT_CWND_GAIN));
    assert!(until(&mut b, State::ProbeRtt, 12));
    assert!(b.now - stamp > MIN_RTT_WINDOW && b.now - stamp < Duration::from_millis(10_010));
    // The BDP of 40 ms, not of the round trip that is measured now.
    assert!(
        near(b.control.probe_rtt_cwnd.into(), expected, 5),
        "{}",
        b.control.probe_rtt_cwnd
    );
    let cwnd = b.control.probe_rtt_cwnd;
    let mut since = None;
    assert!(b.run_until(Duration::from_secs(2), |b| {
        if since.is_none() && b.in_flight <= cwnd {
            since = Some(b.now);
        }
        assert!(b.control.state != State::ProbeRtt || b.control.probe_rtt_cwnd == cwnd);
        b.control.state != State::ProbeRtt
    }));
    let held = (b.now - since.unwrap()).as_millis();
    assert!((200..=252).contains(&held), "{held} ms");
    assert_eq!(b.control.state, State::Cruise);
    assert_eq!(b.control.min_rtt.unwrap().as_millis(), 50);
    b.run(Duration::from_millis(500), |_| {});
    assert!(near(per_second(b.control.bandwidth), 10_000, 3));
}

#[test]
fn it_costs_a_hundredth_of_the_throughput() {
    let mut b = flow(Link::new(10_000, 40, 10_000), 3);
    let before = b.delivered;
    b.run(Duration::from_secs(40), |_| {});
    let goodput = (b.delivered - before) / 40;
    assert!(goodput >= 9_650, "{goodput}");
}

#[test]
fn after_a_pause_it_is_not_needed() {
    let mut b = flow(Link::new(10_000, 40, 10_000), 3);
    b.link.offered = Some(1);
    b.run(Duration::from_secs(15), |b| {
        assert_ne!(b.control.state, State::ProbeRtt)
    });
}

#[test]
fn from_startup_it_returns_to_startup() {
    let mut link = Link::new(10_000, 40, 1_000);
    link.offered = Some(500);
    let mut b = flow(link, 3);
    b.link.rtt = Duration::from_millis(60);
    assert!(until(&mut b, State::ProbeRtt, 12));
    assert!(b.run_until(Duration::from_secs(2), |b| b.control.state
        != State::ProbeRtt));
    assert_eq!(b.control.state, State::Startup);
}

#[test]
fn a_restart_is_paced_at_the_rate_itself() {
    let mut b = flow(Link::new(10_000, 40, 10_000), 2);
    assert!(until(&mut b, State::Up, 5));
    let flight = Flight {
        app_limited: true,
        ..b.flight()
    };
    b.control
        .event(&mut b.window, &flight, Event::TransmitStart);
    assert!(near(b.paced(), 9_900, 2), "{}", b.paced());
    assert!(b.control.restarting);
}
