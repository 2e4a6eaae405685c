//! A download over UDP that is clocked by its acknowledgements; each has a number and the time when it was sent.

use crate::tally;
use nix::sys::socket::{setsockopt, sockopt};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tidegate_lab::{EmulatedHosts, IpVersion, Namespace};

/// Payload of a datagram.
pub const DATAGRAM: usize = 1200;

/// How many packets one acknowledgement covers.
pub const EVERY: u64 = 2;

/// How long either end waits for the other before it checks whether to end.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// An acknowledgement that has arrived: its number, and how long it was in flight.
#[derive(Clone, Copy, Debug)]
pub struct Came {
    pub number: u64,
    pub after: Duration,
}

/// Shared state of both ends.
#[derive(Default)]
struct Told {
    ends: AtomicBool,
    /// Data that arrived, and acknowledgements that were sent.
    arrived: AtomicU64,
    sent: AtomicU64,
    came: Mutex<Vec<Came>>,
}

/// A running download, until it is ended.
pub struct Download {
    told: Arc<Told>,
    ends: Vec<JoinHandle<()>>,
}

impl Download {
    /// Starts a download from the server's port to the client.
    pub fn start(hosts: &EmulatedHosts, version: IpVersion, port: u16) -> Self {
        let server = (EmulatedHosts::server_address(version), port);
        let far = bind(hosts.server(), server);
        let any: IpAddr = Ipv4Addr::UNSPECIFIED.into();
        let any = if version == IpVersion::V4 {
            any
        } else {
            std::net::Ipv6Addr::UNSPECIFIED.into()
        };
        let near = bind(hosts.client(), (any, 0));
        near.connect(server).unwrap();
        let began = Instant::now();
        let told = Arc::<Told>::default();
        let receiver = Receiver {
            socket: near,
            told: told.clone(),
            began,
        };
        let sender = Sender::new(far, told.clone(), began);
        let ends = vec![
            std::thread::spawn(move || sender.run()),
            std::thread::spawn(move || receiver.run()),
        ];
        Self { told, ends }
    }

    /// Bytes that have arrived.
    pub fn arrived(&self) -> u64 {
        self.told.arrived.load(Ordering::Relaxed) * DATAGRAM as u64
    }

    /// One-way times of the acknowledgements that have come since `number`, and the new number.
    pub fn since(&self, number: usize) -> (Vec<Duration>, usize) {
        let came = self.told.came.lock().unwrap();
        let since = came[number.min(came.len())..].iter().map(|c| c.after);
        (since.collect(), came.len())
    }

    /// Ends it, and returns the acknowledgements that came and how many were sent.
    pub fn end(mut self) -> (Vec<Came>, u64) {
        // The last acknowledgements are still in flight.
        self.told.ends.store(true, Ordering::Relaxed);
        self.ends.drain(..).for_each(|end| end.join().unwrap());
        let came = self.told.came.lock().unwrap().clone();
        let sent = self.told.sent.load(Ordering::Relaxed);
        tally::note(sent + self.told.arrived.load(Ordering::Relaxed));
        (came, sent)
    }
}

pub fn bind(host: &Namespace, address: (IpAddr, u16)) -> UdpSocket {
    let socket = host.run(|| Ok(UdpSocket::bind(address)?)).unwrap();
    socket.set_read_timeout(Some(POLL_INTERVAL)).unwrap();
    // Packets that have waited arrive at once, and their reader may have to wait for a CPU.
    setsockopt(&socket, sockopt::RcvBufForce, &(4 << 20)).unwrap();
    socket
}

pub fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[8 * at..][..8].try_into().unwrap())
}

/// A datagram, unless none arrives within the poll interval.
pub fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> Option<usize> {
    match socket.recv(buffer) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            let known = [
                ErrorKind::WouldBlock,
                ErrorKind::ConnectionRefused,
                ErrorKind::NetworkUnreachable,
                ErrorKind::HostUnreachable,
                ErrorKind::NetworkDown,
            ];
            assert!(known.contains(&error.kind()), "{error}");
            None
        }
    }
}

/// The client.
struct Receiver {
    socket: UdpSocket,
    told: Arc<Told>,
    began: Instant,
}

impl Receiver {
    /// Runs until the end is near and nothing has come for a while.
    fn run(self) {
        let mut buffer = [0; 2 * DATAGRAM];
        let (mut highest, mut received) = (0, 0);
        let mut last = Instant::now();
        self.acknowledge(highest, received);
        loop {
            let ends = self.told.ends.load(Ordering::Relaxed);
            if receive(&self.socket, &mut buffer).is_none() {
                if ends && last.elapsed() > Duration::from_secs(3) {
                    return;
                }
                // A sender that knows of no more goes on.
                if !ends && last.elapsed() > Duration::from_millis(500) {
                    self.acknowledge(highest, received);
                    last = Instant::now();
                }
                continue;
            }
            last = Instant::now();
            received += 1;
            highest = highest.max(number(&buffer, 0) + 1);
            self.told.arrived.store(received, Ordering::Relaxed);
            if received % EVERY == 0 {
                self.acknowledge(highest, received);
            }
        }
    }

    fn acknowledge(&self, highest: u64, received: u64) {
        let sent = self.told.sent.load(Ordering::Relaxed);
        let at = self.began.elapsed().as_micros() as u64;
        let words = [sent, at, highest, received].map(u64::to_le_bytes);
        // Its interface may be gone.
        if self.socket.send(&words.concat()).is_ok() {
            self.told.sent.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The server: its window grows with acknowledged data, and falls to 70 % at a loss.
struct Sender {
    socket: UdpSocket,
    told: Arc<Told>,
    began: Instant,
    window: f64,
    starts: bool,
    sent: u64,
    highest: u64,
    lost: u64,
    fell_at: u64,
}

impl Sender {
    fn new(socket: UdpSocket, told: Arc<Told>, began: Instant) -> Self {
        Self {
            socket,
            told,
            began,
            window: 10.0,
            starts: true,
            sent: 0,
            highest: 0,
            lost: 0,
            fell_at: 0,
        }
    }

    fn run(mut self) {
        let mut buffer = [0; 2 * DATAGRAM];
        let mut last = Instant::now();
        let (_, client) = loop {
            if let Ok(first) = self.socket.recv_from(&mut buffer) {
                break first;
            }
        };
        self.socket.connect(client).unwrap();
        self.came(&buffer);
        loop {
            let ends = self.told.ends.load(Ordering::Relaxed);
            if ends && last.elapsed() > Duration::from_secs(3) {
                return;
            }
            if !ends {
                self.send();
            }
            if receive(&self.socket, &mut buffer).is_some() {
                last = Instant::now();
                self.came(&buffer);
            } else if last.elapsed() > Duration::from_secs(1) {
                // All packets in flight count as lost.
                self.sent = self.sent.max(self.highest);
                self.highest = self.sent;
                self.fall();
            }
        }
    }

    fn send(&mut self) {
        let mut data = [0; DATAGRAM];
        while ((self.sent - self.highest) as f64) < self.window {
            data[..8].copy_from_slice(&self.sent.to_le_bytes());
            if self.socket.send(&data).is_err() {
                return;
            }
            self.sent += 1;
        }
    }

    fn came(&mut self, bytes: &[u8]) {
        let [sent, at, highest, received] = [0, 1, 2, 3].map(|at| number(bytes, at));
        let after = self
            .began
            .elapsed()
            .saturating_sub(Duration::from_micros(at));
        self.told.came.lock().unwrap().push(Came {
            number: sent,
            after,
        });
        let more = highest.saturating_sub(self.highest);
        self.highest = self.highest.max(highest);
        self.window += if self.starts {
            more as f64
        } else {
            more as f64 / self.window
        };
        let lost = highest - received.min(highest);
        if lost > self.lost {
            self.lost = lost;
            if highest > self.fell_at {
                self.fall();
            }
        }
    }

    fn fall(&mut self) {
        self.starts = false;
        self.window = (self.window * 0.7).max(2.0);
        self.fell_at = self.sent;
    }
}
