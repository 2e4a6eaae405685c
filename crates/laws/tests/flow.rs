//! What a flow measures, through the safe face: which samples it believes, and what bounds them.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use tidegate_laws::{Ack, Flow, Law, Params, Path, Segment};

const MSS: u32 = 1448;

/// A receiver whose peer's clock, in milliseconds, is `PEER_MS` ahead of ours.
struct Receiver {
    flow: Flow,
    path: Path,
    params: Params,
    /// Unit of our own clock.
    tick_us: u64,
    seq: u32,
}

const PEER_MS: u64 = 4_294_960_000;

impl Receiver {
    fn new(law: Law) -> Self {
        Self {
            flow: Flow::default(),
            path: Path::default(),
            params: Params {
                law,
                ..Params::default()
            },
            tick_us: 1_000,
            seq: 1,
        }
    }

    /// An acknowledgement of everything leaves at `now_us`; returns its window field.
    fn acknowledges(&mut self, now_us: u64) -> u16 {
        self.flow.ack_out(&Ack {
            now_us,
            ack: self.seq,
            raw: 30_000,
            scale: 7,
            bare: true,
            sack: false,
            tsval: Some((now_us / self.tick_us) as u32),
        })
    }

    /// The next segment arrives: sent at `sent_us`, as an answer to what left us at `echoed_us`.
    fn receives(&mut self, sent_us: u64, echoed_us: u64, now_us: u64) {
        let tsval = (PEER_MS + sent_us / 1_000) as u32;
        let tsecr = (echoed_us / self.tick_us) as u32;
        self.receives_with(Some((tsval, tsecr)), now_us);
    }

    /// The next segment arrives, with timestamps or without.
    fn receives_with(&mut self, timestamps: Option<(u32, u32)>, now_us: u64) {
        self.flow.data_in(
            &mut self.path,
            &self.params,
            &Segment {
                now_us,
                seq: self.seq,
                len: MSS,
                mss: MSS,
                timestamps,
                ..Segment::default()
            },
        );
        self.seq = self.seq.wrapping_add(MSS);
    }

    /// Steady traffic from `from_us` on for a second: a segment every 2 ms, the round trip `rtt_us`, 5 ms of it on the
    /// way from the peer. Returns when it ended.
    fn steady(&mut self, from_us: u64, rtt_us: u64) -> u64 {
        for now_us in (from_us..from_us + 1_000_000).step_by(2_000) {
            if now_us >= from_us + rtt_us {
                self.receives(now_us - 5_000, now_us - rtt_us, now_us);
            }
            self.acknowledges(now_us);
        }
        from_us + 1_000_000
    }
}

proptest! {
    #![proptest_config(Config {
        cases: 150,
        rng_seed: RngSeed::Fixed(0x7464),
        failure_persistence: None,
        ..Config::default()
    })]

    /// No clock bends the queueing delay beyond what the round trip shows: as far as a peer's clock may drift, the
    /// delay is at most RTT − RTTmin, two ticks, and a slack too small for a shorter route.
    #[test]
    fn the_round_trip_bounds_the_delay(
        drift_ppm in -1_500i64..1_500,
        packets in prop::collection::vec((500u64..30_000, 0u64..200_000), 20..400),
    ) {
        let mut receiver = Receiver::new(Law::Tide);
        let mut now_us = 5_000_000u64;
        let mut samples = 0;
        for (gap_us, queue_us) in packets {
            let left_us = now_us + gap_us;
            receiver.acknowledges(left_us);
            now_us = left_us + 20_000 + queue_us;
            let drift_us = (left_us as i64 - 5_000_000) * drift_ppm / 1_000_000;
            let sent_us = (left_us + 10_000).saturating_add_signed(drift_us);
            receiver.receives(sent_us, left_us, now_us);
            let flow = receiver.flow.raw();
            if flow.samples > samples {
                samples = flow.samples;
                let rise_us = flow.rtt_us - flow.rtt_min_us;
                prop_assert!(
                    flow.queue_us == u32::MAX || flow.queue_us <= rise_us + 10_000,
                    "{} above {rise_us}", flow.queue_us
                );
            }
        }
        prop_assert!(samples > 0);
    }
}

/// The route becomes 60 ms shorter and a queue takes its place at once: the round trip stays what it was, so RTTmin is
/// no bound. All of the 60 ms is queue, and the round trip without it is shorter.
#[test]
fn a_queue_in_the_place_of_a_shorter_route_is_not_taken_for_drift() {
    let mut receiver = Receiver::new(Law::Tide);
    let mut now_us = receiver.steady(1_000_000, 100_000);
    // The first packet on the shorter way echoes what was echoed before, so that it is no sample.
    receiver.receives(now_us + 55_000, now_us - 102_000, now_us);
    let end_us = now_us + 10_000_000;
    while now_us < end_us {
        now_us += 2_000;
        receiver.receives(now_us - 5_000, now_us - 100_000, now_us);
        receiver.acknowledges(now_us);
    }
    let flow = receiver.flow.raw();
    let (queue_us, rtt_min_us) = (flow.queue_us, flow.rtt_min_us);
    assert!((58_000..=61_000).contains(&queue_us), "{queue_us}");
    assert!((38_000..=46_000).contains(&rtt_min_us), "{rtt_min_us}");
}

/// With a clock of microseconds, samples are closer together than the time in which clocks drift by a microsecond; the
/// drift adds up all the same.
#[test]
fn a_clock_that_drifts_is_followed_however_often_samples_come() {
    let mut receiver = Receiver::new(Law::Tide);
    receiver.tick_us = 1;
    let mut now_us = receiver.steady(1_000_000, 6_000);
    let (began_us, before_us) = (now_us, receiver.flow.raw().queue_us);
    while now_us < began_us + 20_000_000 {
        now_us += 200;
        let drift_us = (now_us - began_us) * 500 / 1_000_000;
        receiver.receives(now_us - 5_000 - drift_us, now_us - 6_000, now_us);
        receiver.acknowledges(now_us);
    }
    let queue_us = receiver.flow.raw().queue_us;
    assert!(
        queue_us <= before_us + 3_000,
        "{queue_us} after {before_us}"
    );
}

/// A sender that had nothing to send repeats an old echo when it sends again; its silence is no delay.
#[test]
fn silence_is_not_taken_for_delay() {
    let mut receiver = Receiver::new(Law::None);
    let end = receiver.steady(1_000_000, 40_000);
    let before = receiver.flow.rtt_us().expect("sampled");
    assert!((39_000..=42_000).contains(&before), "{before}");
    // Nothing leaves for a second, so that the newest TSval of ours is a second old; its echo is
    // on its way since.
    receiver.receives(end + 1_000_000, end - 2_000, end + 1_005_000);
    assert_eq!(receiver.flow.rtt_us(), Some(before));
}

/// A sender that the window limits had sent a window's worth before it stopped: its late echo is a round trip, and a
/// long one is news.
#[test]
fn a_round_trip_that_grew_under_a_full_window_is_believed() {
    let mut receiver = Receiver::new(Law::Drwa);
    let end = receiver.steady(1_000_000, 40_000);
    let wanted = receiver.flow.wanted().expect("steered");
    // The last window's worth arrives with an echo that is known; then nothing for 160 ms.
    for i in 0..wanted / MSS + 1 {
        let now_us = end + u64::from(i) * 10;
        receiver.receives(now_us, end - 42_000, now_us);
    }
    receiver.receives(end + 150_000, end - 2_000, end + 160_000);
    assert_eq!(receiver.flow.rtt_us(), Some(162_000));
}

/// A flow that starts into the queue of another takes that queue for path, in delay and round trip: it knows of no
/// other flow yet. Their delays move together, which proves within seconds that they share it.
#[test]
fn a_late_comer_is_found_to_share_a_queue_that_its_floor_hides() {
    let mut first = Receiver::new(Law::Tide);
    let mut second = Receiver::new(Law::Tide);
    let mut now_us = first.steady(1_000_000, 40_000);
    let joined = |flow: &Receiver| flow.flow.raw().member.sharing.joined != 0;
    let began_us = 3_000_000;
    while !(joined(&first) && joined(&second)) {
        now_us += 2_000;
        assert!(now_us < began_us + 5_000_000, "not found");
        // From 60 ms to 120 ms and back within a second.
        let queue_us = 60_000 + (now_us % 1_000_000).abs_diff(500_000) / 25 * 3;
        let sent_us = now_us - 5_000 - queue_us;
        let arrives = |flow: &mut Receiver| {
            flow.receives(sent_us, now_us - 40_000 - queue_us, now_us);
            flow.acknowledges(now_us);
        };
        arrives(&mut first);
        if now_us > began_us {
            // Both are on one interface.
            second.path = std::mem::take(&mut first.path);
            arrives(&mut second);
            first.path = std::mem::take(&mut second.path);
        }
    }
    let [first, second] = [first, second].map(|flow| *flow.flow.raw());
    assert_eq!(first.member.sharing.name, second.member.sharing.name);
    let hidden_us = first.queue_us - second.queue_us;
    assert!((58_000..=62_000).contains(&hidden_us), "{hidden_us}");
    let longer_us = second.rtt_min_us - first.rtt_min_us;
    assert!((58_000..=62_000).contains(&longer_us), "{longer_us}");
}

/// Data that had been acknowledged and arrive again show no capacity: DRS does not count them.
#[test]
fn data_that_was_acknowledged_is_no_news() {
    let mut receiver = Receiver::new(Law::Drs);
    let end = receiver.steady(1_000_000, 40_000);
    let wanted = receiver.flow.wanted().expect("steered");
    let seq = receiver.seq;
    for i in 0..1_000u64 {
        receiver.seq = seq.wrapping_sub(100 * MSS);
        let now_us = end + 100 * i;
        receiver.receives(now_us - 5_000, now_us - 40_000, now_us);
    }
    assert_eq!(receiver.flow.wanted(), Some(wanted));
}

/// A law that is switched off no longer steers a flow that it had steered.
#[test]
fn no_law_wants_no_window() {
    let mut receiver = Receiver::new(Law::Drwa);
    let end = receiver.steady(1_000_000, 40_000);
    assert!(receiver.flow.wanted().is_some());
    assert!(receiver.acknowledges(end) < 30_000);
    receiver.params.law = Law::None;
    receiver.receives(end, end - 2_000, end + 10_000);
    assert_eq!(receiver.flow.wanted(), None);
    assert_eq!(receiver.acknowledges(end + 10_000), 30_000);
}

/// The window that a law has learned from stamped data is not for data without stamps.
#[test]
fn a_law_that_needs_timestamps_leaves_data_without_them_alone() {
    let needs = Law::ALL.into_iter().filter(|law| law.needs_timestamps());
    let steered = needs.filter(|&law| {
        let mut receiver = Receiver::new(law);
        let end = receiver.steady(1_000_000, 40_000);
        let before = receiver.flow.wanted();
        receiver.receives_with(None, end);
        assert_eq!(receiver.flow.wanted(), None, "{law:?}");
        before.is_some()
    });
    assert!(steered.count() > 0, "no law steered before");
}

/// With ample traffic DRWA wants far more than this; with a limit, exactly that.
#[test]
fn drwa_asks_for_no_more_than_its_limit() {
    let wanted = |limit| {
        let mut receiver = Receiver::new(Law::Drwa);
        receiver.params.limit = limit;
        receiver.steady(5_000_000, 40_000);
        receiver.flow.wanted()
    };
    // 40 ms hold 20 segments; DRWA wants three times as many.
    let free = wanted(None).unwrap();
    assert!((50 * MSS..=66 * MSS).contains(&free), "{free}");
    assert_eq!(wanted(Some(30_000)), Some(30_000));
    assert_eq!(wanted(Some(10 * free)), Some(free));
}

/// A clock that goes in steps of 16 ms shows more delay than the round trip of a near peer. It was not set: the floor
/// must not jump up and fall again with the next step, which would cause a recheck.
#[test]
fn a_clock_that_goes_in_steps_is_not_taken_for_one_that_was_set() {
    let mut receiver = Receiver::new(Law::Tide);
    let mut raised_us = 0;
    for now_us in (1_000_000..31_000_000).step_by(500) {
        let floor_us = receiver.flow.raw().delay.floor_us;
        receiver.receives((now_us - 500) / 16_000 * 16_000, now_us - 1_000, now_us);
        let floor_now_us = receiver.flow.raw().delay.floor_us;
        if now_us > 2_000_000 {
            raised_us = raised_us.max(floor_now_us.wrapping_sub(floor_us) as i32);
        }
        receiver.acknowledges(now_us);
    }
    assert!(raised_us < 200, "{raised_us} at once");
}

/// Whether a peer's clock that runs `ppm` millionths too fast is believed after `seconds` of traffic without any queue.
fn is_believed(ppm: i64, tick_us: u64, seconds: u64) -> bool {
    let mut receiver = Receiver::new(Law::Tide);
    let mut believed = true;
    for now_us in (1_000_000..seconds * 1_000_000).step_by(5_000) {
        let sent_us = now_us - 5_000;
        let peer_us = (sent_us as i64 + sent_us as i64 / 1_000 * ppm / 1_000) as u64;
        receiver.receives_with(
            Some((
                (PEER_MS + peer_us / tick_us) as u32,
                (now_us - 20_000) as u32 / 1_000,
            )),
            now_us,
        );
        receiver.acknowledges(now_us);
        believed = receiver.flow.raw().delay.doubted == 0;
    }
    believed
}

/// Quartz drifts by 100 millionths, bad oscillators by a few hundred; no machine's clock by a hundredth.
#[test]
fn clocks_that_drift_as_clocks_do_are_believed() {
    for tick_us in [1_000, 4_000, 10_000] {
        for ppm in [0, 100, 500, 1_000, -100, -500, -1_000] {
            assert!(is_believed(ppm, tick_us, 300), "{ppm} ppm, {tick_us} us");
        }
        for ppm in [10_000, 50_000, -10_000, -50_000] {
            assert!(!is_believed(ppm, tick_us, 30), "{ppm} ppm, {tick_us} us");
        }
    }
}

/// A clock that was slewed for a while, as after a machine's start, is believed again.
#[test]
fn a_doubted_clock_that_runs_well_again_is_believed() {
    let mut receiver = Receiver::new(Law::Tide);
    let mut doubted = [false; 3];
    for now_us in (1_000_000..150_000_000).step_by(5_000) {
        // A twentieth too fast from 5 to 20 s.
        let ahead_us = (now_us.clamp(5_000_000, 20_000_000) - 5_000_000) / 20;
        receiver.receives(now_us - 5_000 + ahead_us, now_us - 20_000, now_us);
        receiver.acknowledges(now_us);
        doubted[(now_us / 50_000_000) as usize] |= receiver.flow.raw().delay.doubted != 0;
    }
    assert!(doubted[0]);
    assert_eq!(receiver.flow.raw().delay.doubted, 0);
    assert!(receiver.flow.raw().queue_us < 2_000);
}

/// A second of data, 5 ms on the way from the peer, then another second in which a queue grows to 480 ms. `stamp` is
/// the peer's clock: its stamp for a time and a segment's number. Returns the longest delay and round trip that were
/// shown.
fn shown(stamp: impl Fn(u64, u64) -> Option<u32>) -> (Receiver, u32, u32) {
    let mut receiver = Receiver::new(Law::Tide);
    let (mut queue_us, mut rtt_us) = (0, 0);
    for (n, sent_us) in (1_000_000..4_000_000u64).step_by(2_000).enumerate() {
        let waited_us = sent_us.saturating_sub(2_000_000).min(1_000_000) * 12 / 25;
        let now_us = sent_us + 5_000 + waited_us;
        let echoed_us = (sent_us - 16_000) as u32 / 1_000;
        let timestamps = stamp(sent_us, n as u64).map(|tsval| (tsval, echoed_us));
        // Data come later than the acknowledgement that left when they were sent.
        receiver.acknowledges(sent_us);
        receiver.receives_with(timestamps, now_us);
        let flow = receiver.flow.raw();
        if flow.queue_us != u32::MAX {
            queue_us = queue_us.max(flow.queue_us);
        }
        rtt_us = rtt_us.max(flow.rtt_us);
    }
    (receiver, queue_us, rtt_us)
}

/// Whatever the peer stamps, data cannot have waited for longer than their round trip.
#[test]
fn no_delay_is_shown_that_is_longer_than_the_round_trip() {
    let ticks = |us: u64| move |sent_us: u64, _| Some((sent_us / us) as u32);
    let mut longest = Vec::new();
    for us in [
        1, 100, 1_000, 3_333, 4_000, 10_000, 100_000, 500_000, 1_000_000,
    ] {
        longest.push((format!("a tick of {us} us"), shown(ticks(us))));
    }
    longest.push(("constant".into(), shown(|_, _| Some(7))));
    longest.push((
        "every second without".into(),
        shown(|us, n| n.is_multiple_of(2).then_some((us / 1_000) as u32)),
    ));
    longest.push((
        "none after a second".into(),
        shown(|us, _| (us < 2_000_000).then_some((us / 1_000) as u32)),
    ));
    for (clock, (_, queue_us, rtt_us)) in &longest {
        println!("{clock}: {queue_us} us of {rtt_us}");
        // The last packets wait for 480 ms.
        assert!(*rtt_us < 520_000, "{clock}: a round trip of {rtt_us} us");
        assert!(*queue_us < 500_000, "{clock}: {queue_us} us");
    }
}

/// A delay that was measured while there were timestamps is not shown as the present one.
#[test]
fn what_comes_without_a_timestamp_tells_no_delay() {
    let (receiver, ..) = shown(|us, _| (us < 2_000_000).then_some((us / 1_000) as u32));
    let flow = receiver.flow.raw();
    assert_eq!(flow.queue_us, u32::MAX);
    assert!(flow.arrived_us - flow.sampled_us > 1_500_000);
    assert_eq!(receiver.flow.wanted(), None);
}
