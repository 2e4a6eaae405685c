//! The hold on a kernel without tcx (before 6.6): a killed agent leaves its filters behind, and they must do nothing
//! then.

use crate::agent::{Agent, Program, is_loaded, tidegate};
use crate::download::Download;
use crate::remains::{is_alive, queues};
use crate::testbed::{
    Testbed, assert_whole, output, wait_for, wait_until_free, wait_until_held,
    wait_until_nothing_is_left,
};
use crate::upload::Upload;
use serde_json::Value;
use std::process::Command;
use std::time::Duration;
use tidegate_agent::{Interface, leftovers};
use tidegate_lab::{EmulatedHosts, IpVersion, Namespace};
use tidegate_linux::rtnetlink::clsact_filters;
use tidegate_testing::{has_program, without_tcx};

const DOWNLOADS: [&str; 2] = ["--udp", "hold"];
const UPLOADS: [&str; 4] = ["--udp", "hold", "--udp-hold", "uploads"];
const BOTH: [&str; 4] = ["--udp", "hold", "--udp-hold", "both"];

/// After this time a killed agent counts as dead.
const GONE: Duration = Duration::from_millis(1100);

/// How long we watch what it left: a law that heard nothing would release packets after three seconds.
const WATCHED: Duration = Duration::from_secs(6);

fn testbed(words: &[&str]) -> Option<Testbed> {
    Testbed::by(words, without_tcx, |_| {})
}

/// Priorities of the filters on the link's near end; none without clsact.
fn filters(hosts: &EmulatedHosts) -> Option<Vec<u16>> {
    let look = || {
        let index = Interface::find(EmulatedHosts::INTERFACE)?.index;
        Ok(clsact_filters(index)?)
    };
    let found = hosts.client().run(look).unwrap();
    found.map(|all| all.into_iter().collect())
}

/// All acknowledgements came, except those sent while clsact was removed: the kernel stops the device for a moment.
fn assert_all(download: Download) {
    let (came, sent) = download.end();
    let lost = sent - came.len() as u64;
    println!("{lost} of {sent} were lost with clsact");
    assert!(lost < 20, "{lost} are lost");
}

/// Programs that agents have left there.
fn left(hosts: &EmulatedHosts) -> Vec<String> {
    let look = || Ok(leftovers()?.iter().map(ToString::to_string).collect());
    hosts.client().run(look).unwrap()
}

/// How many packets a filter on the link's near end has dropped.
fn dropped(hosts: &EmulatedHosts) -> u64 {
    let words = ["-s", "-j", "qdisc", "show", "dev", "tg0"];
    let text = output(hosts.client(), "tc", &words);
    let all: Value = serde_json::from_str(&text).unwrap();
    let all = all.as_array().unwrap();
    let clsact = all.iter().find(|qdisc| qdisc["kind"] == "clsact");
    clsact.expect("clsact")["drops"].as_u64().unwrap()
}

/// How many packets have reached a host with a mark.
fn marked(host: &Namespace) -> u64 {
    let read = || Ok(std::fs::read_to_string("/proc/thread-self/net/netstat")?);
    let text = host.run(read).unwrap();
    let mut rows = text.lines().filter(|row| row.starts_with("IpExt:"));
    let mut row = || rows.next().unwrap().split_whitespace();
    let (mut names, mut values) = (row(), row());
    let at = names.position(|name| name == "InCEPkts").unwrap();
    values.nth(at).unwrap().parse().unwrap()
}

/// Dropped packets, and marked packets in each direction.
fn signals(hosts: &EmulatedHosts) -> [u64; 3] {
    [
        dropped(hosts),
        marked(hosts.client()),
        marked(hosts.server()),
    ]
}

/// Kills the agent, and waits until it counts as dead. Returns the programs that its filters keep.
fn kill(agent: Agent, gate: u32) -> Vec<Program> {
    let mut programs = agent.programs();
    agent.kill();
    wait_for("the gate's end", || !is_alive(gate));
    std::thread::sleep(GONE);
    programs.retain(is_loaded);
    programs
}

/// What is left signals no sender, though there is traffic.
fn assert_harmless(hosts: &EmulatedHosts, came: impl Fn() -> u64) {
    assert_eq!(filters(hosts).map(|all| all.len()), Some(2));
    assert_eq!(queues(hosts.client()), 0, "a queue is left");
    let before = (signals(hosts), came());
    std::thread::sleep(WATCHED);
    assert_eq!(signals(hosts), before.0, "signalled without user space");
    assert!(came() > before.1 + 500, "there was no traffic");
}

/// `tidegate stop` removes all of it.
fn clear_up(hosts: &EmulatedHosts, programs: &[Program]) {
    assert_eq!(left(hosts).len(), programs.len());
    let run = || Ok(tidegate().arg("stop").output()?);
    let said = hosts.client().run(run).unwrap();
    assert!(said.status.success(), "{said:?}");
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("removed clsact filter of the hold"), "{said}");
    assert_eq!(left(hosts), [""; 0]);
    assert_eq!(filters(hosts), None);
    wait_for("the programs to go", || !programs.iter().any(is_loaded));
}

#[test]
fn the_agent_s_filters_come_first_and_all_go_in_order() {
    let Some(testbed) = testbed(&BOTH) else {
        return;
    };
    let ours = Some(vec![29799, 29800, 29801]);
    assert_eq!(filters(&testbed.hosts), ours);
    let download = Download::start(&testbed.hosts, IpVersion::V4, 4433);
    wait_until_held(&download);
    let programs = testbed.agent.programs();
    testbed.agent.stop();
    wait_until_nothing_is_left(&testbed.hosts, testbed.gate, &programs);
    assert_eq!(filters(&testbed.hosts), None);
    assert_all(download);
}

#[test]
fn acknowledgements_wait_in_order_and_in_time_and_one_packet_is_dropped_as_a_signal() {
    if !has_program("tc", "iproute2") {
        return;
    }
    for version in IpVersion::ALL {
        let Some(testbed) = testbed(&DOWNLOADS) else {
            return;
        };
        let download = Download::start(&testbed.hosts, version, 4433);
        wait_until_held(&download);
        // No packet waits before the sender has answered a signal.
        let dropped = dropped(&testbed.hosts);
        assert!(dropped > 0 && dropped < 50, "{dropped}");
        std::thread::sleep(Duration::from_secs(2));
        let (came, sent) = download.end();
        assert_whole(&came, sent);
        testbed.agent.stop();
    }
}

#[test]
fn what_a_killed_agent_leaves_lets_a_download_pass_until_it_is_removed() {
    if !has_program("tc", "iproute2") {
        return;
    }
    let Some(testbed) = testbed(&DOWNLOADS) else {
        return;
    };
    let hosts = &testbed.hosts;
    let download = testbed.held();
    let programs = kill(testbed.agent, testbed.gate);
    assert_harmless(hosts, || download.arrived() / 1200);
    wait_until_free(&download);
    let (came, sent) = download.end();
    assert_eq!(came.len() as u64, sent, "some are lost, or came twice");
    clear_up(hosts, &programs);
}

#[test]
fn what_a_killed_agent_leaves_lets_an_upload_pass_until_it_is_removed() {
    if !has_program("tc", "iproute2") {
        return;
    }
    let Some(testbed) = testbed(&UPLOADS) else {
        return;
    };
    let hosts = &testbed.hosts;
    let upload = Upload::start(hosts, 4433);
    wait_for("a mark", || marked(hosts.server()) > 0);
    let programs = kill(testbed.agent, testbed.gate);
    assert_harmless(hosts, || upload.came() as u64);
    let (came, sent) = upload.end();
    assert_eq!(came.len() as u64, sent, "some are lost, or came twice");
    clear_up(hosts, &programs);
}

#[test]
fn the_next_agent_holds_in_place_of_a_killed_one() {
    let Some(testbed) = testbed(&BOTH) else {
        return;
    };
    let hosts = &testbed.hosts;
    let download = testbed.held();
    let (before, socket) = (testbed.agent.programs(), testbed.socket());
    kill(testbed.agent, testbed.gate);
    let next = Agent::start_with(hosts.client(), |command: &mut Command| {
        command.args(DOWNLOADS).arg("--socket").arg(socket);
        without_tcx(command);
    });
    wait_for("the killed one's programs to go", || {
        !before.iter().any(is_loaded)
    });
    // It holds no uploads, and has removed the filters for them.
    assert_eq!(filters(hosts), Some(vec![29799, 29800]));
    wait_until_held(&download);
    next.stop();
    assert_eq!(filters(hosts), None);
    assert_all(download);
}

#[test]
fn clsact_that_somebody_had_stays() {
    if !has_program("tc", "iproute2") {
        return;
    }
    let prepare = |hosts: &EmulatedHosts| {
        let words = ["qdisc", "add", "dev", "tg0", "clsact"];
        output(hosts.client(), "tc", &words);
    };
    let Some(testbed) = Testbed::by(&BOTH, without_tcx, prepare) else {
        return;
    };
    assert_eq!(filters(&testbed.hosts).map(|all| all.len()), Some(3));
    testbed.agent.stop();
    assert_eq!(filters(&testbed.hosts), Some(vec![]));
}

#[test]
fn an_interface_goes_with_its_filters() {
    if !has_program("ip", "iproute2") {
        return;
    }
    let Some(testbed) = testbed(&BOTH) else {
        return;
    };
    let download = testbed.held();
    let client = testbed.hosts.client();
    output(client, "ip", &["link", "delete", "tg0"]);
    std::thread::sleep(Duration::from_secs(1));
    assert!(is_alive(testbed.gate));
    let programs = testbed.agent.programs();
    testbed.agent.stop();
    wait_for("the gate's end", || !is_alive(testbed.gate));
    assert_eq!(queues(client), 0);
    wait_for("the programs to go", || !programs.iter().any(is_loaded));
    download.end();
}
