//! A server whose TCP timestamps come from another clock, on the real kernel: its packets pass a link of the test's
//! own, which rewrites their timestamps, to a client with an agent.

use crate::ledger::{Ledger, Packet, server_port};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tidegate_lab::Namespace;

/// The device at each end.
pub const DEVICE: &str = "tg0";
pub const SERVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
pub const CLIENT: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);

/// The link: 10 Mbit/s towards the client, 10 ms each way, and room for half a second.
pub const BYTES_PER_S: u64 = 1_250_000;
const ONE_WAY: Duration = Duration::from_millis(10);
const ROOM: Duration = Duration::from_millis(500);

/// The timestamp of a packet from the server, given the time since the link began in µs and the packet's number; none:
/// the link removes its timestamps.
pub type Clock = fn(u64, u64) -> Option<u32>;

/// Two namespaces and the link between them, which ends when this is dropped.
pub struct Stamped {
    pub client: Namespace,
    pub server: Namespace,
    /// What has passed the link.
    pub ledger: Arc<Ledger>,
    over: Arc<AtomicBool>,
    link: Option<JoinHandle<()>>,
}

impl Drop for Stamped {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(link) = self.link.take() {
            let _ = link.join();
        }
    }
}

impl Stamped {
    /// `clock` gives the clock of a server's port; none: the server's timestamps stay.
    pub fn new(clock: impl Fn(u16) -> Option<Clock> + Send + 'static) -> Self {
        let client = Namespace::new().unwrap();
        let server = Namespace::new().unwrap();
        let ends = [(&server, SERVER), (&client, CLIENT)]
            .map(|(end, address)| end.run(|| Ok(device(address))).unwrap());
        let over = Arc::new(AtomicBool::new(false));
        let ledger = Arc::new(Ledger::default());
        let link = Link {
            stamps: Stamps::new(clock),
            ledger: Arc::clone(&ledger),
            over: Arc::clone(&over),
            down: Lane::default(),
            up: Lane::default(),
        };
        let link = thread::spawn(move || link.carry(ends));
        Self {
            client,
            server,
            ledger,
            over,
            link: Some(link),
        }
    }
}

/// A TUN device in this namespace; without `IFF_VNET_HDR` a read is one packet with its checksums.
fn device(address: Ipv4Addr) -> File {
    let file = File::options()
        .read(true)
        .write(true)
        .open("/dev/net/tun")
        .unwrap();
    // SAFETY: all zeros are a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(DEVICE.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as i16;
    // SAFETY: TUNSETIFF reads and writes one ifreq, which `request` is.
    let made = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    assert_eq!(made, 0, "no TUN device");
    for args in [
        format!("addr add {address}/24 dev {DEVICE}"),
        format!("link set {DEVICE} up"),
        "link set lo up".to_owned(),
    ] {
        let status = Command::new("ip").args(args.split(' ')).status().unwrap();
        assert!(status.success(), "ip {args}");
    }
    file
}

/// Packets in flight to one end, with their arrival times.
#[derive(Default)]
struct Lane {
    packets: VecDeque<(Instant, Waited)>,
    free: Option<Instant>,
}

/// A packet, and how long it waited for earlier ones.
struct Waited {
    packet: Vec<u8>,
    queue: Duration,
}

impl Lane {
    fn due(&self) -> Option<Instant> {
        self.packets.front().map(|(due, _)| *due)
    }

    /// Takes in a packet, at `bytes_per_s` if the rate is limited.
    fn enter(&mut self, now: Instant, packet: Vec<u8>, bytes_per_s: Option<u64>) {
        let (mut out, mut queue) = (now, Duration::ZERO);
        if let Some(rate) = bytes_per_s {
            out = self.free.map_or(now, |free| free.max(now));
            queue = out - now;
            if queue > ROOM {
                return;
            }
            out += Duration::from_nanos(packet.len() as u64 * 1_000_000_000 / rate);
            self.free = Some(out);
        }
        self.packets
            .push_back((out + ONE_WAY, Waited { packet, queue }));
    }

    fn leave(&mut self, now: Instant, mut to: &File, note: impl Fn(&Waited)) {
        while let Some((_, waited)) = self.packets.pop_front_if(|(due, _)| *due <= now) {
            note(&waited);
            // A device that is being removed takes no packet.
            let _ = to.write(&waited.packet);
        }
    }
}

struct Link<C> {
    stamps: Stamps<C>,
    ledger: Arc<Ledger>,
    over: Arc<AtomicBool>,
    down: Lane,
    up: Lane,
}

impl<C: Fn(u16) -> Option<Clock>> Link<C> {
    fn carry(mut self, [server, client]: [File; 2]) {
        let begin = Instant::now();
        while !self.over.load(Ordering::Relaxed) {
            self.wait([&server, &client], |link, ready| {
                let now = Instant::now();
                if ready[0] {
                    let mut packet = read(&server);
                    let now_us = (now - begin).as_micros() as u64;
                    link.stamps.rewrite(&mut packet, now_us);
                    link.down.enter(now, packet, Some(BYTES_PER_S));
                }
                if ready[1] {
                    let mut packet = read(&client);
                    link.stamps.restore(&mut packet);
                    link.up.enter(now, packet, None);
                }
                let note = |waited: &Waited| {
                    link.ledger.note(Packet::new(&waited.packet, waited.queue));
                };
                link.down.leave(now, &client, note);
                link.up.leave(now, &server, |_| {});
            });
        }
    }

    /// Waits until a packet arrives or is due.
    fn wait(&mut self, ends: [&File; 2], then: impl FnOnce(&mut Self, [bool; 2])) {
        let most = Duration::from_millis(50);
        let due = [self.down.due(), self.up.due()].into_iter().flatten().min();
        let wait = due.map_or(most, |due| due.saturating_duration_since(Instant::now()));
        let wait = PollTimeout::try_from(wait.min(most)).unwrap();
        let mut ready = ends.map(|end| PollFd::new(end.as_fd(), PollFlags::POLLIN));
        poll(&mut ready, wait).unwrap();
        let ready = ready.map(|end| end.any().unwrap_or(false));
        then(self, ready);
    }
}

fn read(mut from: &File) -> Vec<u8> {
    let mut packet = vec![0; 2_000];
    let length = from.read(&mut packet).unwrap();
    packet.truncate(length);
    packet
}

/// Replaces the server's own timestamps.
struct Stamps<C> {
    clock_of: C,
    /// By the server's port.
    ports: HashMap<u16, Port>,
}

#[derive(Default)]
struct Port {
    packets: u64,
    own: HashMap<u32, u32>,
}

impl<C: Fn(u16) -> Option<Clock>> Stamps<C> {
    fn new(clock_of: C) -> Self {
        Self {
            clock_of,
            ports: HashMap::new(),
        }
    }

    fn rewrite(&mut self, packet: &mut [u8], now_us: u64) {
        let Some(at) = timestamps(packet) else {
            return;
        };
        let port = server_port(packet);
        let Some(clock) = (self.clock_of)(port) else {
            return;
        };
        let port = self.ports.entry(port).or_default();
        port.packets += 1;
        let own = u32::from_be_bytes(packet[at + 2..at + 6].try_into().unwrap());
        match clock(now_us, port.packets) {
            Some(stamp) => {
                port.own.insert(stamp, own);
                packet[at + 2..at + 6].copy_from_slice(&stamp.to_be_bytes());
            }
            // NOPs in place of the option.
            None => packet[at..at + 10].fill(1),
        }
        sum(packet);
    }

    /// Gives the server's kernel its own timestamp back in the echo field.
    fn restore(&self, packet: &mut [u8]) {
        let Some(at) = timestamps(packet) else {
            return;
        };
        let echo = u32::from_be_bytes(packet[at + 6..at + 10].try_into().unwrap());
        let port = self.ports.get(&server_port(packet));
        if let Some(own) = port.and_then(|port| port.own.get(&echo)) {
            packet[at + 6..at + 10].copy_from_slice(&own.to_be_bytes());
            sum(packet);
        }
    }
}

/// Offset of the timestamps option in an IPv4 packet, if it is TCP and has one.
fn timestamps(packet: &[u8]) -> Option<usize> {
    if packet.len() < 40 || packet[0] >> 4 != 4 || packet[9] != 6 {
        return None;
    }
    let tcp = usize::from(packet[0] & 15) * 4;
    let end = tcp + usize::from(packet[tcp + 12] >> 4) * 4;
    let mut at = tcp + 20;
    while at < end {
        match packet[at] {
            0 => return None,
            1 => at += 1,
            8 => return Some(at),
            _ => at += usize::from(packet[at + 1]).max(2),
        }
    }
    None
}

/// Computes the TCP checksum of an IPv4 packet anew (RFC 9293 section 3.1).
fn sum(packet: &mut [u8]) {
    let tcp = usize::from(packet[0] & 15) * 4;
    packet[tcp + 16..tcp + 18].fill(0);
    let length = (packet.len() - tcp) as u32;
    let words = |bytes: &[u8]| -> u32 {
        let pairs = bytes.chunks(2);
        pairs
            .map(|p| u32::from(p[0]) << 8 | u32::from(*p.get(1).unwrap_or(&0)))
            .sum()
    };
    let mut sum = words(&packet[12..20]) + 6 + length + words(&packet[tcp..]);
    while sum >> 16 != 0 {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    packet[tcp + 16..tcp + 18].copy_from_slice(&(!sum as u16).to_be_bytes());
}
