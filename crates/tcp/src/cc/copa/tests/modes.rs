//! Which senders are taken for competitors, and δ.

use super::super::mode::Competition;
use super::*;

/// Round trips in ms: base, now, and most of late.
const fn delays(min: u64, standing: u64, max: u64) -> Delays {
    Delays {
        min: 1000 * min,
        standing: 1000 * standing,
        max: 1000 * max,
    }
}

/// At 100 packets in a round trip of 100 ms, a millisecond's delay means one waiting packet.
const CWND: u64 = 100 << Q16;

const EMPTY: Delays = delays(100, 101, 140);
const FULL: Delays = delays(100, 120, 140);

/// A flow of round trips of 100 ms that has seen a full queue for `for_ms`, an ACK every 10 ms.
fn beside_a_filler(for_ms: u64) -> (Competition, Instant) {
    let mut now = Instant::from_millis(1000);
    let mut competition = Competition::new(now);
    competition.acked(now, ms(100), (&EMPTY, CWND), false);
    for _ in 0..for_ms / 10 {
        now += ms(10);
        competition.acked(now, ms(100), (&FULL, CWND), false);
    }
    (competition, now)
}

#[test]
fn a_tenth_of_the_most_is_nearly_empty() {
    let mut now = Instant::from_millis(1000);
    let mut competition = Competition::new(now);
    for (standing, mode) in [(103, Mode::Default), (104, Mode::Competitive)] {
        for _ in 0..60 {
            now += ms(10);
            competition.acked(now, ms(100), (&delays(100, standing, 140), CWND), false);
        }
        assert_eq!(competition.mode, mode, "{standing} ms");
    }
}

#[test]
fn five_round_trips_without_an_empty_queue_are_competition() {
    assert_eq!(beside_a_filler(500).0.mode, Mode::Default);
    let (mut competition, now) = beside_a_filler(510);
    assert_eq!(competition.mode, Mode::Competitive);
    competition.acked(now + ms(10), ms(100), (&EMPTY, CWND), false);
    assert_eq!(competition.mode, Mode::Default);
    assert_eq!(packets(competition.inverse_delta), 2.0);
}

#[test]
fn beside_a_filler_delta_follows_an_aimd() {
    let (mut competition, mut now) = beside_a_filler(1500);
    // A packet more in each of the ten round trips since.
    assert_eq!(packets(competition.inverse_delta), 12.0);
    // Losses of one round trip are one.
    for _ in 0..3 {
        now += ms(10);
        competition.acked(now, ms(100), (&FULL, CWND), true);
        assert_eq!(packets(competition.inverse_delta), 6.0);
    }
    competition.acked(now + ms(100), ms(100), (&FULL, CWND), true);
    assert_eq!(packets(competition.inverse_delta), 3.0);
    competition.acked(now + ms(200), ms(100), (&FULL, CWND), true);
    assert_eq!(packets(competition.inverse_delta), 2.0);
}

#[test]
fn in_the_default_mode_a_loss_changes_nothing() {
    let (mut competition, now) = beside_a_filler(100);
    competition.acked(now, ms(100), (&FULL, CWND), true);
    assert_eq!(packets(competition.inverse_delta), 2.0);
}
