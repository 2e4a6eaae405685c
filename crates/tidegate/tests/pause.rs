//! `tidegate pause` and `tidegate resume`, with the agent as a process and a download over an emulated link: which
//! window the sender is told before, during and after a pause. Needs root, and TUN for the link; says so if it is
//! skipped.

#[path = "sight/running.rs"]
#[allow(dead_code, reason = "it serves more tests than these")]
mod running;

use nix::unistd::{Gid, Uid, chown};
use running::{Running, TIDEGATE, json};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};
use tidegate_agent::leftovers;
use tidegate_lab::{EmulatedHosts, IpVersion, Namespace, TcpInfo};
use tidegate_link::{Config, Policy, QueueConfig, Rate};
use tidegate_testing::{has_program, has_tun, is_root};

/// Time limit on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(30);

/// In this time the windows from before have been replaced at the sender: some round trips with a full queue.
const SETTLE: Duration = Duration::from_secs(1);

/// An access link with a third of a second of buffer.
fn link(bps: f64) -> Config {
    Config {
        rate: Rate::constant(bps),
        delay: Duration::from_millis(20).into(),
        queue: QueueConfig {
            packets: Some(500),
            bytes: None,
            policy: Policy::DropTail,
            ..QueueConfig::default()
        },
        ..Config::default()
    }
}

/// A download, and what its two ends know; it ends when dropped.
struct Download {
    near: TcpStream,
    far: TcpStream,
}

impl Download {
    fn start(hosts: &EmulatedHosts) -> Self {
        let listen = || Ok(TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))?);
        let listener = hosts.server().run(listen).unwrap();
        let port = listener.local_addr().unwrap().port();
        let remote = SocketAddr::new(EmulatedHosts::server_address(IpVersion::V4), port);
        let near = hosts.client().run(|| Ok(TcpStream::connect(remote)?));
        let near = near.unwrap();
        let (far, _) = listener.accept().unwrap();
        let (mut from, mut to) = (near.try_clone().unwrap(), far.try_clone().unwrap());
        thread::spawn(move || while to.write_all(&[7; 1 << 16]).is_ok() {});
        thread::spawn(move || {
            let mut room = vec![0; 1 << 16];
            while from.read(&mut room).is_ok_and(|n| n > 0) {}
        });
        Self { near, far }
    }

    /// The last window that the receiver's kernel has written, and the window that the sender was told.
    fn windows(&self) -> (u32, u32) {
        let own = TcpInfo::of(&self.near).unwrap().own_window_bytes;
        (own, TcpInfo::of(&self.far).unwrap().peer_window_bytes)
    }

    fn is_steered(&self) -> bool {
        let (own, told) = self.windows();
        told > 0 && told < own / 2
    }

    fn await_steering(&self) {
        let began = Instant::now();
        while !self.is_steered() {
            assert!(began.elapsed() < TIMEOUT, "{:?}", self.windows());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// For this time the sender has the window that it would have without us. The kernel's window only grows, and its
    /// value of a while ago has arrived by now.
    fn is_as_without_us_for(&self, time: Duration) {
        let began = Instant::now();
        while began.elapsed() < time {
            let (before, _) = self.windows();
            thread::sleep(Duration::from_millis(500));
            let (_, told) = self.windows();
            // The receiver subtracts data that it has not read yet.
            assert!(
                f64::from(told) > 0.9 * f64::from(before),
                "{told} of {before}"
            );
        }
    }
}

impl Drop for Download {
    fn drop(&mut self) {
        let _ = self.near.shutdown(std::net::Shutdown::Both);
        let _ = self.far.shutdown(std::net::Shutdown::Both);
    }
}

fn tidegate(args: &[&str], socket: &Path) -> Output {
    let mut command = Command::new(TIDEGATE);
    command.args(args).arg("--socket").arg(socket);
    command.output().unwrap()
}

/// Runs an order, which must succeed; returns its answer.
fn order(args: &[&str], agent: &Running) -> Value {
    let output = tidegate(&[args, &["--json"]].concat(), &agent.socket);
    assert!(output.status.success(), "{output:?}");
    json(&output)
}

/// How many acknowledgements the agent has lowered so far.
fn rewritten(look: &Value) -> u64 {
    let counts = look["counts"].as_array().unwrap().iter();
    let lowered = counts.filter(|count| count["reason"] == "rewritten");
    lowered
        .map(|count| count["packets"].as_u64().unwrap())
        .sum()
}

fn look(agent: &Running) -> Value {
    json(&agent.top(&["--json"]))
}

/// The page's data.
fn page(address: &str) -> Value {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /now.json HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// Runs `act` on the client of a link during a steered download; says so if it is skipped.
fn steered(act: impl FnOnce(&mut Running, &Download) + Send) {
    if !has_tun() || !has_program("ip", "iproute2") {
        return;
    }
    let hosts = EmulatedHosts::new(link(20e6), link(5e6), 1).unwrap();
    let work = || {
        let up = ["link", "set", "lo", "up"];
        assert!(Command::new("ip").args(up).status()?.success());
        let args = ["--iface", EmulatedHosts::INTERFACE, "--page", "127.0.0.1:0"];
        let mut agent = Running::start_by(Command::new(TIDEGATE), &args);
        let download = Download::start(&hosts);
        download.await_steering();
        act(&mut agent, &download);
        Ok(())
    };
    hosts.client().run(work).unwrap();
}

#[test]
fn in_a_pause_the_sender_has_the_kernels_window_and_after_it_the_laws() {
    steered(|agent, download| {
        let address = agent.event("page")["address"].as_str().unwrap().to_owned();
        let began = Instant::now();
        let done = order(&["pause", "8s"], agent);
        assert_eq!(done["was_paused"], false);
        assert_eq!(done["paused"]["left_s"], 8);
        let before = rewritten(&look(agent));
        let said = agent.event("pause");
        let words = said["message"].as_str().unwrap();
        assert!(words.starts_with("paused until "), "{words}");
        let until = words.split(':').take(2).collect::<Vec<_>>().join(":");
        let seen = look(agent);
        let left_s = seen["agent"]["paused"]["left_s"].as_u64().unwrap();
        assert!((1..=8).contains(&left_s), "{seen}");
        assert_eq!(seen["agent"]["passes"], false);
        let told = page(&address);
        let line = format!("Nothing is steered: {until}, as was asked for.");
        let lines = told["verdict"]["lines"].as_array().unwrap();
        assert!(lines.contains(&line.as_str().into()), "{line}: {told}");
        assert!(
            told["agent"].as_str().unwrap().starts_with(&until),
            "{told}"
        );
        assert_eq!(told["steers"], false);
        thread::sleep(SETTLE);
        download.is_as_without_us_for(Duration::from_secs(3));
        // Not a single acknowledgement was lowered.
        let seen = look(agent);
        assert_eq!(rewritten(&seen), before, "{seen}");
        assert!(!seen["agent"]["paused"].is_null(), "{seen}");
        // The pause ended by itself.
        agent.event("resume");
        assert!(began.elapsed() >= Duration::from_secs(8));
        download.await_steering();
        let seen = look(agent);
        assert!(seen["agent"]["paused"].is_null() && rewritten(&seen) > before);
        assert_eq!(page(&address)["steers"], true);
        agent.interrupt();
    });
}

#[test]
fn a_pause_has_another_end_as_often_as_somebody_says_so() {
    steered(|agent, download| {
        order(&["pause", "1d"], agent);
        agent.event("pause");
        let again = order(&["pause", "1h"], agent);
        assert_eq!(
            (&again["was_paused"], &again["paused"]["left_s"]),
            (&json!(true), &json!(3600))
        );
        // The date is included if it is another day.
        let said = agent.event("pause")["message"].as_str().unwrap().to_owned();
        assert!(said.starts_with("paused until "), "{said}");
        thread::sleep(SETTLE);
        download.is_as_without_us_for(Duration::from_secs(1));
        let done = order(&["resume"], agent);
        assert_eq!(
            (&done["was_paused"], &done["paused"]),
            (&json!(true), &Value::Null)
        );
        agent.event("resume");
        download.await_steering();
        let output = tidegate(&["resume"], &agent.socket);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success() && said.contains("was not paused"),
            "{said}"
        );
        agent.interrupt();
    });
}

#[test]
fn of_an_agent_that_is_killed_in_a_pause_nothing_is_left() {
    steered(|agent, download| {
        order(&["pause", "1h"], agent);
        agent.child.kill().unwrap();
        agent.child.wait().unwrap();
        let left: Vec<_> = leftovers()
            .unwrap()
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(left, [] as [&str; 0]);
        thread::sleep(SETTLE);
        download.is_as_without_us_for(Duration::from_secs(1));
        // The pause does not affect the next agent.
        let args = ["--iface", EmulatedHosts::INTERFACE];
        let mut next = Running::start_by(Command::new(TIDEGATE), &args);
        download.await_steering();
        assert!(look(&next)["agent"]["paused"].is_null());
        next.interrupt();
    });
}

fn refused(output: &Output, words: &[&str]) {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    for word in words {
        assert!(said.contains(word), "no \"{word}\" in: {said}");
    }
}

#[test]
fn what_cannot_be_done_is_said_with_status_2() {
    if !is_root() {
        return;
    }
    let namespace = Namespace::new().unwrap();
    let work = || {
        let nowhere = Path::new("/nonexistent/agent.sock");
        for time in ["1w", "8d", "0s", "an hour", "90"] {
            let output = tidegate(&["pause", time], nowhere);
            refused(&output, &[time, "30s, 10m, 1h or 1d"]);
        }
        refused(&tidegate(&["pause"], nowhere), &["<TIME>"]);
        for args in [&["pause", "1h"][..], &["resume"]] {
            refused(
                &tidegate(args, nowhere),
                &["no agent answers at /nonexistent", "`tidegate run`"],
            );
        }
        let mut agent = Running::start_by(Command::new(TIDEGATE), &["--iface", "lo"]);
        let pid = agent.child.id().to_string();
        refused(&tidegate(&["resume"], nowhere), &[&pid, "--socket"]);
        let mut stranger = Command::new(TIDEGATE);
        stranger.args(["pause", "1h"]).uid(65_534).gid(65_534);
        refused(&stranger.output()?, &["root"]);
        agent.interrupt();
        Ok(())
    };
    namespace.run(work).unwrap();
}

/// A socket that other users may read, as an administrator may set it up.
#[test]
fn who_may_look_may_not_pause() {
    if !is_root() {
        return;
    }
    const NOBODY: u32 = 65_534;
    let namespace = Namespace::new().unwrap();
    let work = || {
        let mut agent = Running::start_by(Command::new(TIDEGATE), &["--iface", "lo"]);
        let folder = agent.socket.parent().unwrap();
        let own = Some(Uid::from_raw(NOBODY));
        chown(folder, own, Some(Gid::from_raw(NOBODY)))?;
        chown(&agent.socket, own, Some(Gid::from_raw(NOBODY)))?;
        let ask = |line: &str| {
            let stream = UnixStream::connect(&agent.socket)?;
            writeln!(&stream, "{line}")?;
            let mut answer = String::new();
            BufReader::new(&stream).read_line(&mut answer)?;
            Ok::<Value, std::io::Error>(serde_json::from_str(&answer)?)
        };
        let pause = r#"{"do":"pause","seconds":60}"#;
        let asked = thread::scope(|scope| {
            let asks = || {
                // Only for this thread: the C library's function would change all threads.
                // SAFETY: plain numbers.
                let became = unsafe { libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY) };
                assert_eq!(became, 0);
                [ask(r#"{"get":"snapshot"}"#), ask(pause)].map(Result::unwrap)
            };
            scope.spawn(asks).join().unwrap()
        });
        assert_eq!(asked[0]["version"], 3);
        let error = asked[1]["error"].as_str().unwrap();
        assert!(error.contains("expected root"), "{error}");
        // Invalid orders are refused to root, too.
        for wrong in [
            r#"{"do":"pause","seconds":0}"#,
            r#"{"do":"pause","seconds":604801}"#,
            r#"{"do":"pause"}"#,
            r#"{"do":"end"}"#,
        ] {
            let error = ask(wrong)?["error"].clone();
            assert!(error.as_str().unwrap().contains("expected"), "{error}");
        }
        assert!(look(&agent)["agent"]["paused"].is_null());
        assert_eq!(ask(pause)?["paused"]["left_s"], 60);
        agent.interrupt();
        Ok(())
    };
    namespace.run(work).unwrap();
}
