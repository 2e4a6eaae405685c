//! A written file carries what was recorded, within one packet, in either form and as the link reads it.

use crate::support::written;
use proptest::prelude::*;
use tidegate_link::{RateSeries, Trace};
use tidegate_recordings::{Form, Packet, Recorded, Step};

/// Bytes of a packet.
const PACKET: f64 = 1500.0;

fn bytes_of_series(text: &str) -> f64 {
    let series = RateSeries::parse(text).unwrap();
    series.mean_bps() * series.period().as_secs_f64() / 8.0
}

fn bytes_of_trace(text: &str) -> f64 {
    Trace::parse(text).unwrap().opportunities() as f64 * PACKET
}

/// Checks both forms, and their periods.
fn holds(recorded: &Recorded) {
    let bytes = recorded.nanobits() as f64 / 8e9;
    let (series, said) = written(recorded, Form::Series);
    let of_series = bytes_of_series(&series);
    assert!(
        (of_series - bytes).abs() <= PACKET,
        "{of_series} of {bytes}"
    );
    assert!(
        (said.bytes as f64 - bytes).abs() <= PACKET,
        "said {}",
        said.bytes
    );
    let (trace, said) = written(recorded, Form::Mahimahi);
    let of_trace = bytes_of_trace(&trace);
    assert!(
        of_trace <= bytes && bytes < of_trace + PACKET + 1.0,
        "{of_trace} of {bytes}"
    );
    let length = recorded.length_ns().div_ceil(1_000_000);
    assert_eq!(u128::from(length), said.period.as_millis());
    assert_eq!(Trace::parse(&trace).unwrap().period(), said.period);
}

fn step() -> impl Strategy<Value = Step> {
    let bps = prop_oneof![
        1 => Just(0.0),
        4 => 0.0..5e7_f64,
        1 => (0..200_000_u32).prop_map(|kbps| f64::from(kbps) * 1e3),
    ];
    let length = prop_oneof![
        Just(1_000_000_000_u64),
        Just(500_000_000),
        1..3_000_000_000_u64
    ];
    (length, bps).prop_map(|(length_ns, bps)| Step { length_ns, bps })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn of_rates(steps in prop::collection::vec(step(), 1..30)) {
        let recorded = Recorded::Rates(steps);
        prop_assume!(recorded.nanobits() > 8_000_000_000 * 1500);
        prop_assume!(recorded.length_ns() > 1_000_000);
        holds(&recorded);
    }

    #[test]
    fn of_packets(gaps in prop::collection::vec((0..50_000_000_u64, 40..9000_u64), 2..300)) {
        let mut at_ns = 0;
        let packets: Vec<_> = gaps
            .into_iter()
            .map(|(gap, bytes)| {
                at_ns += gap;
                Packet { at_ns, bytes }
            })
            .collect();
        let recorded = Recorded::Packets(packets);
        prop_assume!(recorded.nanobits() > 8_000_000_000 * 1500);
        prop_assume!(recorded.length_ns() > 1_000_000);
        holds_but_for_bins(&recorded);
    }
}

/// Bins make a series longer than its packets by less than one bin; otherwise as above.
fn holds_but_for_bins(recorded: &Recorded) {
    holds(recorded);
    let (_, said) = written(recorded, Form::Series);
    let longer = said.period.as_nanos() as i128 - i128::from(recorded.length_ns());
    assert!((0..100_000_000).contains(&longer), "{longer} ns");
}
