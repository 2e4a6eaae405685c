use super::*;
use crate::{CellKind, CellModel, Policy, QueueConfig, Rate, TokenBucket};
use proptest::prelude::*;

/// A packet by number and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbered(u64, usize);

impl Packet for Numbered {
    fn wire_bytes(&self) -> usize {
        self.1
    }
}

const FAIR: Scheduler = Scheduler::ProportionalFair {
    time_constant: Duration::from_millis(1670),
};

fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

fn user(rate: Rate) -> Config {
    Config {
        rate,
        ..Config::default()
    }
}

fn cell(scheduler: Scheduler, users: Vec<Config>) -> SharedLink<Numbered> {
    let config = CellConfig {
        scheduler,
        tti: Duration::from_millis(1),
        users,
    };
    SharedLink::new(config, 1)
}

/// Thesis §4.3, Figure 4.12: a user with a packet of 50 bytes each 10 ms beside one who keeps 1000
/// packets in flight waits for no more than two TTIs.
#[test]
fn a_sparse_user_does_not_wait_for_a_greedy_ones_queue() {
    for scheduler in [Scheduler::RoundRobin, FAIR] {
        let mut cell = cell(scheduler, vec![user(Rate::constant(8e6)); 2]);
        for n in 0..1000 {
            cell.push(ms(0), 1, Numbered(n, 1420));
        }
        for n in 0..1000 {
            let now = ms(10 * n) + Duration::from_micros(100);
            cell.push(now, 0, Numbered(n, 50));
            let until = now + Duration::from_micros(9900);
            while let Some((who, delivery)) = cell.poll(until) {
                if who == 0 {
                    let delay = delivery.due - now;
                    assert!(
                        delay <= Duration::from_millis(2),
                        "{scheduler:?}: {delay:?}"
                    );
                }
                // Another for each that arrives.
                if who == 1 {
                    cell.push(until, 1, Numbered(0, 1420));
                }
            }
        }
        assert_eq!(cell.users()[0].stats().delivered_packets, 1000);
        // Nine TTIs of ten are left.
        let bps = cell.users()[1].stats().delivered_bytes as f64 * 8.0 / 10.0;
        assert!((bps - 7.2e6).abs() < 0.1e6, "{scheduler:?}: {bps}");
    }
}

/// Thesis §4.3, Figure 4.13: throughput does not depend on how much each has in flight.
#[test]
fn what_is_in_flight_buys_no_throughput() {
    for scheduler in [Scheduler::RoundRobin, FAIR] {
        let mut cell = cell(scheduler, vec![user(Rate::constant(9e6)); 3]);
        for (who, flight) in [(0, 1000), (1, 45), (2, 30)] {
            for n in 0..flight {
                cell.push(ms(0), who, Numbered(n, 1420));
            }
        }
        for now in (1..20_000).map(ms) {
            while let Some((who, delivery)) = cell.poll(now) {
                cell.push(now, who, delivery.packet);
            }
        }
        for user in cell.users() {
            let mbps = user.stats().delivered_bytes as f64 * 8.0 / 1e6 / 20.0;
            assert!((mbps - 3.0).abs() < 0.05, "{scheduler:?}: {mbps}");
        }
    }
}

/// Each user's limit is his own.
#[test]
fn one_users_overflow_is_nobody_elses() {
    let mut small = user(Rate::constant(8e6));
    small.queue.packets = Some(3);
    let mut cell = cell(
        Scheduler::RoundRobin,
        vec![small, user(Rate::constant(8e6))],
    );
    for n in 0..10 {
        cell.push(ms(0), 0, Numbered(n, 100));
        cell.push(ms(0), 1, Numbered(n, 100));
    }
    let dropped = |user: usize| cell.users()[user].stats().dropped;
    assert_eq!((dropped(0), dropped(1)), (7, 0));
}

/// Rates with and without a pattern, queues with and without a policy, a shaper or none.
fn users() -> impl Strategy<Value = Vec<Config>> {
    let rate = prop_oneof![
        (1e5..3e7f64).prop_map(Rate::constant),
        any::<u64>().prop_map(|seed| Rate::from(CellModel::new(CellKind::Lte, None, seed))),
    ];
    let policy = prop_oneof![
        Just(Policy::DropTail),
        Just(Policy::Pie {
            target: Duration::from_millis(5),
        }),
        Just(Policy::Codel {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(50),
        }),
    ];
    let shaper = prop::option::of((1e6..3e7f64).prop_map(|rate_bps| TokenBucket {
        rate_bps,
        burst_bytes: 4000,
        queue_packets: 30,
    }));
    let user =
        (rate, policy, shaper, 1usize..30).prop_map(|(rate, policy, shaper, packets)| Config {
            rate,
            shaper,
            queue: QueueConfig {
                packets: Some(packets),
                bytes: None,
                policy,
                ..QueueConfig::default()
            },
            ..Config::default()
        });
    prop::collection::vec(user, 1..4)
}

type Arrival = (u64, usize, usize);

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![
        Just(0),
        0u64..3_000_000,
        (0u64..20).prop_map(|ms| ms * 1_000_000)
    ];
    prop::collection::vec((gap, 0usize..4, 1usize..3000), 1..150)
}

fn schedulers() -> impl Strategy<Value = Scheduler> {
    prop_oneof![Just(Scheduler::RoundRobin), Just(FAIR)]
}

/// Deliveries of a run that polls at events alone (none) or at intervals, and checks the packet counts.
fn run(
    mut cell: SharedLink<Numbered>,
    arrivals: &[Arrival],
    every: Option<Duration>,
) -> Vec<(usize, Delivery<Numbered>)> {
    let mut out = Vec::new();
    let (mut now, mut polled) = (Instant::ZERO, Instant::ZERO);
    let last = [(20_000_000_000, 0, 0)];
    for (n, &(gap, who, bytes)) in (0..).zip(arrivals.iter().chain(&last)) {
        now += Duration::from_nanos(gap);
        loop {
            let next = match every {
                None => cell.next_event(),
                Some(interval) => Some(polled + interval),
            };
            let Some(next) = next.filter(|&next| next <= now) else {
                break;
            };
            polled = next;
            while let Some((who, delivery)) = cell.poll(next) {
                assert!(every.is_some() || delivery.due == next);
                out.push((who, delivery));
            }
            assert!(cell.next_event().is_none_or(|event| event > next));
        }
        let user = who % cell.users().len();
        cell.push(now, user, Numbered(n, bytes));
        for user in cell.users() {
            let inside = user.shaper_len() + user.queue_len() + user.in_flight();
            let stats = user.stats();
            let gone = stats.delivered_packets + stats.dropped + stats.lost;
            assert_eq!(stats.arrived_packets, gone + inside as u64);
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    /// How the cell is polled changes nothing, events are never missed, no packet vanishes, and
    /// deliveries come in order of time.
    #[test]
    fn polling_changes_nothing(
        scheduler in schedulers(),
        users in users(),
        arrivals in arrivals(),
    ) {
        let cell = || cell(scheduler, users.clone());
        let events = run(cell(), &arrivals, None);
        prop_assert!(events.is_sorted_by_key(|(_, d)| d.due));
        for interval in [Duration::from_micros(700), Duration::from_secs(5)] {
            prop_assert_eq!(&run(cell(), &arrivals, Some(interval)), &events);
        }
    }

    /// A user alone in a cell gets all of his rate: with the cell's own TTI, exactly what the link alone gives.
    #[test]
    fn alone_is_a_link(seed: u64, arrivals in arrivals()) {
        let config = user(Rate::from(CellModel::new(CellKind::Lte, None, seed)));
        let mut link = Link::new(config.clone(), 1);
        let mut cell = cell(FAIR, vec![config]);
        let mut now = Instant::ZERO;
        for (n, &(gap, _, bytes)) in (0..).zip(&arrivals) {
            now += Duration::from_nanos(gap);
            link.push(now, Numbered(n, bytes));
            cell.push(now, 0, Numbered(n, bytes));
        }
        let end = now + Duration::from_secs(20);
        while let Some(delivery) = link.poll(end) {
            prop_assert_eq!(cell.poll(end), Some((0, delivery)));
        }
        prop_assert_eq!(cell.poll(end), None);
    }
}
