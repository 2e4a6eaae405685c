use super::*;
use crate::cc::tests::driver::{self, window};

/// DCTCP that has seen one round trip of `delivered` segments, `marked` of them marked, from `alpha`.
fn after_round(alpha: u32, delivered: u64, marked: u64) -> Dctcp {
    let mut f = driver::flight();
    let mut w = window(100, 50);
    let mut dctcp = Dctcp::default();
    dctcp.init(&mut w, &f);
    dctcp.alpha = alpha;
    f.delivered += delivered;
    f.delivered_ce += marked;
    let sample = AckSample {
        acked: 1,
        rtt: None,
        in_flight: 1,
        timestamps: None,
    };
    f.snd_una = f.snd_nxt;
    dctcp.pkts_acked(&mut w, &f, &sample);
    dctcp
}

/// §3.3: α ← (15/16) α + (1/16) F, of 1024.
#[test]
fn alpha_follows_the_share_of_marks_by_a_sixteenth() {
    assert_eq!(after_round(1024, 100, 100).alpha, 1024);
    assert_eq!(after_round(1024, 100, 0).alpha, 960);
    assert_eq!(after_round(960, 100, 50).alpha, 900 + 32);
    // Whole numbers: without marks it does not stay at 15.
    assert_eq!(after_round(15, 100, 0).alpha, 0);
    assert_eq!(after_round(0, 0, 0).alpha, 0);
}

/// §3.3, step 9.
#[test]
fn the_window_falls_by_half_of_alpha() {
    let f = driver::flight();
    for (alpha, ssthresh) in [(1024, 50), (512, 75), (64, 97), (0, 100)] {
        let mut dctcp = Dctcp {
            alpha,
            ..Dctcp::default()
        };
        assert_eq!(dctcp.ssthresh(&window(100, 10), &f), ssthresh, "{alpha}");
    }
    let mut all = Dctcp::default();
    assert_eq!(all.ssthresh(&window(2, 10), &f), 2, "never less than two");
}

/// §3.5: whatever was marked, a loss halves.
#[test]
fn a_loss_halves_the_window_and_may_be_undone() {
    let f = driver::flight();
    for timeout in [false, true] {
        let mut dctcp = Dctcp {
            alpha: 16,
            ..Dctcp::default()
        };
        let mut w = window(100, 80);
        w.ssthresh = dctcp.ssthresh(&w, &f);
        assert_eq!(w.ssthresh, 100);
        if timeout {
            dctcp.event(&mut w, &f, Event::Timeout);
        } else {
            dctcp.set_state(&mut w, &f, Recovery::Recovery);
        }
        assert_eq!(w.ssthresh, 50);
        w.cwnd = 50;
        assert_eq!(dctcp.undo_cwnd(&w, &f), 100);
    }
}

#[test]
fn a_round_trip_lasts_until_what_was_sent_is_acknowledged() {
    let mut f = driver::flight();
    f.snd_nxt = 10_000;
    let mut w = window(100, 50);
    let mut dctcp = Dctcp::default();
    dctcp.init(&mut w, &f);
    let sample = AckSample {
        acked: 1,
        rtt: None,
        in_flight: 1,
        timestamps: None,
    };
    f.delivered += 10;
    f.snd_una = 9_999;
    dctcp.pkts_acked(&mut w, &f, &sample);
    assert_eq!(dctcp.alpha, MAX_ALPHA);
    f.snd_una = 10_000;
    dctcp.pkts_acked(&mut w, &f, &sample);
    assert_eq!(dctcp.alpha, MAX_ALPHA - MAX_ALPHA / 16);
}
