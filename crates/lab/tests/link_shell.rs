//! What signals do to a command behind a link, and what a killed link leaves behind. Runs itself
//! as the process to be signalled.

use nix::sys::signal::{SigHandler, Signal, kill, signal};
use nix::unistd::Pid;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use tidegate_lab::{Namespace, link_shell};
use tidegate_link::Config;
use tidegate_testing::has_tun;

/// Set for the process that runs a command behind a link: bash's script.
const SCRIPT: &str = "TIDEGATE_LAB_TEST_SCRIPT";

fn main() {
    if let Some(script) = std::env::var_os(SCRIPT) {
        // Whoever started the tests in the background has interrupts ignored, for all below.
        // SAFETY: no handler is installed.
        unsafe { signal(Signal::SIGINT, SigHandler::SigDfl) }.unwrap();
        let command = [OsString::from("bash"), "-c".into(), script];
        let status = link_shell(Config::default(), Config::default(), &command, None).unwrap();
        std::process::exit(status.code().unwrap_or(1));
    }
    if !has_tun() {
        return println!("{}", result(0, 2));
    }
    // Everything happens in a namespace of the test's own, which the processes inherit.
    Namespace::new().unwrap().enter().unwrap();
    signals_reach_the_command();
    println!("test signals_reach_the_command ... ok");
    a_killed_link_leaves_nothing_that_the_next_does_not_clear_up();
    println!("test a_killed_link_leaves_nothing_that_the_next_does_not_clear_up ... ok");
    println!("{}", result(2, 0));
}

/// As a test harness ends, for those who count.
fn result(passed: u32, ignored: u32) -> String {
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
    assert_eq!(interfaces(), ["lo"]);
}

fn a_killed_link_leaves_nothing_that_the_next_does_not_clear_up() {
    let folder = tempfile::tempdir().unwrap();
    let ready = folder.path().join("ready");
    let mut link = start(&format!("echo $$ >{}; exec sleep 1000", ready.display()));
    let mut pid = String::new();
    wait_for("the command", || {
        pid = fs::read_to_string(&ready).unwrap_or_default();
        pid.ends_with('\n')
    });
    assert_eq!(interfaces().len(), 2);
    link.kill().unwrap();
    link.wait().unwrap();
    let process = Path::new("/proc").join(pid.trim());
    wait_for("the command's end", || !process.exists());
    wait_for("the device's end", || interfaces() == ["lo"]);
    // A table left behind would be in the way.
    assert!(start("true").wait().unwrap().success());
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
