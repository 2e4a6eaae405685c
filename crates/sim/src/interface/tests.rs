use super::*;
use crate::packet::{Body, Echo};
use crate::route::RouteId;
use tidegate_scenario::Direction;

fn packet(number: u32, bytes: u16) -> Packet {
    let echo = Echo {
        workload: number,
        sent: Instant::ZERO,
    };
    let route = RouteId::of(0, Direction::Down);
    Packet {
        bytes,
        ..Packet::echo(echo, route)
    }
}

fn number(packet: Packet) -> u32 {
    match packet.body {
        Body::Echo(echo) => echo.workload,
        _ => unreachable!("only echoes were sent"),
    }
}

/// Polls at each event. Returns what entered when, in nanoseconds.
fn drain(interface: &mut Interface) -> Vec<(u64, u32)> {
    let mut came = Vec::new();
    while let Some(at) = interface.next_event() {
        let packet = interface.poll(at).expect("it said so");
        came.push((at.as_nanos(), number(packet)));
    }
    came
}

#[test]
fn what_comes_alone_is_in_at_once() {
    let mut interface = Interface::behind(20e6);
    for n in 0..3 {
        let at = Instant::from_nanos(u64::from(n) * 600_000);
        assert_eq!(interface.arrive(at, packet(n, 1500)).map(number), Some(n));
        assert_eq!(interface.next_event(), None);
    }
}

#[test]
fn what_comes_at_one_instant_is_in_one_after_the_other() {
    let mut interface = Interface::behind(20e6);
    let at = Instant::from_nanos(1000);
    assert_eq!(interface.arrive(at, packet(0, 1500)).map(number), Some(0));
    for n in 1..4 {
        assert!(interface.arrive(at, packet(n, 750)).is_none());
    }
    // 1500 B take 4800 ns at 2.5 Gbit/s; an early look finds nothing.
    assert!(interface.poll(Instant::from_nanos(5799)).is_none());
    assert_eq!(drain(&mut interface), [(5800, 1), (8200, 2), (10_600, 3)]);
}

#[test]
fn who_comes_while_others_wait_waits_behind_them() {
    let mut interface = Interface::behind(20e6);
    assert!(interface.arrive(Instant::ZERO, packet(0, 1500)).is_some());
    assert!(interface.arrive(Instant::ZERO, packet(1, 1500)).is_none());
    // The wire is free, but the packet that waits has not been polled yet.
    let at = Instant::from_nanos(4800);
    assert!(interface.arrive(at, packet(2, 1500)).is_none());
    assert_eq!(drain(&mut interface), [(4800, 1), (9600, 2)]);
}

#[test]
fn an_interface_is_faster_than_its_links() {
    let mut interface = Interface::behind(40e9);
    assert!(interface.arrive(Instant::ZERO, packet(0, 1500)).is_some());
    assert!(interface.arrive(Instant::ZERO, packet(1, 1500)).is_none());
    assert_eq!(drain(&mut interface), [(150, 1)]);
}

#[test]
fn a_host_that_sleeps_takes_time_to_wake_and_none_while_it_is_awake() {
    let rng = crate::random::stream(1, "wakes");
    let longest = Duration::from_micros(100);
    let mut interface = Interface::behind(20e6).that_wakes(Wakes { rng, longest });
    let mut took = Vec::new();
    for n in 0..1000 {
        let at = Instant::from_nanos(n * 600_000);
        assert!(interface.arrive(at, packet(0, 1500)).is_none());
        assert!(interface.arrive(at, packet(1, 1500)).is_none());
        let [(first, 0), (second, 1)] = drain(&mut interface)[..] else {
            panic!("two in their order");
        };
        assert_eq!(second - first, 4800);
        took.push(first - at.as_nanos());
    }
    let mean = took.iter().sum::<u64>() / 1000;
    assert!(took.iter().all(|&took| took < 100_000), "{took:?}");
    assert!((45_000..55_000).contains(&mean), "{mean}");
}
