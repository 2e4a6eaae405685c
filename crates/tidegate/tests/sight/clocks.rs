//! What `top` shows of flows whose peers have timestamp clocks of every kind, over the real kernel and a link of 10
//! Mbit/s with half a second of buffer.

use crate::running::{Running, TIDEGATE, json};
use crate::stamps::{Clock, DEVICE, SERVER, Stamped};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};
use tidegate_testing::{has_program, is_root};

/// Length of each download.
const DOWNLOAD: Duration = Duration::from_secs(6);

/// A download from a server with that clock: the output of `top --json` every half second and at the end.
fn looks(clock: Clock) -> Vec<Value> {
    let hosts = Stamped::new(move |_| Some(clock));
    let listener = hosts
        .server
        .run(|| Ok(TcpListener::bind((SERVER, 0))?))
        .unwrap();
    let address = listener.local_addr().unwrap();
    let sending = thread::spawn(move || {
        let (mut sender, _) = listener.accept().unwrap();
        let begin = Instant::now();
        while begin.elapsed() < DOWNLOAD && sender.write_all(&[7; 10_000]).is_ok() {}
        let _ = sender.shutdown(Shutdown::Both);
    });
    let looks = hosts.client.run(|| {
        let args = ["--iface", DEVICE];
        let mut agent = Running::start_by(Command::new(TIDEGATE), &args);
        agent.event("serving");
        let mut client = TcpStream::connect(address)?;
        let reading = thread::spawn(move || {
            let mut bytes = vec![0; 1 << 16];
            while client.read(&mut bytes).is_ok_and(|n| n > 0) {}
        });
        let begin = Instant::now();
        let mut looks = Vec::new();
        while begin.elapsed() + Duration::from_secs(1) < DOWNLOAD {
            looks.push(json(&agent.top(&["--json"])));
            thread::sleep(Duration::from_millis(300));
        }
        reading.join().unwrap();
        agent.interrupt();
        Ok(looks)
    });
    sending.join().unwrap();
    looks.unwrap()
}

/// The download in a look; none before it has begun.
fn flow(look: &Value) -> Option<&Value> {
    let flows = look["flows"].as_array().unwrap();
    flows.iter().find(|f| f["direction"] == "down")
}

/// Bytes of a kind that arrived, from a look's account.
fn carried(look: &Value, kind: &str) -> u64 {
    let ways = look["account"]["ways"].as_array().unwrap();
    let kinds = ways.iter().filter(|way| way["direction"] == "down");
    let kinds = kinds.flat_map(|way| way["kinds"].as_array().unwrap());
    let of = kinds.filter(|part| part["kind"] == kind);
    of.filter_map(|part| part["bytes"].as_u64()).sum()
}

/// With any clock, no flow or interface shows a queue longer than this link's.
#[track_caller]
fn assert_possible(name: &str, looks: &[Value]) {
    for look in looks {
        let flows = look["flows"].as_array().unwrap();
        let paths = look["paths"].as_array().unwrap();
        for shown in flows.iter().chain(paths) {
            let queue_us = shown["queue_us"].as_u64().unwrap_or(0);
            assert!(queue_us < 700_000, "{name}: {shown}");
        }
    }
}

fn can_run() -> bool {
    is_root() && has_program("ip", "iproute2")
}

/// Clocks of 1 MHz, 10 kHz, 300, 250 and 100 Hz.
#[test]
fn flows_are_steered_whatever_unit_is_in_use() {
    if !can_run() {
        return;
    }
    let clocks: [(&str, Clock); 5] = [
        ("1 MHz", |us, _| Some(us as u32)),
        ("10 kHz", |us, _| Some((us / 100) as u32)),
        ("300 Hz", |us, _| Some((us * 3 / 10_000) as u32)),
        ("250 Hz", |us, _| Some((us / 4_000) as u32)),
        ("100 Hz", |us, _| Some((us / 10_000) as u32)),
    ];
    for (name, clock) in clocks {
        let looks = looks(clock);
        assert_possible(name, &looks);
        let last = flow(looks.last().unwrap()).unwrap();
        println!(
            "{name}: {} {} {}",
            last["limit"], last["queue_us"], last["rtt_us"]
        );
        assert_eq!(last["clock"], "understood", "{name}: {last}");
        assert_eq!(last["left_alone"], false, "{name}: {last}");
        assert!(last["wanted_bytes"].is_u64(), "{name}: {last}");
        assert!(
            last["queue_us"].as_u64().unwrap() < 150_000,
            "{name}: {last}"
        );
    }
}

/// Clocks of 10, 2 and 1 Hz and a constant show no queue. `top` says so and why, and shows the queue from the round
/// trip.
#[test]
fn flows_whose_clock_is_none_are_said_to_be_left_alone() {
    if !can_run() {
        return;
    }
    let clocks: [(&str, Clock); 4] = [
        ("10 Hz", |us, _| Some((us / 100_000) as u32)),
        ("2 Hz", |us, _| Some((us / 500_000) as u32)),
        ("1 Hz", |us, _| Some((us / 1_000_000) as u32)),
        ("constant", |_, _| Some(77)),
    ];
    for (name, clock) in clocks {
        let looks = looks(clock);
        assert_possible(name, &looks);
        let look = looks.last().unwrap();
        let last = flow(look).unwrap();
        println!(
            "{name}: {} {} {}",
            last["limit"], last["queue_us"], last["rtt_us"]
        );
        assert_eq!(last["clock"], "unknown", "{name}: {last}");
        assert_eq!(last["limit"], "no_clock", "{name}: {last}");
        assert_eq!(last["left_alone"], true, "{name}: {last}");
        let (left, steered) = (carried(look, "tcp_left"), carried(look, "tcp"));
        assert!(
            left > steered,
            "{name}: {left} left alone, {steered} steered"
        );
    }
}

/// Timestamps stop, or every second segment lacks them: `top` does not show an old queue as the present one.
#[test]
fn flows_without_their_timestamps_show_no_queue_of_before() {
    if !can_run() {
        return;
    }
    let ceasing: Clock = |us, n| (n < 40).then_some((us / 1_000) as u32);
    let every_second: Clock = |us, n| (n < 10 || n % 2 == 0).then_some((us / 1_000) as u32);
    let looks_ceasing = looks(ceasing);
    assert_possible("ceasing", &looks_ceasing);
    let last = flow(looks_ceasing.last().unwrap()).unwrap();
    println!("ceasing: {last}");
    assert_eq!(last["limit"], "no_timestamps", "{last}");
    assert!(last["queue_us"].is_null(), "{last}");
    assert_possible("every second", &looks(every_second));
}
