use super::*;

fn complaint(text: &str) -> String {
    DelayTrace::parse(text)
        .expect_err("an invalid recording")
        .to_string()
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    for (bad, found) in [
        ("", "nothing"),
        ("x", "a word of 1 characters"),
        ("-1", "a negative number"),
        ("1,2", "2 columns"),
        ("NaN", "NaN"),
        ("inf", "infinity"),
        ("60001", "a number that is too large"),
    ] {
        assert_eq!(
            complaint(&format!("12\n{bad}\n9\n")),
            format!("line 2: expected a delay in milliseconds, 0 to 60000, found {found}")
        );
    }
    assert_eq!(
        complaint(""),
        "line 1: expected at least one line, found none"
    );
}

#[test]
fn every_line_lasts_ten_milliseconds() {
    let trace = DelayTrace::parse("0.25\n0\n60000\n").expect("valid");
    assert_eq!(trace.period(), Duration::from_millis(30));
    let at = |nanos| trace.excess(Instant::from_nanos(nanos));
    assert_eq!(at(0), Duration::from_micros(250));
    assert_eq!(at(9_999_999), Duration::from_micros(250));
    assert_eq!(at(10_000_000), Duration::ZERO);
    assert_eq!(at(29_999_999), Duration::from_secs(60));
    assert_eq!(at(30_000_000), Duration::from_micros(250));
}
