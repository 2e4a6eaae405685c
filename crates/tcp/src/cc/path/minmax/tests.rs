use super::*;
use proptest::prelude::*;

/// Window of BBR's bandwidth, in rounds.
const WINDOW: u32 = 10;

#[test]
fn a_peak_counts_for_exactly_its_window() {
    let mut max = WindowedMax::default();
    max.reset(0, 0u32);
    max.update(WINDOW, 5, 100);
    for at in 6..=15 {
        max.update(WINDOW, at, 50);
        assert_eq!(max.get(), 100, "at {at}");
    }
    max.update(WINDOW, 16, 50);
    assert_eq!(max.get(), 50);
}

#[test]
fn a_staircase_down_is_followed_a_window_later() {
    // 100, 99, 98 …: the exact maximum is that of ten rounds ago.
    let mut max = WindowedMax::default();
    for at in 0..60u32 {
        max.update(WINDOW, at, 100 - at);
        let exact = 100 - at.saturating_sub(WINDOW);
        assert!(max.get() <= exact, "at {at}");
        // The other choices are a quarter and a half of the window apart: no more is missed.
        assert!(max.get() + WINDOW / 2 >= exact, "at {at}: {}", max.get());
    }
}

#[test]
fn silence_longer_than_the_window_forgets_everything() {
    let mut max = WindowedMax::default();
    max.update(WINDOW, 0, 9u32);
    max.update(WINDOW, 1, 8);
    max.update(WINDOW, 30, 1);
    assert_eq!(max.get(), 1);
}

proptest! {
    /// Against the definition: a value of the window, no smaller than the newest, and exact while
    /// values rise.
    #[test]
    fn it_is_a_value_of_the_window(values in prop::collection::vec((0u32..3, 0u32..1000), 1..200), start: u32) {
        let mut max = WindowedMax::default();
        max.reset(start, 0);
        let mut history = vec![(0u64, 0u32)];
        let mut now = 0u64;
        for (step, value) in values {
            now += u64::from(step);
            history.push((now, value));
            max.update(WINDOW, start.wrapping_add(now as u32), value);
            let window: Vec<u32> = history.iter().filter(|(at, _)| now - at <= WINDOW.into()).map(|(_, v)| *v).collect();
            let exact = *window.iter().max().unwrap();
            prop_assert!(window.contains(&max.get()));
            prop_assert!(max.get() >= value);
            if value == exact {
                prop_assert_eq!(max.get(), exact);
            }
        }
    }
}
