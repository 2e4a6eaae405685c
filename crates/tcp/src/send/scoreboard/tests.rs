use super::*;
use std::time::Duration;

/// Counts everything again.
pub(in crate::send) fn verify(board: &Scoreboard) {
    let count = |tag| {
        board
            .numbers()
            .filter(|&n| board.get(n).tags.has(tag))
            .count() as u32
    };
    assert_eq!(board.sacked, count(Tags::SACKED));
    assert_eq!(board.lost, count(Tags::LOST));
    assert_eq!(board.refused, count(Tags::REFUSED));
    assert_eq!(board.retrans, count(Tags::RETRANS));
    assert_eq!(board.order.end().0, count(Tags::LINKED));
    let holes: Vec<u32> = board
        .numbers()
        .filter(|&n| board.get(n).tags.is_hole())
        .collect();
    assert_eq!(board.holes as usize, holes.len());
    if let Some(&first) = holes.first() {
        assert!(!is_before(first, board.hole_hint), "a hole below the hint");
    }
    for number in board.numbers() {
        let tags = board.get(number).tags;
        assert!(
            !(tags.has(Tags::SACKED) && tags.has(Tags::LOST.with(Tags::LINKED))),
            "what has arrived is neither lost nor watched"
        );
        assert!(!tags.has(Tags::RETRANS) || tags.has(Tags::EVER_RETRANS));
        assert!(board.start(number) < board.end_of(number));
    }
    verify_order(board);
}

fn verify_order(board: &Scoreboard) {
    let (mut next, mut seen, mut time, mut last) = (board.oldest(), 0, Instant::ZERO, None);
    while let Some(number) = next {
        let sent = board.get(number);
        assert!(sent.tags.has(Tags::LINKED));
        assert!(sent.at >= time, "the order by time");
        assert_eq!(sent.links.earlier(), last.unwrap_or(number));
        time = sent.at;
        last = Some(number);
        seen += 1;
        next = board.later(number);
    }
    let (linked, newest) = board.order.end();
    assert_eq!(seen, linked);
    assert!(last.is_none_or(|last| last == newest));
}

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn board(segments: u32) -> Scoreboard {
    numbered(segments, 0)
}

/// The same, with numbers that begin at `first`.
fn numbered(segments: u32, first: u32) -> Scoreboard {
    let mut board = Scoreboard {
        queue: Queue::numbered(1, first),
        hole_hint: first,
        ..Scoreboard::new(1)
    };
    board.acknowledge(1);
    for n in 0..segments {
        board.push(1000, at(n.into()), Snapshot::default());
    }
    board
}

#[test]
fn an_entry_is_small() {
    assert!(size_of::<Sent>() <= 48, "{}", size_of::<Sent>());
}

#[test]
fn offsets_beyond_32_bits() {
    let start = (1 << 32) - 1500;
    let mut board = Scoreboard::new(start);
    for n in 0..4 {
        board.push(1000, at(n), Snapshot::default());
    }
    for (index, number) in board.numbers().enumerate() {
        assert_eq!(board.start(number), start + 1000 * index as u64);
        assert_eq!(board.end_of(number), start + 1000 * (index as u64 + 1));
        assert_eq!(board.containing(board.start(number)), number);
        assert_eq!(board.containing(board.end_of(number) - 1), number);
    }
}

#[test]
fn numbers_wrap() {
    let mut board = numbered(3, u32::MAX - 1);
    verify(&board);
    assert_eq!(board.after_last(), 1);
    board.mark_lost(0, false);
    assert_eq!(board.next_hole(), Some(0));
    for left in [2, 1, 0] {
        board.pop();
        verify(&board);
        assert_eq!(board.len(), left);
    }
    assert_eq!((board.first(), board.lost), (1, 0));
}

#[test]
fn a_retransmission_moves_to_the_end_of_the_order_by_time() {
    let mut board = board(4);
    board.mark_lost(1, false);
    assert_eq!(board.next_hole(), Some(1));
    board.resent(1, at(10), Snapshot::default());
    board.retag(1, board.get(1).tags.with(Tags::RETRANS));
    let order: Vec<u32> =
        std::iter::successors(board.oldest(), |&number| board.later(number)).collect();
    assert_eq!(order, [0, 2, 3, 1]);
    assert_eq!((board.lost(), board.retrans()), (1, 1));
    assert_eq!(board.next_hole(), None);
    verify(&board);
}

#[test]
fn holes_come_in_the_order_of_the_stream() {
    let mut board = board(6);
    for number in [4, 2, 5] {
        board.mark_lost(number, false);
    }
    assert_eq!(board.next_hole(), Some(2));
    board.retag(2, board.get(2).tags.with(Tags::RETRANS));
    assert_eq!(board.next_hole(), Some(4));
    // The retransmission is lost as well.
    assert!(board.mark_lost(2, false));
    assert!(!board.mark_lost(2, false));
    assert_eq!(board.next_hole(), Some(2));
}

#[test]
fn only_what_a_timeout_marked_is_watched_again_after_undoing() {
    let mut board = board(4);
    board.mark_lost(0, true);
    board.mark_lost(1, false);
    board.mark_lost(3, true);
    board.unmark_losses();
    verify(&board);
    let order: Vec<u32> =
        std::iter::successors(board.oldest(), |&number| board.later(number)).collect();
    assert_eq!(order, [0, 2, 3]);
    assert_eq!(board.lost(), 0);
}

#[test]
fn sacked_segments_leave_the_order_and_raise_the_highest() {
    let mut board = board(5);
    assert_eq!(board.highest_sacked(), 1);
    for (number, highest) in [(2, 3001), (4, 5001), (3, 5001)] {
        board.retag(number, Tags::SACKED);
        assert_eq!(board.highest_sacked(), highest);
        verify(&board);
    }
    assert_eq!(board.get(0).at + Duration::from_millis(1), board.get(1).at);
    assert_eq!(board.oldest(), Some(0));
    assert_eq!(board.later(0), Some(1));
    assert_eq!(board.later(1), None);
}
