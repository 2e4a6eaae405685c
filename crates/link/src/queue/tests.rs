//! Properties of every discipline.

use super::*;
use crate::{Ecn, FqCodelPolicy, RedPolicy};
use proptest::prelude::*;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

/// A packet that records how long it was held, whether it is sent or dropped.
struct Tracked {
    bytes: usize,
    flow: u64,
    arrival: u64,
    clock: Rc<Cell<u64>>,
    sojourns: Rc<RefCell<Vec<u64>>>,
}

impl Packet for Tracked {
    fn wire_bytes(&self) -> usize {
        self.bytes
    }

    fn flow(&self) -> u64 {
        self.flow
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        let held = self.clock.get() - self.arrival;
        self.sojourns.borrow_mut().push(held);
    }
}

/// A packet with an ECN field, which can be marked.
#[derive(Debug)]
pub(super) struct Marked(pub(super) Ecn);

impl Packet for Marked {
    fn wire_bytes(&self) -> usize {
        1500
    }

    fn ecn(&self) -> Ecn {
        self.0
    }

    fn mark(&mut self) {
        self.0 = Ecn::Ce;
    }
}

/// Nanoseconds since the last operation; then a packet of that many bytes, or a departure.
type Operation = (u64, Option<usize>);

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let gap = prop_oneof![Just(0), 0u64..30_000_000];
    prop::collection::vec((gap, prop::option::of(0usize..3000)), 1..300)
}

fn policies() -> impl Strategy<Value = Policy> {
    let (target, interval) = (Duration::from_millis(5), Duration::from_millis(30));
    prop_oneof![
        Just(Policy::DropTail),
        Just(Policy::DropHead),
        Just(Policy::Codel { target, interval }),
        Just(Policy::Red(RedPolicy {
            min_packets: 2.0,
            max_packets: 8.0,
            max_probability: 0.3,
            weight: 0.1,
            packet_time: Duration::from_millis(1),
        })),
        Just(Policy::Pie { target }),
        Just(Policy::DualPi2(Default::default())),
        Just(Policy::Abc(Default::default())),
        (1u32..3000, 1u32..6).prop_map(move |(quantum, flows)| {
            Policy::FqCodel(FqCodelPolicy {
                target,
                interval,
                quantum,
                flows,
            })
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Little's law, exactly: the time integral of the number of packets in the queue equals the sum of the times that
    /// they spent in it. No packet vanishes, the limits hold, and a queue that is not empty yields a packet.
    #[test]
    fn littles_law(
        policy in policies(),
        packets in prop::option::of(1usize..30),
        bytes in prop::option::of(3000usize..30_000),
        operations in operations(),
    ) {
        let clock = Rc::new(Cell::new(0));
        let sojourns = Rc::new(RefCell::new(Vec::new()));
        let mut queue = Queue::new(QueueConfig { packets, bytes, policy, ..QueueConfig::default() }, &Rate::constant(10e6), 1);
        let (mut integral, mut pushed, mut popped) = (0, 0u64, 0);
        // Drained in the end.
        let drain = std::iter::repeat_n((1_000_000, None), 300);
        for (gap, operation) in operations.into_iter().chain(drain) {
            integral += queue.len() as u64 * gap;
            clock.set(clock.get() + gap);
            let now = Instant::from_nanos(clock.get());
            if let Some(bytes) = operation {
                let packet = Tracked {
                    bytes,
                    flow: pushed % 5,
                    arrival: clock.get(),
                    clock: clock.clone(),
                    sojourns: sojourns.clone(),
                };
                pushed += 1;
                queue.push(Queued { packet, arrival: now });
            } else {
                let before = queue.len();
                popped += u64::from(queue.pop(now).is_some());
                prop_assert_eq!(queue.len() < before, before > 0);
            }
            prop_assert_eq!(pushed, popped + queue.dropped() + queue.len() as u64);
            prop_assert!(queue.len() <= packets.unwrap_or(usize::MAX));
            prop_assert!(queue.bytes() <= bytes.unwrap_or(usize::MAX));
            prop_assert_eq!(queue.ready().is_some(), queue.len() > 0);
        }
        prop_assert_eq!((queue.len(), queue.bytes()), (0, 0));
        prop_assert_eq!(sojourns.borrow().len() as u64, pushed);
        prop_assert_eq!(sojourns.borrow().iter().sum::<u64>(), integral);
    }
}
