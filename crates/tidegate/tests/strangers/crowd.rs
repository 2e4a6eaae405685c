//! Clients that connect, stall, vanish and lie: they act one at a time, as a seed decides, and many are kept
//! half-finished.

use super::servers::{Kind, Server, socket};
use nix::sys::socket::{setsockopt, sockopt};
use std::collections::VecDeque;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::time::Duration;
use tidegate_probe::net::Key;
use tidegate_testing::Spoiler;
use tidegate_transfer::{Config, Connection, Endpoint, Token};
use tokio::io::AsyncWriteExt;
use tokio::runtime::Runtime;

/// How many connections are kept open: more than any server has places for one network.
const HELD: usize = 200;

/// How many mPath connections are kept open: more than there are places.
const HELD_SENDERS: usize = 80;

/// Clients at one server that it does not know.
pub struct Crowd<'a> {
    server: &'a Server,
    spoiler: Spoiler,
    /// Stalled clients, the oldest first.
    streams: VecDeque<Stream>,
    /// A packet from a good client, to be replayed.
    recorded: Vec<u8>,
    senders: Option<Senders>,
}

/// A connection by TCP or to a Unix socket.
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(bytes),
            Self::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Stream {
    /// Whether the server has closed it; reads what the server has sent.
    fn has_ended(&mut self) -> bool {
        let mut said = [0; 4096];
        let read = match self {
            Self::Tcp(stream) => stream.read(&mut said),
            Self::Unix(stream) => stream.read(&mut said),
        };
        match read {
            Ok(count) => count == 0,
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        }
    }
}

/// For mPath's receiver: connections of clients that have its token.
struct Senders {
    runtime: Runtime,
    token: Token,
    held: VecDeque<(Endpoint, Connection)>,
}

impl<'a> Crowd<'a> {
    /// A crowd without clients.
    pub fn new(server: &'a Server, seed: u64) -> Self {
        let senders = (server.kind == Kind::Receiver).then(|| Senders {
            runtime: tokio::runtime::Builder::new_multi_thread()
                .worker_threads(1)
                .enable_all()
                .build()
                .unwrap(),
            token: server.secret().parse().unwrap(),
            held: VecDeque::new(),
        });
        Self {
            server,
            spoiler: Spoiler::new(seed),
            streams: VecDeque::new(),
            recorded: Vec::new(),
            senders,
        }
    }

    /// Lets one client act.
    pub fn act(&mut self) {
        match self.server.kind {
            Kind::Prober => match self.spoiler.below(4) {
                0 | 1 => self.by_udp(),
                2 => self.by_tcp(),
                _ => self.with_the_probers_key(),
            },
            Kind::Receiver => match self.spoiler.below(20) {
                0 => self.with_the_receivers_token(),
                _ => self.by_udp(),
            },
            Kind::Proxy => self.by_udp(),
            Kind::Registry | Kind::Page => self.by_tcp(),
            Kind::Agent => match self.spoiler.below(2) {
                0 => self.by_tcp(),
                _ => self.by_socket(),
            },
        }
    }

    /// A client connects, and vanishes, sends something that may be valid and stalls, or goes on a little later.
    fn by_tcp(&mut self) {
        if let Ok(stream) = TcpStream::connect(self.server.address) {
            stream.set_nonblocking(true).unwrap();
            self.hold(Stream::Tcp(stream));
        }
    }

    fn by_socket(&mut self) {
        if let Ok(stream) = UnixStream::connect(self.server.file("socket")) {
            stream.set_nonblocking(true).unwrap();
            self.hold(Stream::Unix(stream));
        }
    }

    fn hold(&mut self, mut stream: Stream) {
        let mut words = self.words();
        if self.spoiler.once_in(2) {
            self.spoiler.spoil(&mut words);
        }
        let said = self.spoiler.below(words.len() + 1);
        let _ = stream.write_all(&words[..said]);
        match self.spoiler.below(4) {
            0 => vanish(stream),
            _ => self.streams.push_back(stream),
        }
        self.let_some_go();
    }

    /// A stalled client sends another byte or leaves; a disconnected one leaves.
    fn let_some_go(&mut self) {
        if !self.streams.is_empty() {
            let one = self.spoiler.below(self.streams.len());
            if self.streams[one].has_ended() || self.streams[one].write_all(b"x").is_err() {
                self.streams.remove(one);
            }
        }
        while self.streams.len() > HELD {
            if let Some(stream) = self.streams.pop_front() {
                vanish(stream);
            }
        }
    }

    /// What a well-meaning client would send.
    fn words(&mut self) -> Vec<u8> {
        let length = self.spoiler.below(400);
        let receiver = tidegate_overlay::ReceiverId(self.spoiler.noise(16).try_into().unwrap());
        let json = |path: &str, body: &str| {
            let head = "HTTP/1.1\r\ncontent-type: application/json";
            format!(
                "POST {path} {head}\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
            .into_bytes()
        };
        match (self.server.kind, self.spoiler.below(4)) {
            (_, 0) => self.spoiler.noise(length),
            (Kind::Registry, 1) => json(
                "/v1/receivers",
                &format!(
                    "{{\"receiver\":\"{receiver}\",\"key\":\"{receiver}\",\"port\":{length}}}"
                ),
            ),
            (Kind::Registry, 2) => json("/v1/proxies", "{\"port\":7481}"),
            (Kind::Registry, _) => json("/v1/relays", &format!("{{\"receiver\":\"{receiver}\"}}")),
            (Kind::Agent, 1) => b"{\"get\":\"snapshot\"}\n".to_vec(),
            (Kind::Agent, 2) => b"GET /metrics HTTP/1.1\r\n\r\n".to_vec(),
            (Kind::Agent, _) => {
                format!("GET / HTTP/1.1\r\n{}", "x: y\r\n".repeat(length)).into_bytes()
            }
            (Kind::Page, which) => {
                let path = ["/", "/now.json", "/day.json", "/page.js"][which % 4];
                let host = self.spoiler.one_of(&["localhost", "example.org"]);
                format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").into_bytes()
            }
            _ => self.spoiler.noise(44),
        }
    }

    /// A packet from a new address: noise, a packet that was once valid, or half of one.
    fn by_udp(&mut self) {
        let from = socket();
        let length = self.spoiler.below(1500);
        let mut packet = match self.spoiler.below(3) {
            0 => self.spoiler.noise(length),
            1 => self.recorded.clone(),
            _ => self.good_packet(&from),
        };
        self.recorded.clone_from(&packet);
        if self.spoiler.once_in(2) {
            self.spoiler.spoil(&mut packet);
        }
        let _ = from.send_to(&packet, self.server.address);
    }

    fn good_packet(&mut self, from: &UdpSocket) -> Vec<u8> {
        match self.server.kind {
            Kind::Prober => {
                let nonce = self.spoiler.noise(16);
                prober_question(&self.server.secret().parse().unwrap(), 1, &nonce, &[])
            }
            Kind::Proxy => {
                let length = 1 + self.spoiler.below(1200);
                let content = self.spoiler.noise(length);
                self.server.envelope(from.local_addr().unwrap(), &content)
            }
            // A greeting of an unknown client: the kind, and an invalid proof.
            _ => {
                let hello = tidegate_mpath::wire::Hello {
                    connection: self.spoiler.number(),
                    proof: self.spoiler.noise(32).try_into().unwrap(),
                    message: &self.spoiler.noise(96),
                };
                let mut packet = Vec::new();
                tidegate_mpath::wire::write_hello(&mut packet, &hello);
                packet.resize(1200, 0);
                packet
            }
        }
    }

    /// A client with the key opens a session, asks for a train, and vanishes.
    fn with_the_probers_key(&mut self) {
        let key: Key = self.server.secret().parse().unwrap();
        let from = socket();
        from.set_read_timeout(Some(Duration::from_millis(50)))
            .unwrap();
        from.connect(self.server.address).unwrap();
        let nonce = self.spoiler.noise(16);
        let mut answer = [0; 256];
        let mut ask = |kind, with: &[u8]| {
            from.send(&prober_question(&key, kind, &nonce, with)).ok()?;
            let length = from.recv(&mut answer).ok()?;
            answer.get(18..length).map(<[u8]>::to_vec)
        };
        let opened = ask(1, &[]).and_then(|cookie| ask(3, cookie.get(..16)?));
        let Some(id) = opened.as_ref().and_then(|said| said.get(..8)) else {
            return;
        };
        let session = key.derive(&[b"session", &nonce, id]);
        for counter in 1..4_u64 {
            // A train of 100 kB to this address, at 1 Mbit/s.
            let mut inner = vec![1, 16, 1, 1, 3, 232, 0];
            for number in [0, 1_000_000, 1_000_000, 100_000, 1000_u64] {
                inner.extend(number.to_be_bytes());
            }
            if counter > 1 {
                self.spoiler.spoil(&mut inner);
            }
            let _ = from.send(&sealed(&session, id, counter, &inner));
        }
    }

    /// A client with the token connects, makes an invalid offer, and stalls, leaves or vanishes.
    fn with_the_receivers_token(&mut self) {
        let Some(senders) = &mut self.senders else {
            return;
        };
        let (to, token) = (self.server.address, senders.token.clone());
        let lie = offer(&mut self.spoiler);
        let goes = self.spoiler.once_in(2);
        let connected = senders.runtime.block_on(async {
            let local: SocketAddr = ([127, 0, 0, 1], 0).into();
            let endpoint = Endpoint::bind(local, None, Config::default()).ok()?;
            let connecting = endpoint.connect(&token, to, None);
            let patience = Duration::from_millis(300);
            let mut connection = tokio::time::timeout(patience, connecting)
                .await
                .ok()?
                .ok()?;
            connection.write_all(&lie).await.ok()?;
            connection.flush().await.ok()?;
            Some((endpoint, connection))
        });
        match connected {
            // It closes the connection.
            Some((_, connection)) if goes => drop(connection),
            Some(held) => senders.held.push_back(held),
            None => {}
        }
        while senders.held.len() > HELD_SENDERS {
            senders.held.pop_front();
        }
    }
}

/// An offer of a file that may be large or have a name that leads to another folder, with some of its bytes.
fn offer(spoiler: &mut Spoiler) -> Vec<u8> {
    let name = spoiler
        .one_of(&["lie", "../lie", ".lie.part", "/etc/lie", ""])
        .to_string();
    let mut offer = vec![name.len() as u8];
    offer.extend(name.bytes());
    // Its length in postcard's encoding: seven bits a byte.
    let mut length = spoiler.number();
    while length >= 0x80 {
        offer.push(length as u8 | 0x80);
        length >>= 7;
    }
    offer.push(length as u8);
    offer.extend(spoiler.noise(32));
    let mut said = (offer.len() as u32).to_be_bytes().to_vec();
    said.extend(offer);
    said.extend(spoiler.noise(100));
    if spoiler.once_in(4) {
        spoiler.spoil(&mut said);
    }
    said
}

/// Vanishes without a word: sent data stay sent, and answers are refused.
fn vanish(stream: Stream) {
    if let Stream::Tcp(stream) = &stream {
        let linger = nix::libc::linger {
            l_onoff: 1,
            l_linger: 0,
        };
        let _ = setsockopt(stream, sockopt::Linger, &linger);
    }
}

/// A prober's request before a session (docs/internals/probe.md).
fn prober_question(key: &Key, kind: u8, nonce: &[u8], with: &[u8]) -> Vec<u8> {
    let mut packet = [&[1, kind][..], nonce, with].concat();
    packet.resize(80, 0);
    packet.extend(key.tag(&[b"question", &packet]));
    packet
}

/// A packet of a session (docs/internals/probe.md).
fn sealed(key: &Key, id: &[u8], counter: u64, inner: &[u8]) -> Vec<u8> {
    let counter = counter.to_be_bytes();
    let length = (inner.len() as u32).to_be_bytes();
    let tag = key.tag(&[&[0], id, &counter, &length, inner]);
    [&[1, 5][..], id, &counter, &tag, inner].concat()
}
