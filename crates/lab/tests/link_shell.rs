//! How signals act on a command behind a link, and what a killed link leaves behind. The test starts itself as the
//! process that is signalled.

use nix::sys::signal::{SigHandler, Signal, kill, signal};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use tidegate_lab::{Guest, Resolver, Uplinks, Veth, link_shell};
use tidegate_link::Config;
use tidegate_testing::has_tun;

/// Set for the process that runs a command behind a link: bash's script.
const SCRIPT: &str = "TIDEGATE_LAB_TEST_SCRIPT";

fn main() {
    if let Some(script) = std::env::var_os(SCRIPT) {
        // If the tests run in the background, interrupts are ignored, also by child processes.
        // SAFETY: no handler is installed.
        unsafe { signal(Signal::SIGINT, SigHandler::SigDfl) }.unwrap();
        let command = [OsString::from("bash"), "-c".into(), script];
        let guest = Guest {
            command: &command,
            caller: None,
            uplinks: Uplinks::find(&[]).unwrap(),
            resolver: Resolver::Callers,
            warn: |obstacle| panic!("{obstacle:?}"),
        };
        let (status, _) = link_shell(Config::default(), Config::default(), &guest, false).unwrap();
        std::process::exit(status.code().unwrap_or(1));
    }
    if !has_tun() {
        return println!("{}", result(0, TESTS.len()));
    }
    // Everything happens in the test's own namespace, with an uplink, which the processes inherit.
    let hosts = Veth::new().unwrap();
    hosts.client.enter().unwrap();
    for (name, test) in TESTS {
        test();
        println!("test {name} ... ok");
    }
    println!("{}", result(TESTS.len(), 0));
}

const TESTS: [(&str, fn()); 4] = [
    ("signals_reach_the_command", signals_reach_the_command),
    (
        "a_killed_link_leaves_the_machine_as_it_was",
        a_killed_link_leaves_the_machine_as_it_was,
    ),
    (
        "what_the_command_has_started_ends_with_the_link",
        what_the_command_has_started_ends_with_the_link,
    ),
    (
        "if_the_warden_is_killed_too_the_next_link_clears_up",
        if_the_warden_is_killed_too_the_next_link_clears_up,
    ),
];

/// Whether the uplink's forwarding is on.
fn forwards() -> bool {
    fs::read_to_string("/proc/sys/net/ipv4/conf/tg0/forwarding").unwrap() == "1\n"
}

/// The last line of a test harness, for the runner.
fn result(passed: usize, ignored: usize) -> String {
    format!(
        "\ntest result: ok. {passed} passed; 0 failed; {ignored} ignored; 0 measured; 0 filtered out"
    )
}

fn signals_reach_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready");
    for (signal, name) in [
        (Signal::SIGTERM, "TERM"),
        (Signal::SIGUSR1, "USR1"),
        (Signal::SIGINT, "INT"),
    ] {
        let mut link = start(&format!(
            "trap 'exit 42' {name}; echo >{}; while :; do sleep 0.05; done",
            ready.display()
        ));
        wait_for("the command", || ready.exists());
        kill(Pid::from_raw(link.id() as i32), signal).unwrap();
        assert_eq!(link.wait().unwrap().code(), Some(42), "{signal}");
        fs::remove_file(&ready).unwrap();
    }
    assert_eq!(interfaces(), ALONE);
}

/// The interfaces without a link.
const ALONE: [&str; 2] = ["lo", Veth::INTERFACE];

/// A link whose command stays until it is killed, and has started another in a new session that keeps appending to a
/// file.
fn start_writer(file: &Path) -> Child {
    let writes = format!("while :; do echo >>{}; sleep 0.02; done", file.display());
    let link = start(&format!("setsid bash -c '{writes}' & sleep 1000"));
    wait_for("the command", || file.exists());
    assert!(forwards() && interfaces().len() == 3);
    link
}

fn is_written(file: &Path) -> bool {
    let length = || fs::metadata(file).unwrap().len();
    let before = length();
    std::thread::sleep(Duration::from_millis(500));
    length() > before
}

fn a_killed_link_leaves_the_machine_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("time");
    let mut link = start_writer(&file);
    assert!(is_written(&file));
    link.kill().unwrap();
    link.wait().unwrap();
    wait_for("the device's end", || interfaces() == ALONE);
    wait_for("the warden's end", || wardens().is_empty());
    assert!(!forwards());
    assert!(!is_written(&file), "what the command had started lives on");
}

fn what_the_command_has_started_ends_with_the_link() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("time");
    let mut link = start_writer(&file);
    kill(Pid::from_raw(link.id() as i32), Signal::SIGTERM).unwrap();
    // It died by the forwarded signal.
    assert_eq!(link.wait().unwrap().code(), Some(1));
    assert!(!is_written(&file), "it lives on");
    assert!(!forwards() && wardens().is_empty() && interfaces() == ALONE);
}

fn if_the_warden_is_killed_too_the_next_link_clears_up() {
    let folder = tempfile::tempdir().unwrap();
    let mut link = start_writer(&folder.path().join("time"));
    for warden in wardens() {
        kill(warden, Signal::SIGKILL).unwrap();
    }
    link.kill().unwrap();
    link.wait().unwrap();
    wait_for("the device's end", || interfaces() == ALONE);
    assert!(forwards());
    assert!(start("true").wait().unwrap().success());
    assert!(!forwards());
    // Or the link itself restores it, if its wardens were killed.
    let mut link = start_writer(&folder.path().join("another"));
    for warden in wardens() {
        kill(warden, Signal::SIGKILL).unwrap();
    }
    kill(Pid::from_raw(link.id() as i32), Signal::SIGTERM).unwrap();
    link.wait().unwrap();
    assert!(!forwards());
}

/// The wardens of links in this namespace.
fn wardens() -> Vec<Pid> {
    let here = fs::read_link("/proc/thread-self/ns/net").unwrap();
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let ours = processes.filter(|process| {
        let read = |name: &str| fs::read_to_string(process.path().join(name));
        let is_here = fs::read_link(process.path().join("ns/net")).is_ok_and(|ns| ns == here);
        is_here && read("comm").is_ok_and(|name| name.trim() == "tidegate-warden")
    });
    let numbers = ours.filter_map(|process| process.file_name().to_str()?.parse().ok());
    numbers.map(Pid::from_raw).collect()
}

fn start(script: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .env(SCRIPT, script)
        .spawn()
        .unwrap()
}

fn interfaces() -> Vec<String> {
    let interfaces = nix::net::if_::if_nameindex().unwrap();
    let names = interfaces
        .iter()
        .map(|i| i.name().to_string_lossy().into_owned());
    names.collect()
}

fn wait_for(what: &str, mut there: impl FnMut() -> bool) {
    let began = Instant::now();
    while !there() {
        assert!(
            began.elapsed() < Duration::from_secs(15),
            "waited in vain for {what}"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}
