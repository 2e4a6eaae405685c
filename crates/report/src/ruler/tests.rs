use super::Ruler;
use crate::axis::{Axis, Scale};
use proptest::prelude::*;

fn labels(ruler: &Ruler) -> Vec<&str> {
    ruler.ticks.iter().map(|tick| tick.label.as_str()).collect()
}

fn laid(scale: Scale, values: &[f64], count: usize) -> Ruler {
    Ruler::new(&Axis::new("", scale), values, count)
}

#[test]
fn linear_ticks_are_round_and_enclose_the_values() {
    let ruler = laid(Scale::Linear, &[3.2, 17.0], 4);
    assert_eq!(labels(&ruler), ["0", "5", "10", "15", "20"]);
    assert_eq!(ruler.ends, (0.0, 20.0));
    assert_eq!(
        labels(&laid(Scale::Linear, &[0.1, 0.34], 3)),
        ["0.1", "0.2", "0.3", "0.4"]
    );
    assert_eq!(
        labels(&laid(Scale::Linear, &[-1.0, 1.0], 4)),
        ["-1.0", "-0.5", "0", "0.5", "1.0"]
    );
}

#[test]
fn from_zero_starts_there() {
    assert_eq!(laid(Scale::FromZero, &[95.0, 99.0], 5).ends, (0.0, 100.0));
}

#[test]
fn a_given_range_is_not_rounded() {
    let axis = Axis::new("s", Scale::FromZero).within(0.0, 47.0);
    let ruler = Ruler::new(&axis, &[1000.0], 5);
    assert_eq!(ruler.ends, (0.0, 47.0));
    assert_eq!(labels(&ruler), ["0", "10", "20", "30", "40"]);
}

#[test]
fn large_numbers_have_prefixes() {
    assert_eq!(
        labels(&laid(Scale::FromZero, &[15e6], 3)),
        ["0", "5M", "10M", "15M"]
    );
    // Ten thousand is where prefixes begin, for all labels of an axis at once.
    assert_eq!(
        labels(&laid(Scale::FromZero, &[9999.0], 2)),
        ["0", "5k", "10k"]
    );
    assert_eq!(labels(&laid(Scale::FromZero, &[4999.0], 2)), ["0", "5000"]);
    let log = laid(Scale::Log, &[5e3, 2e6], 0);
    assert_eq!(labels(&log), ["10k", "100k", "1M"]);
}

#[test]
fn logarithmic_ticks_are_decades_or_finer() {
    assert_eq!(
        labels(&laid(Scale::Log, &[0.03, 0.9], 0)),
        ["0.02", "0.05", "0.1", "0.2", "0.5", "1"]
    );
    let wide = laid(Scale::Log, &[1.0, 9000.0], 0);
    assert_eq!(labels(&wide), ["1", "10", "100", "1000", "10k"]);
    assert!(wide.minor.contains(&300.0) && !wide.minor.contains(&100.0));
}

#[test]
fn a_ratio_is_a_distance() {
    let ruler = laid(Scale::Log, &[1.0, 100.0], 0);
    assert_eq!(ruler.ends, (1.0, 100.0));
    assert!((ruler.place(10.0) - 0.5).abs() < 1e-12);
}

#[test]
fn what_a_logarithm_cannot_show_is_on_the_edge_and_the_edge_says_so() {
    let ruler = laid(Scale::Log, &[0.0, 3.0, 900.0, 1000.0], 0);
    assert_eq!(labels(&ruler)[0], "≤2");
    for small in [0.0, -4.0, f64::NEG_INFINITY, 1.0] {
        assert_eq!(ruler.place(small), 0.0, "{small}");
    }
    let whole = laid(Scale::Log, &[3.0, 900.0, 1000.0], 0);
    assert!(labels(&whole).iter().all(|label| !label.contains('≤')));
}

#[test]
fn nothing_and_a_single_value_have_an_axis_too() {
    assert_eq!(laid(Scale::FromZero, &[], 5).ends, (0.0, 1.0));
    assert_eq!(laid(Scale::Linear, &[0.0, 0.0], 5).ends, (0.0, 1.0));
    assert_eq!(laid(Scale::Log, &[], 5).ends, (1.0, 10.0));
    assert_eq!(
        laid(Scale::Fit, &[f64::NAN, f64::INFINITY], 5).ends,
        (0.0, 1.0)
    );
    let (low, high) = laid(Scale::Linear, &[50.0], 5).ends;
    assert!(low < 50.0 && high > 50.0);
}

#[test]
fn categories_stand_at_whole_numbers() {
    let ruler = Ruler::new(&Axis::categories(["p50", "p95"]), &[0.0, 1.0], 9);
    assert_eq!(labels(&ruler), ["p50", "p95"]);
    assert_eq!((ruler.place(0.0), ruler.place(1.0)), (0.25, 0.75));
}

proptest! {
    #[test]
    fn any_values_get_distinct_ticks_within_the_ends(
        values in prop::collection::vec(
            prop_oneof![Just(0.0), 1e-9..1e12_f64, -1e6..1e6_f64, Just(f64::NAN)],
            0..30,
        ),
        scale in prop::sample::select(vec![Scale::Linear, Scale::FromZero, Scale::Log, Scale::Fit]),
        count in 0..12_usize,
    ) {
        let ruler = laid(scale, &values, count);
        prop_assert!(ruler.ends.0 < ruler.ends.1);
        prop_assert!(!ruler.ticks.is_empty() && ruler.ticks.len() < 40);
        prop_assert!(ruler.ticks.windows(2).all(|t| t[0].at < t[1].at && t[0].label != t[1].label));
        let places: Vec<f64> = ruler.ticks.iter().map(|tick| ruler.place(tick.at)).collect();
        prop_assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{places:?}");
        for value in values {
            let place = ruler.place(value);
            prop_assert!((0.0..=1.0).contains(&place), "{value} at {place}");
        }
    }
}
