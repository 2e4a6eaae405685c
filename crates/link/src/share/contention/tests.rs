use super::*;
use crate::{Config, FqCodelPolicy, Link, Packet, Policy, QueueConfig, SignalWalk, Trace};
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sized(usize);

impl Packet for Sized {
    fn wire_bytes(&self) -> usize {
        self.0
    }
}

fn sharing(scheduler: Scheduler, users: u32, mean_bps: f64) -> Sharing {
    Sharing {
        scheduler,
        users,
        tti: Duration::from_millis(1),
        traffic: CrossTraffic {
            mean_bps,
            on: Duration::from_millis(200),
            off: Duration::from_millis(300),
        },
        seed: 3,
    }
}

const FAIR: Scheduler = Scheduler::ProportionalFair {
    time_constant: Duration::from_millis(500),
};

fn config(rate: Rate, sharing: Option<Sharing>) -> Config {
    Config {
        rate,
        sharing,
        queue: QueueConfig {
            packets: None,
            ..QueueConfig::default()
        },
        ..Config::default()
    }
}

/// Mbit/s that a link at 12 Mbit/s alone carries when it always has something to send.
fn carried(sharing: Sharing, seconds: u64) -> f64 {
    let mut link = Link::new(config(Rate::constant(12e6), Some(sharing)), 1);
    for _ in 0..seconds * 1000 {
        link.push(Instant::ZERO, Sized(1500));
    }
    let end = Instant::from_millis(seconds * 1000);
    while link.poll(end).is_some() {}
    link.stats().delivered_bytes as f64 * 8.0 / 1e6 / seconds as f64
}

/// Neighbours whose demand exceeds their share leave the link 1/N.
#[test]
fn greedy_neighbours_leave_an_equal_share() {
    for scheduler in [Scheduler::RoundRobin, FAIR] {
        for users in [1, 2, 3, 5] {
            let mut greedy = sharing(scheduler, users, 100e6);
            // Neighbours that send nearly all the time.
            greedy.traffic.off = Duration::from_millis(1);
            greedy.traffic.on = Duration::from_secs(1000);
            let mbps = carried(greedy, 20);
            let expected = 12.0 / f64::from(users);
            assert!((mbps - expected).abs() < 0.02 * expected, "{users}: {mbps}");
        }
    }
}

/// Neighbours whose demand is below their share get it, and the link gets the rest: at 12 Mbit/s a packet fills a TTI.
#[test]
fn modest_neighbours_leave_the_rest() {
    for scheduler in [Scheduler::RoundRobin, FAIR] {
        for mean_mbps in [0.0, 0.5, 1.0] {
            let mbps = carried(sharing(scheduler, 3, mean_mbps * 1e6), 60);
            let rest = 12.0 - 2.0 * mean_mbps;
            assert!((mbps - rest).abs() < 0.2, "{mean_mbps}: {mbps}");
            assert!(mean_mbps > 0.0 || mbps > 11.99);
        }
    }
}

/// The long-run load of a neighbour is the mean asked for.
#[test]
fn traffic_has_the_mean_asked_for() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let mut neighbour = Neighbour::new(&sharing(FAIR, 2, 3e6), &mut rng);
    let (mut bytes, mut spells) = (0, 0);
    for _ in 0..1_000_000 {
        let was_on = neighbour.on;
        neighbour.step(&mut rng);
        spells += u64::from(neighbour.on && !was_on);
        bytes += std::mem::take(&mut neighbour.backlog);
    }
    let mbps = bytes as f64 * 8.0 / 1e6 / 1000.0;
    assert!((mbps - 3.0).abs() < 0.1, "{mbps}");
    // One spell in 200 + 300 ms.
    assert!((1900..2100).contains(&spells), "{spells}");
}

#[test]
fn a_neighbour_is_elsewhere_in_the_recording_or_has_a_seed_of_his_own() {
    let trace = Trace::parse("10\n90\n").expect("valid");
    let (_, ahead) = Rate::from(trace).neighbour(1, 3);
    assert_eq!(ahead, Duration::from_millis(30));
    let second = Duration::from_secs(1);
    let walk = SignalWalk::new(&[(Duration::ZERO, 9.0), (second, 0.0)], 1e6, None, 1);
    let walk = Rate::from(walk.expect("valid"));
    let (other, ahead) = walk.neighbour(2, 4);
    assert_eq!(ahead, Duration::from_millis(500));
    let [walk, other] = [walk, other].map(|rate| rate.walk().expect("a walk"));
    assert_ne!(walk, other);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Alone in the cell, or with idle neighbours, a link behaves as without a cell.
    #[test]
    fn alone_is_unshared(
        lines in prop::collection::vec(1u32..60, 1..60),
        arrivals in prop::collection::vec((0u64..4_000_000, 0usize..4000), 1..100),
        users in 1u32..4,
    ) {
        let mut lines = lines;
        lines.sort_unstable();
        let text: String = lines.iter().map(|ms| format!("{ms}\n")).collect();
        let rate = Rate::from(Trace::parse(&text).expect("valid"));
        let shared = config(rate.clone(), Some(sharing(Scheduler::RoundRobin, users, 0.0)));
        let mut links = [config(rate, None), shared].map(|config| Link::new(config, 1));
        let mut now = Instant::ZERO;
        for (gap, bytes) in arrivals {
            now += Duration::from_nanos(gap);
            links.iter_mut().for_each(|link| link.push(now, Sized(bytes)));
            prop_assert_eq!(links[0].next_event(), links[1].next_event());
        }
        let end = now + Duration::from_secs(60);
        let [left, right] = links.map(|mut link| std::iter::from_fn(|| link.poll(end)).collect::<Vec<_>>());
        prop_assert_eq!(left, right);
    }
}

/// FQ-CoDel at its limit drops half of a flow's bytes, oldest first: here all of them, after an opportunity was found
/// for them.
#[test]
fn an_opportunity_of_the_past_is_nobodys() {
    let queue = QueueConfig {
        packets: Some(1),
        policy: Policy::FqCodel(FqCodelPolicy::default()),
        ..QueueConfig::default()
    };
    let trace = Rate::from(Trace::parse("10\n").expect("valid"));
    let mut link = Link::new(
        Config {
            queue,
            ..config(trace, Some(sharing(Scheduler::RoundRobin, 1, 1e6)))
        },
        1,
    );
    link.push(Instant::ZERO, Sized(100));
    link.push(Instant::ZERO, Sized(1400));
    assert_eq!((link.queue_len(), link.stats().dropped), (0, 2));
    let late = Instant::from_millis(11);
    link.push(late, Sized(1400));
    let due = link
        .poll(Instant::from_millis(100))
        .expect("it gets through")
        .due;
    assert!(due >= late, "{due}");
}
