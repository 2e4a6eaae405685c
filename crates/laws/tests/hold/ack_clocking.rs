//! Which senders the hold takes for clocked by acknowledgements: senders made of one equation each.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use tidegate_laws::sys;

/// From one look at the window to the next.
const EVERY_US: u64 = 58_000;

/// A record, and how many bytes have come.
struct Asked {
    clocking: sys::tg_clocking,
    now_us: u64,
    at: u64,
}

impl Asked {
    fn new() -> Self {
        Self {
            clocking: sys::tg_clocking::default(),
            now_us: EVERY_US,
            at: 1_000_000,
        }
    }

    /// A `part` of a window `w` comes, and the record sees the window.
    fn saw(&mut self, w: u32, part: u32) {
        self.at += u64::from(w / part);
        // SAFETY: the record is live and ours.
        unsafe { sys::tg_clocking_saw(&mut self.clocking, self.now_us, self.at, w) };
        self.now_us += EVERY_US;
    }

    fn signal(&mut self, w: u32) {
        assert!(self.is_free());
        // SAFETY: as above.
        unsafe { sys::tg_clocking_signal(&mut self.clocking, self.at, w) };
    }

    /// Plays the windows after a signal at `before`, until the sender is judged. Returns how many windows of bytes that
    /// took.
    fn judged(&mut self, before: u32, part: u32, mut after: impl FnMut(u32) -> u32) -> f64 {
        self.signal(before);
        let from = self.at;
        for look in 0..1_000 {
            if !self.is(sys::TG_CLOCKING_SIGNALLED) {
                break;
            }
            self.saw(after(look), part);
        }
        (self.at - from) as f64 / f64::from(before)
    }

    fn is(&self, state: u32) -> bool {
        self.clocking.state == state
    }

    fn is_free(&self) -> bool {
        // SAFETY: as above.
        unsafe { sys::tg_clocking_is_free(&self.clocking) != 0 }
    }

    fn may_wait(&self) -> bool {
        // SAFETY: as above.
        unsafe { sys::tg_clocking_may_wait(&self.clocking) != 0 }
    }
}

/// The answers of CUBIC and of Reno: two are needed, one to two round trips after the signal; how long a round
/// trip takes does not matter.
#[test]
fn a_window_that_falls_and_stays_there_is_clocked() {
    for (left_of_ten, rounds) in [(7, 1), (5, 1), (7, 2), (5, 2)] {
        for part in [1, 2, 4, 16] {
            let mut asked = Asked::new();
            assert!(!asked.may_wait());
            for answers in 1..=sys::TG_CLOCKING_SURE {
                let took = asked.judged(100_000, part, |look| {
                    let told = look >= rounds * part;
                    if told { 10_000 * left_of_ten } else { 100_000 }
                });
                assert!(asked.is(sys::TG_CLOCKING_CLOCKED));
                assert_eq!(asked.may_wait(), answers == sys::TG_CLOCKING_SURE);
                assert!((1.5..=4.0).contains(&took), "{took}");
            }
        }
    }
}

/// A window as it was, one that grows, a fall that is over after a round trip, and one to nearly nothing.
#[test]
fn no_fall_a_short_one_and_a_pause_are_no_answers() {
    let short = |look| {
        if (6..8).contains(&look) {
            70_000
        } else {
            100_000
        }
    };
    let answers: [(&str, &dyn Fn(u32) -> u32); 4] = [
        ("none", &|_| 100_000),
        ("growth", &|look| 100_000 + 10_000 * look),
        ("short", &short),
        ("pause", &|look| if look < 4 { 100_000 } else { 10_000 }),
    ];
    for (name, answer) in answers {
        let mut asked = Asked::new();
        asked.judged(100_000, 4, answer);
        assert!(asked.is(sys::TG_CLOCKING_LEFT), "{name}");
        assert!(!asked.may_wait() && !asked.is_free(), "{name}");
    }
}

#[test]
fn one_that_does_not_answer_is_let_go_after_four_windows() {
    let mut asked = Asked::new();
    let took = asked.judged(100_000, 16, |_| 100_000);
    assert!((4.0..4.1).contains(&took), "{took}");
}

/// While an answer is awaited, packets of a sender that waited before wait on.
#[test]
fn one_that_stops_to_answer_is_let_go() {
    let mut asked = Asked::new();
    for _ in 0..sys::TG_CLOCKING_SURE {
        asked.judged(100_000, 4, |_| 70_000);
    }
    assert!(asked.may_wait());
    asked.signal(100_000);
    assert!(asked.may_wait());
    while asked.is(sys::TG_CLOCKING_SIGNALLED) {
        asked.saw(100_000, 4);
    }
    assert!(!asked.may_wait());
}

/// BBR's window falls once by itself, as its start ends.
#[test]
fn one_answer_by_chance_makes_nothing_wait() {
    let mut asked = Asked::new();
    asked.judged(100_000, 4, |_| 70_000);
    assert!(asked.is(sys::TG_CLOCKING_CLOCKED) && !asked.may_wait());
    asked.judged(100_000, 4, |_| 100_000);
    assert!(asked.is(sys::TG_CLOCKING_LEFT));
    while !asked.is_free() {
        asked.saw(100_000, 4);
    }
    asked.judged(100_000, 4, |_| 70_000);
    assert!(!asked.may_wait());
}

#[test]
fn one_that_never_answers_is_asked_ever_more_seldom() {
    let mut asked = Asked::new();
    let mut left = Vec::new();
    for _ in 0..10 {
        asked.judged(100_000, 4, |_| 100_000);
        let since_us = asked.now_us;
        while !asked.is_free() {
            asked.saw(100_000, 4);
        }
        left.push((asked.now_us - since_us) / 1_000_000);
    }
    assert_eq!(left, [4, 8, 16, 32, 64, 128, 256, 480, 480, 480]);
}

proptest! {
    #![proptest_config(Config {
        cases: 500,
        rng_seed: RngSeed::Fixed(0x6173_6b65),
        failure_persistence: None,
        ..Config::default()
    })]

    /// However the window swings above seven eighths of its largest.
    #[test]
    fn a_window_that_does_not_fall_is_let_go(
        before in 10_000u32..2_000_000,
        percents in prop::collection::vec(100u32..=113, 1..40),
        part in 1u32..20,
    ) {
        let mut asked = Asked::new();
        let window = |look: u32| before / 100 * percents[look as usize % percents.len()];
        asked.judged(before, part, window);
        prop_assert!(asked.is(sys::TG_CLOCKING_LEFT) && !asked.may_wait());
    }

    /// The window falls within two windows of bytes to what a congestion control leaves, whatever came before.
    #[test]
    fn a_window_that_falls_is_clocked(
        before in 10_000u32..2_000_000,
        percents in prop::collection::vec(30u32..=80, 1..40),
        told in 1u32..=2,
        part in 1u32..20,
    ) {
        let mut asked = Asked::new();
        let window = |look: u32| match look < told * part {
            true => before,
            false => before / 100 * percents[look as usize % percents.len()],
        };
        for _ in 0..sys::TG_CLOCKING_SURE {
            asked.judged(before, part, window);
        }
        prop_assert!(asked.is(sys::TG_CLOCKING_CLOCKED) && asked.may_wait());
    }
}
