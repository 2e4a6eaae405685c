use super::*;
use proptest::prelude::*;

const TARGET: Duration = Duration::from_millis(5);
const INTERVAL: Duration = Duration::from_millis(100);

/// A CoDel whose queue the test dictates: every packet waited `sojourn`, with `backlog` bytes behind it.
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
            let kept = self.codel.dequeue(now, take, |()| {
                drops.push(ms);
                None
            });
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
    assert_eq!(bench.drops(0..99), [0; 0]);
    bench.sojourn = TARGET - Duration::from_nanos(1);
    assert_eq!(bench.drops(99..100), [0; 0]);
    bench.sojourn = TARGET;
    // The interval starts anew at 100.
    assert_eq!(bench.drops(100..250), [200]);
}

#[test]
fn a_backlog_of_one_packet_is_no_standing_queue() {
    let mut bench = Bench::new();
    bench.backlog = MAXPACKET;
    assert_eq!(bench.drops(0..1000), [0; 0]);
    bench.backlog = MAXPACKET + 1;
    assert_eq!(bench.drops(1000..1150), [1100]);
}

/// Seven drops in the first state (`count` 7, entered with 1). The next state begins with 6 if it begins soon, and
/// with 1 if more than 16 intervals have passed since the next drop was due.
#[test]
fn soon_after_the_last_drop_state_the_rate_is_resumed() {
    for (pause, spacing) in [(100, 41), (3000, 100)] {
        let mut bench = Bench::new();
        assert_eq!(bench.drops(0..500).len(), 7);
        bench.sojourn = Duration::ZERO;
        assert_eq!(bench.drops(500..500 + pause), [0; 0]);
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
    let nothing = bench.codel.dequeue(
        now,
        || None::<Taken<()>>,
        |()| {
            discarded += 1;
            None
        },
    );
    assert_eq!((nothing, discarded), (None, 0));
    assert_eq!(bench.drops(201..301), [0; 0]);
}

/// A link that was blocked for long: several drops are due at once.
#[test]
fn a_late_dequeue_makes_up_for_the_drops_it_missed() {
    let mut bench = Bench::new();
    assert_eq!(bench.drops(0..101), [100]);
    // Due at 200, 270.7, 328.4 and 378.4.
    assert_eq!(bench.drops(400..401), [400; 4]);
}

/// The RFC's pseudocode as it is printed: §5.5's `deque` and §5.6's `dodequeue` and `control_law`,
/// with signed nanoseconds and 0 for "none".
#[derive(Default)]
struct Printed {
    first_above_time: i64,
    drop_next: i64,
    count: u32,
    lastcount: u32,
    dropping: bool,
}

/// A packet's wait in nanoseconds, and the bytes that it leaves behind.
type Waited = (i64, usize);

impl Printed {
    /// Which of the packets is handed out, and how many were dropped for it.
    fn deque(&mut self, now: i64, queue: &mut impl Iterator<Item = Waited>) -> (bool, u32) {
        let mut dropped = 0;
        let (mut packet, mut ok_to_drop) = self.dodequeue(now, queue.next());
        if self.dropping {
            if !ok_to_drop {
                self.dropping = false;
            }
            while now >= self.drop_next && self.dropping {
                dropped += 1;
                self.count += 1;
                (packet, ok_to_drop) = self.dodequeue(now, queue.next());
                if !ok_to_drop {
                    self.dropping = false;
                } else {
                    self.drop_next = self.control_law(self.drop_next);
                }
            }
        } else if ok_to_drop {
            dropped += 1;
            (packet, _) = self.dodequeue(now, queue.next());
            self.dropping = true;
            let delta = self.count - self.lastcount;
            self.count = 1;
            if delta > 1 && now - self.drop_next < 16 * nanos(INTERVAL) {
                self.count = delta;
            }
            self.drop_next = self.control_law(now);
            self.lastcount = self.count;
        }
        (packet, dropped)
    }

    fn dodequeue(&mut self, now: i64, packet: Option<Waited>) -> (bool, bool) {
        let Some((sojourn, bytes)) = packet else {
            self.first_above_time = 0;
            return (false, false);
        };
        let mut ok_to_drop = false;
        if sojourn < nanos(TARGET) || bytes <= MAXPACKET {
            self.first_above_time = 0;
        } else if self.first_above_time == 0 {
            self.first_above_time = now + nanos(INTERVAL);
        } else if now >= self.first_above_time {
            ok_to_drop = true;
        }
        (true, ok_to_drop)
    }

    fn control_law(&self, t: i64) -> i64 {
        t + nanos(INTERVAL.div_f64(f64::from(self.count).sqrt()))
    }
}

fn nanos(d: Duration) -> i64 {
    d.as_nanos() as i64
}

/// Milliseconds until a dequeue, whether the queue stands, and how many packets it holds at most.
fn dequeues() -> impl Strategy<Value = Vec<(i64, bool, usize)>> {
    let longest = prop_oneof![1i64..30, 1i64..3000];
    let phase = (longest, 0..40usize, 0.0..1.0f64, 1usize..8);
    let phase = phase.prop_flat_map(|(gap, count, standing, packets)| {
        prop::collection::vec(
            (0..gap, prop::bool::weighted(standing), Just(packets)),
            count..count + 20,
        )
    });
    prop::collection::vec(phase, 1..8).prop_map(|phases| phases.concat())
}

proptest! {
    /// Pauses, and queues that stand, flow or run empty: we drop the same packets as the pseudocode.
    #[test]
    fn what_the_pseudocode_drops_is_dropped(dequeues in dequeues()) {
        let (mut ours, mut printed) = (Codel::new(TARGET, INTERVAL), Printed::default());
        let mut now = nanos(Duration::from_secs(10));
        for (gap, stands, packets) in dequeues {
            now += gap * 1_000_000;
            let sojourn = if stands { 20_000_000 } else { 4_999_999 };
            let queue = || (0..packets).rev().map(move |behind| (sojourn, behind * 1500));
            let expected = printed.deque(now, &mut queue());
            let (mut rest, mut dropped) = (queue(), 0);
            let take = || {
                rest.next().map(|(sojourn, backlog)| Taken {
                    item: (),
                    arrival: Instant::from_nanos((now - sojourn) as u64),
                    backlog,
                })
            };
            let at = Instant::from_nanos(now as u64);
            let packet = ours.dequeue(at, take, |()| {
                dropped += 1;
                None
            });
            prop_assert_eq!((packet.is_some(), dropped), expected);
        }
    }
}
