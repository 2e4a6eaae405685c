use super::{BIN_S, excess, kept, together_bps};

#[test]
fn what_is_kept_is_of_linuxs_or_of_an_even_share() {
    let is = |ours, linux, even, percent: f64| {
        let kept = kept(ours, linux, even);
        assert!((kept - percent).abs() < 1e-9, "{kept}");
    };
    // Linux starved the newcomer, or was starved itself.
    is(40.0, 90.0, Some(50.0), 80.0);
    is(40.0, 10.0, Some(50.0), 100.0);
    is(5.0, 10.0, Some(50.0), 50.0);
    is(5.0, 0.0, Some(50.0), 100.0);
    is(0.0, 0.0, Some(50.0), 100.0);
    // Beside traffic with which nobody could share evenly.
    is(45.0, 90.0, None, 50.0);
}

#[test]
fn too_much_is_more_than_an_even_share_and_a_tenth_and_more_than_linuxs() {
    assert!((excess(70.0, 10.0, 50.0) - 10.0).abs() < 1e-9);
    assert!((excess(70.0, 90.0, 50.0) + 20.0).abs() < 1e-9);
}

/// 2 Mbit/s from 20 s on, within 15 s to 105 s.
#[test]
fn a_flow_that_begins_late_had_nothing_before() {
    let bins = 200..1650;
    let curve: Vec<_> = bins.map(|n| (f64::from(n) * BIN_S, 2e6)).collect();
    assert!((together_bps(&curve) - 2e6 * 85.0 / 90.0).abs() < 1e-3);
}
