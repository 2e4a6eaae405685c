use super::*;

#[test]
fn nothing_leaves_beyond_the_peers_window() {
    let mut s = Script::new(Setup {
        window: 3500,
        ..Setup::default()
    });
    s.window = 3500;
    s.write(20 * MSS);
    // To its last byte, as long as a whole segment fits as well (`tcp_mss_split_point`).
    let lens: Vec<u32> = s.log.iter().map(|(_, segment)| segment.len).collect();
    assert_eq!(lens, [1000, 1000, 1000, 500]);
    s.log.clear();
    s.window = 3999;
    s.at(100).ack(1, &[]);
    // 1499 more: the small segment on its way keeps another back (RFC 9293 §3.7.4).
    let lens: Vec<u32> = s.log.iter().map(|(_, segment)| segment.len).collect();
    assert_eq!(lens, [1000]);
    s.log.clear();
    s.sender.outbox.set_nodelay();
    // 999 more: room for less than a segment is no room.
    s.window = 4499;
    s.at(110).ack(1, &[]);
    assert_eq!(s.sent(), []);
    s.window = 5000;
    s.at(120).ack(1, &[]);
    let lens: Vec<u32> = s.log.iter().map(|(_, segment)| segment.len).collect();
    assert_eq!(lens, [1000, 500]);
}

#[test]
fn a_closed_window_is_probed_ever_more_rarely() {
    let mut s = Script::new(Setup::default());
    s.write(2 * MSS);
    s.sent();
    s.window = 0;
    s.at(100).ack(2, &[]);
    s.write(5 * MSS);
    assert_eq!(s.sent(), []);
    let rto = s.info().rto.as_millis() as u64;
    s.at(10_000);
    let probes = std::mem::take(&mut s.log);
    let bare = Transmission {
        offset: 2 * MSS,
        len: 0,
        fin: false,
        push: false,
        new: false,
    };
    assert!(probes.iter().all(|(_, probe)| *probe == bare), "una − 1");
    let times: Vec<u64> = probes.iter().map(|&(ms, _)| ms).collect();
    let doubling: Vec<u64> = (1..=times.len() as u32)
        .map(|n| 100 + rto * (2_u64.pow(n) - 1))
        .collect();
    assert_eq!(times, doubling);
    // Answers keep the connection alive, however long the window stays closed.
    for minutes in 1..60 {
        s.at(minutes * 120_000).ack(2, &[]);
    }
    assert!(!s.sender.gave_up());
    s.sent();
    s.window = 10_000;
    s.ack(2, &[]);
    assert_eq!(s.sent(), [2, 3, 4, 5, 6]);
}

#[test]
fn a_peer_that_answers_no_probe_is_given_up() {
    let mut s = Script::new(Setup::default());
    s.window = 0;
    s.ack(0, &[]);
    s.write(MSS);
    s.at(7_200_000);
    assert!(s.sender.gave_up());
    assert_eq!(s.log.len(), 15);
}

#[test]
fn a_window_smaller_than_a_segment_is_used_only_by_the_timer() {
    let mut s = Script::new(Setup {
        window: 400,
        ..Setup::default()
    });
    s.window = 400;
    s.write(2 * MSS);
    assert_eq!(s.sent(), []);
    s.at(300);
    let [(300, segment)] = s.log[..] else {
        panic!("{:?}", s.log)
    };
    assert_eq!((segment.offset, segment.len), (1, 400));
    // The window slides open in small steps; the sender waits for a whole segment.
    s.log.clear();
    s.sender.ack(
        s.now,
        &Ack {
            offset: 401,
            window: 1000,
            sack: &[],
            timestamps: None,
            data: false,
            echo: crate::Echo::Nothing,
            peer_offset: 1,
        },
    );
    s.drain();
    let lens: Vec<u32> = s.log.iter().map(|(_, s)| s.len).collect();
    assert_eq!(lens, [1000]);
}

#[test]
fn a_retracted_window_holds_retransmissions_but_the_first() {
    let mut s = Script::new(Setup {
        sack: false,
        ..Setup::default()
    });
    s.write(10 * MSS);
    s.sent();
    // Only 2 of the 10 segments out would be taken now.
    s.window = 2 * MSS;
    s.at(100).ack(1, &[]);
    assert_eq!(s.sent(), []);
    s.at(450);
    assert_eq!(s.sent_at(), [(400, 1)]);
    s.window = 0;
    s.at(500).ack(2, &[]);
    s.at(20_000);
    let again = s.sent();
    assert!(
        !again.is_empty() && again.iter().all(|&n| n == 2),
        "{again:?}"
    );
    s.window = 1 << 20;
    for acked in 2..10 {
        s.at(20_000 + 200 * acked).ack(acked + 1, &[]);
    }
    assert_eq!(s.info().in_flight, 0);
}

#[test]
fn nagle_lets_one_small_segment_out_at_a_time() {
    let mut s = Script::new(Setup::default());
    s.write(300);
    s.write(300);
    s.write(300);
    let lens = |s: &mut Script| -> Vec<u32> {
        let log = std::mem::take(&mut s.log);
        log.iter().map(|(_, segment)| segment.len).collect()
    };
    assert_eq!(lens(&mut s), [300]);
    s.sender.ack(
        Instant::from_millis(100),
        &Ack {
            offset: 301,
            window: 1 << 20,
            sack: &[],
            timestamps: None,
            data: false,
            echo: crate::Echo::Nothing,
            peer_offset: 1,
        },
    );
    s.now = Instant::from_millis(100);
    s.drain();
    assert_eq!(lens(&mut s), [600]);
    // A full segment always leaves, and a FIN needs no full one.
    s.write(MSS + 100);
    assert_eq!(lens(&mut s), [1000]);
    s.finish();
    let [(_, last)] = s.log[..] else {
        panic!("{:?}", s.log)
    };
    assert!((last.len, last.fin, last.push) == (100, true, true));
}

#[test]
fn the_last_segment_of_a_write_is_pushed_and_the_fin_is_numbered() {
    let mut s = Script::with_segments(3);
    let pushed: Vec<bool> = s.log.iter().map(|(_, s)| s.push).collect();
    // And so is the last of each train: here of two, and of one that ends the write.
    assert_eq!(pushed, [false, true, true]);
    s.log.clear();
    s.finish();
    let [(_, fin)] = s.log[..] else {
        panic!("{:?}", s.log)
    };
    let bare = Transmission {
        offset: 3001,
        len: 0,
        fin: true,
        push: false,
        new: false,
    };
    assert_eq!(fin, bare);
    assert_eq!(s.sender.next(), 3002);
    s.at(100).ack(3, &[]);
    assert!(s.sender.fin_sent() && !s.sender.finished());
    // The FIN is lost, and sent again.
    s.at(1000);
    assert_eq!(s.log.first().map(|(_, again)| *again), Some(fin));
    s.sender.ack(
        s.now,
        &Ack {
            offset: 3002,
            window: 1 << 20,
            sack: &[],
            timestamps: None,
            data: false,
            echo: crate::Echo::Nothing,
            peer_offset: 1,
        },
    );
    assert!(s.sender.finished());
}

#[test]
fn after_idling_the_window_is_halved_for_each_timeout() {
    for timeouts in [0, 1, 2, 3, 9] {
        let mut s = Script::with_segments(150);
        let mut acked = 0;
        for round in 1..=3 {
            let next = s.sender.next() / MSS;
            s.at(100 * round).ack_each(acked, next);
            acked = next;
        }
        assert_eq!(s.info().cwnd, 80);
        s.at(400).ack_each(acked, 150);
        let cwnd = s.info().cwnd;
        let rto = s.info().rto.as_millis() as u64;
        // Data left last at 300 ms.
        s.at((300 + rto * timeouts + rto / 2).max(400));
        s.sent();
        s.write(500 * MSS);
        let least = (cwnd >> timeouts).max(10);
        assert_eq!(s.sent().len() as u32, least, "after {timeouts}");
    }
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut s = Script::new(Setup::default());
    let mut segments = 0;
    for round in 0..20 {
        s.write(2 * MSS);
        segments += 2;
        s.at(100 * (round + 1)).ack(segments, &[]);
    }
    assert_eq!(s.info().cwnd, 10, "two segments a round trip prove nothing");
}

#[test]
fn a_window_that_is_half_used_in_slow_start_grows() {
    let mut s = Script::new(Setup::default());
    s.write(8 * MSS);
    s.at(100).ack_each(0, 8);
    // While 2 · 8 > cwnd.
    assert_eq!(s.info().cwnd, 16);
}

#[test]
fn a_window_unused_for_a_timeout_falls_halfway_to_what_is_used() {
    let mut s = Script::with_segments(70);
    s.at(100).ack_each(0, 10);
    s.at(200).ack_each(10, 30);
    s.at(300).ack_each(30, 70);
    assert_eq!(s.info().cwnd, 80);
    assert_eq!(s.info().rto, Duration::from_millis(300));
    // No pause longer than the timeout, but the window has not been full for one.
    s.at(450).write(12 * MSS);
    s.at(590).write(12 * MSS);
    assert_eq!(s.info().cwnd, 80);
    s.at(610).write(MSS);
    assert_eq!(s.info().cwnd, u32::midpoint(80, 25));
    assert_eq!(s.info().ssthresh, Window::NO_SSTHRESH);
}

#[test]
fn lost_syns_leave_one_segment() {
    for (lost_syns, cwnd) in [(false, 10), (true, 1)] {
        let mut sender = Sender::new(&Config::default());
        sender.establish(
            Instant::ZERO,
            Terms {
                mss: 1000,
                sack: true,
                timestamps: false,
                window: 1 << 20,
                rtt: None,
                resent_syns: 2,
                lost_syns,
            },
        );
        assert_eq!(sender.info().cwnd, cwnd);
        assert_eq!(sender.info().retransmits, 2);
        assert_eq!(sender.info().rto, Duration::from_secs(3));
    }
}

#[test]
fn the_send_buffer_limits_what_is_written() {
    let mut sender = Sender::new(&Config {
        send_buffer: 5000,
        ..Config::default()
    });
    assert_eq!(sender.write(3000), 3000);
    assert_eq!(sender.writable(), 2000);
    assert_eq!(sender.write(3000), 2000);
    assert_eq!(sender.write(1), 0);
}

#[test]
fn asking_twice_changes_nothing() {
    let mut s = Script::with_segments(100);
    s.at(100).ack(0, &[(1, 3)]);
    let before = format!("{:?}", s.sender);
    for ms in [100, 101, 105] {
        assert_eq!(s.sender.transmit(Instant::from_millis(ms)), None);
    }
    assert_eq!(format!("{:?}", s.sender), before);
}
