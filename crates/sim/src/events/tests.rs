use super::{EventQueue, Kind, Target};
use proptest::prelude::*;
use std::collections::BTreeMap;
use tidegate_basics::time::Instant;

fn end(index: usize) -> Target {
    Target::new(Kind::End, index)
}

fn at(ns: u64) -> Instant {
    Instant::from_nanos(ns)
}

/// Everything in the queue, in the order in which it is woken.
fn drain(mut queue: EventQueue) -> Vec<(u64, Target)> {
    let mut order = Vec::new();
    while let Some((at, target)) = queue.pop(Instant::MAX) {
        order.push((at.as_nanos(), target));
    }
    order
}

#[test]
fn at_one_instant_kinds_and_then_numbers_decide() {
    let mut queue = EventQueue::default();
    for target in [
        Target::new(Kind::Application, 0),
        end(7),
        end(3),
        Target::new(Kind::Link, 1),
        Target::new(Kind::Clock, 0),
    ] {
        queue.wake_by(target, at(5));
    }
    let kinds: Vec<_> = drain(queue)
        .iter()
        .map(|(_, t)| (t.kind(), t.index()))
        .collect();
    assert_eq!(
        kinds,
        [
            (Kind::Clock, 0),
            (Kind::Link, 1),
            (Kind::End, 3),
            (Kind::End, 7),
            (Kind::Application, 0)
        ]
    );
}

#[test]
fn who_asks_twice_is_woken_once() {
    let mut queue = EventQueue::default();
    queue.wake_by(end(0), at(100));
    queue.wake_by(end(0), at(200));
    queue.wake_by(end(1), at(300));
    queue.wake_by(end(1), at(50));
    queue.set(end(2), Some(at(10)));
    queue.set(end(2), Some(at(400)));
    queue.set(end(3), Some(at(10)));
    queue.set(end(3), None);
    assert_eq!(drain(queue), [(50, end(1)), (100, end(0)), (400, end(2))]);
}

#[test]
fn nothing_is_woken_at_the_end_or_later() {
    let mut queue = EventQueue::default();
    queue.set(end(0), Some(at(7)));
    assert_eq!(queue.pop(at(7)), None);
    assert_eq!(queue.pop(at(8)), Some((at(7), end(0))));
    assert_eq!(queue.pop(at(8)), None);
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    WakeBy(usize, u64),
    Set(usize, Option<u64>),
    Pop(u64),
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        (0..40usize, 0..1000u64).prop_map(|(i, t)| Operation::WakeBy(i, t)),
        (0..40usize, proptest::option::of(0..1000u64)).prop_map(|(i, t)| Operation::Set(i, t)),
        (0..1000u64).prop_map(Operation::Pop),
    ]
}

proptest! {
    /// Against a sorted map.
    #[test]
    fn it_is_a_priority_queue_with_one_entry_a_target(
        operations in proptest::collection::vec(operation(), 0..300)
    ) {
        let mut queue = EventQueue::default();
        let mut model: BTreeMap<usize, u64> = BTreeMap::new();
        for operation in operations {
            match operation {
                Operation::WakeBy(i, t) => {
                    queue.wake_by(end(i), at(t));
                    model.entry(i).and_modify(|old| *old = t.min(*old)).or_insert(t);
                }
                Operation::Set(i, t) => {
                    queue.set(end(i), t.map(at));
                    match t {
                        Some(t) => model.insert(i, t),
                        None => model.remove(&i),
                    };
                }
                Operation::Pop(until) => {
                    let first = model.iter().map(|(&i, &t)| (t, i)).min();
                    let first = first.filter(|&(t, _)| t < until);
                    let popped = queue.pop(at(until));
                    prop_assert_eq!(popped.map(|(t, target)| (t.as_nanos(), target.index())), first);
                    if let Some((_, index)) = first {
                        model.remove(&index);
                    }
                }
            }
        }
        let mut left: Vec<_> = model.into_iter().map(|(i, t)| (t, end(i))).collect();
        left.sort();
        prop_assert_eq!(drain(queue), left);
    }
}
