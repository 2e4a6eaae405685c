//! The hold: its log of departures, which senders it takes for clocked by acknowledgements, and its promises.

#[path = "hold/ack_clocking.rs"]
mod ack_clocking;
#[path = "hold/send_log.rs"]
mod send_log;
#[path = "hold/sender.rs"]
mod sender;
#[path = "hold/upload.rs"]
mod upload;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use sender::{Edge, Sender};
use tidegate_laws::{Hold, Path};

/// The same histories every time.
fn histories(cases: u32) -> Config {
    Config {
        cases,
        rng_seed: RngSeed::Fixed(0x686f_6c64),
        failure_persistence: None,
        ..Config::default()
    }
}

/// A sender with eight times the window that the path holds.
const DEEP: Sender = Sender::up_to(600_000);

/// BBR keeps such a window.
#[test]
fn who_keeps_a_window_that_is_a_little_too_large_is_left_alone() {
    let mut edge = Edge::new(Sender::up_to(110_000));
    let all = edge.over_s(60.0);
    assert!(all.used > 0.97 && all.wait_ms == 0.0, "{all:?}");
    assert!(edge.signals.is_empty(), "{:?}", edge.signals);
}

/// The sender keeps eight times what the path holds, whatever is signalled.
#[test]
fn a_window_that_answers_no_signal_never_waits() {
    let mut edge = Edge::new(DEEP);
    let all = edge.over_s(120.0);
    assert_eq!(all.waited, 0.0, "{all:?}");
    assert!((2..=6).contains(&edge.signals.len()), "{:?}", edge.signals);
}

#[test]
fn a_window_that_the_path_holds_never_waits() {
    for window in [15_000, 40_000, 70_000] {
        let mut edge = Edge::new(Sender::up_to(window));
        let all = edge.over_s(30.0);
        let touched = (all.wait_ms, edge.signals.len());
        assert_eq!(touched, (0.0, 0), "{window}: {all:?}");
    }
}

#[test]
fn who_sends_at_a_rate_that_the_link_carries_never_waits() {
    for rate in [0.2, 0.5, 0.9] {
        let mut edge = Edge::new(Sender::Rate(rate));
        let all = edge.over_s(120.0);
        let touched = (all.wait_ms, edge.signals.len());
        assert_eq!(touched, (0.0, 0), "{rate}: {all:?}");
    }
}

/// The sender sends ten percent more than the link carries, whatever is lost: it cannot be slowed down.
#[test]
fn who_sends_more_than_the_link_carries_never_waits_and_is_hardly_signalled() {
    let mut edge = Edge::new(Sender::Rate(1.1));
    let held = edge.over_s(120.0);
    println!("{held:?}, {} signals", edge.signals.len());
    assert!(held.used > 0.99, "{held:?}");
    assert_eq!(held.waited, 0.0, "{held:?}");
    // After 4, 8, 16, 32 and 64 s.
    assert!((1..=6).contains(&edge.signals.len()), "{:?}", edge.signals);
}

#[test]
fn who_grows_is_told_and_slows_down() {
    let mut edge = Edge::new(Sender::growing());
    edge.run_s(20.0);
    let held = edge.over_s(60.0);
    assert!(held.used > 0.96 && held.queue_ms < 20.0, "{held:?}");
    assert!(held.wait_ms > 10.0, "{held:?}");
    let told = edge.signals.len();
    assert!((1..50).contains(&told), "{told}");
}

/// Without echoes we do not know whether anything stands in the queue.
#[test]
fn what_is_not_heard_of_for_three_seconds_is_let_go() {
    let mut edge = Edge::new(Sender::growing()).deaf_from_s(20);
    edge.run_s(24.0);
    assert!(edge.over_s(10.0).waited == 0.0);
    let before = edge.signals.len();
    assert!(edge.over_s(10.0).waited == 0.0 && edge.signals.len() == before);
}

/// Clocks count microseconds to 2^32, 71 minutes.
#[test]
fn a_clock_that_wraps_changes_nothing() {
    let of = |start_us| {
        let mut edge = Edge::new(DEEP).starting_at(start_us);
        let all = edge.over_s(30.0);
        (format!("{all:?}"), edge.signals)
    };
    let early = of(1 << 20);
    assert!(!early.1.is_empty());
    assert_eq!(early, of((1 << 32) - 10_000_000));
}

/// 72 MB/s: 2^32 bytes after 59 s.
#[test]
fn bytes_that_wrap_change_nothing() {
    let mut edge = Edge::new(Sender::growing()).packets(9_000, 8);
    edge.run_s(30.0);
    let before = edge.over_s(20.0);
    assert!(edge.hold.arrived() < 1 << 32);
    edge.run_s(5.0);
    let after = edge.over_s(20.0);
    assert!(edge.hold.arrived() > 1 << 32);
    for held in [&before, &after] {
        assert!(held.used > 0.97, "{before:?}, {after:?}");
        assert!(
            held.queue_ms < 15.0 && held.wait_ms > 20.0,
            "{before:?}, {after:?}"
        );
    }
}

/// Something happens to a flow.
#[derive(Clone, Copy, Debug)]
enum Event {
    Arrives(u32),
    Leaves(u32),
    Echo(u32),
}

/// Events, each with the microseconds before it.
fn events() -> impl Strategy<Value = Vec<(u64, Event)>> {
    let event = prop_oneof![
        6 => (40u32..1500).prop_map(Event::Arrives),
        3 => (40u32..1500).prop_map(Event::Leaves),
        1 => (5_000u32..2_000_000).prop_map(Event::Echo),
    ];
    let gap = prop_oneof![8 => 0u64..3_000, 1 => 0u64..300_000];
    prop::collection::vec((gap, event), 100..2_000)
}

/// Plays events on a flow; `check` sees it after each of them, and whether congestion was signalled.
fn play(events: &[(u64, Event)], mut check: impl FnMut(&Hold, u64, bool)) {
    let (mut hold, mut path) = (Hold::default(), Path::default());
    let mut now_us = 1;
    for &(gap, event) in events {
        now_us += gap;
        let mut signalled = false;
        match event {
            Event::Arrives(len) => signalled = hold.arrives(&mut path, now_us, len),
            Event::Leaves(len) => hold.leaves(now_us, len),
            Event::Echo(rtt_us) => hold.answered(&mut path, now_us, rtt_us, None),
        }
        check(&hold, now_us, signalled);
    }
}

/// Whether a packet made just now would wait.
fn waits(hold: &Hold) -> bool {
    hold.wait_us(hold.arrived()) > 0
}

proptest! {
    #![proptest_config(histories(200))]

    /// Whatever the round trips are.
    #[test]
    fn what_is_short_never_waits(events in events()) {
        play(&events, |hold, _, signalled| {
            if hold.arrived() < 64 * 1448 {
                assert!(!waits(hold) && !signalled);
            }
        });
    }

    /// Each packet is answered by at least an eighth of its length, as in a call.
    #[test]
    fn what_sends_as_it_receives_never_waits(events in events(), part in 1u32..=7) {
        let answer = |&(gap, event): &(u64, Event)| match event {
            Event::Arrives(len) => vec![(gap, event), (0, Event::Leaves(len.div_ceil(part)))],
            _ => vec![(gap, event)],
        };
        let talk: Vec<_> = events.iter().flat_map(answer).collect();
        play(&talk, |hold, _, signalled| assert!(!waits(hold) && !signalled));
    }

    /// And a packet that waits, waits for no more than two seconds.
    #[test]
    fn nothing_waits_while_the_window_is_no_more_than_it_should_be(events in events()) {
        play(&events, |hold, _, signalled| {
            let raw = hold.raw();
            if raw.steered.wanted == tidegate_laws::sys::TG_UNLIMITED || raw.window <= raw.steered.wanted {
                assert!(!waits(hold) && !signalled);
            }
            let longest = Hold::LONGEST.as_micros() as u32;
            assert!(hold.wait_us(hold.arrived()) <= longest);
        });
    }
}

proptest! {
    #![proptest_config(histories(24))]

    /// Until a signal is answered there is no other: a window of bytes comes before the answer shows, and another shows
    /// that it lasts.
    #[test]
    fn more_than_a_window_comes_between_two_signals(
        grows: bool,
        rtt_ms in 5u32..300,
        per_ms in 1usize..6,
        start_us in prop_oneof![Just(1u64), Just((1 << 32) - 7_000_000)],
    ) {
        // The window is eight times what the path holds, or grows for ever.
        let deep = 8 * u64::from(rtt_ms) * per_ms as u64 * 1_500;
        let sender = if grows { Sender::growing() } else { Sender::up_to(deep) };
        let mut edge = Edge::new(sender).rtt(rtt_ms).packets(1_500, per_ms).starting_at(start_us);
        edge.run_s(60.0);
        for pair in edge.signals.windows(2) {
            let apart = pair[1].at_bytes - pair[0].at_bytes;
            prop_assert!(apart >= pair[0].window / 2 * 3, "{:?}", pair);
        }
    }
}
