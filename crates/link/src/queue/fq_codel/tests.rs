use super::*;
use std::time::Duration;

/// A packet of a flow, by number and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbered {
    flow: u64,
    number: u32,
    bytes: usize,
}

impl Packet for Numbered {
    fn wire_bytes(&self) -> usize {
        self.bytes
    }

    fn flow(&self) -> u64 {
        self.flow
    }
}

/// A target long enough that a few full packets are no standing delay.
fn queue(packets: Option<usize>) -> FqCodel<Numbered> {
    let config = QueueConfig {
        packets,
        ..QueueConfig::default()
    };
    let policy = FqCodelPolicy {
        target: Duration::from_secs(1000),
        ..FqCodelPolicy::default()
    };
    FqCodel::new(config, policy)
}

fn push(queue: &mut FqCodel<Numbered>, flow: u64, numbers: std::ops::Range<u32>, bytes: usize) {
    for number in numbers {
        let packet = Numbered {
            flow,
            number,
            bytes,
        };
        queue.push(Queued {
            packet,
            arrival: Instant::ZERO,
        });
    }
}

/// Flow and number of the next packets.
fn pop(queue: &mut FqCodel<Numbered>, count: usize) -> Vec<(u64, u32)> {
    (0..count)
        .filter_map(|_| queue.pop(Instant::ZERO))
        .map(|q| (q.packet.flow, q.packet.number))
        .collect()
}

/// §4.2: flows of full packets alternate; a packet of a new flow goes first.
#[test]
fn a_sparse_flow_goes_first() {
    let mut queue = queue(None);
    push(&mut queue, 1, 0..10, 1500);
    push(&mut queue, 2, 0..10, 1500);
    assert_eq!(pop(&mut queue, 4), [(1, 0), (2, 0), (1, 1), (2, 1)]);
    push(&mut queue, 3, 0..1, 100);
    assert_eq!(pop(&mut queue, 3), [(3, 0), (1, 2), (2, 2)]);
}

/// A quantum counts bytes, not packets: a flow sends several small packets for another's large one.
#[test]
fn bytes_are_shared_equally() {
    let mut queue = queue(None);
    push(&mut queue, 1, 0..3000, 1500);
    push(&mut queue, 2, 0..30_000, 150);
    let served = pop(&mut queue, 11_000);
    let bytes = |flow, each| served.iter().filter(|p| p.0 == flow).count() * each;
    let (large, small) = (bytes(1, 1500), bytes(2, 150));
    assert!(large.abs_diff(small) <= 3000, "{large} {small}");
}

/// A flow that has emptied in the new list passes once through the old one, so it cannot come back
/// ahead of the others with each packet.
#[test]
fn a_flow_that_comes_back_at_once_is_not_new() {
    let mut queue = queue(None);
    push(&mut queue, 1, 0..100, 1500);
    // It is old from its second packet on.
    assert_eq!(pop(&mut queue, 1), [(1, 0)]);
    let mut served = Vec::new();
    for number in 0..20 {
        push(&mut queue, 2, number..number + 1, 1500);
        served.extend(pop(&mut queue, 2));
    }
    let second = served.iter().filter(|p| p.0 == 2).count();
    assert!((19..=21).contains(&second), "{served:?}");
}

/// §4.1.3: the flow with the most bytes loses half of them, oldest first, 64 packets at most.
#[test]
fn the_fattest_flow_pays_for_the_limit() {
    let mut small = queue(Some(40));
    push(&mut small, 1, 0..5, 1500);
    push(&mut small, 2, 0..36, 1500);
    assert_eq!((small.len(), small.signals().dropped), (23, 18));
    let left: Vec<_> = pop(&mut small, 100);
    let of = |flow| left.iter().filter(move |p| p.0 == flow).map(|p| p.1);
    assert!(of(1).eq(0..5) && of(2).eq(18..36));

    let mut large = queue(Some(1000));
    push(&mut large, 2, 0..1001, 1500);
    assert_eq!((large.len(), large.signals().dropped), (1001 - 64, 64));
}

/// Each flow has its own CoDel: a standing flow loses packets, one that drains does not.
#[test]
fn codel_acts_on_each_flow_alone() {
    let config = QueueConfig {
        packets: None,
        ..QueueConfig::default()
    };
    let mut queue = FqCodel::new(config, FqCodelPolicy::default());
    push(&mut queue, 1, 0..3000, 1500);
    let mut sparse = 0;
    for ms in 0..2000u64 {
        let now = Instant::from_millis(ms);
        if ms % 10 == 0 {
            let packet = Numbered {
                flow: 2,
                number: ms as u32,
                bytes: 100,
            };
            queue.push(Queued {
                packet,
                arrival: now,
            });
        }
        sparse += usize::from(queue.pop(now).is_some_and(|q| q.packet.flow == 2));
    }
    assert_eq!(sparse, 200);
    // The first one when the delay has stood for 100 ms, the rest 100/√n ms apart.
    let (mut due, mut expected) = (106.0, 0u32);
    while due < 2000.0 {
        expected += 1;
        due += 100.0 / f64::from(expected).sqrt();
    }
    assert!(
        queue.signals().dropped.abs_diff(expected.into()) <= 1,
        "{}",
        queue.signals().dropped
    );
}

/// §5.2.5: 1024 queues hold a hundred flows with few collisions.
#[test]
fn neighbouring_numbers_hash_apart() {
    let queue = queue(None);
    for spread in [1, 1 << 16, 1 << 40] {
        let mut used: Vec<_> = (0..100).map(|n| queue.classify(n * spread)).collect();
        used.sort_unstable();
        used.dedup();
        assert!(used.len() >= 90, "{spread}: {}", used.len());
        assert!(used.iter().all(|&index| index < 1024));
    }
}
