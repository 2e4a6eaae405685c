use super::*;

const MS: Duration = Duration::from_millis(1);
const WINDOW: u64 = 64_512;

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn acks() -> Acks {
    Acks::new(at(0), 1448, true, WINDOW, Some(40 * MS))
}

fn data(len: u32) -> Data {
    Data {
        len,
        push: false,
        fin: false,
    }
}

/// Acknowledgements that have left the first round trip behind.
fn settled() -> Acks {
    let mut acks = acks();
    acks.data(at(0), data(1448), WINDOW);
    while acks.is_hurried() {
        acks.owe();
        acks.sent(at(0), false);
    }
    acks
}

/// Receives full segments at `times` in ms and returns the delay that an ACK would have after.
fn delay_after(times: &[u64]) -> Duration {
    let mut acks = settled();
    let mut now = at(0);
    for &ms in times {
        now = at(ms);
        acks.data(now, data(1448), WINDOW);
        acks.sent(now, false);
    }
    acks.owe();
    acks.delay(now);
    acks.timeout().expect("a delayed ACK") - now
}

#[test]
fn the_delay_follows_the_gaps_between_segments() {
    assert_eq!(delay_after(&[]), 40 * MS);
    assert_eq!(delay_after(&[1, 2, 3]), 40 * MS);
    // 40/2 + 30, then 50/2 + 30, then 55/2 + 30; but the round trip bounds it.
    assert_eq!(delay_after(&[30]), 40 * MS);
    let mut unbounded = settled();
    unbounded.srtt = None;
    // A gap of up to 20 ms counts as 20.
    for (ms, ato_us) in [
        (30, 50_000),
        (60, 55_000),
        (90, 57_500),
        (95, 48_750),
        (110, 44_375),
    ] {
        unbounded.data(at(ms), data(1448), WINDOW);
        assert_eq!(unbounded.ato.as_micros(), ato_us, "at {ms} ms");
    }
}

#[test]
fn a_long_silence_brings_quick_acks_back() {
    let mut acks = settled();
    // The RTO is 240 ms.
    acks.data(at(240), data(1448), WINDOW);
    assert!(!acks.is_hurried());
    acks.data(at(481), data(1448), WINDOW);
    assert_eq!(acks.quick, 16);
}

#[test]
fn quick_acks_are_for_half_the_window() {
    for (window, quick) in [(WINDOW, 16), (8 * 1448, 4), (1448, 2), (0, 2)] {
        let mut acks = acks();
        acks.data(at(0), data(1448), window);
        assert_eq!(acks.quick, quick, "window {window}");
    }
}

#[test]
fn who_answers_with_data_needs_no_quick_acks() {
    let mut acks = acks();
    acks.data(at(0), data(300), WINDOW);
    assert!(acks.is_hurried());
    acks.sent(at(39), true);
    acks.data(at(80), data(300), WINDOW);
    assert!(!acks.is_hurried());
    acks.delay(at(80));
    // The answer did not come in time: not so interactive after all.
    acks.expire(at(80) + 60 * MS);
    assert!(acks.due());
    acks.sent(at(140), false);
    acks.data(at(150), data(300), WINDOW);
    assert!(acks.is_hurried());
}

#[test]
fn data_sent_long_after_are_no_answer() {
    let mut acks = acks();
    acks.data(at(0), data(300), WINDOW);
    acks.sent(at(40), true);
    acks.data(at(80), data(300), WINDOW);
    assert!(acks.is_hurried());
}

#[test]
fn an_ack_that_was_waited_for_in_vain_waits_longer_next_time() {
    let mut acks = settled();
    acks.srtt = None;
    acks.owe();
    acks.delay(at(100));
    assert_eq!(acks.timeout(), Some(at(140)));
    acks.expire(at(139));
    assert!(!acks.due());
    acks.expire(at(140));
    assert!(acks.due());
    acks.sent(at(140), false);
    acks.owe();
    acks.delay(at(200));
    assert_eq!(acks.timeout(), Some(at(280)));
}

#[test]
fn an_ack_about_to_leave_leaves_at_once() {
    let mut acks = settled();
    acks.owe();
    acks.delay(at(100));
    acks.delay(at(129));
    assert_eq!(acks.timeout(), Some(at(140)), "the earlier time stays");
    assert!(!acks.due());
    acks.delay(at(130));
    assert!(acks.due(), "a quarter of the delay is left");
}

#[test]
fn guesses_the_segment_size() {
    let mut acks = acks();
    assert_eq!(acks.mss(), 536);
    assert!(acks.data(at(0), data(1448), WINDOW));
    assert_eq!(acks.mss(), 1448);
    assert!(!acks.data(at(0), data(1448), WINDOW));
    // One smaller segment proves nothing, two of the same size do.
    assert!(!acks.data(at(0), data(1000), WINDOW));
    assert_eq!(acks.mss(), 1448);
    acks.data(at(0), data(1000), WINDOW);
    assert_eq!(acks.mss(), 1000);
    // Small ones with PSH are ends of messages.
    let end = Data {
        push: true,
        ..data(200)
    };
    acks.data(at(0), end, WINDOW);
    acks.data(at(0), end, WINDOW);
    assert_eq!(acks.mss(), 1000);
    acks.data(at(0), data(200), WINDOW);
    acks.data(at(0), data(200), WINDOW);
    assert_eq!(acks.mss(), 200);
    // Never more than our own MSS allows.
    acks.data(at(0), data(9000), WINDOW);
    assert_eq!(acks.mss(), 1448);
}

#[test]
fn acks_of_holes_are_put_together_after_three() {
    let mut acks = settled();
    let rtt = Some(10 * MS);
    for _ in 0..3 {
        acks.compress(at(1), 1, rtt);
        assert!(acks.due());
        acks.sent(at(1), false);
    }
    for _ in 0..44 {
        acks.compress(at(2), 1, rtt);
        assert!(!acks.due());
    }
    assert_eq!(
        acks.timeout(),
        Some(at(2) + MS / 2),
        "a twentieth of a round trip"
    );
    acks.compress(at(2), 1, rtt);
    assert!(acks.due(), "44 are enough");
    acks.sent(at(2), false);
    assert_eq!(acks.timeout(), None);
    // 1 ms at most, and by the smaller round trip: ours.
    acks.compress(at(3), 1, Some(200 * MS));
    assert_eq!(acks.timeout(), Some(at(4)));
    acks.flush();
    assert!(acks.due());
    acks.sent(at(3), false);
    // The next hole.
    acks.compress(at(5), 2, rtt);
    assert!(acks.due());
}

#[test]
fn refusals_without_data_are_rare() {
    let mut acks = settled();
    let mut refused = |ms, len| {
        acks.sent(at(ms), false);
        acks.refuse(at(ms), len);
        acks.due()
    };
    assert!(refused(100, 0));
    assert!(!refused(599, 0));
    assert!(refused(599, 10));
    assert!(refused(600, 0));
    assert!(!refused(900, 0));
}
