//! `tidegate probe` over the kernel: behind a link of which everything is known, and when things go wrong.

use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;
use tempfile::TempDir;
use tidegate_link::Instant;
use tidegate_probe::emulated::Clock;
use tidegate_probe::examine::overflow_train;
use tidegate_probe::net::{Client, Direction};
use tidegate_probe::results::{Results, Trains};
use tidegate_probe::{Echo, Pace, TrainConfig};

/// Measurements of rates have the machine to themselves; those whose bounds are wide share it.
static MACHINE: RwLock<()> = RwLock::new(());

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
            .trim_end_matches(", UDP and TCP")
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

/// An address that a server behind which there is no link can be reached at; none, said aloud, where that cannot be.
fn reachable_from_a_link() -> Option<String> {
    if !nix::unistd::geteuid().is_root() {
        eprintln!("SKIPPED: an emulated link needs root");
        return None;
    }
    let address = own_address();
    if address.is_none() {
        eprintln!("SKIPPED: this machine has no address but its own loopback's");
    }
    address
}

#[test]
fn behind_an_emulated_link_its_buffer_and_rate_are_found() {
    let Some(address) = reachable_from_a_link() else {
        return;
    };
    let _machine = MACHINE.write().unwrap_or_else(PoisonError::into_inner);
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
    // In real time: where the machine is busy for a moment nothing arrives.
    assert!(
        (trace.mean_bps() / 8e6 - 1.0).abs() < 0.15,
        "{}",
        trace.mean_bps()
    );
}

/// Asymmetric, with an uplink on which 60 full packets wait 0.7 s.
const SLOW_UPLINK: [&str; 9] = [
    "link", "--down", "8", "--up", "1", "--delay", "20", "--queue", "60",
];

#[test]
fn beside_an_upload_it_is_the_uplink_that_downloads_wait_for() {
    let Some(address) = reachable_from_a_link() else {
        return;
    };
    let _machine = MACHINE.read().unwrap_or_else(PoisonError::into_inner);
    let server = Serving::at("0.0.0.0", &[]);
    let page = server.folder.path().join("page.html");
    let host = format!("{address}:{}", server.port);
    let output = Command::new(TIDEGATE)
        .args(SLOW_UPLINK)
        .args(["--", TIDEGATE, "probe", "run", &host, "both", "--yes"])
        .args(["--json", "--max-data", "30MB"])
        .args(["--key", server.key().to_str().unwrap()])
        .args(["--html", page.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let results: Value = serde_json::from_slice(&output.stdout).unwrap();
    let both = &results["both"];
    let number = |value: &Value| value.as_f64().unwrap();
    assert!(results["down"].is_null(), "{results}");
    assert!(results["bytes"].as_u64().unwrap() <= 30_000_000);
    assert!(number(&both["alone_bps"]) > 3e6, "{results}");
    let left = number(&both["beside_bps"]) / number(&both["alone_bps"]);
    assert!(left < 0.5, "{results}");
    let upload = number(&both["upload"]["median_bps"]);
    assert!((upload / 1e6 - 1.0).abs() < 0.1, "{results}");
    // More than 400 ms, of which nothing is spent on the way down.
    assert_eq!(both["latency"]["grade"], "F", "{results}");
    assert!(number(&both["latency"]["rpm"]) < 150.0, "{results}");
    assert!(number(&both["up"]["busy_ms"]) > 400.0, "{results}");
    assert!(number(&both["down"]["busy_ms"]) < 25.0, "{results}");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("one way down, ms"), "no table of both ways");
}

#[test]
fn whether_two_devices_share_a_queue_is_told() {
    let Some(address) = reachable_from_a_link() else {
        return;
    };
    let _machine = MACHINE.read().unwrap_or_else(PoisonError::into_inner);
    let server = Serving::at("0.0.0.0", &[]);
    let host = format!("{address}:{}", server.port);
    let verdict = |policy: &str| -> Value {
        let output = Command::new(TIDEGATE)
            .args(["link", "--down", "4", "--up", "4", "--delay", "10"])
            .args(["--queue", "100", "--policy", policy, "--", TIDEGATE])
            .args(["probe", "run", &host, "devices", "--beside", "0.0.0.0"])
            .args(["--yes", "--json", "--max-data", "30MB"])
            .args(["--key", server.key().to_str().unwrap()])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let results: Value = serde_json::from_slice(&output.stdout).unwrap();
        results["devices"].clone()
    };
    // Each flow has a queue of its own where the link queues fairly.
    let (shared, own) = std::thread::scope(|scope| {
        let shared = scope.spawn(|| verdict("drop-tail"));
        let own = verdict("fq-codel");
        (shared.join().unwrap(), own)
    });
    assert_eq!(shared["queues"], "shared", "{shared}");
    assert_eq!(own["queues"], "own", "{own}");
    assert!(own["together"][0]["jain"].as_f64().unwrap() > 0.9, "{own}");
}

/// Where [`wrong_clock`] finds its server, and the key.
const SERVER: &str = "TIDEGATE_TEST_PROBE_SERVER";
const KEY: &str = "TIDEGATE_TEST_PROBE_KEY";

#[test]
fn one_way_delays_are_split_by_a_clock_that_is_wrong() {
    let Some(address) = reachable_from_a_link() else {
        return;
    };
    let _machine = MACHINE.read().unwrap_or_else(PoisonError::into_inner);
    let server = Serving::at("0.0.0.0", &[]);
    let output = Command::new(TIDEGATE)
        .args(SLOW_UPLINK)
        .arg("--")
        .arg(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "wrong_clock", "--nocapture"])
        .env(SERVER, format!("{address}:{}", server.port))
        .env(KEY, server.key())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "the test above runs it behind a link"]
fn wrong_clock() {
    const OFF: Clock = Clock {
        ahead: Duration::from_secs(10),
        drift_ppm: 50.0,
    };
    let server = std::env::var(SERVER).unwrap().parse().unwrap();
    let key = std::fs::read_to_string(std::env::var(KEY).unwrap()).unwrap();
    let mut client = Client::open(server, &key.trim().parse().unwrap(), Arc::default()).unwrap();
    let since = client.by_clock(OFF);
    let every = Duration::from_millis(50);
    let upload = TrainConfig {
        pace: Pace::Busy,
        max_time: Duration::from_secs(10),
        max_bytes: 5_000_000,
        ..overflow_train(0, 1420)
    };
    let before = client.ping(every, Duration::from_secs(5)).unwrap();
    let (up, beside) = client.train(Direction::Up, upload, Some(every)).unwrap();
    let after = client.ping(every, Duration::from_secs(5)).unwrap();
    let longest = beside.iter().map(Echo::round_trip).max().unwrap();
    assert!(longest > Duration::from_millis(400), "{longest:?}");

    let trains = Trains {
        up,
        ..Trains::default()
    };
    let echoes = [before.clone(), beside, after].concat();
    let mut results = Results::default();
    results.conclude(&echoes, &before, Some(&trains));
    let clock = results.clock.unwrap();
    let drift_off = (clock.skew_ppm - OFF.drift_ppm).abs();
    assert!(drift_off < clock.skew_within_ppm, "{clock:?}");
    // Both ends stamp by this machine's clock but for what the client's is off.
    let ahead_s = |shown: Instant| OFF.ahead_s(Instant::ZERO + (shown - since));
    let error_ms = |echo: &Echo| {
        let [up, down] = clock.one_way_s(echo);
        let between = |to: Instant, from: Instant| {
            (to.as_nanos() as i64 - from.as_nanos() as i64) as f64 / 1e9
        };
        let true_up = between(echo.answered, echo.asked) + ahead_s(echo.asked);
        let true_down = between(echo.heard, echo.answered) - ahead_s(echo.heard);
        (up - true_up).abs().max((down - true_down).abs()) * 1e3
    };
    let worst_ms = echoes.iter().map(error_ms).fold(0.0, f64::max);
    eprintln!("one-way delays at most {worst_ms:.2} ms off, {clock:?}");
    assert!(worst_ms < 2.0, "{worst_ms} ms: {clock:?}");
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

    let alone = run(&host, &server.key(), &["--yes", "devices"]);
    assert!(refusal(&alone, 2).contains("--beside"));

    let much = run(&host, &server.key(), &["--yes", "--max-data", "many"]);
    assert!(refusal(&much, 2).contains("100MB"));
}
