use super::*;
use crate::Ecn;
use crate::queue::tests::Marked;

fn queue(packets: Option<usize>, policy: DualPi2Policy) -> DualPi2<Marked> {
    let config = QueueConfig {
        packets,
        ..QueueConfig::default()
    };
    DualPi2::new(config, policy, 1)
}

fn push(queue: &mut DualPi2<Marked>, ms: u64, ecn: Ecn) {
    queue.push(Queued {
        packet: Marked(ecn),
        arrival: Instant::from_millis(ms),
    });
}

fn pop(queue: &mut DualPi2<Marked>, ms: u64) -> Option<Ecn> {
    let queued = queue.pop(Instant::from_millis(ms))?;
    Some(queued.packet.0)
}

/// A queue whose controller holds p at that share of 1.
fn at_probability(share: f64, policy: DualPi2Policy) -> DualPi2<Marked> {
    let mut queue = queue(None, policy);
    queue
        .controller
        .set_probability((share * PROBABILITY_ONE as f64) as u32);
    queue
}

/// Shares marked and dropped of 20 000 such packets in a long queue.
fn shares(queue: &mut DualPi2<Marked>, ecn: Ecn) -> [f64; 2] {
    const ALL: usize = 20_000;
    for _ in 0..ALL + 2 {
        push(queue, 0, ecn);
    }
    let mut left = 0;
    while queue.bytes() > 2 * MTU {
        left += u64::from(pop(queue, 0).is_some());
    }
    let signals = queue.signals();
    assert!(left + signals.dropped >= ALL as u64 - 2);
    [signals.marked, signals.dropped].map(|count| count as f64 / ALL as f64)
}

fn near(share: f64, expected: f64) {
    assert!((share - expected).abs() < 0.01, "{share}, not {expected}");
}

/// RFC 9332 §2.1: p² in C, k p in L.
#[test]
fn the_classic_signal_is_the_square_of_the_l4s_signals_half() {
    let policy = DualPi2Policy::default();
    for p in [0.1, 0.3] {
        let [marked, dropped] = shares(&mut at_probability(p, policy), Ecn::NotEct);
        near(dropped, p * p);
        near(marked, 0.0);
        let [marked, dropped] = shares(&mut at_probability(p, policy), Ecn::Ect0);
        near(marked, p * p);
        near(dropped, 0.0);
        let [marked, dropped] = shares(&mut at_probability(p, policy), Ecn::Ect1);
        near(marked, 2.0 * p);
        near(dropped, 0.0);
    }
}

/// RFC 9332 §2.5.2.2: once k p exceeds 1, both queues drop with p², and L marks every packet that it does not drop.
#[test]
fn overload_drops_whatever_it_can() {
    let policy = DualPi2Policy::default();
    for ecn in [Ecn::NotEct, Ecn::Ect0] {
        let [marked, dropped] = shares(&mut at_probability(0.7, policy), ecn);
        near(dropped, 0.49);
        near(marked, 0.0);
    }
    let [marked, dropped] = shares(&mut at_probability(0.7, policy), Ecn::Ect1);
    near(dropped, 0.49);
    near(marked, 0.51);
}

#[test]
fn what_waited_in_the_l_queue_for_longer_than_the_step_is_marked() {
    let mut queue = queue(None, DualPi2Policy::default());
    for _ in 0..3 {
        push(&mut queue, 5, Ecn::Ect1);
    }
    assert_eq!(pop(&mut queue, 6), Some(Ecn::Ect1));
    assert_eq!(pop(&mut queue, 7), Some(Ecn::Ce));
    push(&mut queue, 7, Ecn::Ect0);
    assert_eq!(pop(&mut queue, 8), Some(Ecn::Ce));
    assert_eq!(pop(&mut queue, 9), Some(Ecn::Ect0), "the step is L's");
}

/// A packet that arrives with CE goes to the L queue: it may have been L4S before it was marked.
#[test]
fn ect_1_and_ce_pass_the_others() {
    let mut queue = queue(None, DualPi2Policy::default());
    for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ce, Ecn::Ect1] {
        push(&mut queue, 1, ecn);
    }
    let order: Vec<_> = std::iter::from_fn(|| pop(&mut queue, 1)).collect();
    assert_eq!(order, [Ecn::Ce, Ecn::Ect1, Ecn::NotEct, Ecn::Ect0]);
}

/// Ten percent for C where both have packets.
#[test]
fn the_classic_queue_has_its_share() {
    for percent in [10, 40] {
        let mut queue = queue(
            None,
            DualPi2Policy {
                classic_percent: percent,
                ..DualPi2Policy::default()
            },
        );
        for _ in 0..2000 {
            push(&mut queue, 0, Ecn::Ect1);
            push(&mut queue, 0, Ecn::NotEct);
        }
        let first = (0..1000).filter_map(|_| pop(&mut queue, 0));
        let classic = first.filter(|&ecn| ecn == Ecn::NotEct).count();
        assert!(classic.abs_diff(10 * percent as usize) <= 2, "{classic}");
    }
}

#[test]
fn both_queues_share_the_limit() {
    let mut queue = queue(Some(3), DualPi2Policy::default());
    for ecn in [Ecn::Ect1, Ecn::NotEct, Ecn::Ect1, Ecn::Ect1, Ecn::NotEct] {
        push(&mut queue, 0, ecn);
    }
    assert_eq!((queue.len(), queue.bytes()), (3, 4500));
    assert_eq!(queue.signals().dropped, 2);
}
