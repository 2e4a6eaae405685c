use super::*;
use crate::Capacity;
use crate::rate::Burst;

const CELLS: [CellKind; 3] = [CellKind::Lte, CellKind::Hspa, CellKind::Evdo];
const SECONDS: u64 = 20_000;

/// Bytes of each second of a cell.
fn seconds(model: CellModel) -> Vec<u64> {
    let mut capacity = Capacity::new(&Rate::from(model));
    let at = |s: u64| Instant::from_millis(s * 1000);
    (0..SECONDS)
        .map(|s| capacity.bytes(at(s), at(s + 1)))
        .collect()
}

/// Opportunities until a minute has passed.
fn minute(model: &CellModel) -> Vec<Burst> {
    let mut cursor = model.cursor();
    std::iter::from_fn(|| {
        let burst = cursor.peek();
        cursor.advance();
        (burst.at < Instant::from_millis(60_000)).then_some(burst)
    })
    .collect()
}

fn assert_within(what: &str, value: f64, (low, high): (f64, f64)) {
    assert!(
        (low..=high).contains(&value),
        "{what}: {value}, expected {low} to {high}"
    );
}

/// Mean, p5 and p95 in Mbit/s over one-second windows, as the documentation promises.
#[test]
fn each_technology_has_its_statistics() {
    let expected = [
        (CellKind::Lte, (11.4, 12.6), (2.7, 3.7), (23.0, 28.0)),
        (CellKind::Hspa, (2.85, 3.15), (0.1, 0.35), (6.8, 8.0)),
        (CellKind::Evdo, (0.57, 0.63), (0.02, 0.08), (1.4, 1.8)),
    ];
    for (cell, mean, p5, p95) in expected {
        let mut mbps: Vec<f64> = seconds(CellModel::new(cell, None, 1))
            .iter()
            .map(|&bytes| bytes as f64 * 8e-6)
            .collect();
        mbps.sort_by(f64::total_cmp);
        let sum: f64 = mbps.iter().sum();
        assert_within(&format!("{cell:?} mean"), sum / SECONDS as f64, mean);
        assert_within(&format!("{cell:?} p5"), mbps[mbps.len() / 20], p5);
        assert_within(&format!("{cell:?} p95"), mbps[mbps.len() * 19 / 20], p95);
    }
}

/// Exact to the bit: the part of a byte that a burst cannot send is carried over to the next.
#[test]
fn a_mean_rate_scales_the_cell() {
    let own = minute(&CellModel::new(CellKind::Lte, None, 3));
    let tenfold = minute(&CellModel::new(CellKind::Lte, Some(120e6), 3));
    assert!(own.iter().map(|b| b.at).eq(tenfold.iter().map(|b| b.at)));
    let bytes = |bursts: &[Burst]| bursts.iter().map(|b| b.bytes).sum::<u64>();
    // Rates are whole bit/s: half a bit a second, ten times, is 38 bytes in a minute.
    assert!((10 * bytes(&own)).abs_diff(bytes(&tenfold)) < 48);
}

#[test]
fn bursts_leave_at_whole_intervals_and_outages_end() {
    let expected = [
        (CellKind::Lte, 4, 1204.0),
        (CellKind::Hspa, 10, 6010.0),
        (CellKind::Evdo, 10, 12_010.0),
    ];
    for (cell, tti_ms, longest_ms) in expected {
        let mut cursor = CellModel::new(cell, None, 2).cursor();
        let (mut last, mut gap) = (Instant::ZERO, Duration::ZERO);
        while last < Instant::from_millis(SECONDS * 1000) {
            let Burst { at, bytes } = cursor.peek();
            assert_eq!(at.as_nanos() % (tti_ms * 1_000_000), 0);
            assert!(bytes > 0 && at > last);
            gap = gap.max(at - last);
            last = at;
            cursor.advance();
        }
        let gap_ms = gap.as_secs_f64() * 1e3;
        let bounds = (longest_ms / 2.0, longest_ms);
        assert_within(&format!("{cell:?}'s longest gap"), gap_ms, bounds);
    }
}

#[test]
fn the_seed_decides() {
    for cell in CELLS {
        let of = |seed| minute(&CellModel::new(cell, None, seed));
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}

#[test]
fn skipping_is_walking() {
    let model = CellModel::new(CellKind::Evdo, None, 4);
    let (mut walker, mut skipper) = (model.cursor(), model.cursor());
    for ms in [0, 9, 10, 11, 500, 30_000] {
        skipper.skip_past(Instant::from_millis(ms));
        while walker.peek().at <= Instant::from_millis(ms) {
            walker.advance();
        }
        assert_eq!(skipper.peek(), walker.peek());
        assert_eq!(skipper.carried(), walker.carried());
        assert!(skipper.passed() <= Instant::from_millis(ms));
    }
}

#[test]
fn even_a_crawl_ends() {
    let crawl = CellModel::new(CellKind::Lte, Some(0.0), 1);
    assert!(crawl.cursor().peek().at > Instant::from_millis(8000));
}

/// A saved cell carries the same as the cell itself, within a packet, at every moment.
#[test]
fn a_trace_of_the_cell_carries_as_much() {
    for cell in CELLS {
        let model = CellModel::new(cell, None, 6);
        let trace = model.trace(Duration::from_secs(60));
        assert!(trace.period() <= Duration::from_secs(60));
        assert_eq!(Trace::parse(&trace.to_string()).as_ref(), Ok(&trace));
        let mut capacity = Capacity::new(&Rate::from(model));
        let mut carried = 0;
        for ms in (0..trace.period().as_millis() as u64).step_by(10) {
            carried += capacity.bytes(Instant::from_millis(ms), Instant::from_millis(ms + 10));
            let behind = carried - trace.bytes_before(Instant::from_millis(ms + 10));
            assert!(behind < OPPORTUNITY, "{behind} bytes after {ms} ms");
        }
    }
}

#[test]
fn a_trace_has_at_least_one_opportunity() {
    let trace = CellModel::new(CellKind::Evdo, None, 1).trace(Duration::ZERO);
    assert_eq!(trace.opportunities(), 1);
}
