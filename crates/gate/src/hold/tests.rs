use super::*;
use proptest::prelude::*;
use std::net::SocketAddr;

fn flow(port: u16) -> Flow {
    Flow {
        interface: 1,
        local: SocketAddr::from(([192, 0, 2, 1], port)),
        remote: SocketAddr::from(([198, 51, 100, 1], 443)),
    }
}

fn leaving(port: u16, at_us: u64) -> Leaving {
    Leaving {
        flow: flow(port),
        bytes: 100,
        at_us,
    }
}

/// Marks are the times at which packets may leave.
fn all(hold: &mut Hold, now_us: u64) -> Vec<u32> {
    hold.look(&mut |_: &Leaving, _: &[u8]| 0, now_us);
    std::iter::from_fn(|| hold.pop())
        .map(|(id, _)| id)
        .collect()
}

#[test]
fn a_packet_leaves_in_its_time_and_not_before_its_predecessor() {
    let mut hold = Hold::new(Limits::default());
    hold.push(leaving(1, 0), 10, 500);
    hold.push(leaving(1, 10), 11, 20); // due before what came before it
    hold.push(leaving(2, 20), 12, 300);
    assert!(all(&mut hold, 299).is_empty());
    assert_eq!(hold.next_us(), Some(300));
    assert_eq!(all(&mut hold, 300), [12]);
    assert!(all(&mut hold, 499).is_empty());
    assert_eq!(all(&mut hold, 500), [10, 11]);
    assert!(hold.flows.is_empty() && hold.bytes == 0 && hold.next_us().is_none());
}

#[test]
fn each_flow_s_packets_are_counted_apart_and_at_once_is_no_wait() {
    let mut hold = Hold::new(Limits::default());
    hold.push(leaving(1, 0), 10, 40_000);
    hold.push(leaving(1, 10), 11, 40_000);
    hold.push(leaving(2, 20), 12, 500);
    let counts = |hold: &Hold, port| {
        let of = hold.each().find(|(f, _)| *f == flow(port));
        of.map(|(_, counts)| (counts.waited, counts.waiting))
    };
    assert_eq!(all(&mut hold, 500), [12]);
    assert_eq!(counts(&hold, 1), Some((0, 2)));
    assert_eq!(counts(&hold, 2), Some((0, 0)));
    assert_eq!(all(&mut hold, 40_000), [10, 11]);
    assert_eq!(counts(&hold, 1), Some((2, 0)));
    assert_eq!((hold.counts().waited, hold.counts().waiting), (2, 0));
    hold.forget(&flow(1));
    assert_eq!(counts(&hold, 1), None);
}

#[test]
fn nothing_waits_longer_than_the_limit() {
    let mut hold = Hold::new(Limits::default());
    hold.push(leaving(1, 7), 1, u64::MAX);
    assert!(all(&mut hold, 2_000_006).is_empty());
    assert_eq!(hold.next_us(), Some(2_000_007));
    hold.push(leaving(2, u64::MAX - 5), 2, u64::MAX);
    assert_eq!(all(&mut hold, u64::MAX), [1, 2]);
}

#[test]
fn what_is_too_much_goes_in_order() {
    let limits = Limits {
        packets: 3,
        ..Limits::default()
    };
    let mut hold = Hold::new(limits);
    for id in 0..5 {
        hold.push(leaving(1, 0), id, 1000);
    }
    assert_eq!(all(&mut hold, 0), [0, 1]);
    let counts = hold.counts();
    assert_eq!((counts.came, counts.pushed, counts.waiting), (5, 2, 3));
    assert_eq!(all(&mut hold, 1000), [2, 3, 4]);

    let mut hold = Hold::new(Limits {
        bytes: 250,
        ..Limits::default()
    });
    for id in 0..3 {
        hold.push(leaving(1, 0), id, 1000);
    }
    assert_eq!(all(&mut hold, 0), [0]);
}

#[test]
fn one_flow_is_let_go_and_others_wait() {
    let mut hold = Hold::new(Limits::default());
    for (id, port) in [(0, 1), (1, 2), (2, 1)] {
        hold.push(leaving(port, 0), id, 1000 + u64::from(id));
    }
    hold.let_go(Some(&flow(1)));
    assert_eq!(all(&mut hold, 0), [0, 2]);
    hold.push(leaving(1, 5), 3, 0);
    assert_eq!(all(&mut hold, 5), [3]);
    hold.let_go(None);
    assert_eq!(all(&mut hold, 5), [1]);
}

proptest! {
    /// Whatever the law says and whatever is let go, each flow's packets leave in order, once each, and none later than
    /// the limit, as long as the law is asked in time.
    #[test]
    fn order_and_bounds_hold(
        steps in prop::collection::vec((0_u16..4, 0_u64..3000, any::<u64>(), 0_u8..20), 1..400),
        packets in 1_usize..40,
    ) {
        let limits = Limits { packets, bytes: 3000, wait_us: 5000 };
        let mut hold = Hold::new(limits);
        let mut now_us = 0;
        let mut came = Vec::new();
        let mut left = Vec::new();
        for (id, (port, pause_us, due_us, event)) in (0..).zip(steps) {
            now_us += pause_us;
            // Time has passed: packets that are due leave first.
            left.extend(all(&mut hold, now_us));
            let due_us = if event < 10 { now_us + due_us % 10_000 } else { due_us };
            hold.push(leaving(port, now_us), id, due_us);
            came.push(port);
            if event == 19 {
                hold.let_go(Some(&flow(port)));
            }
            left.extend(all(&mut hold, now_us));
            prop_assert!(hold.counts().waiting <= packets as u64 && hold.bytes <= 3000);
            prop_assert!(hold.next_us().is_none_or(|next| next <= now_us + POLL_INTERVAL_US));
        }
        hold.let_go(None);
        left.extend(all(&mut hold, now_us));
        prop_assert_eq!(left.len(), came.len());
        for port in 0..4 {
            let of_port: Vec<_> = left.iter().filter(|id| came[**id as usize] == port).collect();
            prop_assert!(of_port.is_sorted_by(|a, b| a < b));
        }
    }
}
