//! Properties of every link, whatever its stages and its traffic.

use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;
use tidegate_link::{
    Arq, BlockError, Capacity, CellKind, CellModel, Config, CrossTraffic, DelayProfile, DelayTrace,
    Delivery, Disorder, DualPi2Policy, Fading, FqCodelPolicy, Instant, Link, Loss, Middlebox,
    Packet, Policy, QueueConfig, Rate, RateSeries, RedPolicy, ScheduledSeries, Scheduler, Sequence,
    Sharing, SignalWalk, TokenBucket, Trace,
};

/// Flows among which the packets are dealt out in turn.
const FLOWS: u64 = 3;

/// A packet by number and length; in its flow it carries one number of sequence space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbered {
    number: u64,
    bytes: usize,
}

impl Packet for Numbered {
    fn wire_bytes(&self) -> usize {
        self.bytes
    }

    fn flow(&self) -> u64 {
        self.number % FLOWS
    }

    fn sequence(&self) -> Option<Sequence> {
        let start = (self.number / FLOWS) as u32;
        Some(Sequence {
            start,
            end: start + 1,
            opens: start == 0,
        })
    }

    fn duplicate(&self) -> Option<Self> {
        Some(*self)
    }
}

/// Longest packet offered, longer than an opportunity.
const MAX_BYTES: usize = 4000;

/// A packet's length and the time since the one before it.
type Arrival = (Duration, usize);

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let gap = prop_oneof![
        Just(Duration::ZERO),
        (0u64..3_000_000).prop_map(Duration::from_nanos),
        // Whole milliseconds, so that arrivals coincide with opportunities and steps.
        (0u64..40).prop_map(Duration::from_millis),
    ];
    prop::collection::vec((gap, 0..=MAX_BYTES), 1..150)
}

fn rates() -> impl Strategy<Value = Rate> {
    let constant = (100_000u32..100_000_000).prop_map(|bps| Rate::constant(bps.into()));
    let trace = prop::collection::vec(0u32..60, 1..60).prop_map(|mut lines| {
        lines.sort_unstable();
        lines.push(60);
        let text: String = lines.iter().map(|ms| format!("{ms}\n")).collect();
        Rate::from(Trace::parse(&text).expect("valid"))
    });
    let series = prop::collection::vec(0u32..30_000_000, 1..6).prop_map(|rates| {
        let rows: String = (1..)
            .zip(rates)
            .map(|(i, bps)| format!("0.0{i},{bps}\n"))
            .collect();
        let series = RateSeries::parse(&format!("0,1e6\n{rows}")).expect("valid");
        Rate::from(series)
    });
    let cell = (0usize..3, any::<u64>()).prop_map(|(kind, seed)| {
        let kind = [CellKind::Lte, CellKind::Hspa, CellKind::Evdo][kind];
        Rate::from(CellModel::new(kind, None, seed))
    });
    let walk = (
        -5.0..25.0f64,
        -5.0..25.0f64,
        20u64..500,
        0.0..4.0f64,
        any::<u64>(),
    );
    let walk = walk.prop_map(|(from, to, ms, deviation_db, seed)| {
        let fading = Fading {
            deviation_db,
            coherence: Duration::from_millis(20),
        };
        let points = [(Duration::ZERO, from), (Duration::from_millis(ms), to)];
        let walk = SignalWalk::new(&points, 50e6, Some(fading), seed).expect("valid");
        Rate::from(walk)
    });
    // At least 100 kbit/s: at a few bits a second, held for ever, a packet would take days of a cell's TTIs.
    let scheduled = (100_000u32..30_000_000, 10u64..900, 1u64..20).prop_map(|(bps, ms, tti)| {
        let text = format!("0,1e6\n0.{ms:03},{bps}\n");
        let series = RateSeries::parse(&text).expect("valid");
        let tti = Duration::from_millis(tti);
        Rate::from(ScheduledSeries::new(series, tti).interpolated())
    });
    prop_oneof![constant, trace, series, scheduled, cell, walk]
}

fn queues() -> impl Strategy<Value = QueueConfig> {
    let policy = prop_oneof![
        Just(Policy::DropTail),
        Just(Policy::DropHead),
        (1u64..20, 20u64..200).prop_map(|(target, interval)| Policy::Codel {
            target: Duration::from_millis(target),
            interval: Duration::from_millis(interval),
        }),
        (1.0..5.0, 6.0..15.0, 0.01..0.9).prop_map(|(min_packets, max_packets, p)| {
            Policy::Red(RedPolicy {
                min_packets,
                max_packets,
                max_probability: p,
                weight: 0.05,
                packet_time: Duration::from_millis(1),
            })
        }),
        (1u64..30).prop_map(|target| Policy::Pie {
            target: Duration::from_millis(target),
        }),
        (1u64..30, 0u32..100).prop_map(|(target, classic_percent)| {
            Policy::DualPi2(DualPi2Policy {
                target: Duration::from_millis(target),
                classic_percent,
                ..DualPi2Policy::default()
            })
        }),
        (1u64..20, 100u32..3000, 1u32..5).prop_map(|(target, quantum, flows)| {
            Policy::FqCodel(FqCodelPolicy {
                target: Duration::from_millis(target),
                interval: Duration::from_millis(100),
                quantum,
                flows,
            })
        }),
    ];
    let packets = prop::option::of(1usize..50);
    let bytes = prop::option::of(1000usize..60_000);
    (packets, bytes, policy).prop_map(|(packets, bytes, policy)| QueueConfig {
        packets,
        bytes,
        policy,
        ..QueueConfig::default()
    })
}

fn delays() -> impl Strategy<Value = DelayProfile> {
    let ms = |ms: u64| Duration::from_millis(ms);
    let steps = prop::collection::vec((0u64..500, 0u64..100), 0..4);
    (0u64..100, steps, any::<bool>()).prop_map(move |(initial, steps, recorded)| {
        let steps = steps
            .iter()
            .map(|&(at, d)| (Instant::from_millis(at), ms(d)));
        let profile = DelayProfile::new(ms(initial), steps.collect());
        match recorded {
            false => profile,
            true => {
                let trace = DelayTrace::parse("12\n9\n30\n11\n").expect("valid");
                profile.above(Arc::new(trace), Duration::ZERO)
            }
        }
    })
}

fn losses() -> impl Strategy<Value = Option<Loss>> {
    let loss = prop_oneof![
        (0.0..0.5).prop_map(Loss::Random),
        (0.0..0.5, 1.0..5.0).prop_map(|(probability, mean_length)| Loss::Bursty {
            probability,
            mean_length,
        }),
    ];
    prop::option::of(loss)
}

/// One user's share of a cell with others.
fn sharings() -> impl Strategy<Value = Sharing> {
    let scheduler = prop_oneof![
        Just(Scheduler::RoundRobin),
        (5u64..500).prop_map(|ms| Scheduler::ProportionalFair {
            time_constant: Duration::from_millis(ms),
        }),
    ];
    (scheduler, 1u32..4, 1e4..1e7f64, any::<u64>()).prop_map(
        |(scheduler, users, mean_bps, seed)| Sharing {
            scheduler,
            users,
            tti: Duration::from_millis(1),
            traffic: CrossTraffic {
                mean_bps,
                on: Duration::from_millis(100),
                off: Duration::from_millis(100),
            },
            seed,
        },
    )
}

fn arqs() -> impl Strategy<Value = Arq> {
    (0.0..0.9f64, 1u64..50, 1u32..6).prop_map(|(p, ms, tries)| Arq {
        error: BlockError::Constant(p),
        retry: Duration::from_millis(ms),
        tries,
    })
}

fn disorders() -> impl Strategy<Value = Disorder> {
    (0.0..0.5f64, 0u64..50, 0.0..0.5f64).prop_map(|(reorder, ms, duplicate)| Disorder {
        reorder,
        late_by: Duration::from_millis(ms),
        duplicate,
    })
}

fn shapers() -> impl Strategy<Value = TokenBucket> {
    (1e5..1e8f64, 1000u32..20_000, 1usize..60).prop_map(|(rate_bps, burst_bytes, queue_packets)| {
        TokenBucket {
            rate_bps,
            burst_bytes,
            queue_packets,
        }
    })
}

fn middleboxes() -> impl Strategy<Value = Middlebox> {
    (1u64..200).prop_map(|ms| Middlebox {
        patience: Duration::from_millis(ms),
    })
}

/// Links that keep packets in order and carry each at most once, whole rate their own.
fn plain_configs() -> impl Strategy<Value = Config> {
    (rates(), delays(), queues(), losses()).prop_map(|(rate, delay, queue, loss)| Config {
        rate,
        delay,
        queue,
        loss,
        ..Config::default()
    })
}

/// Links with any of the stages.
fn configs() -> impl Strategy<Value = Config> {
    let stages = (
        prop::option::of(shapers()),
        // A cell works through every TTI, which takes time without optimisation.
        prop::option::weighted(0.2, sharings()),
        prop::option::of(arqs()),
        prop::option::of(disorders()),
        prop::option::of(middleboxes()),
    );
    (plain_configs(), stages).prop_map(|(plain, (shaper, sharing, arq, disorder, middlebox))| {
        Config {
            shaper,
            sharing,
            arq,
            disorder,
            middlebox,
            ..plain
        }
    })
}

/// When to poll between arrivals.
#[derive(Clone, Copy, Debug)]
enum Polling {
    /// When the link asks for it, and at no other time.
    Events,
    /// At fixed intervals.
    Every(Duration),
}

/// The deliveries of a run, and the instant at which each was polled.
struct Outcome {
    deliveries: Vec<(Instant, Delivery<Numbered>)>,
    link: Link<Numbered>,
}

/// Sends the packets through the link and waits a minute for it to run empty.
fn run(config: &Config, arrivals: &[Arrival], polling: Polling) -> Outcome {
    let mut outcome = Outcome {
        deliveries: Vec::new(),
        link: Link::new(config.clone(), 42),
    };
    let (mut polled, mut now) = (Instant::ZERO, Instant::ZERO);
    for (number, &(gap, bytes)) in (0..).zip(arrivals) {
        now += gap;
        outcome.poll_until(now, &mut polled, polling);
        outcome.link.push(now, Numbered { number, bytes });
    }
    outcome.link.assert_sound();
    outcome.poll_until(now + Duration::from_secs(60), &mut polled, polling);
    outcome.link.assert_sound();
    outcome
}

impl Outcome {
    /// Polls at every instant from `polled` on until `until` that the polling asks for.
    fn poll_until(&mut self, until: Instant, polled: &mut Instant, polling: Polling) {
        loop {
            let next = match polling {
                Polling::Events => self.link.next_event(),
                Polling::Every(interval) => Some(*polled + interval),
            };
            let Some(next) = next.filter(|&next| next <= until) else {
                return;
            };
            *polled = next;
            while let Some(delivery) = self.link.poll(next) {
                self.deliveries.push((next, delivery));
            }
        }
    }

    fn without_poll_times(&self) -> Vec<Delivery<Numbered>> {
        self.deliveries
            .iter()
            .map(|&(_, delivery)| delivery)
            .collect()
    }
}

/// Bytes that the rate could have carried before each of the instants, which are in order.
fn carried_before(rate: &Rate, instants: &[Instant]) -> Vec<u64> {
    let mut capacity = Capacity::new(rate);
    let (mut carried, mut from) = (0, Instant::ZERO);
    instants
        .iter()
        .map(|&to| {
            carried += capacity.bytes(from, to);
            from = to;
            carried
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// How the link is polled changes nothing, and no event is missed: if polled at events alone, it delivers every
    /// packet at the very instant when it is due.
    #[test]
    fn polling_changes_nothing(config in configs(), arrivals in arrivals()) {
        let events = run(&config, &arrivals, Polling::Events);
        for (polled, delivery) in &events.deliveries {
            prop_assert_eq!(*polled, delivery.due);
        }
        for interval in [Duration::from_millis(1), Duration::from_secs(60)] {
            let other = run(&config, &arrivals, Polling::Every(interval));
            prop_assert_eq!(other.without_poll_times(), events.without_poll_times());
            prop_assert_eq!(other.link.stats(), events.link.stats());
        }
    }

    /// Once nothing is left to poll, the next event lies in the future; polling at events comes to an end.
    #[test]
    fn events_lie_ahead(config in configs(), arrivals in arrivals()) {
        let mut link = Link::new(config, 42);
        let mut now = Instant::ZERO;
        for (number, &(gap, bytes)) in (0..).zip(&arrivals) {
            now += gap;
            link.push(now, Numbered { number, bytes });
            while link.poll(now).is_some() {}
            prop_assert!(link.next_event().is_none_or(|next| next > now));
        }
    }

    /// In + copies = delivered + dropped + lost + shaped + queued + in flight, at every moment.
    #[test]
    fn packets_are_conserved(config in configs(), arrivals in arrivals()) {
        let mut link = Link::new(config, 42);
        let (mut now, mut bytes_in) = (Instant::ZERO, 0);
        for (number, &(gap, bytes)) in (0..).zip(&arrivals) {
            now += gap;
            link.push(now, Numbered { number, bytes });
            bytes_in += bytes as u64;
            loop {
                let stats = *link.stats();
                prop_assert_eq!((stats.arrived_packets, stats.arrived_bytes), (number + 1, bytes_in));
                let inside = link.shaper_len() + link.queue_len() + link.in_flight();
                let gone = stats.delivered_packets + stats.dropped + stats.lost;
                prop_assert_eq!(number + 1 + stats.duplicated, gone + inside as u64);
                if link.poll(now).is_none() {
                    break;
                }
            }
        }
    }

    /// Packets of a flow come in order, all are due in order, each after at least its queueing delay.
    #[test]
    fn first_in_first_out(config in plain_configs(), arrivals in arrivals()) {
        let mut arrived = vec![Instant::ZERO; arrivals.len()];
        let mut now = Instant::ZERO;
        for (at, (gap, _)) in arrived.iter_mut().zip(&arrivals) {
            now += *gap;
            *at = now;
        }
        let deliveries = run(&config, &arrivals, Polling::Events).without_poll_times();
        let mut last = [None; FLOWS as usize];
        for d in &deliveries {
            let last = &mut last[(d.packet.number % FLOWS) as usize];
            prop_assert!(last.replace(d.packet.number) < Some(d.packet.number));
        }
        for pair in deliveries.windows(2) {
            prop_assert!(pair[0].due <= pair[1].due);
        }
        for d in deliveries {
            let left_queue = arrived[d.packet.number as usize] + d.queued;
            prop_assert!(d.due >= left_queue);
        }
    }

    /// In no window does the link carry more than its capacity, except the packet in transmission when the window
    /// began.
    #[test]
    fn throughput_keeps_to_the_capacity(config in configs(), arrivals in arrivals()) {
        let config = Config {
            delay: DelayProfile::default(),
            sharing: None,
            arq: None,
            disorder: None,
            middlebox: None,
            ..config
        };
        let deliveries = run(&config, &arrivals, Polling::Events).without_poll_times();
        let dues: Vec<_> = deliveries.iter().map(|d| d.due).collect();
        let nexts: Vec<_> = dues.iter().map(|&due| due + Duration::from_nanos(1)).collect();
        let could_before = carried_before(&config.rate, &dues);
        let could_by = carried_before(&config.rate, &nexts);
        for (first, before) in could_before.iter().enumerate() {
            let mut delivered = 0;
            for (d, by) in deliveries.iter().zip(&could_by).skip(first) {
                delivered += d.packet.bytes as u64;
                // Whole bytes are rounded down.
                let allowed = by - before + MAX_BYTES as u64 + 1;
                prop_assert!(delivered <= allowed, "{delivered} > {allowed}, {first} to {d:?}");
            }
        }
    }

    /// A queue without limits before a link without loss delivers everything.
    #[test]
    fn nothing_vanishes_without_a_cause(rate in rates(), arrivals in arrivals()) {
        let unlimited = QueueConfig { packets: None, ..QueueConfig::default() };
        let config = Config { rate, queue: unlimited, ..Config::default() };
        let outcome = run(&config, &arrivals, Polling::Events);
        let numbers: Vec<_> = outcome.deliveries.iter().map(|(_, d)| d.packet.number).collect();
        prop_assert_eq!(numbers, (0..arrivals.len() as u64).collect::<Vec<_>>());
        prop_assert_eq!(outcome.link.next_event(), None);
    }
}
