use super::*;
use crate::{Capacity, RateSeries, ScheduledSeries, Trace};
use proptest::prelude::*;

const MS: u64 = 1_000_000;

/// A recording of each kind, of up to a second.
fn recording() -> impl Strategy<Value = Rate> {
    let trace = proptest::collection::vec(0..400u32, 1..60).prop_map(|mut ms| {
        ms.sort_unstable();
        ms.push(ms.last().unwrap() + 1);
        let lines: String = ms.iter().map(|ms| format!("{ms}\n")).collect();
        Rate::from(Trace::parse(&lines).unwrap())
    });
    let series = || {
        proptest::collection::vec(0..20u32, 1..10).prop_map(|mbps| {
            let lines = (0..).zip(&mbps);
            let lines: String = lines
                .map(|(n, mbps)| format!("{},{}\n", f64::from(n) / 10.0, mbps * 1_000_000 + 8_000))
                .collect();
            RateSeries::parse(&lines).unwrap()
        })
    };
    prop_oneof![
        trace,
        series().prop_map(Rate::from),
        series().prop_map(|series| ScheduledSeries::new(series, Duration::from_millis(4)).into()),
    ]
}

/// All its opportunities until `end`, in nanoseconds and bytes.
fn opportunities(rate: &Rate, end: u64) -> Option<Vec<(u64, u64)>> {
    let Service::Opportunities(mut cursor) = rate.service() else {
        return None;
    };
    let mut found = Vec::new();
    let mut burst = cursor.seek();
    while burst.at.as_nanos() <= end {
        if burst.bytes > 0 {
            found.push((burst.at.as_nanos(), burst.bytes));
        }
        burst = cursor.advance();
    }
    Some(found)
}

/// When packets of that length leave that are sent back to back.
fn departures(rate: &Rate, from: u64, bytes: usize) -> Option<Vec<u64>> {
    let Service::Fluid(mut fluid) = rate.service() else {
        return None;
    };
    let start = Instant::from_nanos(from);
    Some(
        (0..50)
            .map(|_| fluid.send(start.max(fluid.free_at()), bytes).as_nanos())
            .collect(),
    )
}

proptest! {
    /// It carries what the recording carries from that point on, at the same times, over several of its periods.
    #[test]
    fn it_is_what_the_recording_is_from_there_on(
        rate in recording(), by_ms in 0..1000u64, from_ms in 0..1500u64, for_ms in 0..1500u64, bytes in 40..1500usize,
    ) {
        let by = by_ms * MS;
        let late = rate.clone().ahead(Duration::from_nanos(by));
        let at = |ms: u64| Instant::from_nanos(ms * MS);
        let ours = Capacity::new(&late).bytes(at(from_ms), at(from_ms + for_ms));
        let its = Capacity::new(&rate).bytes(at(from_ms + by_ms), at(from_ms + for_ms + by_ms));
        prop_assert!(ours.abs_diff(its) <= 1, "{ours} and {its} bytes");
        let end = 3000 * MS;
        if let Some(ours) = opportunities(&late, end) {
            let its = opportunities(&rate, end + by).unwrap();
            let its = its.into_iter().filter(|(at, _)| *at >= by).map(|(at, bytes)| (at - by, bytes));
            prop_assert_eq!(ours, its.collect::<Vec<_>>());
        }
        if let Some(ours) = departures(&late, from_ms * MS, bytes) {
            let its = departures(&rate, from_ms * MS + by, bytes).unwrap();
            prop_assert_eq!(ours, its.into_iter().map(|at| at - by).collect::<Vec<_>>());
        }
    }
}
