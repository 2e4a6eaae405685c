use super::*;

fn range(from: u64, to: u64) -> Vec<u64> {
    (from..to).collect()
}

#[test]
fn slow_start_doubles_the_initial_window() {
    let mut s = Script::with_segments(200);
    assert_eq!(s.sent(), range(0, 10));
    for segment in 0..10 {
        s.at(100).ack(segment + 1, &[]);
        assert_eq!(s.sent(), [10 + 2 * segment, 11 + 2 * segment]);
    }
    assert_eq!(s.info().cwnd, 20);
    // An ACK for two segments counts for two (RFC 3465 without its limit, as Linux has it).
    s.at(200).ack(12, &[]);
    assert_eq!(s.sent(), range(30, 34));
    assert_eq!(s.info().retransmits, 0);
}

#[test]
fn the_third_sacked_segment_starts_recovery_and_prr_halves_the_window() {
    let mut s = Script::with_segments(100);
    s.sent();
    // Limited transmit (RFC 3042).
    s.at(100).ack(0, &[(1, 2)]);
    assert_eq!(s.sent(), [10]);
    s.at(102).ack(0, &[(1, 3)]);
    assert_eq!(s.sent(), [11]);
    assert_eq!(s.info().recovery, Recovery::Disorder);
    s.ack(0, &[(1, 4)]);
    assert_eq!(s.sent(), [0]);
    let info = s.info();
    assert_eq!((info.recovery, info.ssthresh), (Recovery::Recovery, 5));
    // RFC 6937 §3: while the pipe is above ssthresh, CEIL(prr_delivered · 5 / 10) − prr_out, so
    // one for two.
    for (more, due) in (5..).zip([0, 1, 0, 1, 0, 0]) {
        s.ack(0, &[(1, more)]);
        assert_eq!(s.sent().len(), due, "after {more}");
    }
    assert_eq!(s.info().in_flight, 5);
    s.at(200).ack(12, &[]);
    let info = s.info();
    assert_eq!((info.recovery, info.cwnd), (Recovery::Open, 5));
    assert_eq!(info.retransmits, 1);
}

#[test]
fn prr_below_the_threshold_conserves_packets_or_catches_up() {
    let w = Window {
        cwnd: 20,
        ssthresh: 10,
        count: 0,
        clamp: u32::MAX,
        prior_cwnd: 20,
        pacing_rate: None,
    };
    // Pipe 4 of 10 allowed: with further losses as much as was delivered (PRR-CRB) …
    let mut prr = Prr::default();
    assert_eq!(prr.window(&w, 4, 2, false), 6);
    prr.sent();
    prr.sent();
    assert_eq!(prr.window(&w, 4, 1, false), 5);
    prr.sent();
    // … and on an ACK that advances without losses one more (PRR-SSRB).
    assert_eq!(prr.window(&w, 4, 1, true), 6);
    // Never beyond the threshold.
    assert_eq!(prr.window(&w, 9, 5, true), 10);
    // The fast retransmit leaves even if the pipe is full.
    assert_eq!(Prr::default().window(&w, 30, 1, false), 31);
}

#[test]
fn without_three_sacks_a_quarter_round_trip_decides() {
    let mut s = Script::with_segments(10);
    s.sent();
    s.at(100).ack(0, &[(1, 2)]).ack(0, &[(1, 3)]);
    assert_eq!(s.sent(), []);
    // 100 ms + min_rtt / 4, and two ticks for the timer.
    s.at(200);
    assert_eq!(s.sent_at(), [(127, 0)]);
    assert_eq!(s.info().recovery, Recovery::Recovery);
}

#[test]
fn reordering_within_the_window_is_no_loss() {
    let mut s = Script::with_segments(10);
    s.sent();
    s.at(100).ack(0, &[(1, 2)]).ack(0, &[(1, 3)]);
    s.at(120).ack(3, &[]);
    s.at(130).ack(10, &[]);
    assert_eq!(s.sent(), []);
    let info = s.info();
    assert_eq!((info.recovery, info.retransmits), (Recovery::Open, 0));
    assert!(s.sender.reordering.seen());
}

#[test]
fn once_reordering_was_seen_three_sacks_do_not_suffice() {
    let mut s = Script::with_segments(14);
    s.at(100).ack(0, &[(1, 2)]).ack(2, &[]);
    s.sent();
    s.ack(2, &[(3, 6)]);
    assert_eq!(s.info().recovery, Recovery::Disorder);
    s.sent();
    s.at(150);
    assert_eq!(s.sent_at(), [(127, 2)]);
}

#[test]
fn several_losses_are_repaired_in_one_recovery() {
    let mut s = Script::with_segments(10);
    s.sent();
    s.at(100).ack(0, &[(3, 4)]);
    s.ack(0, &[(3, 5)]).ack(0, &[(3, 6)]);
    assert_eq!(s.sent(), [0]);
    s.ack(0, &[(7, 8), (3, 6)]).ack(0, &[(7, 10), (3, 6)]);
    // 0, 1, 2 and 6 are lost: as many segments leave as arrive.
    assert_eq!(s.sent(), [1, 2, 6]);
    s.at(200).ack(1, &[(7, 10), (3, 6)]).ack(6, &[(7, 10)]);
    assert_eq!(s.sent(), []);
    s.at(300).ack(10, &[]);
    let info = s.info();
    assert_eq!((info.recovery, info.retransmits), (Recovery::Open, 4));
    assert_eq!((info.cwnd, info.timeouts), (5, 0));
}

#[test]
fn a_lost_retransmission_is_sent_again_without_a_timeout() {
    let mut s = Script::with_segments(30);
    s.sent();
    s.at(100).ack(0, &[(1, 4)]);
    assert_eq!(s.sent()[0], 0);
    s.ack(0, &[(1, 10)]);
    let later = s.sent();
    assert!(later.contains(&12), "{later:?}");
    // A segment that was sent after the retransmission arrives before it.
    s.at(201).ack(0, &[(1, 13)]);
    assert_eq!(s.sent()[0], 0);
    let info = s.info();
    assert_eq!((info.retransmits, info.timeouts), (2, 0));
}

#[test]
fn sacks_that_repeat_what_is_known_change_nothing() {
    let mut s = Script::with_segments(20);
    s.at(100).ack(0, &[(5, 6), (3, 4), (1, 2)]);
    let (flight, delivered) = (s.info().in_flight, s.sender.rate.delivered());
    s.sent();
    s.ack(0, &[(5, 6), (3, 4), (1, 2)])
        .ack(0, &[(3, 4), (1, 2)]);
    assert_eq!(s.sender.rate.delivered(), delivered);
    assert_eq!(s.info().in_flight, flight);
    // One that grows to both sides.
    s.ack(0, &[(2, 8)]);
    assert_eq!(s.sender.rate.delivered(), delivered + 4);
}

#[test]
fn a_block_that_cuts_a_segment_does_not_cover_it() {
    let mut s = Script::with_segments(10);
    s.at(100);
    for (left, right, sacked) in [(1001, 1800, 0), (1001, 2700, 1), (1001, 3001, 2)] {
        s.sender.ack(
            s.now,
            &Ack {
                offset: 1,
                window: 1 << 30,
                sack: &[(left, right)],
                timestamps: None,
                data: false,
                echo: crate::Echo::Nothing,
                peer_offset: 1,
            },
        );
        s.drain();
        assert_eq!(s.sender.board.sacked(), sacked);
    }
}

#[test]
fn new_reno_repairs_one_loss_a_round_trip() {
    let mut s = Script::new(Setup {
        sack: false,
        ..Setup::default()
    });
    s.write(100 * MSS);
    s.sent();
    // Segments 0 and 3 are lost: eight duplicate ACKs.
    s.at(100).ack(0, &[]).at(102).ack(0, &[]);
    assert_eq!(s.sent(), [10, 11]);
    s.ack(0, &[]);
    assert_eq!(s.sent(), [0]);
    assert_eq!(s.info().recovery, Recovery::Recovery);
    for _ in 0..5 {
        s.ack(0, &[]);
    }
    s.sent();
    // A partial ACK (RFC 6582 §3.2 step 3).
    s.at(200).ack(3, &[]);
    assert_eq!(s.sent()[0], 3);
    s.at(300).ack(12, &[]);
    let info = s.info();
    assert_eq!((info.retransmits, info.timeouts), (2, 0));
    // RFC 6582 §3.2 step 1: recovery does not end at `high` itself.
    assert_eq!(info.recovery, Recovery::Recovery);
    s.at(400).ack(13, &[]);
    let info = s.info();
    assert_eq!((info.recovery, info.ssthresh), (Recovery::Open, 5));
}

#[test]
fn an_ack_with_data_or_a_new_window_is_no_duplicate() {
    let mut s = Script::new(Setup {
        sack: false,
        ..Setup::default()
    });
    s.write(20 * MSS);
    s.sent();
    s.at(100);
    for more in 0..4 {
        s.window += 1000 * (more + 1);
        s.ack(0, &[]);
    }
    assert_eq!(s.sent(), []);
    assert_eq!(s.sender.board.duplicate_acks(), 0);
}

#[test]
fn a_receiver_that_goes_back_on_its_sacks_is_sent_everything() {
    let mut s = Script::with_segments(10);
    s.sent();
    s.at(100).ack(0, &[(1, 10)]);
    assert_eq!(s.sent(), [0]);
    // 0 arrives, but the peer has dropped the rest, which it had.
    s.at(200).ack(1, &[]);
    // Half a round trip of patience, then a timeout.
    s.at(255);
    assert_eq!(s.sent_at(), [(250, 1)]);
    for acked in 2..=10 {
        s.at(250 + 100 * acked).ack(acked, &[]);
    }
    assert_eq!(s.info().in_flight, 0);
    assert_eq!(s.info().recovery, Recovery::Open);
}
