use crate::{Config, Instant, Link, Rate, Trace};
use std::sync::Arc;
use std::time::Duration;

/// 1 byte/µs.
fn constant() -> Link<Vec<u8>> {
    Link::new(
        Config {
            rate: Rate::Constant(8e6),
            ..Config::default()
        },
        1,
    )
}

fn drain(link: &mut Link<Vec<u8>>) {
    while link.poll(Instant::from_millis(10_000)).is_some() {}
}

#[test]
fn a_saturated_link_is_fully_used() {
    let mut link = constant();
    for _ in 0..10 {
        link.push(Instant::from_millis(5), vec![0; 1000]);
    }
    drain(&mut link);
    let stats = link.stats();
    assert_eq!((stats.sent_bytes, stats.demand_bytes), (10_000, 10_000));
}

#[test]
fn idle_time_is_no_demand() {
    let mut link = constant();
    for ms in [0, 10, 25, 90] {
        link.push(Instant::from_millis(ms), vec![0; 1000]);
    }
    drain(&mut link);
    assert_eq!(link.stats().demand_bytes, 4000);
}

#[test]
fn a_packet_that_comes_while_another_is_sent_adds_only_its_own_time() {
    let mut link = constant();
    link.push(Instant::ZERO, vec![0; 1000]);
    link.push(Instant::ZERO + Duration::from_micros(400), vec![0; 1000]);
    drain(&mut link);
    assert_eq!(link.stats().demand_bytes, 2000);
}

#[test]
fn an_opportunity_missed_while_a_packet_waited_is_capacity_and_one_before_it_is_not() {
    // Opportunities of 1500 bytes at 10, 20, 30, … ms.
    let trace = Trace::parse("10\n").unwrap();
    let mut link = Link::new(
        Config {
            rate: Rate::Opportunities(Arc::new(trace)),
            ..Config::default()
        },
        1,
    );
    // Needs two opportunities, and nobody wants the rest of the second.
    link.push(Instant::from_millis(25), vec![0; 2000]);
    drain(&mut link);
    let stats = link.stats();
    assert_eq!((stats.sent_bytes, stats.demand_bytes), (2000, 3000));
}
