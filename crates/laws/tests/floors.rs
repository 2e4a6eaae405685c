//! How `tide` ages its floors: what it takes for path, and what for queue. The path is driven packet by packet; its delays are the test's to choose.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use tidegate_laws::sys;

const MSS: u32 = 1448;
/// Base round trip, and a segment's time at the full rate.
const RTT_US: u32 = 40_000;
const GAP_US: u64 = 1_000;

/// A path and its flows. The first packet arrives at 100 s: no time is near its zero.
struct Host {
    path: sys::tg_tide,
    flows: Vec<sys::tg_share>,
    /// By how much each flow's floor has risen.
    risen_us: Vec<u32>,
    now_us: u64,
    /// By how much the next packet lowers its flow's floor.
    falls_us: u32,
    /// Base round trip.
    rtt_us: u32,
    /// Uploads of our own share the way back.
    uploading: bool,
}

impl Host {
    fn new(flows: usize) -> Self {
        Self {
            path: sys::tg_tide::default(),
            flows: vec![sys::tg_share::default(); flows],
            risen_us: vec![0; flows],
            now_us: 100_000_000,
            falls_us: 0,
            rtt_us: RTT_US,
            uploading: false,
        }
    }

    /// A segment of `flow` arrives after `gap_us`, `queue_us` above its first floor.
    fn receive(&mut self, flow: usize, gap_us: u64, queue_us: u32) {
        self.now_us += gap_us;
        let mut arrival = sys::tg_arrival {
            now_us: self.now_us,
            len: MSS,
            mss: MSS,
            sample_us: self.rtt_us + queue_us,
            echo_us: self.rtt_us + queue_us,
            rtt_min_us: self.rtt_us,
            queue_us: queue_us.saturating_sub(self.risen_us[flow]),
            fell_us: std::mem::take(&mut self.falls_us),
            lag_us: 0,
            uploading: self.uploading.into(),
            ..Default::default()
        };
        let share = &mut self.flows[flow];
        // SAFETY: the records are exclusively ours.
        unsafe {
            let rise_us = sys::tg_tide_rise(&raw const self.path, share);
            self.risen_us[flow] += rise_us;
            arrival.queue_us -= rise_us.min(arrival.queue_us);
            arrival.lag_us = arrival.sample_us - arrival.queue_us;
            sys::tg_tide_arrived(&mut self.path, share, &arrival);
        }
    }

    /// The first flow alone, for `us`.
    fn alone(&mut self, us: u64, gap_us: u64, queue_us: u32) {
        let end_us = self.now_us + us;
        while self.now_us < end_us {
            self.receive(0, gap_us, queue_us);
        }
    }

    /// The first flow alone until a probe begins; whether one does within `us`.
    fn until_probe(&mut self, us: u64, gap_us: u64, queue_us: u32) -> bool {
        let end_us = self.now_us + us;
        while self.now_us < end_us && !self.probing() {
            self.receive(0, gap_us, queue_us);
        }
        self.probing()
    }

    /// The same while the probe lasts.
    fn through_probe(&mut self, gap_us: u64, queue_us: u32) {
        while self.probing() {
            self.receive(0, gap_us, queue_us);
        }
    }

    /// A full link with a queue of 20 ms, which then runs empty at the same rate.
    fn running(flows: usize) -> Self {
        let mut host = Self::new(flows);
        host.alone(200_000, GAP_US, 20_000);
        assert_eq!(host.path.state, sys::TG_TIDE_RUNNING);
        host.alone(200_000, GAP_US, 500);
        assert_eq!(host.path.probes, 0);
        host
    }

    /// The path's window in bytes.
    fn window(&self) -> u32 {
        // SAFETY: the record is only read.
        unsafe { sys::tg_tide_window(&self.path, self.path.h_us, self.path.m) }
    }

    fn probing(&self) -> bool {
        self.path.state == sys::TG_TIDE_PROBING
    }
}

const LEVEL_US: u32 = 60_000;

/// The start ends when a queue has stood for a whole lag, and not a bucket before.
#[test]
fn a_queue_that_stands_for_a_lag_ends_the_start() {
    let mut host = Host::new(1);
    host.alone(500_000, GAP_US, 500);
    assert_eq!(host.path.state, sys::TG_TIDE_STARTING);
    // The bucket that is open holds empty-queue packets still.
    let bucket_us = u64::from(RTT_US) / 8;
    host.alone(8 * bucket_us, GAP_US, 20_000);
    assert_eq!(host.path.state, sys::TG_TIDE_STARTING);
    host.alone(bucket_us, GAP_US, 20_000);
    assert_eq!(host.path.state, sys::TG_TIDE_RUNNING);
}

/// The route becomes longer: delay stands at a level, less comes for want of window. With more room
/// more comes, the level stays: it is path, for each flow once.
#[test]
fn a_level_that_the_window_does_not_move_is_path() {
    let mut host = Host::running(2);
    host.receive(1, GAP_US, 500);
    assert!(host.until_probe(1_000_000, 2 * GAP_US, LEVEL_US));
    let (lag_us, last_empty_m) = (host.path.h_us, host.path.last_empty_m);
    host.through_probe(GAP_US, LEVEL_US);
    assert_eq!(host.path.risen_us, LEVEL_US);
    assert_eq!(host.path.h_us, lag_us + LEVEL_US);
    assert!(host.path.m >= last_empty_m, "what m sank by was our doing");
    host.alone(1_000_000, GAP_US, LEVEL_US);
    for _ in 0..3 {
        host.receive(1, GAP_US, LEVEL_US);
    }
    assert_eq!(host.risen_us, [LEVEL_US, LEVEL_US]);
    assert_eq!(host.path.probes, 1, "the level is the empty queue's now");
}

/// More comes as well where a queue stands that the probe makes grow, or where it makes the delay
/// shrink; and a delay that stays says nothing if no more comes.
#[test]
fn what_moves_or_brings_no_more_is_queue() {
    for (gap_us, delay_us) in [
        (GAP_US, LEVEL_US + 5_000),
        (GAP_US, LEVEL_US - 5_000),
        (2 * GAP_US, LEVEL_US),
    ] {
        let mut host = Host::running(1);
        assert!(host.until_probe(1_000_000, 2 * GAP_US, LEVEL_US));
        host.through_probe(gap_us, delay_us);
        assert_eq!(host.path.risen_us, 0, "{gap_us} {delay_us}");
        assert_eq!(host.path.probe_backoff_us, 4 * host.path.h_us);
    }
}

/// A queue is asked ever more seldom, until it has been seen empty.
#[test]
fn patience_doubles_with_every_queue() {
    let mut host = Host::running(1);
    let mut waited_us = Vec::new();
    for _ in 0..4 {
        let began_us = host.now_us;
        assert!(host.until_probe(10_000_000, 2 * GAP_US, LEVEL_US));
        waited_us.push(host.now_us - began_us);
        host.through_probe(GAP_US, LEVEL_US + 30_000);
    }
    let patience = [4, 8, 16].map(|lags| lags * u64::from(host.path.h_us));
    for (waited_us, probe_backoff_us) in waited_us[1..].iter().zip(patience) {
        let late_us = waited_us.wrapping_sub(probe_backoff_us);
        assert!(
            late_us < 2 * u64::from(RTT_US),
            "{waited_us} for {probe_backoff_us}"
        );
    }
    host.receive(0, GAP_US, 500);
    assert_eq!(host.path.probe_backoff_us, 0);
}

/// An outage makes the forecast sink as well, and its few packets are alike. A fall that lasts is
/// probed.
#[test]
fn an_outage_is_not_probed() {
    let lag_us = u64::from(RTT_US);
    let fallen = |us: u64| {
        let mut host = Host::running(1);
        // As much as came at best, so that the level is steady and yet not doubtful.
        host.path.last_empty_m = host.path.last_empty_m * 2 / 3;
        host.alone(2 * lag_us, GAP_US, LEVEL_US);
        assert_eq!(host.path.probes, 0);
        assert!(host.path.steady >= 12);
        host.until_probe(us, 5 * GAP_US, LEVEL_US)
    };
    assert!(!fallen(2 * lag_us));
    assert!(fallen(4 * lag_us));
}

proptest! {
    #![proptest_config(Config {
        cases: 500,
        rng_seed: RngSeed::Fixed(0x7464),
        failure_persistence: None,
        ..Config::default()
    })]

    /// A probe makes room for a quarter more than comes, to half more, over the whole round trip;
    /// and never for less than the forecast does.
    #[test]
    fn a_probe_opens_the_window_a_little(
        lag_us in 5_000u32..500_000,
        level_us in 2_000u32..500_000,
        bytes in 20_000u64..100_000_000,
        touched in 0.1f64..10.0,
        m in 0.1f64..2.0,
    ) {
        let x = (bytes << sys::TG_TIDE_Q) / u64::from(lag_us);
        let mut path = sys::tg_tide {
            state: sys::TG_TIDE_RUNNING,
            h_us: lag_us,
            level_us,
            sum: bytes,
            sum_us: lag_us.into(),
            m: (x as f64 * m) as i64,
            last_empty_m: (x as f64 * touched) as i64,
            mss: MSS,
            ..Default::default()
        };
        let doubted = sys::tg_arrival { now_us: 7_000_000, ..Default::default() };
        // SAFETY: the record is exclusively ours.
        let (before, probing) = unsafe {
            let before = sys::tg_tide_window(&path, lag_us, path.m);
            sys::tg_tide_begin_probe(&mut path, &doubted);
            (before, sys::tg_tide_window(&path, lag_us, path.m))
        };
        let fits = bytes as f64 * f64::from(lag_us + level_us) / f64::from(lag_us);
        let more = f64::from(path.probe_window - MSS) / fits;
        prop_assert!((1.249..1.501).contains(&more), "{more}");
        prop_assert_eq!(probing, before.max(path.probe_window));
    }
}

/// What a probe by the rules for echoes has found, only a flow whose delay echoes tell can say: what a flow with a window
/// sees of it while both share the record ends nothing. Where no such flow comes any more, nothing was found.
#[test]
fn a_probe_by_echoes_is_judged_by_echoes() {
    const LEVEL_US: u32 = 20_000;
    let begun = |judge: &dyn Fn(u64) -> Option<sys::tg_arrival>| {
        let x = (1_448i64 << sys::TG_TIDE_Q) / 1_000;
        let mut path = sys::tg_tide {
            state: sys::TG_TIDE_RUNNING,
            arrived_us: 50_000_000,
            bucket_end_us: 50_005_000,
            h_us: RTT_US,
            level_us: LEVEL_US,
            bytes: [5 * 1_448; 8],
            width_us: [5_000; 8],
            sum: 8 * 5 * 1_448,
            sum_us: 40_000,
            m: x,
            last_empty_m: x,
            forecast: [x; 8],
            open_us: 5_000,
            mss: MSS,
            bucket_min_us: sys::TG_INFINITE_US,
            ..Default::default()
        };
        let mut share = sys::tg_share {
            h_us: RTT_US,
            last_empty_h_us: RTT_US,
            ..Default::default()
        };
        let echo = |now_us| sys::tg_arrival {
            now_us,
            queue_us: LEVEL_US,
            mss: MSS,
            len: MSS,
            fresh: 1,
            echoed: 1,
            binds: 1,
            upload: 1,
            ..Default::default()
        };
        // SAFETY: the records are exclusively ours.
        unsafe { sys::tg_tide_begin_probe(&mut path, &echo(50_000_000)) };
        let mut now_us = 50_000_000;
        let end_us = path.watch_end_us;
        while path.state == sys::TG_TIDE_PROBING && now_us < 55_000_000 {
            now_us += 1_000;
            // With a window, at the rate of before.
            let window = sys::tg_arrival {
                echoed: 0,
                binds: 0,
                ..echo(now_us)
            };
            for arrival in [Some(window), judge(now_us - 50_000_000)].iter().flatten() {
                // SAFETY: as above.
                unsafe { sys::tg_tide_arrived(&mut path, &mut share, arrival) };
            }
        }
        (path, now_us - end_us, echo)
    };
    let (path, late_us, echo) = begun(&|_| None);
    assert_eq!((path.state, path.risen_us), (sys::TG_TIDE_RUNNING, 0));
    assert!(late_us >= 9 * u64::from(RTT_US), "judged after {late_us}");
    let every = |us: u64| us.is_multiple_of(30_000).then(|| echo(50_000_000 + us));
    let (path, late_us, _) = begun(&every);
    assert!(late_us <= 30_000, "judged after {late_us}");
    assert_eq!(path.risen_us, LEVEL_US, "the level is path: more waits");
}

/// A floor that rose by chance, or to another's queue that is gone, hides a queue that stays for
/// ever. RTTmin's window is tried after four seconds, then half as often, and four times as seldom at
/// the most; a floor that has mended itself is not tried again.
#[test]
fn raised_floors_are_held_against_the_smallest_round_trip() {
    let mut host = Host::running(1);
    assert!(host.until_probe(10_000_000, 2 * GAP_US, LEVEL_US));
    host.through_probe(GAP_US, LEVEL_US);
    assert_eq!(host.risen_us[0], 0, "it rises with its next packet");
    let raised_us = host.now_us;
    let mut waits_us = Vec::new();
    let mut since_us = raised_us;
    while waits_us.len() < 4 {
        let mut before = 0;
        while host.path.state != sys::TG_TIDE_RECHECKING {
            before = host.window();
            host.receive(0, GAP_US, LEVEL_US);
        }
        waits_us.push((host.now_us - since_us) as f64 / 1e6);
        // 40 ms of the link where there were 100, and no margin.
        assert!(host.window() < before / 2, "{} of {before}", host.window());
        while host.path.state == sys::TG_TIDE_RECHECKING {
            host.receive(0, GAP_US, LEVEL_US);
        }
        since_us = host.now_us;
    }
    for (wait, expected) in waits_us.iter().zip([4.0, 8.0, 16.0, 16.0]) {
        assert!((wait - expected).abs() < 0.1, "{waits_us:?}");
    }
    // The queue is gone, and with it what the lag had too much.
    host.alone(60_000_000, GAP_US, 0);
    assert_eq!(host.path.recheck_us, 0, "lag {}", host.path.h_us);
}

/// A floor that falls by much hid a queue: the window of half the lag is tried for two round trips,
/// and again for as long as that makes it fall further. What falls by little is no reason.
#[test]
fn a_floor_that_falls_is_looked_under() {
    let mut host = Host::running(1);
    let fall = |host: &mut Host, us| {
        let rechecked = host.path.state == sys::TG_TIDE_RECHECKING;
        assert!(!rechecked, "the last one is over");
        host.falls_us = us;
        host.receive(0, GAP_US, 4_000);
        host.path.state == sys::TG_TIDE_RECHECKING
    };
    // An eighth of 40 ms is less than 8 ms.
    assert!(!fall(&mut host, 8_000));
    host.alone(200_000, GAP_US, 4_000);
    assert!(!fall(&mut host, 5_000));
    assert!(fall(&mut host, 5_000), "10 ms in one round trip");
    let half = f64::from(host.window()) / f64::from(MSS * RTT_US / 1_000 / 2);
    assert!((0.8..1.2).contains(&half), "{half}");
    let end_us = host.path.recheck_end_us;
    host.falls_us = 9_000;
    host.alone(end_us - host.now_us, GAP_US, 4_000);
    assert_eq!(host.path.state, sys::TG_TIDE_RECHECKING, "it fell further");
    assert!(host.path.recheck_end_us > end_us);
    host.alone(200_000, GAP_US, 4_000);
    assert_eq!(host.path.state, sys::TG_TIDE_RUNNING);
}

/// Where the lag collapses after the first fall, its half is more than all that is left of it: the
/// window is that of no more than the lag, and the two round trips are the short ones.
#[test]
fn a_lag_that_collapses_is_looked_under_as_it_is_by_then() {
    let mut host = Host::running(1);
    host.rtt_us = 10 * RTT_US;
    host.alone(4_000_000, GAP_US, 4_000);
    let long_us = host.path.h_us;
    assert!(long_us > 9 * RTT_US, "{long_us}");
    host.rtt_us = RTT_US;
    host.falls_us = 9 * RTT_US;
    let began_us = host.now_us;
    host.receive(0, GAP_US, 4_000);
    while host.path.state == sys::TG_TIDE_RECHECKING {
        let lag = (host.path.m as u64 * u64::from(host.path.h_us)) >> sys::TG_TIDE_Q;
        let window = u64::from(host.window());
        assert!(window <= lag.max(u64::from(5 * MSS)), "{window} for {lag}");
        host.receive(0, GAP_US, 4_000);
    }
    let took_us = host.now_us - began_us;
    let half_us = u64::from(long_us / 2);
    assert!(took_us < 3 * half_us, "{took_us} of {half_us}");
    assert!(host.path.h_us < 2 * RTT_US, "{}", host.path.h_us);
}

/// The uplink's queue lengthens the lag fourfold. Where it is our own uploads', the forecast is for all
/// of the lag and the margin for the lag as it was; where it stays for eight seconds, it counts as path.
#[test]
fn beside_uploads_the_margin_is_for_the_least_lag() {
    let after = |uploading, us| {
        let mut host = Host::running(1);
        host.alone(10_000_000, GAP_US, 4_000);
        host.uploading = uploading;
        host.rtt_us = 4 * RTT_US;
        host.alone(us, GAP_US, 4_000);
        let forecast = (host.path.m as u64 * u64::from(host.path.h_us)) >> sys::TG_TIDE_Q;
        (u64::from(host.window() - MSS) - forecast, host)
    };
    let (all, alone) = after(false, 2_000_000);
    let (least, both) = after(true, 2_000_000);
    assert_eq!(alone.path.h_us, both.path.h_us);
    let ratio = all as f64 / least as f64;
    assert!((3.5..4.5).contains(&ratio), "{all} and {least}");
    let (all, _) = after(false, 9_000_000);
    let (least, _) = after(true, 9_000_000);
    assert_eq!(all, least);
}

/// Four parts where another flow has one.
#[test]
fn flows_share_by_weight() {
    let mut host = Host::new(2);
    host.flows[0].weight = 4;
    for _ in 0..2_000 {
        host.receive(0, GAP_US / 2, 20_000);
        host.receive(1, GAP_US / 2, 20_000);
    }
    // SAFETY: the records are exclusively ours.
    let [front, back] =
        [0, 1].map(|flow| unsafe { sys::tg_tide_share(&host.path, &host.flows[flow]) });
    let ratio = f64::from(front) / f64::from(back);
    assert!((ratio - 4.0).abs() < 0.1, "{front} and {back}");
}

/// A full link whose delay and lag have both grown by as much, while the same comes as before.
fn longer(grown_us: u32) -> Host {
    let mut host = Host::running(1);
    // The forecast does not sink: no more ever came.
    host.path.last_empty_m = host.path.last_empty_m * 2 / 3;
    host.rtt_us += grown_us;
    host
}

/// A queue on the data's way leaves the way back as it is. Where that has become longer as well, it is asked
/// at once.
#[test]
fn a_lag_that_has_grown_is_asked_about_at_once() {
    let level_us = 10_000;
    assert!(longer(level_us).until_probe(300_000, GAP_US, level_us));
    assert!(!longer(0).until_probe(3_000_000, GAP_US, level_us));
}

/// A sender that paces itself does not use the room at once: it is kept open, until more comes or the
/// delay moves, but not for ever.
#[test]
fn where_the_lag_has_grown_a_probe_waits_for_its_sender() {
    let level_us = 10_000;
    let probing = || {
        let mut host = longer(level_us);
        assert!(host.until_probe(300_000, GAP_US, level_us));
        host.alone(5 * u64::from(host.rtt_us), GAP_US, level_us);
        assert!(host.probing());
        host
    };
    let mut used = probing();
    used.through_probe(GAP_US * 6 / 10, level_us);
    assert_eq!(used.path.risen_us, level_us);
    let mut moved = probing();
    moved.through_probe(GAP_US * 6 / 10, level_us + 8_000);
    assert_eq!(moved.path.risen_us, 0);
    let mut unused = probing();
    unused.alone(7 * u64::from(unused.rtt_us), GAP_US, level_us);
    assert!(!unused.probing() && unused.path.risen_us == 0);
}

/// After idleness the window is not the kernel's: what is remembered, or four times what comes in a lag.
#[test]
fn after_idleness_the_window_is_remembered_or_grows() {
    let mut host = Host::running(1);
    let remembered = host.window();
    host.receive(0, 11_000_000, 500);
    assert_eq!(host.path.state, sys::TG_TIDE_STARTING);
    assert!(host.window().abs_diff(remembered) < remembered / 8);
    host.alone(2 * u64::from(RTT_US), GAP_US / 4, 500);
    let came = RTT_US / (GAP_US as u32 / 4) * MSS;
    assert_eq!(host.path.state, sys::TG_TIDE_STARTING);
    assert!((3 * came..=5 * came).contains(&host.window()));
}
