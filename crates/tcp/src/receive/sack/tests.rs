use super::*;

fn range(start: u64, end: u64) -> Range {
    Range { start, end }
}

fn reported(sack: &mut Sack, room: usize) -> Vec<(u32, u32)> {
    let option = sack.report(Seq(0), room);
    option.as_slice().iter().map(|b| (b.0.0, b.1.0)).collect()
}

#[test]
fn the_block_of_the_latest_segment_comes_first() {
    let mut sack = Sack::default();
    assert!(!sack.out_of_order(range(20, 30)));
    assert!(!sack.out_of_order(range(40, 50)));
    assert!(
        sack.out_of_order(range(60, 70)),
        "one block more than expected"
    );
    assert_eq!(reported(&mut sack, 4), [(60, 70), (40, 50), (20, 30)]);
    assert!(sack.out_of_order(range(30, 35)));
    assert_eq!(reported(&mut sack, 4), [(20, 35), (60, 70), (40, 50)]);
    // It joins two.
    sack.out_of_order(range(50, 60));
    assert_eq!(reported(&mut sack, 4), [(40, 70), (20, 35)]);
    sack.out_of_order(range(35, 40));
    assert_eq!(reported(&mut sack, 4), [(20, 70)]);
}

#[test]
fn the_oldest_block_falls_out_of_the_list() {
    let mut sack = Sack::default();
    for i in 1..=5 {
        sack.out_of_order(range(20 * i, 20 * i + 5));
    }
    assert_eq!(
        reported(&mut sack, 4),
        [(100, 105), (80, 85), (60, 65), (40, 45)]
    );
    assert_eq!(reported(&mut sack, 3), [(100, 105), (80, 85), (60, 65)]);
}

#[test]
fn what_is_acknowledged_is_not_reported() {
    let mut sack = Sack::default();
    sack.out_of_order(range(20, 30));
    sack.out_of_order(range(40, 50));
    sack.advance(30);
    assert_eq!(reported(&mut sack, 4), [(40, 50)]);
    sack.advance(50);
    assert!(sack.is_empty());
    assert_eq!(reported(&mut sack, 4), []);
}

/// RFC 2883 §4.
#[test]
fn a_duplicate_comes_first_and_once() {
    let mut sack = Sack::default();
    for i in 1..=4 {
        sack.out_of_order(range(20 * i, 20 * i + 5));
    }
    sack.set_duplicate(Range::new(3, 7));
    assert_eq!(reported(&mut sack, 3), [(3, 7), (80, 85), (60, 65)]);
    assert_eq!(reported(&mut sack, 3), [(80, 85), (60, 65), (40, 45)]);
}
