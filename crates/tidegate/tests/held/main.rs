//! What users see of `tidegate run --udp` and flows without a window, between namespaces. Needs root and packet queues,
//! and says so if it is skipped.

mod by_default;
mod flow;
mod pause;
#[path = "../sight/running.rs"]
mod running;

use crate::flow::{Flow, await_row, await_state, initial, seen, server};
use crate::running::{Running, TIDEGATE, json};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use quinn::{Endpoint, TransportConfig, VarInt};
use serde_json::Value;
use std::fs;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidegate_gate::Mechanisms;
use tidegate_lab::quic_ends::{NAME, endpoint, identity};
use tidegate_lab::{EmulatedHosts, IpVersion, Namespace, Veth};
use tidegate_link::{Config, Rate};
use tidegate_testing::{has_program, has_tun, is_root, skipped, without_tcx};

const DATAGRAM: usize = 1200;

/// Time limit on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Starts an agent on the device between the namespaces.
fn start(more: &[&str]) -> Running {
    start_by(Command::new(TIDEGATE), more)
}

fn start_by(program: Command, more: &[&str]) -> Running {
    Running::start_by(program, &[&["--iface", Veth::INTERFACE], more].concat())
}

/// Whether the hold can work here; prints it if not.
fn can_hold() -> bool {
    if !is_root() || !has_program("ip", "iproute2") {
        return false;
    }
    let known = Namespace::new().unwrap().run(|| Ok(Mechanisms::here()?));
    if known.is_ok_and(|known| known.queue.is_some() && known.reject) {
        return true;
    }
    skipped("needs nfnetlink_queue, nft_queue or xt_NFQUEUE, and nft_reject_inet");
    false
}

fn sh(command: &str) {
    let status = Command::new("sh").args(["-c", command]).status().unwrap();
    assert!(status.success(), "{command}");
}

fn sh_on(host: &Namespace, command: &str) {
    let run = || {
        sh(command);
        Ok(())
    };
    host.run(run).unwrap();
}

struct File(TempDir);

impl File {
    fn new(text: &str) -> Self {
        let file = Self(TempDir::new().unwrap());
        file.write(text);
        file
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("tidegate.toml")
    }

    fn write(&self, text: &str) {
        fs::write(self.path(), text).unwrap();
    }
}

fn hang_up(agent: &Running) {
    kill(Pid::from_raw(agent.child.id() as i32), Signal::SIGHUP).unwrap();
}

/// Runs `act` in the client's namespace.
fn between(act: impl FnOnce(&Veth) + Send) {
    if !can_hold() {
        return;
    }
    let hosts = Veth::new().unwrap();
    let run = || {
        sh("ip link set lo up");
        act(&hosts);
        Ok(())
    };
    hosts.client.run(run).unwrap();
}

/// States of a flow without a queue: its echoes are answered, and no packet needs to wait.
const SEEN: [&str; 3] = ["watched", "sender", "held"];

#[test]
fn who_is_held_and_why_not_is_shown() {
    between(|hosts| {
        let file = File::new(
            "udp = \"hold\"\n[[udp_rule]]\nremote_port = \"3478-3481\"\naction = \"leave\"\n",
        );
        let mut agent = start(&["--config", file.path().to_str().unwrap()]);
        let download = Flow::download(hosts, server(4433));
        let denied = Flow::download(hosts, server(3479));
        let call = Flow::call(hosts, server(5000));
        let row = await_state(&agent, &download, &SEEN);
        assert!(row["hold"]["rtt_us"].as_u64().unwrap() < 1_000_000, "{row}");
        assert!(row["hold"]["sender"].is_string(), "{row}");
        assert_eq!(row["kind"], "udp");
        let row = await_state(&agent, &denied, &["denied"]);
        assert!(row["hold"]["rtt_us"].is_null(), "nobody is asked: {row}");
        // More bytes than make other flows bulk.
        let row = await_row(&agent, &call, "more than 100 kB", |row| {
            row["bytes"].as_u64() > Some(100_000)
        });
        assert_eq!(row["hold"]["state"], "not_bulk", "{row}");
        assert_eq!(row["left_alone"], true, "{row}");
        let table = agent.top(&["--all", "--filter", "left udp"]);
        let table = String::from_utf8_lossy(&table.stdout).into_owned();
        assert!(
            table.contains("UDP not bulk") && table.contains("UDP denied"),
            "{table}"
        );

        let silence = |on: u8| {
            let path = "/proc/sys/net/ipv4/icmp_echo_ignore_all";
            hosts
                .server
                .run(|| Ok(fs::write(path, on.to_string())?))
                .unwrap();
        };
        silence(1);
        let left = agent.event("hold_left");
        assert_eq!(left["why"], "unanswered", "{left}");
        await_state(&agent, &download, &["unanswered"]);
        silence(0);
        await_state(&agent, &download, &SEEN);
        let stop = agent.interrupt();
        assert_eq!(stop["stays_attached"], false);
    });
}

#[test]
fn echoes_go_where_the_user_says_and_keep_their_rate() {
    between(|hosts| {
        let other = "198.51.100.7";
        sh_on(&hosts.server, &format!("ip address add {other}/32 dev tg0"));
        sh(&format!("ip route add {other}/32 dev tg0"));
        let file = File::new(&format!("udp = \"hold\"\nudp_echo = \"{other}\"\n"));
        let agent = start(&["--config", file.path().to_str().unwrap()]);
        // Echoes for flows of both servers go to a single address.
        let there: IpAddr = other.parse().unwrap();
        let flows =
            [server(4433), SocketAddr::new(there, 4433)].map(|at| Flow::download(hosts, at));
        for flow in &flows {
            await_state(&agent, flow, &SEEN);
        }
        let echoes = || {
            let look = json(&agent.top(&["--json"]));
            let at_us = look["at_us"].as_u64().unwrap();
            (look["hold"]["echoes"].as_u64().unwrap(), at_us)
        };
        let before = echoes();
        thread::sleep(Duration::from_secs(2));
        let after = echoes();
        let bps = (after.0 - before.0) as f64 * 44.0 * 8e6 / (after.1 - before.1) as f64;
        // On a busy machine they are counted a moment after the time is taken.
        assert!((2_000.0..12_000.0).contains(&bps), "{bps}");
        // No host has this address.
        file.write("udp = \"hold\"\nudp_echo = \"198.51.100.8\"\n");
        sh("ip route add 198.51.100.8/32 dev tg0");
        hang_up(&agent);
        await_state(&agent, &flows[0], &["unanswered"]);
        file.write("udp = \"hold\"\n");
        hang_up(&agent);
        for flow in &flows {
            await_state(&agent, flow, &SEEN);
        }
    });
}

/// Sends a QUIC client's first datagram to that address: whether it was refused.
fn is_turned_away(hosts: &Veth, at: SocketAddr) -> bool {
    let server = hosts.server.run(|| Ok(UdpSocket::bind(at)?)).unwrap();
    server
        .set_read_timeout(Some(Duration::from_secs(2)))
        .unwrap();
    let client = UdpSocket::bind(("0.0.0.0", 0)).unwrap();
    client.connect(at).unwrap();
    let sent = client.send(&initial());
    if sent.is_ok() {
        assert_eq!(server.recv(&mut [0; 2 * DATAGRAM]).unwrap(), DATAGRAM);
        return false;
    }
    let told = client.recv(&mut [0]).unwrap_err();
    assert_eq!(told.kind(), ErrorKind::ConnectionRefused);
    true
}

#[test]
fn rules_are_read_again_and_are_about_flows_that_stand() {
    between(|hosts| {
        let quic = server(443);
        let here = format!(
            "udp = \"hold\"\n[[udp_rule]]\nprefix = \"{}\"\naction = \"fallback\"\n",
            quic.ip()
        );
        let file = File::new(&here);
        let agent = start(&["--config", file.path().to_str().unwrap()]);
        assert!(is_turned_away(hosts, quic));
        // The rule applies only to QUIC's port.
        assert!(!is_turned_away(hosts, server(8443)));
        let download = Flow::download(hosts, server(4433));
        await_state(&agent, &download, &SEEN);
        file.write(&format!(
            "udp = \"hold\"\n[[udp_rule]]\nremote_port = [443, 4433]\nprefix = \"{}\"\naction = \"leave\"\n",
            quic.ip()
        ));
        hang_up(&agent);
        await_state(&agent, &download, &["denied"]);
        assert!(!is_turned_away(hosts, quic));
        // A faulty file changes nothing.
        file.write("udp = \"hold\"\n[[udp_rule]]\nremote_port = 443\naction = \"hide\"\n");
        hang_up(&agent);
        let refused = agent.event("reload_refused");
        let said = refused["message"].as_str().unwrap();
        assert!(
            said.contains("tidegate.toml:4:") && said.contains("hold"),
            "{said}"
        );
        await_state(&agent, &download, &["denied"]);
        file.write("udp = \"leave\"\n");
        hang_up(&agent);
        agent.event("reload");
        let row = seen(&agent, &download);
        assert!(row["hold"].is_null() && row["limit"] == "udp", "{row}");
        file.write("udp = \"hold\"\n");
        hang_up(&agent);
        await_state(&agent, &download, &SEEN);
    });
}

#[test]
fn the_hold_cannot_begin_when_it_could_not_be_had_any_more() {
    between(|_| {
        let file = File::new("udp = \"leave\"\n");
        let agent = start(&["--config", file.path().to_str().unwrap()]);
        file.write("udp = \"hold\"\n");
        hang_up(&agent);
        let refused = agent.event("reload_refused");
        let said = refused["message"].as_str().unwrap();
        assert!(said.contains("start it anew"), "{said}");
        // A hold that is only the default is no reason to refuse.
        file.write("");
        hang_up(&agent);
        agent.event("reload");
        let why = agent.event("hold_missing")["why"].clone();
        assert!(why.as_str().unwrap().contains("anew"), "{why}");
        let look = json(&agent.top(&["--json"]));
        assert_eq!(look["agent"]["udp"], "leave", "{look}");
    });
}

/// Runs with the capabilities that the unit grants (packaging/debian/tidegate.service).
#[test]
fn the_unit_s_capabilities_are_enough() {
    if !has_program("setpriv", "util-linux") {
        return;
    }
    let unit = include_str!("../../../../packaging/debian/tidegate.service");
    let line = unit
        .lines()
        .find_map(|l| l.strip_prefix("CapabilityBoundingSet="));
    let names = line.unwrap().split(' ').map(|name| {
        let name = name.strip_prefix("CAP_").unwrap().to_lowercase();
        format!(",+{name}")
    });
    let bounds = format!("-all{}", names.collect::<String>());
    between(|hosts| {
        let mut program = Command::new("setpriv");
        program.args(["--no-new-privs", "--bounding-set", &bounds, TIDEGATE]);
        let agent = start_by(program, &["--udp", "hold"]);
        let download = Flow::download(hosts, server(4433));
        await_state(&agent, &download, &SEEN);
        // Both keep CAP_NET_ADMIN (12) and CAP_BPF (39).
        for process in [Pid::from_raw(agent.child.id() as i32), gate(&agent)] {
            let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
            assert!(status.contains("CapPrm:\t0000008000001000\n"), "{status}");
        }
    });
}

#[test]
fn check_says_beforehand_whether_it_can() {
    between(|_| {
        let file = File::new("interfaces = [\"tg0\"]\nudp = \"hold\"\n");
        let check = |bounds: &str| {
            let output = Command::new("setpriv")
                .args(["--bounding-set", bounds, TIDEGATE, "check", "--json"])
                .arg("--config")
                .arg(file.path())
                .output()
                .unwrap();
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            let findings = report["findings"].as_array().unwrap().clone();
            let hold = findings.into_iter().find(|f| f["name"] == "hold").unwrap();
            // It reports what the default would hold only if the machine can hold.
            let quic = report["traffic"].as_array().unwrap().iter();
            let quic = quic.clone().find(|kind| kind["kind"] == "quic");
            let held = quic.map(|kind| kind["held_down"].as_bool().unwrap());
            (report["works"].as_bool().unwrap(), hold, held)
        };
        let (works, hold, held) = check("+all");
        assert!(works && hold["status"] == "ok", "{hold}");
        assert_eq!(held, Some(true));
        let (works, hold, _) = check("-net_raw");
        assert!(!works && hold["status"] == "fails", "{hold}");
        assert!(
            hold["found"].as_str().unwrap().contains("CAP_NET_RAW"),
            "{hold}"
        );
        file.write("interfaces = [\"tg0\"]\n");
        let (works, hold, held) = check("-net_raw");
        assert!(works && hold["status"] == "note", "{hold}");
        assert_eq!(held, Some(false));
    });
}

#[test]
fn check_finds_that_it_works_without_tcx() {
    between(|_| {
        let mut check = Command::new(TIDEGATE);
        check.args(["check", "--json", "--iface", "tg0"]);
        without_tcx(&mut check);
        let report: Value = serde_json::from_slice(&check.output().unwrap().stdout).unwrap();
        let findings = report["findings"].as_array().unwrap();
        let of = |name: &str| findings.iter().find(|f| f["name"] == name).unwrap();
        let programs = of("programs")["found"].as_str().unwrap();
        assert!(programs.contains("by clsact"), "{programs}");
        assert_eq!(of("hold")["status"], "ok", "{report}");
    });
}

/// The process behind the packet queue, a child of the agent.
fn gate(agent: &Running) -> Pid {
    let tasks = format!("/proc/{0}/task/{0}/children", agent.child.id());
    let children = fs::read_to_string(tasks).unwrap();
    let mut children = children.split_whitespace();
    Pid::from_raw(children.next().expect("a gate").parse().unwrap())
}

#[test]
fn a_gate_that_is_gone_is_noticed_and_said() {
    between(|hosts| {
        let agent = start(&["--udp", "hold"]);
        let download = Flow::download(hosts, server(4433));
        await_state(&agent, &download, &SEEN);
        kill(gate(&agent), Signal::SIGKILL).unwrap();
        let ended = agent.event("hold_ended");
        assert_eq!(ended["level"], "warning");
        let row = await_state(&agent, &download, &["gate_gone"]);
        assert_eq!(row["hold"]["here_bytes"], 0, "{row}");
        let look = json(&agent.top(&["--json"]));
        assert_eq!(look["hold"]["gate_gone"], true);
    });
}

#[test]
fn a_gate_that_is_gone_is_started_again() {
    between(|hosts| {
        let agent = start(&["--udp", "hold"]);
        let download = Flow::download(hosts, server(4433));
        await_state(&agent, &download, &SEEN);
        let first = gate(&agent);
        kill(first, Signal::SIGKILL).unwrap();
        agent.event("hold_ended");
        agent.event("hold_resumed");
        assert_ne!(gate(&agent), first);
        await_state(&agent, &download, &SEEN);
        let look = json(&agent.top(&["--json"]));
        assert_eq!(look["hold"]["gate_gone"], false);
    });
}

/// After an upgrade the file of that name is another program.
#[test]
fn a_gate_is_started_again_after_the_programs_file_was_replaced() {
    between(|_| {
        let folder = tempfile::tempdir().unwrap();
        let [program, other] = ["tidegate", "other"].map(|name| folder.path().join(name));
        fs::copy(TIDEGATE, &program).unwrap();
        fs::write(&other, "#!/bin/sh\nexit 1\n").unwrap();
        let agent = start_by(Command::new(&program), &["--udp", "hold"]);
        let first = gate(&agent);
        fs::rename(&other, &program).unwrap();
        kill(first, Signal::SIGKILL).unwrap();
        agent.event("hold_ended");
        agent.event("hold_resumed");
        assert_ne!(gate(&agent), first);
    });
}

/// Joins the two hosts by a new pair of devices with the same names and addresses.
fn join_anew(hosts: &Veth) {
    let mut there = hosts
        .server
        .run(|| Ok(Command::new("sleep").arg("60").spawn()?))
        .unwrap();
    sh(&format!(
        "ip link add tg0 type veth peer name tg0 netns {} && ip address add 198.18.0.1/30 dev tg0 && ip link set tg0 up",
        there.id()
    ));
    let configure = "ip address add 198.18.0.2/30 dev tg0 && ip link set tg0 up";
    sh_on(&hosts.server, configure);
    there.kill().unwrap();
    there.wait().unwrap();
}

#[test]
fn an_interface_that_goes_lets_go_and_is_held_when_it_returns() {
    between(|hosts| {
        let agent = start(&["--udp", "hold"]);
        let before = Flow::download(hosts, server(4433));
        await_state(&agent, &before, &SEEN);
        sh("ip link del tg0");
        agent.event("interface_gone");
        let look = json(&agent.top(&["--json"]));
        assert_eq!(look["hold"]["waiting"], 0, "{look}");
        drop(before);
        join_anew(hosts);
        agent.event("interface_came");
        let after = Flow::download(hosts, server(4434));
        await_state(&agent, &after, &SEEN);
    });
}

/// Sends as fast as the connection allows.
async fn send(server: Endpoint) {
    let connection = server.accept().await.unwrap().await.unwrap();
    let mut stream = connection.open_uni().await.unwrap();
    while stream.write_all(&[7; 1 << 16]).await.is_ok() {}
}

/// Downloads until told to stop.
fn download(hosts: &EmulatedHosts, at: SocketAddr, stop: &AtomicBool) {
    let (mut config, mut client) = identity().unwrap();
    let mut transport = TransportConfig::default();
    transport.send_window(64 << 20);
    config.transport_config(Arc::new(transport));
    let mut transport = TransportConfig::default();
    // As large as in browsers.
    transport.stream_receive_window(VarInt::from_u32(6 << 20));
    client.transport_config(Arc::new(transport));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        tokio::spawn(send(endpoint(hosts.server(), at, Some(config)).unwrap()));
        let any = ([0; 4], 0).into();
        let end = endpoint(hosts.client(), any, None).unwrap();
        let connection = end.connect_with(client, at, NAME).unwrap().await.unwrap();
        let mut stream = connection.accept_uni().await.unwrap();
        while !stop.load(Ordering::Relaxed) {
            let chunk = stream.read_chunk(1 << 20, true).await;
            assert!(chunk.unwrap().is_some(), "the server never ends");
        }
    });
}

/// A download over a link with a long queue.
#[test]
fn a_download_is_held_and_top_says_how_much() {
    if !can_hold() || !has_tun() {
        return;
    }
    let link = |bps| Config {
        rate: Rate::constant(bps),
        delay: Duration::from_millis(20).into(),
        ..Config::default()
    };
    let hosts = EmulatedHosts::new(link(20e6), link(5e6), 1).unwrap();
    let at = SocketAddr::new(EmulatedHosts::server_address(IpVersion::V4), 443);
    let stop = AtomicBool::new(false);
    // A flow that is first seen behind its own queue would take it for the base RTT.
    let ready = std::sync::Barrier::new(2);
    let watch = || {
        let agent = start(&["--udp", "hold"]);
        ready.wait();
        let held = agent.event("held");
        assert_eq!(held["remote"], at.to_string(), "{held}");
        let began = Instant::now();
        let row = loop {
            let look = json(&agent.top(&["--json", "--filter", "down held"]));
            let row = look["windowless"][0].clone();
            if row["hold"]["held"].as_u64() > Some(100) {
                break row;
            }
            assert!(began.elapsed() < TIMEOUT, "nothing waited: {row}");
        };
        // Its handshake may have been before the agent started.
        assert!(row["kind"].as_str().unwrap().contains("quic"), "{row}");
        assert_eq!(row["limit"], "held");
        let hold = &row["hold"];
        let number = |name: &str| {
            hold[name]
                .as_u64()
                .unwrap_or_else(|| panic!("{name}: {row}"))
        };
        assert!(number("rtt_min_us") > 35_000, "{row}");
        assert!(number("sender_bytes") > number("here_bytes"), "{row}");
        assert!(
            number("wait_us") > 0 && number("wait_us") <= 2_000_000,
            "{row}"
        );
        assert_eq!(row["left_alone"], false);
        // When the gate has gone, no packet waits any more.
        kill(gate(&agent), Signal::SIGKILL).unwrap();
        agent.event("hold_ended");
        let look = json(&agent.top(&["--json"]));
        assert_eq!(look["hold"]["waiting"], 0, "{look}");
        let before = look["hold"]["waited"].as_u64();
        assert!(before > Some(100), "{look}");
        // Its counts go on.
        agent.event("hold_resumed");
        let began = Instant::now();
        loop {
            let waited = json(&agent.top(&["--json"]))["hold"]["waited"].as_u64();
            assert!(waited >= before, "{waited:?}, before {before:?}");
            if waited > before {
                break;
            }
            assert!(began.elapsed() < TIMEOUT, "nothing waits any more");
        }
        Ok(())
    };
    thread::scope(|scope| {
        let downloads = scope.spawn(|| {
            ready.wait();
            download(&hosts, at, &stop);
        });
        let watched = hosts.client().run(watch);
        stop.store(true, Ordering::Relaxed);
        downloads.join().unwrap();
        watched.unwrap();
    });
}
