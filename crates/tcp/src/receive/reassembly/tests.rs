use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Any segment, as the receiver sorts it.
fn arrive(r: &mut Reassembly, start: u64, end: u64) -> Overlap {
    if end <= r.next() {
        return Overlap::default();
    }
    if start > r.next() {
        return r.out_of_order(Range { start, end });
    }
    let start = r.next();
    r.advance(end);
    r.join(Range { start, end })
}

/// The same with a set of bytes: those that have arrived.
#[derive(Default)]
struct Naive(BTreeSet<u64>);

impl Naive {
    fn next(&self) -> u64 {
        (1..).find(|byte| !self.0.contains(byte)).expect("endless")
    }

    /// Bytes of the segment beyond `next` that were there already.
    fn arrive(&mut self, start: u64, end: u64) -> u64 {
        let next = self.next();
        let news = start.max(next)..end;
        news.filter(|&byte| !self.0.insert(byte)).count() as u64
    }

    fn beyond(&self) -> Vec<Range> {
        let mut ranges: Vec<Range> = Vec::new();
        for &byte in self.0.range(self.next()..) {
            match ranges.last_mut().filter(|last| last.end == byte) {
                Some(last) => last.end += 1,
                None => ranges.push(Range {
                    start: byte,
                    end: byte + 1,
                }),
            }
        }
        ranges
    }
}

proptest! {
    #[test]
    fn agrees_with_a_set_of_bytes(
        segments in prop::collection::vec((1_u64..200, 1_u64..24), 1..80),
    ) {
        let (mut r, mut naive) = (Reassembly::new(), Naive::default());
        for (start, len) in segments {
            let overlap = arrive(&mut r, start, start + len);
            prop_assert_eq!(overlap.bytes, naive.arrive(start, start + len));
            prop_assert_eq!(overlap.first.is_some(), overlap.bytes > 0);
            prop_assert_eq!(r.next(), naive.next());
            prop_assert_eq!(r.beyond().collect::<Vec<_>>(), naive.beyond());
            prop_assert_eq!(r.held(), r.beyond().map(Range::len).sum::<u64>());
            let end = r.beyond().last().map_or(r.next(), |last| last.end);
            prop_assert_eq!(r.span(), end - r.next());
        }
    }
}

#[test]
fn reports_the_first_part_that_was_there() {
    let mut r = Reassembly::new();
    arrive(&mut r, 10, 20);
    arrive(&mut r, 30, 40);
    let overlap = arrive(&mut r, 15, 35);
    assert_eq!(overlap.first, Range::new(15, 20));
    assert_eq!(overlap.bytes, 10);
    // All that was beyond is one range now, and a part of it comes again in order.
    let overlap = arrive(&mut r, 1, 12);
    assert_eq!(overlap.first, Range::new(10, 12));
    assert_eq!((r.next(), r.is_in_order()), (40, true));
}

#[test]
fn a_fin_ends_the_stream_when_all_before_it_is_there() {
    let mut r = Reassembly::new();
    r.fin(20);
    arrive(&mut r, 10, 21);
    assert!(!r.finished());
    arrive(&mut r, 1, 10);
    assert!(r.finished());
    assert_eq!(r.next(), 21);
}

#[test]
fn nothing_counts_beyond_a_fin() {
    let mut r = Reassembly::new();
    arrive(&mut r, 10, 50);
    r.fin(20);
    arrive(&mut r, 1, 15);
    assert_eq!((r.next(), r.held(), r.finished()), (21, 0, true));
    r.fin(90);
    assert!(r.finished(), "the first FIN counts");
}

#[test]
fn hundreds_of_holes_close_one_by_one() {
    let mut r = Reassembly::new();
    for hole in 1..500 {
        arrive(&mut r, 20 * hole, 20 * hole + 10);
    }
    assert_eq!(r.held(), 4990);
    for hole in (1..500).rev() {
        arrive(&mut r, 20 * hole - 10, 20 * hole);
    }
    assert_eq!(
        r.beyond().collect::<Vec<_>>(),
        [Range {
            start: 10,
            end: 9990
        }]
    );
    arrive(&mut r, 1, 10);
    assert_eq!((r.next(), r.held()), (9990, 0));
}
