use super::*;
use proptest::prelude::*;

fn trace(text: &str) -> Trace {
    Trace::parse(text).expect("a valid trace")
}

fn complaint(text: &str) -> String {
    Trace::parse(text)
        .expect_err("an invalid trace")
        .to_string()
}

/// The next opportunities as (ms, bytes).
fn take(cursor: &mut Cursor, n: usize) -> Vec<(u64, u64)> {
    std::iter::repeat_with(|| {
        let Burst { at, bytes } = cursor.peek();
        cursor.advance();
        (at.as_nanos() / 1_000_000, bytes)
    })
    .take(n)
    .collect()
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    assert_eq!(
        complaint(""),
        "line 1: expected at least one line, found none"
    );
    for (bad, found) in [
        ("", "nothing"),
        ("-1", "a negative number"),
        ("+1", "a number with a sign"),
        (
            "1.5",
            "a number with a point or an exponent, or one that is too large",
        ),
        (
            "1e3",
            "a number with a point or an exponent, or one that is too large",
        ),
        ("0x1", "a word of 3 characters"),
        (" 1", "a number with spaces around it"),
        ("1 ", "a number with spaces around it"),
        ("1,", "2 columns"),
        ("1,2", "2 columns"),
        ("# 1", "a comment"),
        ("NaN", "NaN"),
        ("inf", "infinity"),
        ("4294967296", "a number that is too large"),
        ("milliseconds", "a word of 12 characters"),
    ] {
        assert_eq!(
            complaint(&format!("0\n5\n{bad}\n7\n")),
            format!(
                "line 3: expected a whole number of milliseconds, 0 to 4294967295, found {found}"
            )
        );
    }
    assert_eq!(
        complaint("3\n4\n2"),
        "line 3: expected milliseconds that do not decrease, found less than in the line before"
    );
    assert_eq!(
        complaint("0\n0\n"),
        "line 2: the last line is 0, expected more: it is the length of the trace"
    );
}

/// A trace that carries nothing for days, or more than any link, is refused: it would stall a run or overflow.
#[test]
fn the_mean_is_one_that_a_link_may_have() {
    assert_eq!(
        complaint("4294967295\n"),
        "line 1: expected a mean of 1 bit/s to 100 Gbit/s, found 2.793967724496957e-3 bit/s: 1 opportunities in \
         4294967295 ms"
    );
    let fast = "1\n".repeat(8334);
    assert!(complaint(&fast).contains("found 1.00008e11 bit/s: 8334 opportunities in 1 ms"));
    trace(&fast[2..]);
}

#[test]
fn reads_with_or_without_a_last_line_end() {
    assert_eq!(trace("1\n2\n"), trace("1\r\n2"));
}

#[test]
fn the_last_millisecond_is_the_period() {
    let trace = trace("0\n2\n2\n5\n");
    assert_eq!(trace.period(), Duration::from_millis(5));
    assert_eq!(trace.opportunities(), 4);
    assert_eq!(trace.mean_bps(), 4.0 * 12_000.0 / 0.005);
    let mut cursor = Cursor::new(Arc::new(trace));
    let expected = [
        (0, 1500),
        (2, 3000),
        (5, 1500),
        (5, 1500), // the 0 of the second period
        (7, 3000),
        (10, 1500),
        (10, 1500),
        (12, 3000),
    ];
    assert_eq!(take(&mut cursor, 8), expected);
}

/// A gap at the start stays there, and comes again with every period.
#[test]
fn a_leading_gap_is_kept() {
    let mut cursor = Cursor::new(Arc::new(trace("900\n1000\n")));
    let expected = [(900, 1500), (1000, 1500), (1900, 1500), (2000, 1500)];
    assert_eq!(take(&mut cursor, 4), expected);
}

fn any_trace() -> impl Strategy<Value = Trace> {
    prop::collection::vec(0u32..30, 1..40).prop_map(|mut lines| {
        lines.sort_unstable();
        *lines.last_mut().expect("at least one line") += 1;
        trace(&lines.iter().map(|ms| format!("{ms}\n")).collect::<String>())
    })
}

proptest! {
    #[test]
    fn writing_and_reading_give_the_same_trace(trace in any_trace()) {
        prop_assert_eq!(Trace::parse(&trace.to_string()), Ok(trace));
    }

    /// Skipping ahead ends at the same opportunity as walking.
    #[test]
    fn skipping_is_walking(trace in any_trace(), before in 0usize..50, now in 0u64..300_000_000) {
        let (now, mut walker) = (Instant::from_nanos(now), Cursor::new(Arc::new(trace)));
        take(&mut walker, before);
        let mut skipper = walker.clone();
        skipper.skip_past(now);
        while walker.peek().at <= now {
            walker.advance();
        }
        prop_assert_eq!(take(&mut walker, 40), take(&mut skipper, 40));
    }

    /// What could have left before an instant is the sum of the opportunities before it.
    #[test]
    fn bytes_before_is_the_sum(trace in any_trace(), half_ms in 0u64..400) {
        let t = Instant::from_nanos(half_ms * 500_000);
        let mut cursor = Cursor::new(Arc::new(trace.clone()));
        let mut sum = 0;
        while cursor.peek().at < t {
            sum += cursor.peek().bytes;
            cursor.advance();
        }
        prop_assert_eq!(trace.bytes_before(t), sum);
    }
}
