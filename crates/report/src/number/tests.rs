use super::{about, compared, fixed, mbps, percent, size};

#[test]
fn nothing_has_no_sign() {
    assert_eq!(fixed(-0.0, 0), "0");
    assert_eq!(fixed(-0.004, 2), "0.00");
    assert_eq!(fixed(-0.006, 2), "-0.01");
    assert_eq!(fixed(-10.0, 0), "-10");
}

#[test]
fn ratios_in_words() {
    let said = |ratio| compared(ratio, "linux");
    assert_eq!(said(1.0 / 61.0), "1/61 of linux's");
    assert_eq!(said(1.0 / 2.4), "1/2.4 of linux's");
    assert_eq!(said(0.5), "1/2 of linux's");
    assert_eq!(said(0.78), "78 % of linux's");
    assert_eq!(said(0.98), "the same as linux's");
    assert_eq!(said(1.4), "1.4 times linux's");
    assert_eq!(said(12.3), "12 times linux's");
    assert_eq!(said(0.0), "nothing against linux's");
}

#[test]
fn units() {
    assert_eq!(mbps(19_345_678.0), "19.35");
    assert_eq!(percent(0.9876), "98.8");
    assert_eq!(
        (about(43.4), about(5.66), about(1211.2)),
        ("43".into(), "5.7".into(), "1211".into())
    );
}

#[test]
fn sizes() {
    let sizes = [
        (0, "0 B"),
        (999, "999 B"),
        (10_000, "10 kB"),
        (1_500_000, "1.5 MB"),
    ];
    for (bytes, text) in sizes {
        assert_eq!(size(bytes), text);
    }
    assert_eq!(size(2_340_000_000), "2.34 GB");
}

#[test]
fn a_slow_rate_keeps_two_figures() {
    let told = [0.0, 950.0, 2_400.0, 16e3, 64e3, 99_600.0, 480e3, 48e6].map(super::mbps);
    let expected = [
        "0.00", "0.000950", "0.0024", "0.016", "0.064", "0.10", "0.48", "48.00",
    ];
    assert_eq!(told, expected);
}
