//! What strangers and malicious clients may try: each of these once ended the server, or made it send unrequested
//! packets.

use super::super::control::{HELLO, OPEN};
use super::super::load::{Purpose, Wanted};
use super::super::seal::TAG;
use super::*;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, sendto, socket,
};
use std::io::{self, Read, Write};
use std::net::{SocketAddrV4, TcpStream};
use std::os::fd::AsRawFd;

/// A client by hand: its packets can be sent again.
struct Hand {
    socket: UdpSocket,
    key: Key,
    nonce: [u8; 16],
}

impl Hand {
    fn new(server: SocketAddr, key: Key) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(server).unwrap();
        let patience = Duration::from_millis(300);
        socket.set_read_timeout(Some(patience)).unwrap();
        Self {
            socket,
            key,
            nonce: rand::random(),
        }
    }

    fn question(&self, kind: u8, with: &[u8]) -> Vec<u8> {
        client::question(&self.key, kind, &self.nonce, with)
    }

    /// The contents of the answer after its nonce, without its tag.
    fn ask(&self, question: &[u8]) -> Option<Vec<u8>> {
        self.socket.send(question).unwrap();
        self.hear()
            .map(|answer| answer[18..answer.len() - TAG].to_vec())
    }

    fn hear(&self) -> Option<Vec<u8>> {
        let mut answer = [0; 2048];
        let length = self.socket.recv(&mut answer).ok()?;
        Some(answer[..length].to_vec())
    }

    /// A session, and the Open that began it.
    fn open(&self) -> (Session, Vec<u8>) {
        let cookie = self.ask(&self.question(HELLO, &[])).unwrap();
        let open = self.question(OPEN, &cookie);
        let id: [u8; 8] = self.ask(&open).unwrap()[..8].try_into().unwrap();
        let key = self.key.derive(&[b"session", &self.nonce, &id]);
        (Session::new(id, key, false), open)
    }

    /// Bytes that come until nothing more does.
    fn drain(&self) -> usize {
        std::iter::from_fn(|| self.hear())
            .map(|packet| packet.len())
            .sum()
    }
}

fn start(flow: u8) -> Control {
    Control::Start {
        to_client: true,
        train: few(flow),
    }
}

#[test]
fn a_recording_of_a_session_opens_nothing_while_its_cookie_lives() {
    let key = Key::random();
    let server = Running::new(key, Limits::default());
    let hand = Hand::new(server.address, key);
    let (mut session, open) = hand.open();
    let said = [start(0), Control::Close].map(|control| session.seal(&write(&control)));
    hand.socket.send(&said[0]).unwrap();
    assert!(hand.drain() > 10_000, "the session itself has its train");
    hand.socket.send(&said[1]).unwrap();
    // From the same address, as an attacker would who can write any address.
    assert_eq!(hand.ask(&open), None);
    for packet in &said {
        hand.socket.send(packet).unwrap();
    }
    assert_eq!(hand.drain(), 0);
    let counters = server.end();
    assert_eq!((counters.sessions, counters.refused), (1, 3));
}

#[test]
fn the_key_of_a_session_is_as_much_the_servers_choice() {
    let key = Key::random();
    let ids = [0; 2].map(|_| {
        let server = Running::new(key, Limits::default());
        let hand = Hand {
            nonce: [7; 16],
            ..Hand::new(server.address, key)
        };
        let (session, _) = hand.open();
        server.end();
        session.id
    });
    assert_ne!(ids[0], ids[1]);
}

/// A packet from port 0, which cannot be answered: only root may send one.
fn from_port_0(to: SocketAddr, payload: &[u8]) -> io::Result<()> {
    let SocketAddr::V4(to) = to else {
        unreachable!("servers of these tests are at 127.0.0.1")
    };
    let kind = (AddressFamily::Inet, SockType::Raw);
    let raw = socket(kind.0, kind.1, SockFlag::SOCK_CLOEXEC, SockProtocol::Udp)?;
    let length = 8 + payload.len() as u16;
    let ports = [0, to.port(), length, 0].map(u16::to_be_bytes).concat();
    let packet = [&ports, payload].concat();
    let to = SockaddrIn::from(SocketAddrV4::new(*to.ip(), 0));
    sendto(raw.as_raw_fd(), &packet, &to, MsgFlags::empty())?;
    Ok(())
}

#[test]
fn what_cannot_be_answered_ends_nothing() {
    let key = Key::random();
    let server = Running::new(key, Limits::default());
    let hand = Hand::new(server.address, key);
    let hello = hand.question(HELLO, &[]);
    if let Err(e) = from_port_0(server.address, &hello) {
        skipped(format!("raw sockets need root: {e}"));
        return;
    }
    assert!(hand.ask(&hello).is_some(), "the server is there");
    assert_eq!(server.end().refused, 1);
}

#[test]
fn limits_that_are_none_are_refused() {
    for max_bps in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let limits = Limits {
            max_bps,
            ..Limits::default()
        };
        let refused = Server::bind(([127, 0, 0, 1], 0).into(), Key::random(), limits);
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}

#[test]
fn a_panic_of_any_thread_ends_the_server() {
    let key = Key::random();
    for by_tcp in [false, true] {
        let address = ([127, 0, 0, 1], 0).into();
        let server = Server::bind(address, key, Limits::default()).unwrap();
        let address = server.address().unwrap();
        let mut server = server.broken();
        let thread = std::thread::spawn(move || server.run(&AtomicBool::new(false)));
        let client = client(address, &key).unwrap();
        if by_tcp {
            let pass = client.pass_for_a_probe();
            let mut stream = TcpStream::connect(address).unwrap();
            stream.write_all(&pass).unwrap();
        }
        // Its `Close` is not answered; everything else is.
        let since = Wall::now();
        while !thread.is_finished() && since.elapsed() < Duration::from_secs(5) {
            if !by_tcp {
                let mut client = self::client(address, &key);
                let _ = client.as_mut().map(|client| client.send_start(few(1)));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        assert!(thread.is_finished() && thread.join().is_err(), "{by_tcp}");
    }
}

#[test]
fn a_stranger_who_says_a_byte_now_and_then_keeps_nobody_out() {
    let key = Key::random();
    let server = Running::new(key, Limits::default());
    let client = client(server.address, &key).unwrap();
    let crowd: Vec<_> = (0..200)
        .map(|_| {
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream.write_all(&[1]).unwrap();
            stream
        })
        .collect();
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(&client.pass_for_a_probe()).unwrap();
    let patience = Duration::from_secs(2);
    stream.set_read_timeout(Some(patience)).unwrap();
    assert_eq!(stream.read(&mut [0; 2]).unwrap(), 1);
    drop(crowd);
    server.end();
}

#[test]
fn answers_count_against_the_budget() {
    let key = Key::random();
    let limits = Limits {
        session_bytes: 20_000,
        ..Limits::default()
    };
    let server = Running::new(key, limits);
    let hand = Hand::new(server.address, key);
    let (mut session, _) = hand.open();
    let mut heard = 0;
    for sequence in 0..1000 {
        let sent = tidegate_basics::time::Instant::ZERO;
        let ping = Control::Measure(crate::Message::Ping(crate::Ping { sequence, sent }));
        hand.socket.send(&session.seal(&write(&ping))).unwrap();
        if sequence % 50 == 49 {
            heard += hand.drain();
        }
    }
    assert!((10_000..=20_000).contains(&heard), "{heard}");
    assert!(server.end().sent_bytes <= 20_000);
}

#[test]
fn a_server_ends_soon_however_slow_it_is_and_many_wait() {
    let key = Key::random();
    // A frame takes four seconds, ten connections' forty.
    let limits = Limits {
        max_bps: 8e3,
        ..Limits::default()
    };
    let server = Running::new(key, limits);
    let (session, _) = Hand::new(server.address, key).open();
    let waiting: Vec<_> = (1..=10)
        .map(|counter| {
            let wanted = Wanted {
                id: session.id,
                counter,
                purpose: Purpose::Down,
                load: 1,
                bytes: 1 << 20,
            };
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream.write_all(&wanted.seal(&session.key)).unwrap();
            stream
        })
        .collect();
    // One of them is sent data at once: all have been accepted.
    std::thread::sleep(Duration::from_millis(300));
    let since = Wall::now();
    server.end();
    assert!(since.elapsed() < Duration::from_secs(10), "{since:?}");
    drop(waiting);
}
