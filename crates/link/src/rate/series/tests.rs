use super::*;
use proptest::prelude::*;

fn series(text: &str) -> RateSeries {
    RateSeries::parse(text).expect("a valid series")
}

fn complaint(text: &str) -> String {
    RateSeries::parse(text)
        .expect_err("an invalid series")
        .to_string()
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    for (bad, found) in [
        ("", "nothing"),
        ("1", "one column"),
        ("1;2", "a word of 3 characters"),
        ("x,1", "a word of 1 characters"),
        ("1,x", "a word of 1 characters"),
        ("1,-5", "a negative number"),
        ("-1,5", "a negative number"),
        ("1,2,3", "3 columns"),
        ("1,2,", "3 columns"),
        ("1,", "nothing"),
        ("1,inf", "infinity"),
        ("1,NaN", "NaN"),
        ("2000000000,5", "a number that is too large"),
        ("1,200000000000", "a number that is too large"),
        ("# 1,2", "a comment"),
        ("time,rate", "a word of 4 characters"),
    ] {
        assert_eq!(
            complaint(&format!("{HEADER}\n0,5\n{bad}\n3,5\n")),
            format!("line 3: expected {EXPECTED}, found {found}")
        );
    }
    assert_eq!(complaint(""), "line 1: no row, expected at least one");
    assert_eq!(complaint(HEADER), "line 1: no row, expected at least one");
    assert_eq!(
        complaint("0,1\n1,1\n1,2\n"),
        "line 3: seconds not above the row before, expected seconds that increase"
    );
    assert_eq!(
        complaint("1,5\n2,5\n"),
        "line 1: the first row is not at 0, expected the series to start at 0 seconds"
    );
    assert_eq!(
        complaint("0,0\n1,0.4\n"),
        "line 2: no rate above 0, expected at least one"
    );
    // The header is allowed in the first line only.
    assert!(complaint("0,1\nseconds,bits_per_second\n").starts_with("line 2"));
}

#[test]
fn the_last_row_lasts_as_long_as_the_one_before() {
    let series = series("seconds,bits_per_second\n0,1e6\n0.5,3000000\n2.5,0\n");
    assert_eq!(series.period(), Duration::from_millis(4500));
    // (0.5 s · 1 + 2 s · 3 + 2 s · 0) Mbit in 4.5 s.
    assert_eq!(series.mean_bps(), 6.5e6 / 4.5);
    let at = |ms| series.at(Instant::from_millis(ms));
    assert_eq!(at(0), (1_000_000, Instant::from_millis(500)));
    assert_eq!(at(499), (1_000_000, Instant::from_millis(500)));
    assert_eq!(at(500), (3_000_000, Instant::from_millis(2500)));
    assert_eq!(at(4499), (0, Instant::from_millis(4500)));
    assert_eq!(at(4500), (1_000_000, Instant::from_millis(5000)));
    assert_eq!(at(9100), (1_000_000, Instant::from_millis(9500)));
}

#[test]
fn a_single_row_is_a_constant_rate() {
    let series = series("0,5e6");
    assert_eq!(series.mean_bps(), 5e6);
    let hour = Instant::from_millis(3_600_000);
    assert_eq!(series.nanobits_before(hour), 5_000_000 * 3_600_000_000_000);
}

#[test]
fn of_steps_the_last_one_holds_for_ever() {
    let secs = Duration::from_secs;
    let series =
        RateSeries::steps(&[(secs(0), 20e6), (secs(30), 0.0), (secs(31), 2e6)]).expect("steps");
    let rate = |s: u64| series.at(Instant::from_millis(s * 1000)).0;
    assert_eq!([0, 29].map(rate), [20_000_000; 2]);
    assert_eq!(rate(30), 0);
    assert_eq!([31, 62, 1_000_000].map(rate), [2_000_000; 3]);
    // (30 s · 20 + 9 s · 2) Mbit.
    let carried = series.nanobits_before(Instant::from_millis(40_000));
    assert_eq!(carried, 618_000_000 * 1_000_000_000);
}

#[test]
fn steps_that_cannot_be_are_refused() {
    let steps = |steps: &[(u64, f64)]| {
        let steps: Vec<_> = steps
            .iter()
            .map(|&(ms, bps)| (Duration::from_millis(ms), bps))
            .collect();
        RateSeries::steps(&steps)
    };
    for bad in [&[][..], &[(1, 5.0)], &[(0, 5.0), (9, 5.0), (9, 6.0)]] {
        assert_eq!(steps(bad), Err(StepsError::Times), "{bad:?}");
    }
    for bad in [
        &[(0, f64::NAN)][..],
        &[(0, -1.0), (9, 5.0)],
        &[(0, 5.0), (9, 0.4)],
    ] {
        assert_eq!(steps(bad), Err(StepsError::Rates), "{bad:?}");
    }
}

proptest! {
    /// What is carried before an instant is the sum over the rates in force until then.
    #[test]
    fn nanobits_before_is_the_integral(
        rows in prop::collection::vec((1u32..5000, 0u32..50_000_000), 1..10),
        t in 0u64..100_000_000_000,
    ) {
        let mut text = String::from("0,1000000\n");
        let mut ms = 0;
        for (gap, rate) in rows {
            ms += gap;
            text += &format!("{},{rate}\n", f64::from(ms) / 1e3);
        }
        let (series, t) = (series(&text), Instant::from_nanos(t));
        let (mut at, mut sum) = (Instant::ZERO, 0u128);
        while at < t {
            let (rate, until) = series.at(at);
            sum += u128::from(rate) * (until.min(t) - at).as_nanos();
            at = until;
        }
        prop_assert_eq!(series.nanobits_before(t), sum);
    }
}

/// Rates that take turns, with the series begun anywhere within a turn.
#[test]
fn slots_loop_and_may_begin_late() {
    let rates = [2e6, 4e6, 6e6];
    for (late_ms, expected) in [
        (0, [2, 4, 6, 2, 4, 6, 2]),
        (100, [6, 2, 4, 6, 2, 4, 6]),
        (250, [2, 4, 6, 2, 4, 6, 2]),
        (330, [6, 2, 4, 6, 2, 4, 6]),
    ] {
        let late = Duration::from_millis(late_ms);
        let series = RateSeries::slots(&rates, Duration::from_millis(100), late).unwrap();
        // The middle of the rest of the slot under way, and of those that follow.
        let part = late_ms % 100;
        let mut t = if part == 0 { 50 } else { part / 2 };
        for mbps in expected {
            let (bps, until) = series.at(Instant::from_millis(t));
            assert_eq!(bps, mbps * 1_000_000, "{late_ms} ms late, at {t} ms");
            t = until.as_nanos() / 1_000_000 + 50;
        }
        assert_eq!(series.mean_bps(), 4e6);
    }
}

/// A series that carries a bit a second, in bursts of nanoseconds: a packet crosses thousands of millions of periods.
#[test]
fn whole_periods_are_passed_over_at_once() {
    let sparse = series("0,2\n0.000000001,0\n");
    assert_eq!(sparse.period(), Duration::from_nanos(2));
    let mut fluid = Fluid::new(Arc::new(sparse));
    // 12000 bits at 2 bit/s half of the time; the last nanosecond is the first of its period.
    let done = fluid.send(Instant::ZERO, 1500);
    assert_eq!(done.as_nanos(), 12_000_000_000_000 - 1);
    let slow = fluid.send(done, 1500);
    assert_eq!(slow.as_nanos(), 24_000_000_000_000 - 1);
}

/// Only some rows have a stored sum; the rows between them give the same results.
#[test]
fn what_is_carried_is_the_same_wherever_sums_are_kept() {
    let rows = |n: u64| format!("{},{}\n", n as f64 / 10.0, 1_000_003 * (n * 7 % 11));
    let text: String = (0..100).map(rows).collect();
    for series in [series(&text), series(&text).interpolated()] {
        let mut sum = 0;
        for index in 0..100 {
            assert_eq!(series.before(index), sum, "{index}");
            let segment = series.segment(index);
            sum += segment.carried(segment.length);
        }
        assert_eq!(series.total, sum);
    }
}

#[test]
fn a_row_takes_eighteen_bytes() {
    let text: String = (0..1000).map(|n| format!("{n},{}\n", n * 1000)).collect();
    let series = series(&text);
    let bytes = series.rows.capacity() * size_of::<Row>() + series.before.capacity() * 16;
    assert_eq!(bytes, 18_000);
}
