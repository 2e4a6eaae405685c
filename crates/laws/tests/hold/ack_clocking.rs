//! Whom the hold takes for clocked: senders made of one equation each.

use tidegate_laws::sys;

const RTT_US: u64 = 50_000;
const EVERY_US: u64 = 58_000;
/// What tide's window is, and the largest of late.
const WANTED: u32 = 75_000;
const WIDE: u32 = 90_000;
const LEAST: u32 = WANTED / 8;
const STATES: usize = 5;

/// A record, and for how many looks it was in each state.
struct Watched {
    clocked: sys::tg_clocking,
    now_us: u64,
    looks: [u32; STATES],
}

impl Watched {
    fn new() -> Self {
        Self {
            clocked: sys::tg_clocking::default(),
            now_us: EVERY_US,
            looks: [0; STATES],
        }
    }

    /// Bytes that wait, of a window of `w`.
    fn waits(&self, w: u32) -> u32 {
        let excess = w.saturating_sub(WANTED);
        // SAFETY: the record is live and ours.
        unsafe { sys::tg_clocking_excess(&self.clocked, w, excess, WIDE) }
    }

    /// Arrivals show the window `w`.
    fn saw(&mut self, w: u32) {
        let waited_us = self.waits(w) as u64 * RTT_US / u64::from(WANTED);
        let excess = w.saturating_sub(WANTED);
        let [rtt_us, waited_us] = [RTT_US, waited_us].map(|us| us as u32);
        // SAFETY: as above, exclusively.
        unsafe {
            sys::tg_clocking_saw(
                &mut self.clocked,
                self.now_us,
                w,
                excess,
                LEAST,
                WIDE,
                rtt_us,
                waited_us,
            );
        }
        self.looks[self.clocked.state as usize] += 1;
        self.now_us += EVERY_US;
    }

    fn signal(&mut self, w: u32) {
        // SAFETY: as above.
        unsafe { sys::tg_clocking_signal(&mut self.clocked, self.now_us, w, 2 * RTT_US as u32) };
    }

    fn ready(&self, w: u32) -> bool {
        // SAFETY: as above.
        unsafe { sys::tg_clocking_ready(&self.clocked, w - self.waits(w)) != 0 }
    }

    fn is(&self, state: u32) -> bool {
        self.clocked.state == state
    }

    fn seconds(&self) -> f64 {
        self.now_us as f64 / 1e6
    }
}

#[test]
fn a_window_that_grows_is_watched_for_five_seconds_and_then_asked_ever_more_seldom() {
    let mut watched = Watched::new();
    for w in (200_000..).step_by(500) {
        if !watched.is(sys::TG_CLOCKING_NEW) {
            break;
        }
        assert_eq!(watched.waits(w), 0);
        watched.saw(w);
    }
    assert!(
        (4.9..5.3).contains(&watched.seconds()),
        "{}",
        watched.seconds()
    );
    for _ in 0..600_000_000 / EVERY_US {
        watched.saw(200_000);
        assert!(!watched.is(sys::TG_CLOCKING_LEFT) && !watched.is(sys::TG_CLOCKING_NEW));
    }
    // 10 s after the second answer, then 20, 40, 80, 160.
    let asked = watched.clocked.asked;
    assert!((6..=9).contains(&asked), "{asked}");
    assert!(
        watched.looks[sys::TG_CLOCKING_ASKED as usize] <= 4 * asked,
        "{:?}",
        watched.looks
    );
    // All of it waits, though it is more than the largest window of late.
    watched.clocked.state = sys::TG_CLOCKING_WATCHED;
    assert_eq!(watched.waits(300_000), 225_000);
}

#[test]
fn a_window_that_does_not_grow_waits_only_if_it_is_far_too_large() {
    for (w, state) in [
        (200_000, sys::TG_CLOCKING_NEW),
        (400_000, sys::TG_CLOCKING_WATCHED),
    ] {
        let mut watched = Watched::new();
        for _ in 0..10_000_000 / EVERY_US {
            watched.saw(w);
        }
        assert_eq!(
            watched.looks[sys::TG_CLOCKING_NEW as usize] > 100,
            state == sys::TG_CLOCKING_NEW
        );
    }
}

#[test]
fn of_one_that_has_not_answered_no_more_than_a_window_waits() {
    let mut watched = Watched::new();
    watched.clocked.state = sys::TG_CLOCKING_WATCHED;
    watched.clocked.began = 260_000;
    assert_eq!(watched.waits(500_000), WIDE);
    // But of one that has doubled all does.
    assert_eq!(watched.waits(520_000), 520_000 - WANTED);
}

/// One that sends at a rate, for twenty minutes. What waits is a longer way to it: the window is what it was, and what waits.
/// Returns the share of the time in which anything waited.
fn waits_of_a_rate(mut watched: Watched) -> f64 {
    let (mut waited, mut before) = (0u32, 0);
    let looks = (1_200_000_000 / EVERY_US) as u32;
    for _ in 0..looks {
        let w = 110_000 + before;
        before = watched.waits(w).min(40 * WANTED);
        watched.saw(w);
        waited += u32::from(before > 0);
    }
    f64::from(waited) / f64::from(looks)
}

#[test]
fn of_a_rate_nothing_ever_waits() {
    assert_eq!(waits_of_a_rate(Watched::new()), 0.0);
}

/// By what it grows while a question is on its way it passes, now and then, for one that has answered.
#[test]
fn a_rate_that_was_taken_for_clocked_is_let_go_for_most_of_the_time() {
    let mut watched = Watched::new();
    watched.clocked.state = sys::TG_CLOCKING_WATCHED;
    let waited = waits_of_a_rate(watched);
    println!("{waited} of the time");
    assert!(waited > 0.0 && waited < 0.33, "{waited}");
}

/// BBR drains what it has filled, every eighth round trip: then nothing of it ever waits.
#[test]
fn one_whose_window_falls_by_itself_is_let_go_before_anything_waits() {
    let mut watched = Watched::new();
    for look in 0..60 {
        let w = if look % 8 < 2 { 90_000 } else { 130_000 };
        assert_eq!(watched.waits(w), 0, "{look}");
        watched.saw(w);
    }
    assert!(watched.is(sys::TG_CLOCKING_LEFT));
}

#[test]
fn one_that_doubles_is_held_at_once_and_may_be_signalled() {
    let mut watched = Watched::new();
    let mut w = 20_000;
    while !watched.is(sys::TG_CLOCKING_WATCHED) {
        watched.saw(w);
        w = w / 16 * 25;
    }
    // Twice what it had when it first was more than it should be.
    assert!(watched.seconds() < 0.5, "{}", watched.seconds());
    assert!(watched.waits(w) > 0);
    while !watched.ready(w) {
        watched.saw(w);
        w = w / 16 * 25;
        assert!(watched.seconds() < 1.0, "{w}");
    }
    watched.signal(w);
    for _ in 0..12 {
        watched.saw(w / 10 * 7);
    }
    assert!(
        watched.is(sys::TG_CLOCKING_WATCHED) && watched.clocked.score > 0,
        "{:?}",
        watched.clocked
    );
}

#[test]
fn two_signals_without_an_answer_end_it() {
    let mut watched = Watched::new();
    while !watched.is(sys::TG_CLOCKING_WATCHED) {
        watched.saw(400_000);
    }
    for signal in 1..=2 {
        watched.signal(400_000);
        for _ in 0..40 {
            watched.saw(400_000);
            if !watched.is(sys::TG_CLOCKING_SIGNALLED) {
                break;
            }
        }
        assert_eq!(watched.is(sys::TG_CLOCKING_LEFT), signal == 2, "{signal}");
    }
}
