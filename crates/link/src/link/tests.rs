use super::*;
use crate::{CellKind, CellModel, Loss, Policy, QueueConfig, Rate, RateSeries, Trace};

/// A packet by number and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Numbered(u32, usize);

impl Packet for Numbered {
    fn wire_bytes(&self) -> usize {
        self.1
    }
}

fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

/// A link without delay behind an unlimited queue.
fn link(rate: Rate) -> Link<Numbered> {
    let queue = QueueConfig {
        packets: None,
        ..QueueConfig::default()
    };
    Link::new(
        Config {
            rate,
            queue,
            ..Config::default()
        },
        1,
    )
}

fn drain(link: &mut Link<Numbered>, now: Instant) -> Vec<Delivery<Numbered>> {
    std::iter::from_fn(|| link.poll(now)).collect()
}

/// 1500 bytes at 10 Mbit/s take S = 1.2 ms; a packet each A = 1 ms finds the ones before it: the
/// nth waits n(S − A) and is due at (n + 1)S.
#[test]
fn a_constant_rate_has_the_closed_form() {
    let mut link = link(Rate::constant(10e6));
    for n in 0..5000 {
        link.push(ms(u64::from(n)), Numbered(n, 1500));
    }
    let deliveries = drain(&mut link, ms(10_000));
    assert_eq!(deliveries.len(), 5000);
    for (n, delivery) in (0..).zip(&deliveries) {
        assert_eq!(delivery.packet.0, n);
        assert_eq!(delivery.queued, Duration::from_micros(200) * n);
        assert_eq!(
            delivery.due,
            Instant::ZERO + Duration::from_micros(1200) * (n + 1)
        );
    }
}

/// Packets queued when the rate falls to a tenth leave at that tenth.
#[test]
fn a_rate_step_reaches_what_is_queued() {
    let series = RateSeries::parse("0,12000000\n1,1200000\n100,1\n").expect("valid");
    let mut link = link(Rate::from(series));
    for n in 0..20 {
        link.push(ms(990), Numbered(n, 1500));
    }
    let dues: Vec<_> = drain(&mut link, ms(1100)).iter().map(|d| d.due).collect();
    let expected: Vec<_> = (991..=1000)
        .chain((1010..=1100).step_by(10))
        .map(ms)
        .collect();
    assert_eq!(dues, expected);
}

#[test]
fn limits_count_what_waits_and_not_what_is_sent() {
    let mut link: Link<Numbered> = Link::new(
        Config {
            rate: Rate::constant(12e6),
            queue: QueueConfig {
                packets: Some(2),
                ..QueueConfig::default()
            },
            ..Config::default()
        },
        1,
    );
    for n in 0..4 {
        link.push(Instant::ZERO, Numbered(n, 1500));
    }
    assert_eq!(
        (link.queue_len(), link.queue_bytes(), link.in_flight()),
        (2, 3000, 1)
    );
    assert_eq!(link.stats().dropped, 1);
    // At 1 ms the second leaves the queue, before what is pushed then.
    link.push(ms(1), Numbered(4, 1500));
    assert_eq!((link.queue_len(), link.stats().dropped), (2, 1));
    let numbers: Vec<_> = drain(&mut link, ms(10))
        .iter()
        .map(|d| d.packet.0)
        .collect();
    assert_eq!(numbers, [0, 1, 2, 4]);
}

/// Arrivals at twice the rate: the packet that leaves at t has waited t/2, so the delay passes 5 ms
/// at 10 ms, has stood for 100 ms at 110, and the drops come 100, 70.7 and 57.7 ms apart.
#[test]
fn codel_drops_when_the_queue_has_stood_for_an_interval() {
    let mut link: Link<Numbered> = Link::new(
        Config {
            rate: Rate::constant(12e6),
            queue: QueueConfig {
                packets: None,
                bytes: None,
                policy: Policy::Codel {
                    target: Duration::from_millis(5),
                    interval: Duration::from_millis(100),
                },
                ..QueueConfig::default()
            },
            ..Config::default()
        },
        1,
    );
    let mut drops = Vec::new();
    for n in 0..700 {
        let now = Instant::from_nanos(500_000) + Duration::from_micros(500) * n;
        link.push(now, Numbered(n, 1500));
        drain(&mut link, now);
        drops.resize(link.stats().dropped as usize, now.as_nanos() / 1_000_000);
    }
    assert_eq!(drops, [110, 210, 281, 339]);
}

#[test]
fn loss_takes_packets_after_the_queue_and_leaves_the_rest_their_times() {
    let config = Config {
        rate: Rate::constant(12e6),
        delay: Duration::from_millis(20).into(),
        loss: Some(Loss::Random(0.5)),
        ..Config::default()
    };
    let mut link = Link::new(config, 1);
    for n in 0..1000 {
        link.push(ms(0), Numbered(n, 1500));
    }
    let deliveries = drain(&mut link, ms(2000));
    for Delivery {
        packet,
        due,
        queued,
    } in &deliveries
    {
        assert_eq!(*due, ms(u64::from(packet.0) + 21));
        assert_eq!(*queued, Duration::from_millis(packet.0.into()));
    }
    assert_eq!(link.stats().lost + deliveries.len() as u64, 1000);
    assert!((400..600).contains(&link.stats().lost));
}

#[test]
fn an_earlier_now_counts_as_the_latest() {
    let mut link = link(Rate::constant(12e6));
    assert_eq!(link.poll(ms(50)), None);
    link.push(ms(10), Numbered(0, 1500));
    assert_eq!(link.next_event(), Some(ms(51)));
    assert_eq!(drain(&mut link, ms(51))[0].queued, Duration::ZERO);
}

#[test]
fn an_empty_link_has_no_event() {
    let trace = Trace::parse("1\n2\n3\n").expect("valid");
    let rates = [
        Rate::constant(1e6),
        Rate::from(trace),
        Rate::from(CellModel::new(CellKind::Lte, None, 1)),
    ];
    for rate in rates {
        let mut link = link(rate);
        assert_eq!(link.next_event(), None);
        link.push(ms(5), Numbered(0, 1500));
        assert!(link.next_event() > Some(ms(5)));
        assert_eq!(drain(&mut link, ms(60_000)).len(), 1);
        assert_eq!(link.next_event(), None);
    }
}

#[test]
fn an_outage_of_an_hour_is_no_work() {
    let mut link = link(Rate::from(Trace::parse("1\n").expect("valid")));
    let late = ms(1_000_000_000_000);
    assert_eq!(link.poll(late), None);
    link.push(late, Numbered(0, 100));
    assert_eq!(link.next_event(), Some(late + Duration::from_millis(1)));
}
