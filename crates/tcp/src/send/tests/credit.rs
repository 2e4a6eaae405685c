//! Adaptive flow control at the sender (AFC §4.1, Algorithm 4). A round trip is 100 ms.

use super::*;
use crate::ReadReport;

impl Script {
    /// The peer, which has `acked` segments, reads at `kbps` and has refused `refused` so far.
    fn told(&mut self, acked: u64, kbps: u32, refused: u8) -> &mut Self {
        let report = ReadReport { kbps, refused };
        self.sender.peer_reads(self.now, 1 + acked * MSS, report);
        self
    }
}

/// A sender with a wide congestion window whose peer has room for ten segments and reads ten segments
/// a round trip (800 kbit/s): twenty are out.
fn on_credit() -> Script {
    let mut s = Script::new(Setup {
        timestamps: true,
        window: 10 * MSS,
        ..Setup::default()
    });
    s.sender.congestion.window_mut().cwnd = 100;
    s.window = 10 * MSS;
    s.told(0, 800, 0);
    s.write(100 * MSS);
    // Segments beyond a burst are paced.
    s.at(99);
    assert_eq!(s.sent(), (0..20).collect::<Vec<_>>());
    s
}

#[test]
fn the_window_is_what_fits_and_what_will_be_read() {
    let mut s = on_credit();
    assert_eq!(s.sender.flow_window(), 20 * MSS);
    // Eight have arrived, and three of them were read.
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
fn a_rate_is_forgotten_over_two_round_trips() {
    let mut s = on_credit();
    s.window = 5 * MSS;
    // Every 20 ms the peer reports that the reader has stopped.
    let credits = [120, 140, 160].map(|ms| {
        s.at(ms).told(10, 0, 0).ack(10, &[]);
        s.sender.flow_window() - 5 * MSS
    });
    assert!(credits.is_sorted_by(|a, b| a > b), "{credits:?}");
    assert!(credits[2] > 0, "{credits:?}");
    s.at(400).told(10, 0, 0).ack(10, &[]);
    assert_eq!(s.sender.flow_window(), 5 * MSS);
}

/// A late ACK's rate is as old as the rest of it.
#[test]
fn an_old_rate_is_not_believed() {
    let mut s = on_credit();
    s.at(100).ack(4, &[]);
    let before = s.sender.flow_window();
    s.told(0, 80_000, 100);
    assert_eq!(s.sender.flow_window(), before);
}

/// The buffer fills, and is no longer read: of twenty segments ten fit.
fn overflown() -> Script {
    let mut s = on_credit();
    s.window = 0;
    s.at(110).told(10, 800, 0).ack(10, &[]);
    assert_eq!(s.sent(), []);
    s
}

#[test]
fn what_was_refused_leaves_again_and_is_no_congestion() {
    let mut s = overflown();
    for n in 1..=10 {
        s.at(210 + 5 * u64::from(n)).told(10, 800, n).ack(10, &[]);
    }
    s.at(299);
    assert_eq!(s.sent(), (10..20).collect::<Vec<_>>());
    let info = s.info();
    assert_eq!((info.cwnd, info.timeouts), (100, 0));
    assert!(info.recovery < Recovery::Recovery);
    // It had room this time.
    s.window = 10 * MSS;
    s.at(400).told(20, 800, 10).ack(20, &[]);
    assert_eq!((s.info().cwnd, s.info().recovery), (100, Recovery::Open));
}

/// A reader that stays away: less and less is sent in vain, and then nothing but probes.
#[test]
fn a_reader_that_is_gone_is_probed() {
    let mut s = overflown();
    // Nor is it lowered for being idle.
    s.sender.validation = Validation::new(false, 10);
    let mut refused = 0;
    let mut rounds = Vec::new();
    for round in 2..8 {
        s.at(round * 110);
        let out = s.sender.board.in_flight();
        for _ in 0..out {
            refused += 1;
            s.told(10, 0, refused).ack(10, &[]);
        }
        s.at(round * 110 + 100);
        rounds.push(s.log.drain(..).filter(|(_, sent)| sent.len > 0).count());
    }
    assert!(rounds.is_sorted_by(|a, b| a >= b), "{rounds:?}");
    assert!(rounds.iter().sum::<usize>() < 20, "{rounds:?}");
    s.at(10_000);
    let probes: Vec<_> = s.log.drain(..).collect();
    assert!((2..8).contains(&probes.len()), "{probes:?}");
    assert!(probes.iter().all(|(_, probe)| probe.len == 0));
    assert_eq!((s.info().cwnd, s.info().timeouts), (100, 0));
    // It is back: what it refused comes first.
    s.window = 20 * MSS;
    s.at(10_100).told(10, 800, refused).ack(10, &[]);
    s.at(10_199);
    assert_eq!(s.sent()[..12], (10..22).collect::<Vec<_>>());
    assert_eq!(s.info().cwnd, 100);
}

/// The count goes on when ACKs are lost, and an ACK that was overtaken does not set it back.
#[test]
fn what_lost_acks_told_is_not_lost() {
    let mut s = overflown();
    s.at(220).told(10, 800, 3).ack(10, &[]);
    s.told(10, 800, 1).ack(10, &[]);
    s.told(10, 800, 3).ack(10, &[]);
    s.at(230);
    assert_eq!(s.sent(), [10, 11, 12]);
}

/// A segment that a peer can have refused must have reached it.
#[test]
fn what_was_sent_a_moment_ago_was_not_refused() {
    let mut s = overflown();
    s.at(120).told(10, 800, 127).ack(10, &[]);
    s.at(290);
    let sent = s.sent();
    assert!(sent.len() <= 10, "{sent:?}");
    for ms in 291..299 {
        s.at(ms).told(10, 800, 127).ack(10, &[]);
    }
    assert!(s.sent().len() <= 10);
}

#[test]
fn a_retransmission_that_is_lost_is_congestion() {
    let mut s = overflown();
    for n in 1..=10 {
        s.at(210 + 5 * u64::from(n)).told(10, 800, n).ack(10, &[]);
    }
    s.at(299);
    assert_eq!(s.sent().len(), 10);
    s.window = 20 * MSS;
    s.at(400).told(10, 800, 10).ack(10, &[(11, 20)]);
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
    s.told(20, 0, 0).ack(20, &[]);
    s.at(499);
    let at_once = s.sent_at();
    let burst = at_once.iter().filter(|(ms, _)| *ms == 400).count();
    assert!(burst <= 4, "{at_once:?}");
    assert_eq!(at_once.len(), 40);
}
