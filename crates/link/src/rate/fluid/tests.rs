use super::*;
use crate::RateSeries;
use crate::rate::constant::Constant;
use proptest::prelude::*;

fn constant(bits_per_second: f64) -> Fluid {
    Fluid::new(Arc::new(Constant::new(bits_per_second)))
}

/// When `nanobits` at that rate are done, rounded up to a nanosecond.
fn done(nanobits: u128, bits_per_second: u128) -> Instant {
    Instant::from_nanos(nanobits.div_ceil(bits_per_second) as u64)
}

/// 1500 bytes at 7 Mbit/s take 1 714 285.714… ns. A million in a row end exactly where one packet of
/// their length would, 28 minutes later.
#[test]
fn nothing_drifts() {
    let mut fluid = constant(7e6);
    for sent in 1..=1_000_000u128 {
        let end = fluid.send(fluid.free_at(), 1500);
        assert_eq!(end, done(sent * 12_000_000_000_000, 7_000_000));
    }
}

/// A packet takes a third of a nanosecond. The rest of that nanosecond goes to the next packet if it follows at once,
/// and is lost after a pause.
#[test]
fn idling_gains_nothing() {
    let at = Instant::from_nanos;
    let mut fluid = constant(240e9);
    assert_eq!(fluid.send(at(0), 10), at(1));
    assert_eq!(fluid.send(at(1), 10), at(1));
    assert_eq!(fluid.send(at(5), 10), at(6));
}

#[test]
fn a_rate_faster_than_a_packet_a_nanosecond_still_adds_up() {
    let mut fluid = constant(30e9 * 8.0);
    let ends: Vec<u64> = (0..5)
        .map(|_| fluid.send(fluid.free_at(), 10).as_nanos())
        .collect();
    // Thirds of a nanosecond: 1/3, 2/3, 1, 4/3, 5/3.
    assert_eq!(ends, [1, 1, 1, 2, 2]);
}

/// By hand: 1500 bytes are 12 000 bits. At 1 Mbit/s for 4 ms: 4000 bits; nothing for 6 ms;
/// then 8000 bits at 2 Mbit/s: 4 ms.
#[test]
fn a_packet_lives_through_steps_of_the_rate() {
    let series = RateSeries::parse("0,1e6\n0.004,0\n0.01,2e6\n0.1,1e6\n").expect("valid");
    let mut fluid = Fluid::new(Arc::new(series));
    assert_eq!(fluid.send(Instant::ZERO, 1500), Instant::from_millis(14));
    assert_eq!(
        fluid.send(Instant::from_millis(14), 1500),
        Instant::from_millis(20)
    );
}

/// A series of one rate in many rows is that constant rate, whatever the packets and pauses.
fn agrees_with_constant(bps: u32, packets: &[(u16, u32)]) -> Result<(), TestCaseError> {
    let rows: String = (0..7).map(|i| format!("0.00{i},{bps}\n")).collect();
    let series = RateSeries::parse(&rows).expect("valid");
    let mut pieces = Fluid::new(Arc::new(series));
    let mut whole = constant(bps.into());
    for &(bytes, pause) in packets {
        let start = whole.free_at() + Duration::from_nanos(pause.into());
        prop_assert_eq!(
            pieces.send(start, bytes.into()),
            whole.send(start, bytes.into())
        );
    }
    Ok(())
}

proptest! {
    #[test]
    fn pieces_of_one_rate_are_that_rate(
        bps in 1_000u32..1_000_000_000,
        packets in prop::collection::vec((0u16..9000, prop_oneof![Just(0), 0u32..20_000_000]), 1..30),
    ) {
        agrees_with_constant(bps, &packets)?;
    }

    /// Packets sent back to back end when the series has carried their bytes, to the nanosecond.
    #[test]
    fn the_end_is_where_the_integral_says(
        rates in prop::collection::vec(0u32..100_000_000, 1..6),
        packets in prop::collection::vec(1usize..9000, 1..40),
    ) {
        let rows: String = rates.iter().enumerate().map(|(i, r)| format!("0.00{i},{r}\n")).collect();
        let series = Arc::new(RateSeries::parse(&format!("{rows}0.009,1000000\n")).expect("valid"));
        let mut fluid = Fluid::new(series.clone());
        let mut sent = 0;
        for bytes in packets {
            let end = fluid.send(fluid.free_at(), bytes);
            sent += bytes as u128 * u128::from(NANOBITS_PER_BYTE);
            prop_assert!(series.nanobits_before(end) >= sent);
            prop_assert!(series.nanobits_before(end - Duration::from_nanos(1)) < sent);
        }
    }
}
