//! `tidegate run --udp hold`: a flow is held where the kernel can, and else nothing is begun.

use crate::agent::{Agent, is_loaded, tidegate};
use crate::download::Download;
use crate::wait_for;
use std::process::Command;
use tidegate_agent::leftovers;
use tidegate_lab::{EmulatedHosts, IpVersion, Namespace};
use tidegate_link::{Config, Rate};
use tidegate_testing::has_tun;

/// 2 Mbit/s with room for 1000 packets: an emulated processor has time for other things.
fn link() -> EmulatedHosts {
    let link = || Config {
        rate: Rate::constant(2e6),
        ..Config::default()
    };
    EmulatedHosts::new(link(), link(), 1).unwrap()
}

/// Since Linux 6.6.
fn has_tcx() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release
        .split(['.', '-'])
        .map_while(|n| n.parse::<u32>().ok());
    let version = [numbers.next().unwrap(), numbers.next().unwrap()];
    version >= [6, 6]
}

/// Of the one netfilter queue of the namespace: packets that wait and packets that came.
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

fn holds(hosts: &EmulatedHosts) {
    let agent = Agent::start_with(hosts.client(), |command: &mut Command| {
        command.args(["--udp", "hold"]);
    });
    let programs = agent.programs();
    // The agent's, and the hold's of downloads and of uploads.
    assert_eq!(programs.len(), 12, "{programs:?}");
    for program in &programs {
        let verified = program.verified_instructions;
        assert!(
            verified.is_none_or(|n| n < crate::VERIFIER_BUDGET),
            "{program:?}"
        );
    }
    let download = Download::start(hosts, IpVersion::V4, 4433);
    let mut waited = 0;
    wait_for("packets that wait", || {
        waited += u64::from(queue(hosts.client()).is_some_and(|[waiting, _]| waiting > 0));
        waited > 20
    });
    agent.stop();
    assert_eq!(queue(hosts.client()), None, "a queue is left");
    wait_for("the programs to go", || !programs.iter().any(is_loaded));
    let (came, sent) = download.end();
    assert_eq!(came.len() as u64, sent, "some are lost");
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
    assert!(text.contains("Linux 6.6"), "{text}");
    assert_eq!(queue(hosts.client()), None);
    let left = hosts.client().run(|| Ok(leftovers()?)).unwrap();
    assert_eq!(left, [], "something is left");
}

#[test]
fn holds_a_flow_or_says_why_not() {
    if !has_tun() {
        return;
    }
    let hosts = link();
    if has_tcx() {
        holds(&hosts);
    } else {
        refuses(&hosts);
    }
}
