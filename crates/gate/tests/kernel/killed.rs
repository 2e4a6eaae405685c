//! An agent or a gate is killed: waiting packets leave, and nothing stays behind.

use crate::hosts::{Path, assert_none_lost, assert_nothing_left, hosts};
use crate::laws::{Law, myself, start};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use tidegate_gate::{Flow, GateError, Limits};
use tidegate_lab::{IpVersion, Veth};

const QUIET: Duration = Duration::from_millis(800);
const FLOW: &str = "TIDEGATE_TEST_FLOW";

fn send(signal: Signal, process: u32) {
    kill(Pid::from_raw(process as i32), signal).unwrap();
}

/// An agent in a separate process, and the process id of its gate.
fn agent(hosts: &Veth, flow: &Flow) -> (Child, u32) {
    let spawn = || {
        let mut agent = myself("killed::agent_process");
        let flow = serde_json::to_string(flow)?;
        Ok(agent.env(FLOW, flow).stdout(Stdio::piped()).spawn()?)
    };
    let mut agent = hosts.client.run(spawn).unwrap();
    let lines = BufReader::new(agent.stdout.take().unwrap()).lines();
    let number = |line: String| line.trim().strip_prefix("gate ")?.parse().ok();
    let gate = lines.map_while(Result::ok).find_map(number);
    (agent, gate.expect("it says its gate's number"))
}

#[test]
#[ignore = "an agent's process, which others start"]
fn agent_process() {
    let Ok(flow) = env::var(FLOW) else { return };
    let mut gate = start(Law::Wait(2_000_000), Limits::default()).unwrap();
    gate.hold(&[serde_json::from_str(&flow).unwrap()]).unwrap();
    println!("\ngate {}", gate.process_id());
    std::thread::sleep(Duration::from_secs(20));
}

#[test]
fn a_killed_agent_leaves_nothing_and_loses_nothing() {
    let Some(hosts) = hosts() else { return };
    let path = Path::new(&hosts, IpVersion::V4);
    let (mut agent, gate) = agent(&hosts, &path.flow);
    let receiver = path.receive(QUIET);
    path.send(0..500);
    std::thread::sleep(Duration::from_millis(100));
    let killed = Instant::now();
    agent.kill().unwrap();
    // More packets come in the meantime.
    for number in 500..1500 {
        path.send_one(number);
        std::thread::sleep(Duration::from_micros(100));
    }
    let came = receiver.join().unwrap();
    agent.wait().unwrap();
    assert_none_lost(&came, 1500, 500);
    assert!(came[0].1 > killed, "nothing had waited");
    println!("all that waited left within {:?}", came[499].1 - killed);
    assert!(came[499].1 - killed < Duration::from_secs(1));
    assert_nothing_left(&hosts.client, gate);
}

/// SIGTERM, as from an init system.
#[test]
fn a_gate_that_is_asked_to_end_lets_everything_go() {
    let Some(hosts) = hosts() else { return };
    let path = Path::new(&hosts, IpVersion::V4);
    let (mut agent, gate) = agent(&hosts, &path.flow);
    let receiver = path.receive(QUIET);
    path.send(0..500);
    send(Signal::SIGTERM, gate);
    path.send(500..1000);
    let came = receiver.join().unwrap();
    assert_none_lost(&came, 1000, 500);
    assert_nothing_left(&hosts.client, gate);
    agent.kill().unwrap();
    agent.wait().unwrap();
}

/// The kernel drops the packets in its queue; afterwards packets pass as without a gate.
#[test]
fn a_killed_gate_loses_what_waited_and_no_more() {
    let Some(hosts) = hosts() else { return };
    let path = Path::new(&hosts, IpVersion::V4);
    let start = || Ok(start(Law::Wait(2_000_000), Limits::default())?);
    let mut gate = hosts.client.run(start).unwrap();
    gate.hold(&[path.flow]).unwrap();
    let receiver = path.receive(QUIET);
    path.send(0..300);
    let process = gate.process_id();
    send(Signal::SIGKILL, process);
    assert_nothing_left(&hosts.client, process);
    path.send(300..1000);
    let came = receiver.join().unwrap();
    assert_eq!(came.len(), 700, "those that waited are lost");
    assert_eq!(came[0].0, 300);
    let asked = gate.counts();
    assert!(matches!(asked, Err(GateError::Gone(_))), "{asked:?}");
}

#[test]
fn a_law_that_panics_lets_everything_go() {
    let Some(hosts) = hosts() else { return };
    let path = Path::new(&hosts, IpVersion::V4);
    let start = || Ok(start(Law::Panics(200), Limits::default())?);
    let mut gate = hosts.client.run(start).unwrap();
    gate.hold(&[path.flow]).unwrap();
    let receiver = path.receive(QUIET);
    let began = Instant::now();
    path.send(0..1000);
    let came = receiver.join().unwrap();
    assert_none_lost(&came, 1000, 200);
    assert!(came[999].1 - began < Duration::from_secs(1));
    assert_nothing_left(&hosts.client, gate.process_id());
    assert!(matches!(gate.counts(), Err(GateError::Gone(_))));
}
