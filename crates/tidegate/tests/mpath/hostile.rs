//! All four programs over sockets that lose, duplicate, reorder, corrupt and truncate packets, while proxies are
//! killed, added, restarted and slowed down, and the registry is killed and restarted. The long test:
//! `cargo test --release -p tidegate --test mpath -- --ignored`.

#[allow(dead_code, reason = "some of it is for connections without programs")]
#[path = "../../../../mpath/transfer/tests/common/network.rs"]
mod network;

use super::{RECEIVER, TOKEN, terminate, tidegate, wait_for_some};
use network::{Faults, Middle};
use rand::Rng;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidegate_overlay::{ReceiverId, Registry};
use tidegate_transfer::Token;
use tokio::runtime::Runtime;

const MIB: usize = 1 << 20;

const POLL: Duration = Duration::from_millis(100);

/// How long a registry that has lost its data may take until it knows all again: 20 s, and some for a busy machine.
const BACK: u64 = 60;

/// Time between two faults.
const PAUSE: Duration = Duration::from_secs(8);

/// Any port of this machine.
fn loopback() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

fn free_udp() -> SocketAddr {
    UdpSocket::bind(loopback()).unwrap().local_addr().unwrap()
}

impl Faults {
    fn slow() -> Self {
        Self {
            drop: 0.02,
            delay: Duration::from_millis(20),
            ..Self::hostile()
        }
    }
}

fn until(seconds: u64, what: &str, mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed().as_secs() < seconds, "not yet: {what}");
        sleep(POLL);
    }
}

/// A path with a delay, on which packets are lost.
pub struct SlowWay {
    /// Its two ends.
    pub from: SocketAddr,
    pub to: SocketAddr,
    _middle: Middle,
    _runtime: Runtime,
}

impl SlowWay {
    pub fn new() -> Self {
        let (runtime, to) = (Runtime::new().unwrap(), free_udp());
        let middle = runtime.block_on(Middle::start(1, to, Faults::slow()));
        Self {
            from: middle.address,
            to,
            _middle: middle,
            _runtime: runtime,
        }
    }
}

/// A program whose output goes to a file, since no thread reads it; killed when dropped.
struct Program {
    process: Child,
    log: PathBuf,
}

impl Program {
    fn start(command: &mut Command, log: PathBuf) -> Self {
        let file = File::create(&log).unwrap();
        let command = command.stdout(file.try_clone().unwrap()).stderr(file);
        let process = command.spawn().unwrap();
        Self { process, log }
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.log).unwrap()
    }

    fn says(&self, words: &str) {
        until(20, words, || self.said().contains(words));
    }

    /// Waits for its success.
    fn ends_well(&mut self) {
        let status = self.process.wait().unwrap();
        assert_eq!(status.code(), Some(0), "{}", self.said());
    }

    fn has_ended(&mut self) -> bool {
        self.process.try_wait().unwrap().is_some()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A proxy behind a faulty hop; the registry lists the hop's address.
struct Detour {
    hop: Middle,
    listen: SocketAddr,
    proxy: Program,
}

/// The registry and all proxies.
struct Overlay {
    runtime: Runtime,
    folder: TempDir,
    at: SocketAddr,
    registry: Option<Program>,
    detours: Vec<Detour>,
    /// Logs of all proxies, also of those that were killed.
    proxies: Vec<PathBuf>,
    /// How many programs were started; each has its own log.
    programs: usize,
}

impl Overlay {
    fn new() -> Self {
        let listener = TcpListener::bind(loopback()).unwrap();
        let at = listener.local_addr().unwrap();
        drop(listener);
        let mut overlay = Self {
            runtime: Runtime::new().unwrap(),
            folder: TempDir::new().unwrap(),
            at,
            registry: None,
            detours: Vec::new(),
            proxies: Vec::new(),
            programs: 0,
        };
        overlay.start_registry();
        overlay
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn url(&self) -> String {
        format!("http://{}", self.at)
    }

    fn start(&mut self, command: &mut Command) -> Program {
        self.programs += 1;
        let log = self.path(&format!("log{}", self.programs));
        Program::start(command, log)
    }

    /// Adds a hop in front of an address.
    fn hop(&self, seed: u64, to: SocketAddr) -> Middle {
        let hop = Middle::start(seed, to, Faults::hostile());
        self.runtime.block_on(hop)
    }

    fn start_registry(&mut self) {
        let at = self.at.to_string();
        let mut command = tidegate(&["registry", "--listen", &at]);
        let registry = self.start(command.arg("--secret").arg(self.path("token")));
        registry.says("listens at");
        self.registry = Some(registry);
    }

    fn add_detour(&mut self) {
        let listen = free_udp();
        let hop = self.hop(self.detours.len() as u64, listen);
        let proxy = self.start_proxy(listen, hop.address);
        self.detours.push(Detour { hop, listen, proxy });
    }

    fn start_proxy(&mut self, listen: SocketAddr, public: SocketAddr) -> Program {
        let (url, listen) = (self.url(), listen.to_string());
        let public = public.to_string();
        let mut command = tidegate(&["proxy", "--registry", &url, "--listen", &listen]);
        command.args(["--public", &public, "--allow-private", "--json"]);
        let token = fs::read_to_string(self.path("token")).unwrap();
        let proxy = self.start(command.env(TOKEN, token.trim()));
        proxy.says("listens at");
        self.proxies.push(proxy.log.clone());
        proxy
    }

    /// Kills a proxy and starts it again.
    fn replace_proxy(&mut self, n: usize) {
        let detour = &mut self.detours[n];
        let (listen, public) = (detour.listen, detour.hop.address);
        detour.proxy.process.kill().unwrap();
        detour.proxy.process.wait().unwrap();
        self.detours[n].proxy = self.start_proxy(listen, public);
    }

    /// Waits until the registry knows the receiver and every proxy.
    fn knows_all(&self, receiver: ReceiverId) {
        let registry = Registry::new([self.url()]).unwrap();
        until(BACK, "the registry knows everybody", || {
            let grant = registry.relays(receiver, &[]);
            grant.is_ok_and(|grant| grant.relays.len() == self.detours.len())
        });
    }

    fn receive(&mut self, into: &Path, listen: SocketAddr, advertise: SocketAddr) -> Program {
        let url = self.url();
        let (listen, advertise) = (listen.to_string(), advertise.to_string());
        let mut command = tidegate(&["recv", "--once", "--registry", &url]);
        command.args(["--listen", &listen, "--advertise", &advertise]);
        let receiver = self.start(command.arg("--key").arg(self.path("key")).arg(into));
        receiver.says("listening on");
        receiver
    }

    /// How many packets each proxy was sent so far.
    fn hops(&self) -> Vec<u64> {
        let hops = self.detours.iter().map(|detour| &detour.hop.forwarded);
        hops.map(|count| count.load(Ordering::Relaxed)).collect()
    }

    /// Ends the proxies; returns the packets that all proxies so far have forwarded and refused, from their reports
    /// every 10 s and at the end.
    fn end(&mut self) -> (u64, u64) {
        for detour in &mut self.detours {
            terminate(&detour.proxy.process);
            detour.proxy.ends_well();
        }
        let mut total = (0, 0);
        for log in &self.proxies {
            let said = fs::read_to_string(log).unwrap();
            let Some(last) = said.lines().rfind(|line| line.ends_with('}')) else {
                continue;
            };
            let last: Value = serde_json::from_str(last).unwrap();
            let refused = last["refused"].as_object().unwrap().values();
            total.0 += last["forwarded"]["packets"].as_u64().unwrap();
            total.1 += refused.map(|count| count.as_u64().unwrap()).sum::<u64>();
        }
        total
    }

    /// Causes or repairs one fault after the other.
    fn befall(&mut self, round: usize) {
        let n = round / 4 % self.detours.len();
        match round % 4 {
            0 => self.registry = None,
            1 => self.start_registry(),
            2 => self.replace_proxy(n),
            _ => {
                let mut faults = self.detours[n].hop.faults.lock().unwrap();
                faults.delay = match faults.delay.is_zero() {
                    true => Duration::from_millis(30),
                    false => Duration::ZERO,
                };
            }
        }
    }
}

/// Writes random bytes, which neither compress nor repeat.
fn make(path: &Path, mebibytes: u64) {
    let mut random = Pcg64Mcg::seed_from_u64(8);
    let mut file = File::create(path).unwrap();
    let mut block = vec![0; MIB];
    for _ in 0..mebibytes {
        random.fill_bytes(&mut block);
        file.write_all(&block).unwrap();
    }
}

fn assert_same(one: &Path, other: &Path) {
    let length = |path: &Path| fs::metadata(path).unwrap().len();
    assert_eq!(length(one), length(other));
    let mut files = [one, other].map(|path| File::open(path).unwrap());
    let mut blocks = [(); 2].map(|()| vec![0; MIB]);
    for place in 0..length(one) / MIB as u64 {
        for (file, block) in files.iter_mut().zip(&mut blocks) {
            file.read_exact(block).unwrap();
        }
        assert!(blocks[0] == blocks[1], "MiB {place}");
    }
}

/// What the proxies did.
#[derive(Debug)]
struct Seen {
    /// Packets towards each proxy.
    hops: Vec<u64>,
    /// Packets that they forwarded and refused.
    forwarded: u64,
    refused: u64,
}

/// Sends a file through the overlay.
fn send_through_everything(mebibytes: u64, seconds: u64) -> Seen {
    let mut overlay = Overlay::new();
    for _ in 0..4 {
        overlay.add_detour();
    }
    let (file, into) = (overlay.path("file"), overlay.path("into"));
    make(&file, mebibytes);
    fs::create_dir(&into).unwrap();
    let listen = free_udp();
    let middle = overlay.hop(100, listen);
    let mut receiver = overlay.receive(&into, listen, middle.address);
    let token = receiver.said();
    let token = token.lines().find(|line| line.starts_with("tgm1-"));
    let token: Token = token.unwrap().parse().unwrap();
    let name = ReceiverId(token.id);
    overlay.knows_all(name);

    // The sender starts without a registry, and slowly, so that it learns of the proxies on the way.
    overlay.registry = None;
    *middle.faults.lock().unwrap() = Faults::slow();
    let mut send = tidegate(&["send", "--json"]);
    let mut sender = overlay.start(send.arg(&file).env(RECEIVER, token.to_string()));
    sender.says("everything goes directly");
    wait_for_some(&into);
    overlay.start_registry();
    overlay.knows_all(name);
    until(BACK, "the sender uses proxies", || {
        overlay.hops().iter().all(|&packets| packets > 0)
    });
    *middle.faults.lock().unwrap() = Faults::hostile();

    overlay.add_detour();
    let (began, mut rounds) = (Instant::now(), 0);
    while !sender.has_ended() {
        let elapsed = began.elapsed();
        assert!(elapsed.as_secs() < seconds, "not done: {}", sender.said());
        if elapsed > PAUSE * rounds {
            overlay.befall(rounds as usize);
            rounds += 1;
        }
        sleep(POLL);
    }
    sender.ends_well();
    receiver.ends_well();
    assert_same(&file, &into.join("file"));
    let said = sender.said();
    let summary: Value = serde_json::from_str(&said[said.find("{\n").unwrap()..]).unwrap();
    assert_eq!(summary["bytes"], mebibytes * MIB as u64);
    println!(
        "{mebibytes} MiB in {:.0} s, {rounds} misfortunes",
        summary["seconds"].as_f64().unwrap()
    );
    let (forwarded, refused) = overlay.end();
    Seen {
        hops: overlay.hops(),
        forwarded,
        refused,
    }
}

#[test]
fn a_file_arrives_intact() {
    let seen = send_through_everything(32, 120);
    assert!(seen.forwarded > 0, "{seen:?}");
}

#[test]
#[ignore = "a gigabyte takes minutes"]
fn a_gigabyte_arrives_intact() {
    let seen = send_through_everything(1024, 1800);
    // Also towards the proxy that was added during the transfer.
    assert!(seen.hops.iter().all(|&packets| packets > 0), "{seen:?}");
    assert!(seen.forwarded > 0 && seen.refused > 0, "{seen:?}");
}
