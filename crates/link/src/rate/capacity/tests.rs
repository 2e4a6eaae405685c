use super::*;
use crate::{CellKind, CellModel, RateSeries, Trace};
use std::time::Duration;

fn at(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn cell() -> Capacity {
    Capacity::new(&Rate::from(CellModel::new(CellKind::Lte, None, 5)))
}

#[test]
fn a_constant_rate_is_rate_times_time() {
    let mut capacity = Capacity::new(&Rate::constant(8e6));
    assert_eq!(capacity.bytes(at(500), at(1500)), 1_000_000);
    assert_eq!(capacity.bytes(at(7), at(7)), 0);
    assert_eq!(capacity.bytes(at(9), at(7)), 0);
}

#[test]
fn intervals_are_half_open() {
    let trace = Trace::parse("10\n20\n20\n").expect("valid");
    let mut capacity = Capacity::new(&Rate::from(trace));
    assert_eq!(capacity.bytes(at(10), at(20)), 1500);
    assert_eq!(capacity.bytes(at(20), at(21)), 3000);
    assert_eq!(capacity.bytes(at(0), at(1000)), 50 * 4500 - 3000);
}

#[test]
fn adjacent_intervals_add_up() {
    let series = RateSeries::parse("0,1234567\n0.0333,7654321\n").expect("valid");
    let rates = [
        Rate::constant(1_234_567.0),
        Rate::from(series),
        Rate::from(CellModel::new(CellKind::Hspa, None, 5)),
    ];
    for rate in rates {
        let mut capacity = Capacity::new(&rate);
        let mut sum = 0;
        let mut from = Instant::ZERO;
        for _ in 0..1000 {
            let to = from + Duration::from_nanos(7_777_777);
            sum += capacity.bytes(from, to);
            from = to;
        }
        assert_eq!(sum, Capacity::new(&rate).bytes(Instant::ZERO, from));
    }
}

/// Whatever was asked before, the answer is the same.
#[test]
fn a_cell_can_be_asked_in_any_order() {
    let (whole, early) = (
        cell().bytes(at(0), at(60_000)),
        cell().bytes(at(100), at(9000)),
    );
    let mut capacity = cell();
    assert_eq!(capacity.bytes(at(0), at(60_000)), whole);
    assert_eq!(capacity.bytes(at(100), at(9000)), early);
    assert_eq!(capacity.bytes(at(9000), at(9000)), 0);
    assert_eq!(
        capacity.bytes(at(0), at(100)) + early + capacity.bytes(at(9000), at(60_000)),
        whole
    );
}

/// An opportunity at the very start of an interval belongs to it, even if it was counted already.
#[test]
fn a_cell_is_walked_again_for_an_opportunity_just_passed() {
    let mut capacity = cell();
    let until = capacity.bytes(at(0), at(101));
    let burst = capacity.bytes(at(100), at(101));
    assert!(burst > 0, "the cell has an opportunity each 4 ms");
    assert_eq!(cell().bytes(at(0), at(100)) + burst, until);
}
