//! `tidegate run --udp hold`: it holds a flow if the kernel can, and otherwise does not start; what a killed agent
//! leaves does nothing.

use crate::agent::{Agent, is_loaded, tidegate};
use crate::download::Download;
use crate::wait_for;
use std::process::Command;
use std::time::Duration;
use tidegate_agent::{Leftover, leftovers};
use tidegate_gate::Mechanisms;
use tidegate_lab::{EmulatedHosts, IpVersion, Namespace};
use tidegate_link::{Config, Rate};
use tidegate_testing::{has_tun, skipped};

/// 2 Mbit/s with a queue of 1000 packets: an emulated CPU has time for other work.
fn link() -> EmulatedHosts {
    let link = || Config {
        rate: Rate::constant(2e6),
        ..Config::default()
    };
    EmulatedHosts::new(link(), link(), 1).unwrap()
}

/// Whether the kernel has packet queues, and rules to use them.
fn has_queues(host: &Namespace) -> bool {
    let known = host.run(|| Ok(Mechanisms::here()?)).unwrap();
    known.queue.is_some()
}

fn left(host: &Namespace) -> Vec<Leftover> {
    host.run(|| Ok(leftovers()?)).unwrap()
}

/// The namespace's only netfilter queue: packets that wait, and packets that have come.
fn queue(host: &Namespace) -> Option<[u64; 2]> {
    let path = "/proc/thread-self/net/netfilter/nfnetlink_queue";
    let read = || Ok(std::fs::read_to_string(path)?);
    let text = host.run(read).unwrap();
    let words: Vec<_> = text
        .split_whitespace()
        .map(|w| w.parse().unwrap())
        .collect();
    match words[..] {
        [] => None,
        [_, _, waiting, _, _, _, _, came, _] => Some([waiting, came]),
        _ => panic!("{text}"),
    }
}

/// Whether the agent uses clsact filters, because there is no tcx.
fn is_by_clsact(agent: &Agent) -> bool {
    agent.report()["agent"]["hook"] == "clsact"
}

/// An agent that holds in both directions.
fn start(hosts: &EmulatedHosts) -> Agent {
    Agent::start_with(hosts.client(), |command: &mut Command| {
        command.args(["--udp", "hold", "--udp-hold", "both"]);
    })
}

/// A download whose acknowledgements wait.
fn held(hosts: &EmulatedHosts) -> Download {
    let download = Download::start(hosts, IpVersion::V4, 4433);
    let mut waited = 0;
    wait_for("packets that wait", || {
        waited += u64::from(queue(hosts.client()).is_some_and(|[waiting, _]| waiting > 0));
        waited > 20
    });
    download
}

fn holds(hosts: &EmulatedHosts) {
    let agent = start(hosts);
    let programs = agent.programs();
    // The agent's programs, and the hold's for downloads and for uploads.
    assert_eq!(programs.len(), 12, "{programs:?}");
    for program in &programs {
        let verified = program.verified_instructions;
        assert!(
            verified.is_none_or(|n| n < crate::VERIFIER_BUDGET),
            "{program:?}"
        );
    }
    let most = programs.iter().filter_map(|p| p.verified_instructions);
    println!("verified with the hold: {:?}", most.max());
    let download = held(hosts);
    // The kernel stops the device for a moment to remove clsact.
    let most_lost = if is_by_clsact(&agent) { 20 } else { 0 };
    agent.stop();
    assert_eq!(queue(hosts.client()), None, "a queue is left");
    wait_for("the programs to go", || !programs.iter().any(is_loaded));
    assert_eq!(left(hosts.client()), [], "something is left");
    let (came, sent) = download.end();
    let lost = sent - came.len() as u64;
    assert!(lost <= most_lost, "{lost} of {sent} are lost");
}

fn refuses(hosts: &EmulatedHosts) {
    let run = || {
        Ok(tidegate()
            .args(["run", "--iface", EmulatedHosts::INTERFACE, "--udp", "hold"])
            .output()?)
    };
    let output = hosts.client().run(run).unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "it runs");
    assert!(text.contains("cannot hold"), "{text}");
    assert_eq!(queue(hosts.client()), None);
    assert_eq!(left(hosts.client()), [], "something is left");
}

#[test]
fn holds_a_flow_or_says_why_not() {
    if !has_tun() {
        return;
    }
    let hosts = link();
    if has_queues(hosts.client()) {
        holds(&hosts);
    } else {
        refuses(&hosts);
    }
}

/// Without tcx, filters stay and let everything pass until they are removed; with tcx, nothing stays.
#[test]
fn a_killed_agent_leaves_nothing_that_acts() {
    if !has_tun() {
        return;
    }
    let hosts = link();
    if !has_queues(hosts.client()) {
        return skipped("needs packet queues");
    }
    let agent = start(&hosts);
    let programs = agent.programs();
    let filters = if is_by_clsact(&agent) { 6 } else { 0 };
    let download = held(&hosts);
    agent.kill();
    wait_for("the queue's end", || queue(hosts.client()).is_none());
    // After this time the agent counts as dead.
    std::thread::sleep(Duration::from_millis(1100));
    let arrived = download.arrived();
    wait_for("more of the download", || {
        download.arrived() > arrived + 500_000
    });
    let (came, sent) = download.end();
    assert_eq!(came.len() as u64, sent, "some are lost");
    assert_eq!(left(hosts.client()).len(), filters);
    let stop = || Ok(tidegate().arg("stop").output()?);
    let stop = hosts.client().run(stop).unwrap();
    assert!(stop.status.success(), "{stop:?}");
    assert_eq!(left(hosts.client()), []);
    wait_for("the programs to go", || !programs.iter().any(is_loaded));
}
