use super::*;

/// Whether an ACK says ECE now.
fn ece(marks: &Marks) -> bool {
    marks.tell(None).has(Flags::ECE)
}

/// RFC 3168 §6.1.3.
#[test]
fn classic_says_ece_from_a_mark_until_cwr() {
    let mut marks = Marks::new(Feedback::Classic);
    assert_eq!(marks.data(Ecn::Ect0, 1001, false), Haste::None);
    assert!(!ece(&marks));
    assert_eq!(marks.data(Ecn::Ce, 2001, false), Haste::Quick);
    assert_eq!(marks.data(Ecn::Ce, 3001, false), Haste::None);
    assert_eq!(marks.data(Ecn::Ect0, 4001, false), Haste::None);
    assert!(ece(&marks));
    assert!(marks.reduced());
    assert!(!ece(&marks));
    assert_eq!(marks.data(Ecn::Ce, 5001, false), Haste::Quick);
    assert!(ece(&marks));
}

#[test]
fn what_is_sent_again_is_acknowledged_without_delay() {
    let mut marks = Marks::new(Feedback::Classic);
    assert_eq!(marks.data(Ecn::NotEct, 1001, false), Haste::None);
    marks.data(Ecn::Ect0, 2001, false);
    assert_eq!(marks.data(Ecn::NotEct, 3001, false), Haste::Quick);
}

/// RFC 8257 §3.2, Figure 1.
#[test]
fn dctcp_tells_each_change_after_what_came_before() {
    let mut marks = Marks::new(Feedback::Dctcp);
    assert_eq!(marks.data(Ecn::Ect0, 1001, false), Haste::None);
    // The data that have come still wait for their ACK: it goes first, without ECE.
    assert_eq!(marks.data(Ecn::Ce, 2001, true), Haste::Now);
    let early = marks.take_early();
    assert_eq!(early.map(|early| early.ack), Some(1001));
    assert!(!marks.tell(early).has(Flags::ECE));
    assert!(ece(&marks));
    assert_eq!(marks.take_early(), None);
    assert_eq!(marks.data(Ecn::Ce, 3001, true), Haste::None);
    // No ACK is owed: one is enough.
    assert_eq!(marks.data(Ecn::Ect0, 4001, false), Haste::Now);
    assert_eq!(marks.take_early(), None);
    assert!(!ece(&marks));
    // And CWR is no news of marks.
    marks.data(Ecn::Ce, 5001, true);
    marks.reduced();
    assert!(ece(&marks));
    let early = marks.take_early();
    assert!(!marks.tell(early).has(Flags::ECE));
}

/// RFC 9768 §3.2: from 5, all that is marked, modulo 8.
#[test]
fn accurate_counts_what_is_marked() {
    let mut marks = Marks::new(Feedback::Accurate);
    marks.shook_hands(Ecn::Ect1);
    assert_eq!(marks.tell(None).ace(), 5);
    assert!(!marks.segment(Ecn::Ect1));
    assert!(marks.segment(Ecn::Ce), "a change");
    assert!(!marks.segment(Ecn::Ce));
    assert!(marks.segment(Ecn::Ect1), "and back");
    assert_eq!(marks.tell(None).ace(), 7);
    marks.segment(Ecn::Ce);
    assert_eq!(marks.tell(None).ace(), 0);
    assert_eq!(marks.data(Ecn::Ce, 1001, true), Haste::None);

    let mut marked = Marks::new(Feedback::Accurate);
    marked.shook_hands(Ecn::Ce);
    assert_eq!(marked.tell(None).ace(), 6);
}

#[test]
fn without_ecn_nothing_is_told() {
    let mut marks = Marks::new(Feedback::Off);
    assert!(!marks.segment(Ecn::Ce));
    assert_eq!(marks.data(Ecn::Ce, 1001, true), Haste::None);
    assert!(!marks.reduced());
    assert_eq!(marks.tell(None), Flags::default());
}
