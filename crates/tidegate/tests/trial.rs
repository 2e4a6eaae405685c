//! `tidegate try` over emulated links whose truth is known, and how it ends. Needs root, and says so if it is skipped.
//!
//! The program's own tests check verdicts over hundreds of simulated links (`src/trial/simulated.rs`); here real TCP, a
//! real ping and the real agent run a few trials.

#[path = "trial/quic.rs"]
mod quic;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidegate_lab::{EmulatedHosts, IpVersion, Namespace, Veth};
use tidegate_link::Config;
use tidegate_scenario::{CellKind, GenerateSpec, LinkSpec, QueuePolicy, QueueSpec, RateSpec};
use tidegate_testing::{Browser, Screen, has_program, has_tun, is_root, own_cgroups, own_run};

const TIDEGATE: &str = env!("CARGO_BIN_EXE_tidegate");

fn tidegate(args: &[&str]) -> Command {
    let mut command = Command::new(TIDEGATE);
    for variable in ["SUDO_UID", "SUDO_GID", "PKEXEC_UID", "DOAS_USER"] {
        command.env_remove(variable);
    }
    command.args(args).stdin(Stdio::null());
    command
}

fn in_namespace(namespace: &Namespace, mut command: Command) -> Output {
    namespace.run(|| Ok(command.output()?)).unwrap()
}

fn json(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
}

fn link(rate: RateSpec, queue: QueueSpec) -> Config {
    let spec = LinkSpec {
        queue,
        ..LinkSpec::new(rate, 25.0)
    };
    spec.resolve(Path::new(""), 7).unwrap()
}

fn queue(packets: usize, policy: QueuePolicy) -> QueueSpec {
    QueueSpec {
        packets: Some(packets),
        policy,
        ..QueueSpec::default()
    }
}

fn up() -> Config {
    link(RateSpec::ConstantMbps(5.0), QueueSpec::default())
}

/// Bytes in 20 ms at 4 Mbit/s.
const SLOWLY: usize = 10_000;

/// Serves an endless file over HTTP, as fast as TCP allows or `each` bytes in 20 ms. Returns its URL.
fn serve_forever(hosts: &EmulatedHosts, each: Option<usize>) -> String {
    let address = EmulatedHosts::server_address(IpVersion::V4);
    let listener = hosts.server().run(|| Ok(TcpListener::bind((address, 0))?));
    let listener = listener.unwrap();
    let at = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || serve(stream, each));
        }
    });
    format!("http://{at}/file")
}

fn serve(mut stream: TcpStream, each: Option<usize>) {
    let _ = stream.read(&mut [0; 4096]);
    let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n");
    while stream.write_all(&vec![7; each.unwrap_or(1 << 16)]).is_ok() {
        if each.is_some() {
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn cell(kind: CellKind) -> RateSpec {
    RateSpec::Generate(GenerateSpec {
        kind,
        mean_mbps: None,
        seed: None,
    })
}

/// An over-buffered link, loaded by the user's own prober. Its rate is constant, since slots are short here: over
/// cellular links such a trial may find that the delay varies too much.
#[test]
fn it_helps_in_front_of_a_deep_buffer() {
    if !has_tun() {
        return;
    }
    let twenty = RateSpec::ConstantMbps(20.0);
    let down = link(twenty, queue(1000, QueuePolicy::DropTail));
    let hosts = EmulatedHosts::new(down, up(), 1).unwrap();
    let address = EmulatedHosts::server_address(IpVersion::V4);
    let folder = TempDir::new().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (key, page) = (file("probe.key"), file("try.html"));
    fs::write(&key, "ab".repeat(32)).unwrap();
    let listen = format!("{address}:4817");
    let mut server = tidegate(&["probe", "serve", "--listen", &listen, "--key", &key]);
    server.stderr(Stdio::null());
    let _server = Ended(hosts.server().run(|| Ok(server.spawn()?)).unwrap());
    let load = ["--probe", &listen, "--key", &key];
    let slots = ["--pairs", "8", "--slot", "3", "--seed", "1"];
    let result = json(&a_trial(
        &hosts,
        &[&load, slots.as_slice(), &["--page", &page]].concat(),
    ));
    let headline = result["headline"].as_str().unwrap();
    assert_eq!(result["verdict"], "helps", "{result:#}");
    assert!(headline.starts_with("Steering helps here: "), "{headline}");
    assert_eq!(result["direction"], "down");
    let number = |pointer: &str| {
        let value = result.pointer(pointer).and_then(Value::as_f64);
        value.unwrap_or_else(|| panic!("no {pointer}: {result:#}"))
    };
    assert!((50.0..80.0).contains(&number("/idle_ms")), "{result:#}");
    assert!(
        number("/loaded_ms/without") > 1.5 * number("/loaded_ms/with"),
        "{result:#}"
    );
    assert!(number("/tested/p") <= 1.0 / 40.0);
    assert_eq!(result["slots"].as_array().unwrap().len(), 18);
    assert_eq!(result["about"]["pinged_by"], "echo");
    assert_eq!(result["provenance"]["seed"], 1);
    let page = Path::new(&page);
    audit(page);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains(headline), "{page}");
    assert!(page.len() < 500_000, "{} bytes", page.len());
    roxmltree::Document::parse(page.trim_start_matches("<!DOCTYPE html>")).unwrap();
}

/// Runs a trial at the client.
fn a_trial(hosts: &EmulatedHosts, arguments: &[&str]) -> Output {
    let first = [
        "try",
        "--iface",
        EmulatedHosts::INTERFACE,
        "--yes",
        "--json",
    ];
    let mut command = tidegate(&first);
    command.args(arguments);
    in_namespace(hosts.client(), command)
}

/// The same link with a server that is limited to 4 Mbit/s.
#[test]
fn a_slow_server_is_told_from_a_link_without_a_queue() {
    if !has_tun() || !has_program("curl", "curl") {
        return;
    }
    let twenty = RateSpec::ConstantMbps(20.0);
    let down = link(twenty, queue(1000, QueuePolicy::DropTail));
    let hosts = EmulatedHosts::new(down, up(), 1).unwrap();
    let url = serve_forever(&hosts, Some(SLOWLY));
    // Meanwhile this machine downloads something else, twice as fast, which is not the load.
    let other = serve_forever(&hosts, Some(2 * SLOWLY));
    let mut curl = Command::new("curl");
    curl.args(["--silent", "--output", "/dev/null", &other]);
    let _other = Ended(hosts.client().run(|| Ok(curl.spawn()?)).unwrap());
    let slots = ["--pairs", "6", "--slot", "2", "--seed", "1"];
    let result = json(&a_trial(
        &hosts,
        &[&["--url", &url], slots.as_slice()].concat(),
    ));
    assert_eq!(result["verdict"], "no_difference", "{result:#}");
    assert_eq!(result["because"], "server_limited", "{result:#}");
    // Twice the load has carried more.
    assert_eq!(result["slots"][14]["purpose"], "check");
    // In the mean: a machine that pauses for a moment moves bytes from one slot to the next.
    let slots = &result["slots"].as_array().unwrap()[..14];
    let sum = |number: &dyn Fn(&Value) -> f64| slots.iter().map(number).sum::<f64>();
    let seconds = sum(&|slot| slot["seconds"].as_f64().unwrap());
    let load = sum(&|slot| slot["load_bytes"][0].as_f64().unwrap()) * 8e-6 / seconds;
    let all = sum(&|slot| slot["carried"][0]["reached_bytes"].as_f64().unwrap()) * 8e-6 / seconds;
    assert!((3.5..4.6).contains(&load), "{load} Mbit/s: {result:#}");
    assert!((10.0..14.0).contains(&all), "{all} Mbit/s: {result:#}");
}

/// A download over HTTP/3's port, which is held in steered slots: the load is a process of its own, as a user's is.
#[test]
fn quic_is_held_in_steered_slots_and_the_verdict_says_so() {
    if !has_tun() {
        return;
    }
    let twenty = RateSpec::ConstantMbps(20.0);
    let down = link(twenty, queue(2000, QueuePolicy::DropTail));
    let hosts = EmulatedHosts::new(down, up(), 1).unwrap();
    let address = EmulatedHosts::server_address(IpVersion::V4);
    let at = SocketAddr::new(address, 443);
    let certificate = quic::serve_forever(&hosts, at);
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("certificate");
    fs::write(&file, certificate).unwrap();
    let own = std::env::current_exe().unwrap();
    let load = [own.to_str().unwrap(), "--ignored", "--exact", "quic::load"];
    let variables = [
        format!("{}={at}", quic::SERVER),
        format!("{}={}", quic::CERTIFICATE, file.display()),
    ];
    let command = ["env", &variables[0], &variables[1]];
    let slots = ["--pairs", "6", "--slot", "6", "--seed", "1", "--ping"];
    let ping = address.to_string();
    let words = [&slots[..], &[&ping, "--"], &command, &load].concat();
    let result = json(&a_trial(&hosts, &words));
    assert_eq!(result["verdict"], "helps", "{result:#}");
    // In one slot of six its sender may not have answered in time.
    assert!(result["held"].as_f64() > Some(0.75), "{result:#}");
    let said = result["said"].to_string();
    assert!(said.contains("within the hold's reach"), "{said}");
    let slots = result["slots"].as_array().unwrap();
    let held = |slot: &&Value| slot["carried"][0]["held_bytes"].as_u64() > Some(0);
    for slot in slots.iter().filter(|slot| slot["steered"] == false) {
        assert!(!held(&slot), "{slot}");
    }
    assert!(slots.iter().filter(held).count() >= 5, "{result:#}");
}

/// Checks the page on a phone and a desktop, in light and dark colours: it has no faults, and loads nothing else.
fn audit(page: &Path) {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let url = format!("file://{}", page.display());
    for screen in Screen::ALL {
        browser.look_at(screen);
        browser.open(&url);
        let wrong = browser.audit();
        assert!(wrong.is_empty(), "{}: {wrong:#?}", screen.name());
        assert_eq!(browser.requests(), [url.as_str()]);
    }
}

/// `cargo test -p tidegate --test trial -- --ignored --nocapture usual`: trials of the default length over links of
/// each kind; they take four minutes each, one after the other.
mod usual {
    use super::*;

    /// A link towards the client, a server that sends as fast as TCP allows or `each` bytes in 20 ms, and the right
    /// verdict.
    fn finds(right: &str, down: Config, each: Option<usize>) {
        static TURN: Mutex<()> = Mutex::new(());
        let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        if !has_tun() || !has_program("curl", "curl") {
            return;
        }
        let hosts = EmulatedHosts::new(down, up(), 1).unwrap();
        let url = serve_forever(&hosts, each);
        let result = json(&a_trial(&hosts, &["--url", &url]));
        println!("{}", result["headline"]);
        let found = result["because"].as_str().or(result["verdict"].as_str());
        assert_eq!(found, Some(right), "{result:#}");
    }

    fn deep() -> QueueSpec {
        queue(2000, QueuePolicy::DropTail)
    }

    fn ten() -> RateSpec {
        RateSpec::ConstantMbps(10.0)
    }

    #[test]
    #[ignore = "minutes in real time"]
    fn lte() {
        finds("helps", link(cell(CellKind::Lte), deep()), None);
    }

    #[test]
    #[ignore = "minutes in real time"]
    fn hspa() {
        finds("helps", link(cell(CellKind::Hspa), deep()), None);
    }

    #[test]
    #[ignore = "minutes in real time"]
    fn codel() {
        let managed = queue(2000, QueuePolicy::Codel);
        finds("managed_queue", link(ten(), managed), None);
    }

    #[test]
    #[ignore = "minutes in real time"]
    fn a_small_buffer() {
        let small = queue(20, QueuePolicy::DropTail);
        finds("managed_queue", link(ten(), small), None);
    }

    #[test]
    #[ignore = "minutes in real time"]
    fn a_slow_server() {
        let lte = link(cell(CellKind::Lte), deep());
        finds("server_limited", lte, Some(SLOWLY));
    }
}

/// A process that is killed when dropped.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The arguments of a load that outlives its session and can be recognised.
fn marked_load(marker: &str) -> [String; 3] {
    let script = format!("setsid sleep {marker} & exec sleep {marker}");
    ["sh".into(), "-c".into(), script]
}

/// How many processes have this word on their command line.
fn with_word(word: &str) -> usize {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|p| fs::read(p.path().join("cmdline")).ok());
    lines
        .filter(|line| {
            line.split(|byte| *byte == 0)
                .any(|arg| arg == word.as_bytes())
        })
        .count()
}

fn groups_of(process: u32) -> Vec<PathBuf> {
    let root = tidegate_agent::Cgroup::root().unwrap();
    let own = fs::read_to_string("/proc/self/cgroup").unwrap();
    let own = own
        .lines()
        .find_map(|line| line.strip_prefix("0::/"))
        .unwrap();
    let folder = root.join(own).join(format!("tidegate-try-{process}"));
    folder.exists().then_some(folder).into_iter().collect()
}

/// Ends a trial by a signal during its first slot. Nothing stays behind: no process of its load in any session, no
/// control group, no program, no lock.
fn ends_by(signal: Signal, marker: &str) {
    // Leftovers of other tests' killed agents at the default path are not this trial's.
    if !own_run() {
        return;
    }
    own_cgroups();
    let hosts = Veth::new().unwrap();
    let server = Veth::server_address(IpVersion::V4).to_string();
    let load = marked_load(marker);
    let words = [
        "try",
        "--ping",
        &server,
        "--iface",
        Veth::INTERFACE,
        "--yes",
        "--",
    ];
    let mut command = tidegate(&words);
    command
        .args(&load)
        .stderr(Stdio::piped())
        .stdout(Stdio::null());
    let mut trial = hosts.client.run(|| Ok(command.spawn()?)).unwrap();
    await_that("the load runs", || with_word(marker) == 2);
    assert_eq!(groups_of(trial.id()).len(), 1);
    kill(Pid::from_raw(trial.id() as i32), signal).unwrap();
    let status = trial.wait().unwrap();
    await_that("the load has ended", || with_word(marker) == 0);
    await_that("its group has gone", || groups_of(trial.id()).is_empty());
    if signal == Signal::SIGINT {
        assert_eq!(status.code(), Some(1));
        let said = BufReader::new(trial.stderr.take().unwrap()).lines();
        let last = said.map_while(Result::ok).last().unwrap();
        assert!(last.contains("interrupted"), "{last}");
    }
    let stopped = json(&in_namespace(&hosts.client, tidegate(&["stop", "--json"])));
    assert_eq!(stopped, serde_json::json!({ "agent": null, "removed": [] }));
}

fn await_that(what: &str, is: impl Fn() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < Duration::from_secs(20), "not so: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    if is_root() {
        ends_by(Signal::SIGINT, "86391");
    }
}

#[test]
fn a_kill_leaves_nothing_behind() {
    if is_root() {
        ends_by(Signal::SIGKILL, "86392");
    }
}

/// Exactly one sentence that contains all of these words, and status 2.
fn assert_refused(output: &Output, words: &[&str]) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(output.stdout.is_empty());
    for word in words {
        assert!(text.contains(word), "no \"{word}\" in: {text}");
    }
}

#[test]
fn what_cannot_be_tried_is_refused() {
    let refused = |args: &[&str], words: &[&str]| {
        let args = [&["try"], args].concat();
        assert_refused(&tidegate(&args).output().unwrap(), words);
    };
    refused(&[], &["--url <URL>", "--probe <HOST>", "CMD"]);
    refused(
        &["--url", "http://h/", "--", "true"],
        &["cannot be used with"],
    );
    refused(&["--pairs", "5", "--", "true"], &["6 to 16", "chance"]);
    refused(&["--slot", "1", "--", "true"], &["2 to 120"]);
    refused(
        &["--law", "none", "--", "true"],
        &["invalid value 'none'", "tide"],
    );
    refused(&["--probe", "h"], &["--key"]);
    refused(
        &["--url", "example.org"],
        &["--url example.org", "https://"],
    );
    refused(
        &["--", "no-such-program"],
        &["no-such-program", "no such program"],
    );
    refused(&["--", "true"], &["--ping HOST"]);
}

#[test]
fn without_a_terminal_it_asks_for_yes() {
    if !is_root() {
        return;
    }
    let hosts = Veth::new().unwrap();
    let server = Veth::server_address(IpVersion::V4).to_string();
    let args = [
        "try",
        "--ping",
        &server,
        "--iface",
        Veth::INTERFACE,
        "--",
        "true",
    ];
    let output = in_namespace(&hosts.client, tidegate(&args));
    assert_refused(
        &output,
        &[
            "fills the link for 176 s",
            "220 MB at 10 Mbit/s",
            "2.0 GB at most",
            "--yes",
        ],
    );
}

#[test]
fn it_does_not_run_beside_another_agent() {
    if !is_root() {
        return;
    }
    let hosts = Veth::new().unwrap();
    let server = Veth::server_address(IpVersion::V4).to_string();
    let folder = TempDir::new().unwrap();
    let socket = folder.path().join("agent.sock");
    let mut agent = tidegate(&[
        "run",
        "--iface",
        Veth::INTERFACE,
        "--socket",
        socket.to_str().unwrap(),
    ]);
    agent.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut agent = Ended(hosts.client.run(|| Ok(agent.spawn()?)).unwrap());
    let mut line = String::new();
    BufReader::new(agent.0.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert!(line.contains("steering"), "{line}");
    let args = [
        "try",
        "--ping",
        &server,
        "--iface",
        Veth::INTERFACE,
        "--yes",
        "--",
        "true",
    ];
    let output = in_namespace(&hosts.client, tidegate(&args));
    assert_refused(
        &output,
        &["no other agent", &agent.0.id().to_string(), "tidegate stop"],
    );
}

#[test]
fn whom_nobody_hears_is_refused() {
    if !is_root() {
        return;
    }
    let hosts = Veth::new().unwrap();
    // An address of the link that no host has.
    let nobody = "198.51.100.77";
    let args = [
        "try",
        "--ping",
        nobody,
        "--iface",
        Veth::INTERFACE,
        "--yes",
        "--",
        "true",
    ];
    let output = in_namespace(&hosts.client, tidegate(&args));
    assert_refused(&output, &[nobody, "neither", "443", "--ping HOST"]);
}
