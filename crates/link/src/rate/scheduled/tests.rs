use super::super::{Burst, Capacity, Opportunities, Rate};
use super::*;
use proptest::prelude::*;

fn series(text: &str) -> RateSeries {
    RateSeries::parse(text).expect("a valid series")
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The bursts until `end`.
fn bursts(scheduled: ScheduledSeries, end: Instant) -> Vec<Burst> {
    let mut cursor = ScheduledSeries::cursor(&Arc::new(scheduled));
    let mut bursts = Vec::new();
    while cursor.peek().at <= end {
        bursts.push(cursor.peek());
        cursor.advance();
    }
    bursts
}

/// By hand: from 0 to 8 Mbit/s within a second, 1 Mbit/s more each 125 ms, and back.
#[test]
fn a_ramp_is_handed_out_interval_by_interval() {
    let up_and_down = series("0,0\n1,8e6\n");
    let scheduled = ScheduledSeries::new(up_and_down, ms(100)).interpolated();
    assert_eq!(scheduled.period(), ms(2000));
    assert_eq!(scheduled.mean_bps(), 4e6);
    let bursts = bursts(scheduled, Instant::from_millis(2200));
    let at: Vec<u64> = bursts.iter().map(|b| b.at.as_nanos() / 1_000_000).collect();
    let bytes: Vec<u64> = bursts.iter().map(|b| b.bytes).collect();
    assert!(at.iter().copied().eq((1..=22).map(|n| n * 100)));
    // Mean rates of 0.4, 1.2, 2.0 … Mbit/s.
    let up = (0..10).map(|n| 5_000 * (2 * n + 1));
    let down = up.clone().rev();
    assert!(
        bytes
            .iter()
            .copied()
            .eq(up.clone().chain(down).chain(up.take(2))),
        "{bytes:?}"
    );
}

/// Bursts of 4 ms at 6 Mbit/s are two packets each; what is silent gives no burst.
#[test]
fn steps_are_handed_out_as_they_are() {
    let steps = series("0,6e6\n0.008,0\n0.016,3e6\n");
    let bursts = bursts(ScheduledSeries::new(steps, ms(4)), Instant::from_millis(28));
    let expected = [(4, 3000), (8, 3000), (20, 1500), (24, 1500), (28, 3000)];
    assert!(
        bursts
            .iter()
            .map(|b| (b.at, b.bytes))
            .eq(expected.map(|(ms, bytes)| (Instant::from_millis(ms), bytes))),
        "{bursts:?}"
    );
}

/// The area below the rows' polygon until `t`, in bits: an integral of its own, in floating point.
fn area(rows: &[(f64, f64)], period: f64, t: f64) -> f64 {
    let at = |i: usize| match rows.get(i) {
        Some(&row) => row,
        None => (period, rows[0].1),
    };
    let until = |t: f64| -> f64 {
        (0..rows.len())
            .map(|i| (at(i), at(i + 1)))
            .map(|((x0, y0), (x1, y1))| {
                let x = t.clamp(x0, x1);
                let y = y0 + (y1 - y0) * (x - x0) / (x1 - x0);
                (y0 + y) / 2.0 * (x - x0)
            })
            .sum()
    };
    let loops = (t / period).floor();
    loops * until(period) + until(t - loops * period)
}

proptest! {
    /// No byte is added or lost: the bursts until any instant are the whole bytes of the integral
    /// until the last interval's end, and the meter of capacity says the same.
    #[test]
    fn bursts_are_the_integral(
        rows in prop::collection::vec((1u32..3000, 0u32..50_000_000), 1..8),
        tti_us in 100u64..20_000,
        intervals in 1u64..2000,
    ) {
        let mut points = vec![(0.0, 1e6)];
        let mut now = 0;
        for (gap, rate) in rows {
            now += gap;
            points.push((f64::from(now) / 1e3, f64::from(rate)));
        }
        let text: String = points.iter().map(|(s, bps)| format!("{s},{bps}\n")).collect();
        let scheduled =
            ScheduledSeries::new(series(&text), Duration::from_micros(tti_us)).interpolated();
        let end = Instant::from_nanos(intervals * tti_us * 1000);
        let sent: u64 = bursts(scheduled.clone(), end).iter().map(|b| b.bytes).sum();
        let integral = area(&points, scheduled.period().as_secs_f64(), end.as_secs_f64());
        prop_assert!((sent as f64 - (integral / 8.0).floor()).abs() <= 1.0, "{sent} {integral}");
        let mut capacity = Capacity::new(&Rate::from(scheduled));
        let tick = Duration::from_nanos(1);
        prop_assert_eq!(capacity.bytes(Instant::ZERO, end + tick), sent);
    }

    /// The integral never falls and ends where it should, whatever the slope.
    #[test]
    fn the_integral_never_falls(
        from in 0u64..100_000_000_000,
        to in 0u64..100_000_000_000,
        length in 1u64..1_000_000_000_000_000_000,
        at in 0.0..1.0f64,
    ) {
        let length_s = length as f64 / 1e9;
        prop_assume!(length_s >= 1e-6);
        let ramp = series(&format!("0,{from}\n{length_s},{}\n", to.max(1))).interpolated();
        let length = ramp.period().as_nanos() as u64 / 2;
        let carried = |t| ramp.nanobits_before(Instant::from_nanos(t));
        prop_assert_eq!(carried(length), u128::from(from + to.max(1)) * u128::from(length) / 2);
        let t = (length as f64 * at) as u64;
        prop_assert!(carried(t) <= carried(t + 1));
        prop_assert!(carried(2 * length - t - 1) <= carried(2 * length - t));
    }
}
