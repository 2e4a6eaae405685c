use super::*;

fn accurate() -> Marks {
    Marks {
        mode: EcnMode::Accurate,
        ..Marks::default()
    }
}

/// The report of a peer that has counted `count`.
fn ace(count: u64) -> Echo {
    Echo::Count((u64::from(CEP_INIT) + count) as u8 & 7)
}

#[test]
fn the_counter_cycles() {
    let mut marks = accurate();
    let mut count = 0;
    for marked in [0, 1, 2, 2, 0, 2, 1, 2, 2, 2] {
        count += u64::from(marked);
        assert_eq!(marks.heed(ace(count), 2, true), marked);
    }
    assert_eq!(marks.delivered, count);
}

/// An ACK of twenty: none of them if none was marked before, and twenty of twenty if all were.
#[test]
fn what_three_bits_leave_open_is_what_is_likely() {
    let mut calm = accurate();
    assert_eq!(calm.heed(ace(0), 20, true), 0);
    assert_eq!(calm.heed(ace(3), 20, true), 3);

    let mut congested = accurate();
    let mut count = 0;
    for _ in 0..40 {
        count += 2;
        assert_eq!(congested.heed(ace(count), 2, true), 2);
    }
    count += 20;
    assert_eq!(congested.heed(ace(count), 20, true), 20);
    assert_eq!(congested.delivered, count);
}

#[test]
fn no_more_is_marked_than_was_delivered() {
    let mut marks = accurate();
    marks.share = 1 << SHARE_BITS;
    for delivered in 0..30 {
        let marked = marks.count(CEP_INIT, delivered);
        assert!(marked <= delivered, "{marked} of {delivered}");
    }
}

#[test]
fn a_late_ack_says_nothing() {
    let mut marks = accurate();
    assert_eq!(marks.heed(ace(5), 0, false), 0);
    assert_eq!(marks.heed(ace(5), 6, true), 5);
}

#[test]
fn classic_takes_all_for_marked_that_an_ack_with_ece_delivers() {
    let mut marks = Marks {
        mode: EcnMode::Classic,
        ..Marks::default()
    };
    assert_eq!(marks.heed(Echo::Nothing, 2, true), 0);
    assert_eq!(marks.heed(Echo::Congestion, 2, true), 2);
    assert_eq!(marks.delivered, 2);
}
