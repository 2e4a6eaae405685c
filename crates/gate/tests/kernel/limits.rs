//! Packets beyond the limits pass, and an interface that vanishes with its packets does no harm.

use crate::hosts::{Path, assert_all_in_order, assert_nothing_left, hosts, until};
use crate::laws::{Law, start};
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{setsockopt, sockopt};
use nix::unistd::Pid;
use std::io::ErrorKind;
use std::process::Command;
use std::time::{Duration, Instant};
use tidegate_gate::{GateError, Limits, Mechanisms};
use tidegate_lab::{IpVersion, Veth};
use tidegate_testing::has_program;

#[test]
fn what_is_too_much_leaves_in_order() {
    let Some(hosts) = hosts() else { return };
    let path = Path::new(&hosts, IpVersion::V4);
    let limits = Limits {
        packets: 100,
        ..Limits::default()
    };
    let start = || Ok(start(Law::Wait(700_000), limits)?);
    let mut gate = hosts.client.run(start).unwrap();
    gate.hold(&[path.flow]).unwrap();
    let receiver = path.receive(Duration::from_secs(1));
    let began = Instant::now();
    path.send(0..1000);
    let came = receiver.join().unwrap();
    assert_all_in_order(&came, 1000);
    let waited = |at: usize| came[at].1 - began > Duration::from_millis(600);
    assert!(!waited(899) && waited(900), "not the last hundred waited");
    assert_eq!(gate.counts().unwrap().pushed, 900);
}

/// A process that does not get to run: the kernel's queue fills, and further packets bypass it.
#[test]
fn a_full_queue_passes() {
    const PACKETS: u32 = 20_000;
    let Some(hosts) = hosts() else { return };
    let path = Path::new(&hosts, IpVersion::V4);
    let start = || Ok(start(Law::Wait(0), Limits::default())?);
    let mut gate = hosts.client.run(start).unwrap();
    gate.hold(&[path.flow]).unwrap();
    let process = Pid::from_raw(gate.process_id() as i32);
    let receiver = path.receive(Duration::from_secs(2));
    stop(process);
    path.send(0..PACKETS);
    std::thread::sleep(Duration::from_millis(200));
    kill(process, Signal::SIGCONT).unwrap();
    let mut came: Vec<_> = receiver.join().unwrap().iter().map(|c| c.0).collect();
    let first = came[0];
    assert!(first > 1000, "packet {first} was the first to pass");
    println!("{first} waited, {} passed", PACKETS - first);
    came.sort_unstable();
    assert_eq!(came, Vec::from_iter(0..PACKETS));
    assert_eq!(gate.counts().unwrap().came, u64::from(first));
}

/// Stops the process, and waits until it has stopped.
fn stop(process: Pid) {
    kill(process, Signal::SIGSTOP).unwrap();
    until(Duration::from_secs(1), "it stops", || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
        stat.is_ok_and(|stat| stat.contains(") T "))
    });
}

/// Waiting packets count against the buffer of the socket that sent them. This counts how many fit into the default
/// buffer before its program can no longer send.
#[test]
fn a_socket_can_send_as_many_as_its_buffer_pays_for() {
    let Some(hosts) = hosts() else { return };
    let path = Path::new(&hosts, IpVersion::V4);
    let start = || Ok(start(Law::Wait(400_000), Limits::default())?);
    let mut gate = hosts.client.run(start).unwrap();
    gate.hold(&[path.flow]).unwrap();
    // The kernel doubles it: as /proc/sys/net/core/wmem_default has it.
    setsockopt(&path.from, sockopt::SndBuf, &106_496).unwrap();
    path.from.set_nonblocking(true).unwrap();
    let sent = (0..).take_while(|number: &u32| match path.from.send(&number.to_be_bytes()) {
        Ok(_) => true,
        Err(error) if error.kind() == ErrorKind::WouldBlock => false,
        Err(error) => panic!("{error}"),
    });
    let sent = sent.count() as u32;
    println!("{sent} packets wait for a socket with the usual buffer");
    assert!((100..2000).contains(&sent));
    let came = path.receive(Duration::from_secs(1)).join().unwrap();
    assert_all_in_order(&came, sent);
    path.send_one(sent);
}

/// Removing a hook would drop the packets in every queue.
#[test]
fn asking_what_there_is_drops_nothing() {
    let Some(hosts) = hosts() else { return };
    let path = Path::new(&hosts, IpVersion::V4);
    let start = || Ok(start(Law::Wait(300_000), Limits::default())?);
    let mut gate = hosts.client.run(start).unwrap();
    gate.hold(&[path.flow]).unwrap();
    let receiver = path.receive(Duration::from_secs(1));
    path.send(0..500);
    let known = hosts.client.run(|| Ok(Mechanisms::here()?)).unwrap();
    assert_eq!(known.queue, Some(gate.queue_by()));
    assert_all_in_order(&receiver.join().unwrap(), 500);
    assert_eq!(gate.counts().unwrap().waited, 500);
}

/// The gate's process hangs: the agent gets an error, and can end it.
#[test]
fn a_gate_that_hangs_is_given_up() {
    let Some(hosts) = hosts() else { return };
    let start = || Ok(start(Law::Wait(0), Limits::default())?);
    let mut gate = hosts.client.run(start).unwrap();
    let process = gate.process_id();
    stop(Pid::from_raw(process as i32));
    let asked = gate.counts();
    assert!(matches!(asked, Err(GateError::Gone(_))), "{asked:?}");
    drop(gate);
    assert_nothing_left(&hosts.client, process);
}

/// The kernel drops the packets that wait for the interface; the gate goes on.
#[test]
fn an_interface_may_go_and_come_back() {
    if !has_program("ip", "iproute2") {
        return;
    }
    let Some(hosts) = hosts() else { return };
    let path = Path::new(&hosts, IpVersion::V4);
    let start = || Ok(start(Law::Wait(300_000), Limits::default())?);
    let mut gate = hosts.client.run(start).unwrap();
    gate.hold(&[path.flow]).unwrap();
    let set = |state| {
        let ip = || {
            let words = ["link", "set", Veth::INTERFACE, state];
            Ok(Command::new("ip").args(words).status()?.success())
        };
        assert!(hosts.client.run(ip).unwrap());
    };
    let receiver = path.receive(Duration::from_secs(2));
    path.send(0..100);
    set("down");
    set("up");
    let limit = Duration::from_secs(1);
    until(limit, "the time of those that went has come", || {
        path.from.send(&100_u32.to_be_bytes()).is_ok()
    });
    std::thread::sleep(Duration::from_millis(400));
    path.send(101..200);
    let came: Vec<_> = receiver.join().unwrap().iter().map(|c| c.0).collect();
    assert_eq!(came, Vec::from_iter(100..200));
    assert_eq!(gate.counts().unwrap().waiting, 0);
}
