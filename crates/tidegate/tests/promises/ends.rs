//! What happens to waiting packets, and to those that follow, when a part of the hold ends or fails.

use crate::agent::{Agent, tidegate};
use crate::download::Download;
use crate::remains::{has_table, is_alive, queues};
use crate::testbed::{
    LONGEST, Testbed, assert_free, assert_whole, output, wait_for, wait_until_free, wait_until_held,
};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::time::{Duration, Instant};
use tidegate_lab::{EmulatedHosts, IpVersion};
use tidegate_linux::netfilter::{Chain, Expression, Family, Hook, Table};
use tidegate_testing::has_program;

/// The log's message after the gate has gone.
pub const GONE: &str = "the process behind the packet queue has ended";

pub fn send(signal: Signal, process: u32) {
    kill(Pid::from_raw(process as i32), signal).unwrap();
}

#[test]
fn a_killed_agent_leaves_nothing_and_loses_nothing() {
    let Some(testbed) = Testbed::new() else {
        return;
    };
    testbed.ends(Agent::kill);
}

#[test]
fn an_interrupted_agent_leaves_nothing_and_loses_nothing() {
    let Some(testbed) = Testbed::new() else {
        return;
    };
    testbed.ends(|agent| agent.end(Signal::SIGINT));
}

#[test]
fn a_terminated_agent_leaves_nothing_and_loses_nothing() {
    let Some(testbed) = Testbed::new() else {
        return;
    };
    testbed.ends(|agent| agent.end(Signal::SIGTERM));
}

/// Without a failure each acknowledgement arrives once, in order and in time, over IPv4 and IPv6.
#[test]
fn what_waits_comes_in_order_and_in_time() {
    for version in IpVersion::ALL {
        let Some(testbed) = Testbed::new() else {
            return;
        };
        let download = Download::start(&testbed.hosts, version, 4433);
        wait_until_held(&download);
        std::thread::sleep(Duration::from_secs(3));
        let (came, sent) = download.end();
        assert_whole(&came, sent);
        testbed.agent.stop();
    }
}

/// Waiting packets leave with the gate; the download goes on as without a hold until the gate has been started again,
/// and the log says so.
#[test]
fn a_killed_gate_is_noticed() {
    let Some(testbed) = Testbed::new() else {
        return;
    };
    let download = testbed.held();
    send(Signal::SIGKILL, testbed.gate);
    wait_for("the log", || testbed.log().contains(GONE));
    wait_until_free(&download);
    assert_eq!(queues(testbed.hosts.client()), 0);
    wait_until_held(&download);
    assert_eq!(queues(testbed.hosts.client()), 1);
    let (came, sent) = download.end();
    let lost = sent - came.len() as u64;
    println!("{lost} of {sent} were lost with the gate");
    assert!(lost < 500);
    testbed.agent.stop();
}

/// A gate that does not run lets no packet wait for long.
#[test]
fn a_gate_that_hangs_is_ended() {
    let Some(testbed) = Testbed::new() else {
        return;
    };
    let download = testbed.held();
    let stopped = Instant::now();
    send(Signal::SIGSTOP, testbed.gate);
    wait_for("the log", || testbed.log().contains(GONE));
    wait_for("the gate's end", || !is_alive(testbed.gate));
    println!("ended within {:?}", stopped.elapsed());
    wait_until_free(&download);
    wait_until_held(&download);
    download.end();
    testbed.agent.stop();
}

/// While the agent does not run, no packet waits; it goes on when it runs again.
#[test]
fn an_agent_that_hangs_lets_everything_pass_and_holds_when_it_runs() {
    let Some(testbed) = Testbed::new() else {
        return;
    };
    let download = testbed.held();
    let stopped = Instant::now();
    send(Signal::SIGSTOP, testbed.agent.id());
    wait_until_free(&download);
    println!("let go within {:?}", stopped.elapsed());
    send(Signal::SIGCONT, testbed.agent.id());
    wait_until_held(&download);
    let (came, sent) = download.end();
    assert_eq!(came.len() as u64, sent);
    assert!(came.iter().all(|c| c.after < LONGEST));
    testbed.agent.stop();
}

/// Whether the server answers echoes.
pub fn answers(hosts: &EmulatedHosts, yes: bool) {
    let ignore = if yes { "0" } else { "1" };
    let write = || {
        Ok(std::fs::write(
            "/proc/sys/net/ipv4/icmp_echo_ignore_all",
            ignore,
        )?)
    };
    hosts.server().run(write).unwrap();
}

#[test]
fn who_never_answers_echoes_is_left_alone() {
    let Some(testbed) = Testbed::with(|hosts| answers(hosts, false)) else {
        return;
    };
    let download = Download::start(&testbed.hosts, IpVersion::V4, 4433);
    std::thread::sleep(Duration::from_secs(12));
    let (came, sent) = download.end();
    assert_eq!(came.len() as u64, sent);
    let after: Vec<_> = came.iter().map(|c| c.after).collect();
    assert_free(&after);
    testbed.agent.stop();
}

#[test]
fn who_answers_echoes_no_more_is_let_go_and_held_again_when_it_does() {
    let Some(testbed) = Testbed::new() else {
        return;
    };
    let download = testbed.held();
    let silent = Instant::now();
    answers(&testbed.hosts, false);
    wait_until_free(&download);
    println!("let go within {:?}", silent.elapsed());
    let (_, from) = download.since(0);
    std::thread::sleep(Duration::from_secs(3));
    let (since, _) = download.since(from);
    assert_free(&since);
    answers(&testbed.hosts, true);
    wait_until_held(&download);
    let (came, sent) = download.end();
    assert_eq!(came.len() as u64, sent);
    assert!(came.iter().all(|c| c.after < LONGEST));
    testbed.agent.stop();
}

#[test]
fn another_agent_is_refused_and_the_first_goes_on() {
    let Some(testbed) = Testbed::new() else {
        return;
    };
    let download = testbed.held();
    let run = || {
        let mut second = tidegate();
        Ok(second
            .args(["run", "--iface", "tg0", "--udp", "hold"])
            .output()?)
    };
    let second = testbed.hosts.client().run(run).unwrap();
    assert!(!second.status.success());
    assert_eq!(queues(testbed.hosts.client()), 1);
    wait_until_held(&download);
    let (came, sent) = download.end();
    assert_eq!(came.len() as u64, sent);
    testbed.agent.stop();
}

#[test]
fn an_interface_goes_with_what_waits_for_it() {
    if !has_program("ip", "iproute2") {
        return;
    }
    let Some(testbed) = Testbed::new() else {
        return;
    };
    let download = testbed.held();
    let client = testbed.hosts.client();
    output(client, "ip", &["link", "set", "tg0", "down"]);
    std::thread::sleep(Duration::from_millis(500));
    output(client, "ip", &["link", "set", "tg0", "up"]);
    wait_until_held(&download);
    output(client, "ip", &["link", "delete", "tg0"]);
    std::thread::sleep(Duration::from_secs(1));
    assert!(is_alive(testbed.gate));
    let programs = testbed.agent.programs();
    testbed.agent.stop();
    wait_for("the gate's end", || !is_alive(testbed.gate));
    assert_eq!(queues(testbed.hosts.client()), 0);
    wait_for("the programs to go", || {
        !programs.iter().any(crate::agent::is_loaded)
    });
}

/// Rules and a queueing discipline of the administrator stay as they are.
#[test]
fn what_an_administrator_has_set_up_stays() {
    const TABLE: &str = "firewall";
    if !has_program("tc", "iproute2") {
        return;
    }
    let mut table = None;
    let prepare = |hosts: &EmulatedHosts| {
        let put_up = || {
            let chain = Chain {
                name: "out",
                kind: "filter",
                hook: Hook::PostRouting,
                priority: 0,
            };
            let table = Table::new(Family::Inet, TABLE)?;
            let rule = table.rule(chain.name, &[Expression::pass()]);
            table.commit(&[table.create(), table.chain(&chain), rule])?;
            Ok(table)
        };
        table = Some(hosts.client().run(put_up).unwrap());
        let words = [
            "qdisc", "replace", "dev", "tg0", "root", "handle", "7:", "pfifo", "limit", "321",
        ];
        output(hosts.client(), "tc", &words);
    };
    let Some(testbed) = Testbed::with(prepare) else {
        return;
    };
    let qdisc = || {
        output(
            testbed.hosts.client(),
            "tc",
            &["qdisc", "show", "dev", "tg0"],
        )
    };
    assert!(qdisc().contains("pfifo 7: root"), "{}", qdisc());
    let download = testbed.held();
    let kept = || qdisc().contains("pfifo 7: root") && has_table(testbed.hosts.client(), TABLE);
    assert!(kept(), "{}", qdisc());
    let (came, sent) = download.end();
    assert_eq!(came.len() as u64, sent);
    testbed.agent.stop();
    assert!(has_table(testbed.hosts.client(), TABLE));
    drop(table);
}
