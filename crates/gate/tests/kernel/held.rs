//! Packets leave when the law says, in their order.

use crate::hosts::{Path, assert_all_in_order, assert_nothing_left, hosts};
use crate::laws::{Law, start};
use hdrhistogram::Histogram;
use std::time::{Duration, Instant};
use tidegate_gate::Limits;
use tidegate_lab::IpVersion;

const QUIET: Duration = Duration::from_millis(500);

/// Each waits as long as the law says, and little longer; the excess is printed.
#[test]
fn packets_leave_in_their_time() {
    const WAIT: Duration = Duration::from_millis(40);
    let Some(hosts) = hosts() else { return };
    for version in IpVersion::ALL {
        let path = Path::new(&hosts, version);
        let law = Law::Wait(WAIT.as_micros() as u64);
        let start = || Ok(start(law, Limits::default())?);
        let mut gate = hosts.client.run(start).unwrap();
        gate.hold(&[path.flow]).unwrap();
        let receiver = path.receive(QUIET);
        let mut sent = Vec::new();
        for number in 0..1000 {
            sent.push(Instant::now());
            path.send_one(number);
            std::thread::sleep(Duration::from_micros(300));
        }
        let came = receiver.join().unwrap();
        assert_all_in_order(&came, 1000);
        let mut late = Histogram::<u64>::new(3).unwrap();
        for ((number, came), sent) in came.iter().zip(&sent) {
            let early = "left before its time";
            let late_by = came.checked_duration_since(*sent + WAIT).expect(early);
            late.record(late_by.as_micros() as u64).unwrap();
            assert!(late_by < Duration::from_secs(1), "{number}: {late_by:?}");
        }
        let at = |q| late.value_at_quantile(q);
        let [p50, p90, p99, most] = [at(0.5), at(0.9), at(0.99), late.max()];
        println!("{version:?}: late by µs: p50 {p50}, p90 {p90}, p99 {p99}, max {most}");
        // On a busy machine only the median says much.
        assert!(p50 < 2_000, "half are {p50} µs late");
        let counts = gate.counts().unwrap();
        assert_eq!((counts.came, counts.waited, counts.pushed), (1000, 1000, 0));
        let process = gate.process_id();
        drop(gate);
        assert_nothing_left(&hosts.client, process);
    }
}

#[test]
fn a_law_that_does_not_mind_the_order_cannot_break_it() {
    let Some(hosts) = hosts() else { return };
    let path = Path::new(&hosts, IpVersion::V4);
    let start = || Ok(start(Law::Jitter(50_000), Limits::default())?);
    let mut gate = hosts.client.run(start).unwrap();
    gate.hold(&[path.flow]).unwrap();
    let receiver = path.receive(QUIET);
    path.send(0..3000);
    assert_all_in_order(&receiver.join().unwrap(), 3000);
    assert_eq!(gate.counts().unwrap().came, 3000);
}

/// Other packets pass at once, also while thousands wait.
#[test]
fn only_flows_that_were_named_wait() {
    let Some(hosts) = hosts() else { return };
    let [held, other] = [(); 2].map(|()| Path::new(&hosts, IpVersion::V4));
    let start = || Ok(start(Law::Wait(600_000), Limits::default())?);
    let mut gate = hosts.client.run(start).unwrap();
    gate.hold(&[held.flow]).unwrap();
    let receivers = [held.receive(2 * QUIET), other.receive(2 * QUIET)];
    held.send(0..2000);
    let began = Instant::now();
    other.send(0..2000);
    let [waited, passed] = receivers.map(|r| r.join().unwrap());
    assert_all_in_order(&waited, 2000);
    assert_all_in_order(&passed, 2000);
    let last = passed.last().unwrap().1;
    assert!(last < waited[0].1, "what is not held waits for what is");
    println!("others took {:?}", last - began);
    assert_eq!(gate.counts().unwrap().came, 2000);
}

/// Dismissed in mid-flow: waiting packets leave first, then new ones.
#[test]
fn a_flow_that_is_dismissed_leaves_at_once() {
    const WAIT: Duration = Duration::from_millis(1500);
    let Some(hosts) = hosts() else { return };
    let path = Path::new(&hosts, IpVersion::V4);
    let start = || {
        Ok(start(
            Law::Wait(WAIT.as_micros() as u64),
            Limits::default(),
        )?)
    };
    let mut gate = hosts.client.run(start).unwrap();
    let began = Instant::now();
    for _ in 0..10 {
        let receiver = path.receive(WAIT / 3);
        gate.hold(&[path.flow]).unwrap();
        path.send(0..100);
        gate.leave(&[path.flow]).unwrap();
        path.send(100..200);
        assert_all_in_order(&receiver.join().unwrap(), 200);
    }
    let took = began.elapsed();
    assert!(took < 10 * WAIT, "they waited: {took:?}");
    assert_eq!(gate.counts().unwrap().waiting, 0);
}

/// While another flow is dismissed, waiting packets go on waiting, in order.
#[test]
fn others_are_not_let_go_with_one() {
    let Some(hosts) = hosts() else { return };
    let [held, other] = [(); 2].map(|()| Path::new(&hosts, IpVersion::V4));
    let start = || Ok(start(Law::Wait(300_000), Limits::default())?);
    let mut gate = hosts.client.run(start).unwrap();
    gate.hold(&[held.flow]).unwrap();
    let receiver = held.receive(QUIET);
    let began = Instant::now();
    std::thread::scope(|scope| {
        let sender = scope.spawn(|| held.send(0..3000));
        while !sender.is_finished() {
            gate.hold(&[other.flow]).unwrap();
            gate.leave(&[other.flow]).unwrap();
        }
    });
    let came = receiver.join().unwrap();
    assert_all_in_order(&came, 3000);
    assert!(came[0].1 - began >= Duration::from_millis(300));
    assert_eq!(gate.counts().unwrap().pushed, 0);
}

/// Datagrams that leave as one (UDP_SEGMENT) wait as one.
#[test]
fn segments_that_leave_as_one_wait_as_one() {
    use nix::sys::socket::{setsockopt, sockopt::UdpGsoSegment};
    let Some(hosts) = hosts() else { return };
    let path = Path::new(&hosts, IpVersion::V4);
    let start = || Ok(start(Law::Wait(50_000), Limits::default())?);
    let mut gate = hosts.client.run(start).unwrap();
    gate.hold(&[path.flow]).unwrap();
    setsockopt(&path.from, UdpGsoSegment, &1000).unwrap();
    let receiver = path.receive(QUIET);
    for ten in 0..20_u32 {
        let mut datagrams = vec![0; 10_000];
        for (place, datagram) in (0..).zip(datagrams.chunks_mut(1000)) {
            datagram[..4].copy_from_slice(&(10 * ten + place).to_be_bytes());
        }
        path.from.send(&datagrams).unwrap();
    }
    assert_all_in_order(&receiver.join().unwrap(), 200);
    assert_eq!(gate.counts().unwrap().came, 20);
}

/// Both gates delay the same flow, one after the other: the waits add up.
#[test]
fn two_gates_do_not_mind_each_other() {
    let Some(hosts) = hosts() else { return };
    let path = Path::new(&hosts, IpVersion::V4);
    let start = || Ok(start(Law::Wait(100_000), Limits::default())?);
    let mut gates = [(); 2].map(|()| hosts.client.run(start).unwrap());
    for gate in &mut gates {
        gate.hold(&[path.flow]).unwrap();
    }
    let receiver = path.receive(QUIET);
    let began = Instant::now();
    path.send(0..100);
    let came = receiver.join().unwrap();
    assert_all_in_order(&came, 100);
    assert!(came[0].1 - began >= Duration::from_millis(200));
    for gate in &mut gates {
        assert_eq!(gate.counts().unwrap().came, 100);
    }
    let processes = gates.each_ref().map(|gate| gate.process_id());
    drop(gates);
    for process in processes {
        assert_nothing_left(&hosts.client, process);
    }
}
