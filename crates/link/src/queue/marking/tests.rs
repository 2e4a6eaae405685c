//! Which packets are marked, which are dropped, and how the disciplines differ.

use super::super::tests::Marked;
use super::super::{Policy, Queue, QueueConfig, RedPolicy};
use super::*;

const TARGET: Duration = Duration::from_millis(5);
const INTERVAL: Duration = Duration::from_millis(100);
const CODEL: Policy = Policy::Codel {
    target: TARGET,
    interval: INTERVAL,
};

/// A queue that two packets enter and one leaves each millisecond, for a second.
struct Overload {
    queue: Queue<Marked>,
    left: Vec<Ecn>,
}

impl Overload {
    fn new(policy: Policy, marking: Marking) -> Self {
        let config = QueueConfig {
            packets: None,
            policy,
            marking,
            ..QueueConfig::default()
        };
        Self {
            queue: Queue::new(config, &crate::Rate::constant(10e6), 1),
            left: Vec::new(),
        }
    }

    fn run(mut self, ecn: Ecn) -> Self {
        for ms in 0..1000 {
            let now = Instant::from_millis(ms);
            for _ in 0..2 {
                let packet = Marked(ecn);
                self.queue.push(Queued {
                    packet,
                    arrival: now,
                });
            }
            self.left
                .extend(self.queue.pop(now).map(|queued| queued.packet.0));
        }
        self
    }

    fn marked(&self) -> u64 {
        self.left.iter().filter(|&&ecn| ecn == Ecn::Ce).count() as u64
    }
}

const ECN: Marking = Marking {
    ecn: true,
    ce_threshold: None,
};

fn red() -> Policy {
    Policy::Red(RedPolicy {
        min_packets: 5.0,
        max_packets: 15.0,
        max_probability: 0.02,
        weight: 0.002,
        packet_time: Duration::from_millis(1),
    })
}

fn fq() -> Policy {
    Policy::FqCodel(Default::default())
}

#[test]
fn codel_fq_codel_and_red_mark_where_they_would_drop() {
    for policy in [CODEL, fq(), red()] {
        for ecn in [Ecn::Ect0, Ecn::Ect1] {
            let marks = Overload::new(policy, ECN).run(ecn);
            assert_eq!(marks.queue.dropped(), 0, "{policy:?}");
            // RED marks packets on arrival: those still waiting count, too.
            assert!(marks.marked() > 10, "{policy:?}: {}", marks.marked());
            assert!(marks.queue.marked() >= marks.marked(), "{policy:?}");
        }
    }
}

#[test]
fn what_is_not_ecn_capable_is_dropped_as_without_marking() {
    for policy in [CODEL, fq(), red(), Policy::Pie { target: TARGET }] {
        let without = Overload::new(policy, Marking::default()).run(Ecn::NotEct);
        let with = Overload::new(policy, ECN).run(Ecn::NotEct);
        assert!(without.queue.dropped() > 10, "{policy:?}");
        assert_eq!(with.queue.dropped(), without.queue.dropped(), "{policy:?}");
        assert_eq!((with.queue.marked(), with.marked()), (0, 0), "{policy:?}");
    }
}

#[test]
fn a_queue_that_is_not_told_to_marks_nothing() {
    for policy in [CODEL, fq(), red(), Policy::Pie { target: TARGET }] {
        let capable = Overload::new(policy, Marking::default()).run(Ecn::Ect0);
        let not = Overload::new(policy, Marking::default()).run(Ecn::NotEct);
        assert_eq!(capable.queue.dropped(), not.queue.dropped(), "{policy:?}");
        assert_eq!(capable.queue.marked(), 0, "{policy:?}");
    }
}

/// RFC 8033 §5.1: marks while the probability is below a tenth, drops once senders have not answered the marks.
#[test]
fn pie_drops_what_is_ecn_capable_once_marks_have_not_helped() {
    let pie = Overload::new(Policy::Pie { target: TARGET }, ECN).run(Ecn::Ect0);
    assert!(pie.queue.marked() > 2, "{}", pie.queue.marked());
    assert!(pie.queue.dropped() > 100, "{}", pie.queue.dropped());
}

/// By hand: packet n, from 0, comes at ⌊n/2⌋ ms, leaves at n ms and so waits for ⌈n/2⌉ ms; 21 ms is the first wait
/// beyond 20.
#[test]
fn the_threshold_marks_each_packet_that_has_waited_for_longer() {
    let step = Marking {
        ecn: false,
        ce_threshold: Some(Duration::from_millis(20)),
    };
    let long = Policy::Codel {
        target: Duration::from_secs(100),
        interval: INTERVAL,
    };
    for policy in [
        long,
        Policy::FqCodel(crate::FqCodelPolicy {
            target: Duration::from_secs(100),
            ..Default::default()
        }),
    ] {
        let step = Overload::new(policy, step).run(Ecn::Ect1);
        let first = step.left.iter().position(|&ecn| ecn == Ecn::Ce);
        assert_eq!(first, Some(41), "{policy:?}");
        assert!(step.left[41..].iter().all(|&ecn| ecn == Ecn::Ce));
        assert_eq!(step.queue.dropped(), 0);
    }
}

#[test]
fn a_packet_that_is_marked_already_is_not_counted_again() {
    let marks = Overload::new(CODEL, ECN).run(Ecn::Ce);
    assert_eq!((marks.queue.marked(), marks.queue.dropped()), (0, 0));
}

/// At a limit any packet is dropped, ECN-capable or not (RFC 3168 §5).
#[test]
fn a_full_queue_drops() {
    let config = QueueConfig {
        packets: Some(50),
        policy: CODEL,
        marking: ECN,
        ..QueueConfig::default()
    };
    let full = Overload {
        queue: Queue::new(config, &crate::Rate::constant(10e6), 1),
        left: Vec::new(),
    };
    let full = full.run(Ecn::Ect0);
    assert!(full.queue.dropped() > 900, "{}", full.queue.dropped());
    assert!(full.queue.marked() > 10, "{}", full.queue.marked());
}
