//! The listening programs, each with a good client.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;
use tidegate_mpath::wire::write_relay;
use tidegate_overlay::Secret;
use tidegate_probe::net::{Client, Key};

const TIDEGATE: &str = env!("CARGO_BIN_EXE_tidegate");
const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// How long a good client waits.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A listening program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Prober,
    Receiver,
    Proxy,
    Registry,
    /// The agent with its socket and metrics.
    Agent,
    /// The agent with its page.
    Page,
}

/// A running server; killed when dropped.
pub struct Server {
    pub kind: Kind,
    /// Where it listens: UDP and TCP of the prober, TCP of registry and agent, UDP of the others.
    pub address: SocketAddr,
    folder: TempDir,
    child: Child,
    /// A proxy's registry.
    registry: Option<Box<Server>>,
}

/// Resources of a process.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// Resident memory in KiB.
    pub memory_kib: u64,
    pub descriptors: usize,
    pub threads: u64,
}

impl Server {
    /// Starts a server as users do; `prepare` may change the command.
    pub fn start(kind: Kind, prepare: &dyn Fn(&mut Command)) -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("files")).unwrap();
        let registry = match kind {
            Kind::Proxy => Some(Box::new(Self::start(Kind::Registry, &|_| ()))),
            _ => None,
        };
        let mut command = Command::new(TIDEGATE);
        match kind {
            Kind::Prober => {
                command.args(["probe", "serve", "--listen", "127.0.0.1:0"]);
            }
            Kind::Receiver => {
                command.args(["mpath", "recv", "--listen", "127.0.0.1:0", "--key"]);
                command.arg(folder.path().join("identity"));
                command.arg(folder.path().join("files"));
            }
            Kind::Proxy => {
                let registry = registry.as_ref().expect("it was just started");
                let url = format!("http://{}", registry.address);
                command.args(["mpath", "proxy", "--allow-private"]);
                command.args(["--listen", "127.0.0.1:0", "--registry", &url]);
                command.arg("--secret").arg(registry.file("token"));
            }
            Kind::Registry => {
                command.args(["mpath", "registry", "--listen", "127.0.0.1:0", "--secret"]);
                command.arg(folder.path().join("token"));
            }
            Kind::Agent | Kind::Page => {
                let shown = match kind {
                    Kind::Agent => "--metrics",
                    _ => "--page",
                };
                command.args(["run", "--iface", "lo", shown, "127.0.0.1:0", "--socket"]);
                command.arg(folder.path().join("socket"));
                command.args(["--log-format", "json"]);
            }
        }
        let file = |name| File::create(folder.path().join(name)).unwrap();
        command.stdin(Stdio::null());
        command.stdout(file("out")).stderr(file("err"));
        prepare(&mut command);
        let child = command.spawn().unwrap();
        let address = ([0; 4], 0).into();
        let mut server = Self {
            kind,
            address,
            folder,
            child,
            registry,
        };
        server.address = server.listens_at();
        if kind == Kind::Proxy {
            server.says("listed as");
        }
        server
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Its output so far, standard error included.
    pub fn said(&self) -> String {
        let read = |name| fs::read_to_string(self.file(name)).unwrap_or_default();
        read("out") + &read("err")
    }

    /// Waits for a line that contains these words.
    fn says(&self, words: &str) -> String {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let said = self.said();
            // Only whole lines: the rest of the last one may follow.
            let mut lines = said
                .split_inclusive('\n')
                .filter(|line| line.ends_with('\n'));
            if let Some(line) = lines.find(|line| line.contains(words)) {
                return line.trim().to_owned();
            }
            assert!(
                Instant::now() < until,
                "no \"{words}\" of {:?}: {said}",
                self.kind
            );
            sleep(Duration::from_millis(20));
        }
    }

    fn listens_at(&self) -> SocketAddr {
        let words = match self.kind {
            Kind::Prober | Kind::Receiver => "listening",
            Kind::Proxy | Kind::Registry => "listens at",
            Kind::Agent => "metrics at",
            Kind::Page => "the page is at",
        };
        let line = self.says(words);
        let mut parts = line.split(|c: char| c != '.' && c != ':' && !c.is_ascii_digit());
        let address = parts.find_map(|part| part.trim_end_matches(':').parse().ok());
        address.unwrap_or_else(|| panic!("no address in: {line}"))
    }

    /// The key, token or secret of its clients.
    pub fn secret(&self) -> String {
        let text = match self.kind {
            Kind::Proxy => return self.registry.as_ref().expect("it has one").secret(),
            Kind::Registry => fs::read_to_string(self.file("token")).unwrap(),
            _ => fs::read_to_string(self.file("out")).unwrap(),
        };
        text.lines().next().unwrap_or_default().trim().to_owned()
    }

    /// A packet in an envelope that a proxy forwards from this machine to that address.
    pub fn envelope(&self, to: SocketAddr, packet: &[u8]) -> Vec<u8> {
        let secret: Secret = self.secret().parse().unwrap();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let end_s = now.unwrap().as_secs() as u32 + 300;
        let issued = secret.proxy_key(self.address).issue(LOOPBACK, to, end_s);
        let mut datagram = Vec::new();
        write_relay(&mut datagram, to, &issued);
        datagram.extend(packet);
        datagram
    }

    pub fn usage(&self) -> Usage {
        let proc = Path::new("/proc").join(self.child.id().to_string());
        let status = fs::read_to_string(proc.join("status")).unwrap();
        let number = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|line| line.split_whitespace().next());
            number.and_then(|n| n.parse().ok()).unwrap_or(0)
        };
        Usage {
            memory_kib: number("VmRSS:"),
            threads: number("Threads:"),
            descriptors: fs::read_dir(proc.join("fd")).unwrap().count(),
        }
    }

    /// Checks that it has not ended.
    ///
    /// # Panics
    /// If it has, with its output.
    pub fn expect_running(&mut self) {
        if let Some(status) = self.child.try_wait().unwrap() {
            panic!("{:?} has ended, {status}: {}", self.kind, self.said());
        }
    }

    /// Interrupts it, and checks that it ends in order.
    pub fn end(&mut self) {
        let process = nix::unistd::Pid::from_raw(self.child.id() as i32);
        nix::sys::signal::kill(process, nix::sys::signal::Signal::SIGINT).unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                let said = self.said();
                // A receiver's status says that a transfer was cut off.
                let cut_off = self.kind == Kind::Receiver && status.code() == Some(1);
                assert!(
                    status.success() || cut_off,
                    "{:?}, {status}: {said}",
                    self.kind
                );
                return;
            }
            sleep(Duration::from_millis(50));
        }
        panic!("{:?} does not end when interrupted", self.kind);
    }

    /// Whether a good client is served.
    pub fn serves(&self) -> bool {
        match self.kind {
            Kind::Prober => {
                let key: Key = self.secret().parse().unwrap();
                Client::open(self.address, &key, Arc::default()).is_ok()
            }
            Kind::Receiver => self.takes_a_file(),
            Kind::Proxy => self.forwards(),
            Kind::Registry => {
                let body = format!("{{\"receiver\":\"{}\"}}", "00".repeat(16));
                let head = "POST /v1/relays HTTP/1.1\r\ncontent-type: application/json\r\n";
                self.http(&format!(
                    "{head}content-length: {}\r\n\r\n{body}",
                    body.len()
                ))
                .is_some_and(|answer| answer.contains("\r\n\r\n{"))
            }
            Kind::Agent => self
                .http("GET /metrics HTTP/1.1\r\n\r\n")
                .is_some_and(|answer| answer.contains("tidegate_")),
            Kind::Page => self
                .http("GET /now.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
                .is_some_and(|answer| answer.contains("\"headline\":")),
        }
    }

    /// Waits until a good client is served: it may take a while after bad clients or faults.
    pub fn serves_within(&self, longest: Duration) -> bool {
        let until = Instant::now() + longest;
        while !self.serves() {
            if Instant::now() > until {
                return false;
            }
            sleep(Duration::from_millis(200));
        }
        true
    }

    fn http(&self, request: &str) -> Option<String> {
        let mut stream = TcpStream::connect_timeout(&self.address, TIMEOUT).ok()?;
        stream.set_read_timeout(Some(TIMEOUT)).ok()?;
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer)
    }

    fn takes_a_file(&self) -> bool {
        let name = format!("good-{}", rand::random::<u32>());
        let file = self.file(&name);
        fs::write(&file, &name).unwrap();
        let mut send = Command::new(TIDEGATE);
        send.args(["mpath", "send"])
            .env("TIDEGATE_MPATH_RECEIVER", self.secret());
        let sent = send.arg(&file).output().unwrap();
        let arrived = self.file("files").join(&name);
        let good = sent.status.success() && fs::read_to_string(&arrived).is_ok_and(|c| c == name);
        let _ = fs::remove_file(arrived);
        fs::remove_file(file).unwrap();
        good
    }

    fn forwards(&self) -> bool {
        let (from, to) = (socket(), socket());
        let datagram = self.envelope(to.local_addr().unwrap(), b"good");
        let _ = from.send_to(&datagram, self.address);
        let mut packet = [0; 64];
        to.recv(&mut packet)
            .is_ok_and(|length| &packet[..length] == b"good")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A socket on this machine, with a timeout.
pub fn socket() -> UdpSocket {
    let socket = UdpSocket::bind((LOOPBACK, 0)).unwrap();
    let patience = Duration::from_millis(500);
    socket.set_read_timeout(Some(patience)).unwrap();
    socket
}
