//! `tidegate mpath send` and `recv` as processes.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const TIDEGATE: &str = env!("CARGO_BIN_EXE_tidegate");

/// A running `tidegate mpath recv` with its token; ended when dropped.
struct Recv {
    child: Child,
    out: BufReader<ChildStdout>,
    token: String,
}

impl Recv {
    fn start(folders: &Folders, more: &[&str]) -> Self {
        let mut child = Command::new(TIDEGATE)
            .args(["mpath", "recv", "--listen", "127.0.0.1:0"])
            .args(more)
            .arg(folders.to("."))
            .env("XDG_STATE_HOME", folders.root.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut token = String::new();
        out.read_line(&mut token).unwrap();
        assert!(token.starts_with("tgm1-"), "{token}");
        let token = token.trim().to_owned();
        Self { child, out, token }
    }

    fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
    }
}

impl Drop for Recv {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

struct Folders {
    root: TempDir,
}

impl Folders {
    fn new() -> Self {
        let root = TempDir::new().unwrap();
        fs::create_dir(root.path().join("to")).unwrap();
        Self { root }
    }

    fn make(&self, name: &str, bytes: usize) -> (PathBuf, Vec<u8>) {
        let content: Vec<u8> = (0..bytes).map(|n| ((n * n) >> 7) as u8).collect();
        let path = self.root.path().join(name);
        fs::write(&path, &content).unwrap();
        (path, content)
    }

    fn to(&self, name: &str) -> PathBuf {
        self.root.path().join("to").join(name)
    }
}

/// The environment variable with the receiver's token.
const TOKEN: &str = "TIDEGATE_MPATH_RECEIVER";

fn send(file: &Path, token: &str, more: &[&str]) -> Command {
    let mut command = Command::new(TIDEGATE);
    command.args(["mpath", "send"]).args(more);
    command.arg(file).env(TOKEN, token);
    command
}

fn refused(output: &Output, word: &str) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert_eq!(text.trim_end().lines().count(), 1, "{text}");
    assert!(text.contains(word), "no \"{word}\" in: {text}");
}

#[test]
fn a_file_goes_from_process_to_process() {
    let folders = Folders::new();
    let (file, content) = folders.make("file", 2_000_000);
    let mut recv = Recv::start(&folders, &["--once"]);
    let output = send(&file, &recv.token, &["--json"]).output().unwrap();
    assert!(output.status.success());
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["bytes"], 2_000_000);
    assert_eq!(summary["files"][0]["resumed_at"], 0);
    assert!(fs::read(folders.to("file")).unwrap() == content);
    let mut line = String::new();
    recv.out.read_line(&mut line).unwrap();
    let hash = summary["files"][0]["blake3"].as_str().unwrap();
    assert!(line.contains("file") && line.contains(hash), "{line}");
    assert!(recv.child.wait().unwrap().success());
}

/// The receiver keeps its key, so that key and secret in the token stay the same.
#[test]
fn the_token_stays_the_same_where_the_address_does() {
    let folders = Folders::new();
    let listen = {
        let free = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        free.local_addr().unwrap().to_string()
    };
    let token = || {
        Recv::start(&folders, &["--advertise", &listen])
            .token
            .clone()
    };
    assert_eq!(token(), token());
    let other = Folders::new();
    let other = Recv::start(&other, &["--advertise", &listen]).token.clone();
    assert_ne!(token(), other);
}

/// After an interrupt at either end, a later run resumes from the data that have arrived, and there is no incomplete
/// file under the final name.
#[test]
fn an_interrupt_leaves_no_half_file() {
    const BYTES: usize = 60_000_000;
    let folders = Folders::new();
    let (file, content) = folders.make("file", BYTES);
    let hash = blake3::hash(&content).to_hex();
    let part = folders.to(&format!(".file.{}.part", &hash[..16]));
    let there = || fs::metadata(&part).map_or(0, |data| data.len());
    for (n, signal) in [Signal::SIGINT, Signal::SIGTERM].into_iter().enumerate() {
        let mut recv = Recv::start(&folders, &[]);
        let before = there();
        let mut sending = send(&file, &recv.token, &[])
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let started = Instant::now();
        while there() <= before + 1_000_000 {
            assert!(started.elapsed() < Duration::from_secs(30));
            std::thread::sleep(Duration::from_millis(1));
        }
        if n == 0 {
            recv.signal(signal);
            assert_eq!(recv.child.wait().unwrap().code(), Some(1));
        } else {
            kill(Pid::from_raw(sending.id() as i32), signal).unwrap();
        }
        let output = sending.wait().map(|_| sending.wait_with_output().unwrap());
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("goes on where"), "{text}");
        assert!(!folders.to("file").exists());
        assert!(there() > before);
    }
    let before = there();
    let recv = Recv::start(&folders, &[]);
    let output = send(&file, &recv.token, &["--json"]).output().unwrap();
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["files"][0]["resumed_at"], before);
    assert!(fs::read(folders.to("file")).unwrap() == content);
    assert!(!part.exists());
}

/// Waits until a process handles interrupts.
fn until_caught(process: u32) {
    let started = Instant::now();
    let caught = || {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let mask = u64::from_str_radix(mask.unwrap().trim(), 16).unwrap();
        mask & 1 << (Signal::SIGINT as u32 - 1) != 0
    };
    while !caught() {
        assert!(started.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A sender whose registry never answers can be interrupted, and otherwise sends directly.
#[test]
fn a_registry_that_says_nothing_does_not_hold_up_for_long() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let registry = format!("http://{}", silent.local_addr().unwrap());
    let folders = Folders::new();
    let (file, _) = folders.make("file", 1000);
    let mut recv = Recv::start(&folders, &["--registry", &registry]);
    let mut sending = send(&file, &recv.token, &[]).spawn().unwrap();
    // The second connection is the sender's, after the receiver's.
    let asked = silent.incoming().take(2).collect::<Vec<_>>();
    until_caught(sending.id());
    let interrupted = Instant::now();
    kill(Pid::from_raw(sending.id() as i32), Signal::SIGINT).unwrap();
    assert_ne!(sending.wait().unwrap().code(), Some(0));
    assert!(interrupted.elapsed() < Duration::from_secs(2));
    let started = Instant::now();
    let output = send(&file, &recv.token, &[]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("everything goes directly"), "{text}");
    assert!(started.elapsed() < Duration::from_secs(9));
    drop(asked);
    recv.signal(Signal::SIGINT);
    recv.child.wait().unwrap();
}

/// The receiver reports files that have arrived even if the next one is refused.
#[test]
fn the_receiver_names_each_file_that_is_there() {
    let folders = Folders::new();
    let (first, _) = folders.make("first", 10);
    let (second, _) = folders.make("second", 10);
    fs::write(folders.to("second"), "mine").unwrap();
    let mut recv = Recv::start(&folders, &[]);
    let mut command = send(&first, &recv.token, &[]);
    let output = command.arg(second).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    // The refusal is printed after this line, or not at all.
    let mut line = String::new();
    recv.out.read_line(&mut line).unwrap();
    assert!(line.starts_with("first: 10 B"), "{line}");
    // The error does not reveal the receiver's folder, and repeats nothing.
    let said = String::from_utf8_lossy(&output.stderr);
    let expected =
        "tidegate: the receiver says: second is there already; the receiver's --force replaces it";
    assert_eq!(said.trim(), expected);
    // No transfer is running, once the receiver has seen that its sender is gone.
    thread::sleep(Duration::from_secs(1));
    recv.signal(Signal::SIGINT);
    assert!(recv.child.wait().unwrap().success());
}

#[test]
fn others_are_not_to_read_the_key() {
    let folders = Folders::new();
    drop(Recv::start(&folders, &[]));
    let key = folders.root.path().join("tidegate/mpath.key");
    assert_eq!(
        fs::metadata(&key).unwrap().permissions().mode() & 0o777,
        0o600
    );
    fs::set_permissions(&key, Permissions::from_mode(0o644)).unwrap();
    let mut command = Command::new(TIDEGATE);
    command.args(["mpath", "recv", "--listen", "127.0.0.1:0", "--key"]);
    let mut child = command
        .arg(&key)
        .arg(folders.to("."))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    errors.read_line(&mut said).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(said.contains("can read it"), "{said}");
}

/// Runs the program with this text on standard input.
fn with_input(command: &mut Command, input: &str) -> Output {
    let piped = command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.stdout(Stdio::piped()).spawn().unwrap();
    // A program that refuses something else first does not read it.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Everyone who lists the machine's processes sees their command lines.
#[test]
fn the_token_need_not_be_on_the_command_line() {
    let folders = Folders::new();
    let (file, content) = folders.make("file", 1000);
    let recv = Recv::start(&folders, &["--force"]);
    let secret = folders.root.path().join("secret");
    fs::write(&secret, format!("{}\n", recv.token)).unwrap();
    fs::set_permissions(&secret, Permissions::from_mode(0o600)).unwrap();
    let from_file = ["--token", secret.to_str().unwrap()];
    let bare = |more: &[&str]| {
        let mut command = send(&file, "", more);
        command.env_remove(TOKEN);
        command
    };
    let mut at_the_end = bare(&[]);
    at_the_end.arg(&recv.token);
    let ways = [
        (send(&file, &recv.token, &[]), ""),
        (bare(&from_file), ""),
        (bare(&["--token", "-"]), recv.token.as_str()),
        (at_the_end, ""),
    ];
    for (n, (mut command, input)) in ways.into_iter().enumerate() {
        let output = with_input(&mut command, input);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{n}: {said}");
        assert_eq!(said.contains("everybody"), n == 3, "{n}: {said}");
        assert!(fs::read(folders.to("file")).unwrap() == content);
        fs::remove_file(folders.to("file")).unwrap();
    }
    fs::set_permissions(&secret, Permissions::from_mode(0o644)).unwrap();
    let output = bare(&from_file).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stderr).contains("can read it"));

    refused(&bare(&[]).output().unwrap(), TOKEN);
    refused(&send(&file, "nonsense", &[]).output().unwrap(), TOKEN);
    let none = bare(&["--token", "none"]).output().unwrap();
    refused(&none, "none: No such file");
    refused(
        &with_input(&mut bare(&["--token", "-"]), ""),
        "standard input",
    );
    let alone = Command::new(TIDEGATE)
        .args(["mpath", "send", &recv.token])
        .output()
        .unwrap();
    assert_eq!(alone.status.code(), Some(2));
    let said = String::from_utf8_lossy(&alone.stderr);
    assert!(said.contains("expected a file"), "{said}");
}

#[test]
fn bad_input_is_named() {
    let folders = Folders::new();
    let (file, _) = folders.make("file", 10);
    let recv = Recv::start(&folders, &[]);
    let damaged = recv.token.replace("tgm1-", "tgm1-A");
    refused(&send(&file, &damaged, &[]).output().unwrap(), "damaged");
    refused(&send(&file, "tgm2-abc", &[]).output().unwrap(), "tgm1-");
    let swapped = send(Path::new(&recv.token), "", &[]).arg(&file).output();
    refused(&swapped.unwrap(), "tgm1-");
    let missing = folders.root.path().join("missing");
    refused(
        &send(&missing, &recv.token, &[]).output().unwrap(),
        "missing",
    );
    let elsewhere = folders.root.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::copy(&file, elsewhere.join("file")).unwrap();
    let twice = send(&file, &recv.token, &[])
        .arg(elsewhere.join("file"))
        .output();
    refused(&twice.unwrap(), "two files of one name");
    let pipe = folders.root.path().join("pipe");
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    refused(
        &send(&pipe, &recv.token, &[]).output().unwrap(),
        "not a regular",
    );
    let recv_into = |folder: &Path| {
        let mut command = Command::new(TIDEGATE);
        command.args(["mpath", "recv", "--listen", "127.0.0.1:0"]);
        command.arg(folder).output().unwrap()
    };
    refused(&recv_into(&file), "not a folder");
    let key = folders.root.path().join("tidegate");
    fs::write(key.join("mpath.key"), "no key").unwrap();
    let mut command = Command::new(TIDEGATE);
    command.args(["mpath", "recv", "--listen", "127.0.0.1:0"]);
    command.env("XDG_STATE_HOME", folders.root.path());
    refused(&command.arg(folders.to(".")).output().unwrap(), "mpath.key");
}
