//! Conversations: each packet is echoed at once with the same length.

use crate::download::{bind, number, receive};
use crate::tally;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tidegate_lab::{EmulatedHosts, IpVersion};

/// After this time no more echoes are expected.
const QUIET: Duration = Duration::from_secs(2);

/// The largest datagram.
const LARGEST: usize = 1200;

/// A kind of conversation.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub name: &'static str,
    pub bytes: usize,
    pub every: Duration,
    /// Whether it sends less when its packets are late, and more when they are not.
    pub adapts: bool,
}

const fn kind(name: &'static str, bytes: usize, every_ms: u64, adapts: bool) -> Kind {
    let every = Duration::from_millis(every_ms);
    Kind {
        name,
        bytes,
        every,
        adapts,
    }
}

/// 80 kbit/s, 25 kbit/s, 1 Mbit/s and less, and the DNS queries of many pages.
pub const ALL: [Kind; 4] = [
    kind("call", 200, 20, false),
    kind("game", 100, 33, false),
    kind("video call", 1000, 8, true),
    kind("DNS", 60, 40, false),
];

/// A round trip that is late for a video call, and by which factor its interval changes, in thousandths.
const LATE: Duration = Duration::from_millis(150);
const SLOWER: u32 = 1150;
const FASTER: u32 = 995;
/// Its rate does not fall below a sixth.
const SLOWEST: u32 = 6;

/// The result of a conversation.
#[derive(Debug)]
pub struct Spoken {
    pub sent: u64,
    /// The round trips of the echoes.
    pub took: Vec<Duration>,
}

impl Spoken {
    /// The 99th percentile of the round trips.
    pub fn p99(&self) -> Duration {
        let mut took = self.took.clone();
        took.sort();
        took[took.len() * 99 / 100]
    }
}

/// A running conversation, until it is ended.
pub struct Talk {
    pub kind: Kind,
    ends: Arc<AtomicBool>,
    near: JoinHandle<Spoken>,
    far: JoinHandle<()>,
}

impl Talk {
    /// Starts a conversation of the client with the server's port.
    pub fn start(hosts: &EmulatedHosts, port: u16, kind: Kind) -> Self {
        let server = (EmulatedHosts::server_address(IpVersion::V4), port);
        let far = bind(hosts.server(), server);
        let near = bind(hosts.client(), (Ipv4Addr::UNSPECIFIED.into(), 0));
        near.connect(server).unwrap();
        let ends = Arc::<AtomicBool>::default();
        let (speaks, answers) = (ends.clone(), ends.clone());
        Self {
            kind,
            ends,
            near: std::thread::spawn(move || speak(&near, kind, &speaks)),
            far: std::thread::spawn(move || answer(&far, &answers)),
        }
    }

    /// Ends it once all echoes have come.
    pub fn end(self) -> Spoken {
        self.ends.store(true, Ordering::Relaxed);
        self.far.join().unwrap();
        let spoken = self.near.join().unwrap();
        tally::note(spoken.sent);
        spoken
    }
}

fn speak(socket: &UdpSocket, kind: Kind, ends: &AtomicBool) -> Spoken {
    let began = Instant::now();
    let (mut next, mut every) = (began, kind.every);
    let (mut spoken, mut last) = (
        Spoken {
            sent: 0,
            took: Vec::new(),
        },
        began,
    );
    let mut buffer = [0; LARGEST];
    loop {
        let over = ends.load(Ordering::Relaxed);
        if over && last.elapsed() > QUIET {
            return spoken;
        }
        while !over && Instant::now() >= next {
            let mut data = vec![0; kind.bytes];
            let at = began.elapsed().as_micros() as u64;
            data[..8].copy_from_slice(&at.to_le_bytes());
            socket.send(&data).unwrap();
            spoken.sent += 1;
            next += every;
        }
        if receive(socket, &mut buffer).is_some() {
            last = Instant::now();
            let took = began.elapsed() - Duration::from_micros(number(&buffer, 0));
            spoken.took.push(took);
            if kind.adapts {
                let by = if took > LATE { SLOWER } else { FASTER };
                every = (every * by / 1000).clamp(kind.every, SLOWEST * kind.every);
            }
        }
    }
}

fn answer(socket: &UdpSocket, ends: &AtomicBool) {
    let mut buffer = [0; LARGEST];
    let (mut client, mut last): (Option<SocketAddr>, _) = (None, Instant::now());
    while !ends.load(Ordering::Relaxed) || last.elapsed() < QUIET {
        if client.is_none() {
            client = socket.peek_from(&mut [0]).ok().map(|(_, from)| from);
            if let Some(from) = client {
                socket.connect(from).unwrap();
            }
            continue;
        }
        if let Some(bytes) = receive(socket, &mut buffer) {
            last = Instant::now();
            socket.send(&buffer[..bytes]).unwrap();
        }
    }
}
