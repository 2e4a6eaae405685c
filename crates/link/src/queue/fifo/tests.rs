use super::super::Queue;
use super::*;
use proptest::prelude::*;
use std::time::Duration;

const AT: Instant = Instant::ZERO;

fn queue(packets: Option<usize>, bytes: Option<usize>, policy: Policy) -> Fifo<Vec<u8>> {
    let config = QueueConfig {
        packets,
        bytes,
        policy,
        ..QueueConfig::default()
    };
    match Queue::new(config, &crate::Rate::constant(10e6), 1) {
        Queue::Fifo(fifo) => fifo,
        Queue::FqCodel(_) | Queue::DualPi2(_) => unreachable!("not first in, first out"),
    }
}

/// Pushes packets of these sizes; the first byte of each is its number.
fn push_all(queue: &mut Fifo<Vec<u8>>, sizes: &[usize]) {
    for (number, &size) in (0..).zip(sizes) {
        let mut packet = vec![0; size];
        packet[0] = number;
        queue.push(Queued {
            packet,
            arrival: AT,
        });
    }
}

fn numbers(queue: &mut Fifo<Vec<u8>>) -> Vec<u8> {
    std::iter::from_fn(|| queue.pop(AT).map(|q| q.packet[0])).collect()
}

#[test]
fn drop_tail_refuses_what_passes_the_packet_limit() {
    let mut queue = queue(Some(2), None, Policy::DropTail);
    push_all(&mut queue, &[100, 100, 100, 100]);
    assert_eq!(
        (queue.len(), queue.bytes(), queue.signals().dropped),
        (2, 200, 2)
    );
    assert_eq!(numbers(&mut queue), [0, 1]);
}

#[test]
fn drop_tail_takes_a_small_packet_where_a_large_one_does_not_fit() {
    let mut queue = queue(None, Some(1000), Policy::DropTail);
    push_all(&mut queue, &[600, 500, 400, 1]);
    assert_eq!((queue.bytes(), queue.signals().dropped), (1000, 2));
    assert_eq!(numbers(&mut queue), [0, 2]);
}

#[test]
fn drop_head_makes_room_for_the_newest() {
    let mut queue = queue(None, Some(1000), Policy::DropHead);
    push_all(&mut queue, &[300, 300, 300, 700]);
    assert_eq!((queue.bytes(), queue.signals().dropped), (1000, 2));
    assert_eq!(numbers(&mut queue), [2, 3]);
}

#[test]
fn drop_head_does_not_empty_the_queue_for_what_cannot_fit_anyway() {
    let mut queue = queue(Some(9), Some(1000), Policy::DropHead);
    push_all(&mut queue, &[300, 300, 1001]);
    assert_eq!(queue.signals().dropped, 1);
    assert_eq!(numbers(&mut queue), [0, 1]);
}

#[test]
fn codel_is_drop_tail_at_the_limit() {
    let target = Duration::from_millis(5);
    let interval = Duration::from_millis(100);
    let mut queue = queue(Some(1), None, Policy::Codel { target, interval });
    push_all(&mut queue, &[100, 100]);
    assert_eq!(queue.signals().dropped, 1);
    assert_eq!(numbers(&mut queue), [0]);
}

proptest! {
    /// Against a plain list: the limits hold after every push, and no packet vanishes.
    #[test]
    fn limits_hold(
        sizes in prop::collection::vec(1usize..3000, 1..60),
        packets in prop::option::of(1usize..20),
        bytes in prop::option::of(1usize..20_000),
        drop_head: bool,
    ) {
        let policy = if drop_head { Policy::DropHead } else { Policy::DropTail };
        let mut queue = queue(packets, bytes, policy);
        for pushed in 1..=sizes.len() {
            let packet = vec![0; sizes[pushed - 1]];
            queue.push(Queued { packet, arrival: AT });
            prop_assert!(queue.len() <= packets.unwrap_or(usize::MAX));
            prop_assert!(queue.bytes() <= bytes.unwrap_or(usize::MAX));
            prop_assert_eq!(queue.len() + queue.signals().dropped as usize, pushed);
        }
        let held: usize = std::iter::from_fn(|| queue.pop(AT)).map(|q| q.packet.len()).sum();
        prop_assert!(held <= bytes.unwrap_or(usize::MAX));
        prop_assert_eq!(queue.bytes(), 0);
    }
}
