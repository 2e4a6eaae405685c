//! How clients find an agent, and what a reload says of settings that only a start reads.

use crate::{DENIES, Host, text};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Stdio};
use tidegate_testing::own_run;

/// `tidegate run` with its default socket.
struct Usual {
    child: Child,
    socket: String,
    _out: Lines<BufReader<ChildStdout>>,
}

impl Drop for Usual {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Usual {
    fn start(host: &Host) -> Self {
        let spawn = || {
            let mut command = host.command(&["run", "--iface", "lo", "--udp", "leave"]);
            Ok(command.stdout(Stdio::piped()).spawn()?)
        };
        let mut child = host.namespace.run(spawn).unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
        let serving = out
            .find(|line| line.as_ref().unwrap().contains("finds the agent"))
            .unwrap()
            .unwrap();
        let socket = serving.rsplit(' ').next().unwrap().to_owned();
        Self {
            child,
            socket,
            _out: out,
        }
    }

    /// Ends it in order.
    fn end(mut self) {
        let pid = Pid::from_raw(self.child.id() as i32);
        kill(pid, Signal::SIGTERM).unwrap();
        assert!(self.child.wait().unwrap().success());
    }
}

/// The agent process that `top` shows.
fn seen(host: &Host, more: &[&str]) -> Value {
    let args = [
        "top",
        "--once",
        "--json",
        "--interval",
        "0.1",
        "--iface",
        "lo",
    ];
    host.json(&[&args[..], more].concat())["agent"].take()
}

#[test]
fn each_network_namespace_has_an_agent_of_its_own_to_look_at() {
    let (Some(one), Some(other)) = (Host::new(), Host::new()) else {
        return;
    };
    if !own_run() {
        return;
    }
    let first = Usual::start(&one);
    assert_eq!(first.socket, "/run/tidegate/agent.sock");
    // `top` does not take another namespace's agent for its own.
    assert_eq!(seen(&other, &[])["dry_run"], true);
    let second = Usual::start(&other);
    assert_ne!(first.socket, second.socket);
    assert_eq!(seen(&one, &[])["pid"], first.child.id());
    assert_eq!(seen(&other, &[])["pid"], second.child.id());
    // A user who names another namespace's agent gets it, with a notice.
    let args = [
        "top",
        "--once",
        "--interval",
        "0.1",
        "--socket",
        &second.socket,
    ];
    let said = text(&one.output(&args).stderr);
    assert!(said.contains("another network namespace"), "{said}");
    let check = one.json(&["check", "--iface", "lo", "--json"]);
    assert_eq!(check["works"], true, "{check}");
    first.end();
    assert_eq!(seen(&other, &[])["pid"], second.child.id());
}

#[test]
fn an_agent_that_is_elsewhere_is_said_to_be() {
    let Some(host) = Host::new() else { return };
    if !own_run() {
        return;
    }
    let running = host.start(&[]);
    for more in [&[][..], &["--socket", "/run/nobody.sock"]] {
        let top = host.output(&[&["top", "--once"][..], more].concat());
        let said = text(&top.stderr);
        assert_eq!(top.status.code(), Some(2), "{said}");
        let pid = running.pid().to_string();
        let path = more.last().unwrap_or(&"/run/tidegate/agent.sock");
        for word in [&pid, *path, "expected --socket"] {
            assert!(said.contains(word), "no \"{word}\" in: {said}");
        }
        assert!(!said.contains("no agent is found"), "{said}");
    }
    running.end();
}

#[test]
fn stop_removes_the_socket_of_a_killed_agent() {
    let Some(host) = Host::new() else { return };
    if !own_run() {
        return;
    }
    let agent = Usual::start(&host);
    let socket = agent.socket.clone();
    drop(agent);
    assert!(std::path::Path::new(&socket).exists());
    let said = text(&host.output(&["stop"]).stdout);
    assert!(said.contains(&socket), "{said}");
    assert!(!std::path::Path::new(&socket).exists());
    let said = text(&host.output(&["stop"]).stdout);
    assert!(said.contains("nothing to stop"), "{said}");
}

#[test]
fn a_reload_says_which_settings_take_a_restart() {
    let Some(host) = Host::new() else { return };
    let mut running = host.start(&["--udp", "leave"]);
    let changed = "page = \"127.0.0.1:0\"\nmetrics = \"127.0.0.1:0\"\ncompare = 0.01\n";
    host.configure(&format!("{changed}{DENIES}"));
    running.signal(libc::SIGHUP);
    running.expect_out("read again");
    let words = [
        "metrics, page stay",
        "started anew",
        "systemctl restart tidegate",
    ];
    running.expect_err(&words);
    // Settings that are as at the start are not mentioned.
    host.configure(DENIES);
    running.signal(libc::SIGHUP);
    running.expect_out("read again");
    host.configure("nonsense = 1");
    running.signal(libc::SIGHUP);
    running.expect_err(&["nonsense"]);
    running.end();
}
