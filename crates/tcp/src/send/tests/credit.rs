//! Adaptive flow control at the sender (AFC §4.1, Algorithm 4). A round trip is 100 ms.

use super::*;

/// A sender with a wide congestion window whose peer has room for ten segments and reads ten segments
/// a round trip (800 kbit/s): twenty are out.
fn on_credit() -> Script {
    let mut s = Script::new(Setup {
        timestamps: true,
        window: 10 * MSS,
        ..Setup::default()
    });
    s.sender.window.cwnd = 100;
    s.window = 10 * MSS;
    s.sender.peer_reads(1, 800);
    s.write(100 * MSS);
    // What exceeds a burst's threshold is paced.
    s.at(99);
    assert_eq!(s.sent(), (0..20).collect::<Vec<_>>());
    s
}

#[test]
fn the_window_is_what_fits_and_what_will_be_read() {
    let mut s = on_credit();
    assert_eq!(s.sender.flow_window(), 20 * MSS);
    // Eight have arrived, of which three were read.
    s.window = 5 * MSS;
    s.at(100).ack(8, &[]);
    assert_eq!(s.sender.window_end(), 1 + 23 * MSS);
    assert_eq!(
        s.sent(),
        [20, 21],
        "a train, and the rest with the next ACK"
    );
}

#[test]
fn without_a_rate_it_is_the_classic_window() {
    let mut s = on_credit();
    s.sender.peer_reads(1, 0);
    s.window = 5 * MSS;
    s.at(100).ack(16, &[]);
    assert_eq!(s.sender.flow_window(), 5 * MSS);
    assert_eq!(s.sent(), [20]);
}

/// A late ACK's rate is as old as the rest of it.
#[test]
fn an_old_rate_is_not_believed() {
    let mut s = on_credit();
    s.at(100).ack(4, &[]);
    s.sender.peer_reads(1, 0);
    assert!(s.sender.flow_window() > 10 * MSS);
}

/// The reader stops: of twenty segments ten fit, and ten are dropped.
fn overflown() -> Script {
    let mut s = on_credit();
    s.sender.peer_reads(1, 0);
    s.window = 0;
    s.at(110).ack(10, &[]);
    assert_eq!(s.sent(), []);
    s
}

#[test]
fn a_full_buffer_is_no_congestion() {
    let mut s = overflown();
    // Each dropped segment brings a duplicate ACK.
    for ms in 111..120 {
        s.at(ms).ack(10, &[]);
    }
    assert_eq!(s.sent(), []);
    // Nor is a timeout: it sends probes, further and further apart.
    s.at(3000);
    let probes: Vec<_> = s.log.drain(..).collect();
    assert!((2..6).contains(&probes.len()), "{probes:?}");
    assert!(probes.iter().all(|(_, probe)| probe.len == 0));
    let info = s.info();
    assert_eq!(
        (info.cwnd, info.timeouts, info.recovery),
        (100, 0, Recovery::Open)
    );
}

#[test]
fn what_was_dropped_leaves_first_when_the_window_opens() {
    let mut s = overflown();
    s.window = 10 * MSS;
    s.at(400).sender.peer_reads(10 * MSS + 1, 800);
    s.log.clear();
    s.ack(10, &[]);
    s.at(499);
    assert_eq!(s.sent(), (10..30).collect::<Vec<_>>());
    assert_eq!((s.info().cwnd, s.info().recovery), (100, Recovery::Open));
    // Losses of before stay hidden until all of it is acknowledged.
    s.at(500).ack_echoing(12, &[(16, 20)], Some(400));
    s.at(520).ack_echoing(20, &[], Some(400));
    assert_eq!(s.info().cwnd, 100);
    assert!(!s.sender.is_overflowing());
}

#[test]
fn what_sack_has_reported_is_not_sent_again() {
    let mut s = on_credit();
    s.sender.peer_reads(1, 0);
    s.window = 0;
    s.at(110).ack(10, &[(12, 14)]);
    s.window = 20 * MSS;
    s.at(400).log.clear();
    s.ack(10, &[(12, 14)]);
    s.at(499);
    assert_eq!(s.sent()[..8], [10, 11, 14, 15, 16, 17, 18, 19]);
}

/// What cannot have arrived before the window opened may yet arrive.
#[test]
fn what_was_sent_a_moment_ago_is_not_given_up() {
    let mut s = on_credit();
    s.at(100).ack(4, &[]);
    assert_eq!(s.sent(), (20..24).collect::<Vec<_>>());
    s.window = 0;
    s.sender.peer_reads(4 * MSS + 1, 0);
    s.at(110).ack(10, &[]);
    s.window = 20 * MSS;
    s.at(120).ack(10, &[]);
    s.at(180);
    assert_eq!(
        s.sent()[..12],
        [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 24, 25]
    );
}

#[test]
fn a_retransmission_that_is_lost_is_congestion() {
    let mut s = overflown();
    s.window = 20 * MSS;
    s.at(400).ack(10, &[]);
    s.at(450);
    s.sent();
    s.at(560).ack(10, &[(11, 20)]);
    s.at(700);
    assert!(s.info().cwnd < 100, "{:?}", s.info());
}

#[test]
fn losses_on_credit_without_a_full_buffer_are_congestion() {
    let mut s = on_credit();
    s.at(110).ack(4, &[(5, 12)]);
    assert_eq!(s.info().recovery, Recovery::Recovery);
}

#[test]
fn a_window_that_opens_wide_is_no_burst() {
    let mut s = overflown();
    s.window = 40 * MSS;
    s.at(400).log.clear();
    s.ack(20, &[]);
    s.at(499);
    let at_once = s.sent_at();
    let burst = at_once.iter().filter(|(ms, _)| *ms == 400).count();
    assert!(burst <= 4, "{at_once:?}");
    assert_eq!(at_once.len(), 40);
}
