use super::*;

const TARGET: Duration = Duration::from_millis(5);
const INTERVAL: Duration = Duration::from_millis(100);

/// A CoDel whose queue is as the test says: every packet waited `sojourn`, with `backlog` bytes
/// behind it.
struct Bench {
    codel: Codel,
    sojourn: Duration,
    backlog: usize,
}

impl Bench {
    fn new() -> Self {
        Self {
            codel: Codel::new(TARGET, INTERVAL),
            sojourn: Duration::from_millis(20),
            backlog: 100_000,
        }
    }

    /// Dequeues each millisecond in `times` and returns those at which a packet was dropped, once
    /// for each packet.
    fn drops(&mut self, times: std::ops::Range<u64>) -> Vec<u64> {
        let mut drops = Vec::new();
        for ms in times {
            // An offset, so that no packet arrived before the start.
            let now = Instant::from_millis(10_000 + ms);
            let (arrival, backlog) = (now - self.sojourn, self.backlog);
            let take = || {
                Some(Taken {
                    item: (),
                    arrival,
                    backlog,
                })
            };
            let kept = self.codel.dequeue(now, take, |()| drops.push(ms));
            assert!(kept.is_some(), "a queue that is never empty always yields");
        }
        drops
    }
}

/// By hand: above target from 0 ms on, so the first drop comes at 100; then 100/√1, 100/√2, 100/√3 …
/// apart, counted from when the drop was due, not from the millisecond in which it happened.
#[test]
fn drops_start_after_an_interval_and_come_closer_as_the_square_root() {
    let drops = Bench::new().drops(0..500);
    // 200, 270.7, 328.4, 378.4, 423.2, 464.0 and 501.8, each in the next whole millisecond.
    assert_eq!(drops, [100, 200, 271, 329, 379, 424, 464]);
}

#[test]
fn a_delay_below_target_within_the_interval_prevents_the_drop() {
    let mut bench = Bench::new();
    assert_eq!(bench.drops(0..99), []);
    bench.sojourn = TARGET - Duration::from_nanos(1);
    assert_eq!(bench.drops(99..100), []);
    bench.sojourn = TARGET;
    // The interval starts anew at 100.
    assert_eq!(bench.drops(100..250), [200]);
}

#[test]
fn a_backlog_of_one_packet_is_no_standing_queue() {
    let mut bench = Bench::new();
    bench.backlog = MAXPACKET;
    assert_eq!(bench.drops(0..1000), []);
    bench.backlog = MAXPACKET + 1;
    assert_eq!(bench.drops(1000..1150), [1100]);
}

/// Seven drops in the first state (`count` 7, entered with 1), so the next one begins with 6 if
/// it begins soon, and with 1 if more than 16 intervals have passed since the drop that was due.
#[test]
fn soon_after_the_last_drop_state_the_rate_is_resumed() {
    for (pause, spacing) in [(100, 41), (3000, 100)] {
        let mut bench = Bench::new();
        assert_eq!(bench.drops(0..500).len(), 7);
        bench.sojourn = Duration::ZERO;
        assert_eq!(bench.drops(500..500 + pause), []);
        bench.sojourn = Duration::from_millis(20);
        let again = 500 + pause + 100;
        let drops = bench.drops(500 + pause..again + 101);
        // 100/√6 = 40.8.
        assert_eq!(drops[..2], [again, again + spacing]);
    }
}

#[test]
fn an_empty_queue_ends_the_drop_state() {
    let mut bench = Bench::new();
    assert_eq!(bench.drops(0..101), [100]);
    let now = Instant::from_millis(10_200);
    let mut discarded = 0;
    let nothing = bench
        .codel
        .dequeue(now, || None::<Taken<()>>, |()| discarded += 1);
    assert_eq!((nothing, discarded), (None, 0));
    assert_eq!(bench.drops(201..301), []);
}

/// A link that was blocked for long: more drops than one are due at once.
#[test]
fn a_late_dequeue_makes_up_for_the_drops_it_missed() {
    let mut bench = Bench::new();
    assert_eq!(bench.drops(0..101), [100]);
    // Due at 200, 270.7, 328.4 and 378.4.
    assert_eq!(bench.drops(400..401), [400; 4]);
}
