//! `tidegate probe` over the kernel: behind a link of which everything is known, and when things go wrong.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tempfile::TempDir;

const TIDEGATE: &str = env!("CARGO_BIN_EXE_tidegate");

/// A server in a folder with its key, which ends with it.
struct Serving {
    child: Child,
    folder: TempDir,
    port: String,
}

impl Serving {
    /// At that address, with what the kernel chooses for a port.
    fn at(address: &str, more: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let listen = format!("{address}:0");
        let mut child = Command::new(TIDEGATE)
            .args(["probe", "serve", "--listen", &listen])
            .args(more)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let listening = lines.next().unwrap().unwrap();
        let key = lines.next().unwrap().unwrap();
        std::fs::write(folder.path().join("key"), key).unwrap();
        let port = listening
            .trim_end_matches(", UDP")
            .rsplit(':')
            .next()
            .unwrap()
            .to_owned();
        Self {
            child,
            folder,
            port,
        }
    }

    fn key(&self) -> PathBuf {
        self.folder.path().join("key")
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn run(host: &str, key: &Path, more: &[&str]) -> Output {
    Command::new(TIDEGATE)
        .args(["probe", "run", host, "--key", key.to_str().unwrap()])
        .args(more)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn refusal(output: &Output, status: i32) -> String {
    assert_eq!(output.status.code(), Some(status), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// An address of this machine that the namespace behind the link can reach: not its own loopback.
fn own_address() -> Option<String> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    // Nothing is sent: this asks for a route.
    socket.connect("192.0.2.200:9").ok()?;
    let address = socket.local_addr().ok()?.ip();
    (!address.is_loopback() && !address.is_unspecified()).then(|| address.to_string())
}

#[test]
fn behind_an_emulated_link_its_buffer_and_rate_are_found() {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("SKIPPED: an emulated link needs root");
        return;
    }
    let Some(address) = own_address() else {
        eprintln!("SKIPPED: this machine has no address but its own loopback's");
        return;
    };
    let server = Serving::at("0.0.0.0", &[]);
    let trace = server.folder.path().join("down");
    let output = Command::new(TIDEGATE)
        .args([
            "link", "--down", "8", "--up", "4", "--delay", "10", "--queue", "150", "--", TIDEGATE,
        ])
        .args([
            "probe",
            "run",
            &format!("{address}:{}", server.port),
            "down",
            "--yes",
            "--json",
        ])
        .args([
            "--key",
            server.key().to_str().unwrap(),
            "--max-data",
            "30MB",
        ])
        .args(["--trace", trace.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    let down = &results["down"];
    assert_eq!(down["buffer"]["unit"], "packets", "{results}");
    assert_eq!(down["buffer"]["policy"], "tail", "{results}");
    let near = |value: &Value, truth: f64| (value.as_f64().unwrap() / truth - 1.0).abs() < 0.1;
    assert!(near(&down["buffer"]["size"], 150.0), "{results}");
    assert!(near(&down["rate"]["median_bps"], 8e6), "{results}");
    assert!(down["period"].is_null(), "{results}");
    let trace: tidegate_link::Trace = {
        let text = std::fs::read_to_string(trace).unwrap();
        tidegate_link::Trace::parse(&text).unwrap()
    };
    assert!(
        (trace.mean_bps() / 8e6 - 1.0).abs() < 0.05,
        "{}",
        trace.mean_bps()
    );
}

#[test]
fn what_cannot_be_done_is_said() {
    let server = Serving::at("127.0.0.1", &["--max-session-data", "1MB"]);
    let host = format!("127.0.0.1:{}", server.port);
    let unasked = run(&host, &server.key(), &[]);
    assert!(refusal(&unasked, 2).contains("--yes"));

    let other = server.folder.path().join("other");
    std::fs::write(&other, "0".repeat(64)).unwrap();
    assert!(refusal(&run(&host, &other, &["--yes"]), 1).contains("does not answer"));

    std::fs::write(&other, "short").unwrap();
    let named = refusal(&run(&host, &other, &["--yes"]), 2);
    assert!(
        named.contains("64 hexadecimal digits") && named.contains("other"),
        "{named}"
    );

    let much = run(&host, &server.key(), &["--yes", "--max-data", "many"]);
    assert!(refusal(&much, 2).contains("100MB"));
}
