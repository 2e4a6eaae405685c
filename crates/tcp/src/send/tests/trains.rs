use super::*;

/// A sender in congestion avoidance whose window of `cwnd` is full, one RTT of 100 ms after it sent
/// that window, one segment each millisecond.
fn under_way(cwnd: u32) -> Script {
    let mut s = Script::new(Setup::default());
    s.sender.congestion.window_mut().ssthresh = 1;
    s.sender.congestion.window_mut().cwnd = cwnd;
    for segment in 0..u64::from(cwnd) {
        s.at(segment).write(MSS);
    }
    s.write(1000 * MSS);
    assert_eq!(s.sent().len(), cwnd as usize);
    s
}

#[test]
fn a_single_segment_waits_for_a_second_while_acks_keep_coming() {
    let mut s = under_way(20);
    // The last write is long ago: nothing is waited for.
    s.at(100).ack(1, &[]);
    assert_eq!(s.sent(), [20]);
    // It is not, and the next ACK is due in a millisecond.
    s.at(101).ack(2, &[]);
    assert_eq!(s.sent(), []);
    s.at(102).ack(3, &[]);
    assert_eq!(s.sent(), [21, 22]);
    // A train that waits does not mean that the window was not used.
    s.at(103).ack(4, &[]);
    assert_eq!(s.sent(), []);
    assert!(s.sender.is_window_limited());
}

#[test]
fn nothing_waits_if_the_next_ack_is_far_or_a_third_of_the_window_is_free() {
    // The oldest segment left 30 ms ago: its ACK is due in 70.
    let mut s = Script::new(Setup::default());
    s.sender.congestion.window_mut().ssthresh = 1;
    s.sender.congestion.window_mut().cwnd = 20;
    s.write(20 * MSS);
    s.sent();
    s.write(1000 * MSS);
    s.at(30).ack(1, &[]).ack(2, &[]);
    assert_eq!(s.sent(), [20, 21]);
    // One segment is a third of three.
    let mut s = under_way(3);
    s.at(100).ack(1, &[]).ack(2, &[]);
    assert_eq!(s.sent(), [3, 4]);
}

#[test]
fn trains_carry_a_millisecond_of_what_linux_would_pace() {
    let segments = |cwnd: u32, rtt_ms: u64, ssthresh: u32| {
        let mut s = Script::new(Setup {
            rtt_ms: Some(rtt_ms),
            ..Setup::default()
        });
        s.sender.congestion.window_mut().cwnd = cwnd;
        s.sender.congestion.window_mut().ssthresh = ssthresh;
        s.sender.train_segments()
    };
    // 1.2 windows in a round trip, 2⁻¹⁰ s of it: 1000 · 1.2 / 0.1 / 1024 = 11.7.
    assert_eq!(segments(1000, 100, 1), 11);
    // Twice the window in slow start: 19.5.
    assert_eq!(segments(1000, 100, u32::MAX), 19);
    assert_eq!(segments(10, 100, 1), 2);
    // 64 KB more, halved for each whole 512 µs: 5859 + 2¹⁶ / 2³ at 2 ms.
    assert_eq!(segments(10, 2, 1), 14);
    assert_eq!(segments(100_000, 100, 1), 65);
}
