use super::control::{Control, read, write};
use super::seal::{Key, Session};
use super::*;
use crate::examine::overflow_train;
use crate::{Pace, TrainConfig};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Instant as Wall;
use tidegate_testing::skipped;

mod hostile;

/// A server on this machine, and the flag that stops it.
struct Running {
    address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Counters>>,
}

impl Running {
    fn new(key: Key, limits: Limits) -> Self {
        Self::at(([127, 0, 0, 1], 0).into(), key, limits)
    }

    fn at(address: SocketAddr, key: Key, limits: Limits) -> Self {
        let mut server = Server::bind(address, key, limits).unwrap();
        let address = server.address().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            server.run(&flag).unwrap();
            server.counters()
        });
        Self {
            address,
            stop,
            thread: Some(thread),
        }
    }

    fn end(mut self) -> Counters {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

fn client(address: SocketAddr, key: &Key) -> Result<Client, Failure> {
    Client::open(address, key, Arc::default())
}

/// Ten packets a second for two seconds.
fn few(flow: u8) -> TrainConfig {
    TrainConfig {
        pace: Pace::Constant(200e3),
        max_time: Duration::from_millis(1000),
        max_bytes: 100_000,
        ..overflow_train(flow, 1000)
    }
}

#[test]
fn trains_go_both_ways_and_every_packet_is_known() {
    let key = Key::random();
    let server = Running::new(key, Limits::default());
    let mut client = client(server.address, &key).unwrap();
    for direction in [Direction::Down, Direction::Up] {
        let every = Some(Duration::from_millis(100));
        let (arrivals, echoes) = client
            .train(direction, few(direction as u8), every)
            .unwrap();
        assert!((20..=30).contains(&arrivals.len()), "{}", arrivals.len());
        let in_order = arrivals
            .iter()
            .enumerate()
            .all(|(n, a)| a.sequence == n as u32);
        assert!(in_order && arrivals.iter().all(|a| a.bytes == 1000));
        assert!(echoes.len() > 5);
    }
    drop(client);
    assert_eq!(server.end().sessions, 1);
}

#[test]
fn ipv6_is_served_and_ipv4_by_the_same_socket() {
    let key = Key::random();
    let Ok(socket) = UdpSocket::bind("[::1]:0") else {
        skipped("this machine has no IPv6");
        return;
    };
    drop(socket);
    let server = Running::at("[::]:0".parse().unwrap(), key, Limits::default());
    let port = server.address.port();
    for host in ["[::1]", "127.0.0.1"] {
        let address = format!("{host}:{port}").parse().unwrap();
        let mut client = client(address, &key).unwrap();
        for (flow, direction) in [(0, Direction::Down), (1, Direction::Up)] {
            let (arrivals, _) = client.train(direction, few(flow), None).unwrap();
            assert!(arrivals.len() >= 20, "{host}: {}", arrivals.len());
        }
    }
    assert_eq!(server.end().sessions, 2);
}

#[test]
fn trains_go_both_ways_at_once_and_are_kept_apart() {
    let key = Key::random();
    let server = Running::new(key, Limits::default());
    let mut client = client(server.address, &key).unwrap();
    let up = TrainConfig {
        bytes: 500,
        ..few(1)
    };
    let trains = [(Direction::Down, few(0)), (Direction::Up, up)];
    let (found, _) = client.trains(&trains, None).unwrap();
    for (arrivals, bytes) in found.iter().zip([1000, 500]) {
        assert!(arrivals.len() >= 20, "{}", arrivals.len());
        assert!(arrivals.iter().all(|a| a.bytes == bytes));
    }
    let last = |n: usize| found[n].last().unwrap().arrived;
    assert!(found[1][0].arrived < last(0) && found[0][0].arrived < last(1));
    drop(client);
    server.end();
}

#[test]
fn several_sessions_have_trains_and_budgets_of_their_own() {
    let key = Key::random();
    let limits = Limits {
        session_bytes: 60_000,
        ..Limits::default()
    };
    let server = Running::new(key, limits);
    let mut clients = [0; 2].map(|_| client(server.address, &key).unwrap());
    // The same number in both sessions.
    let train = TrainConfig {
        max_bytes: 50_000,
        ..few(0)
    };
    let counts = std::thread::scope(|scope| {
        let each = clients.each_mut().map(|client| {
            scope.spawn(move || client.train(Direction::Down, train, None).unwrap().0)
        });
        each.map(|thread| thread.join().unwrap().len())
    });
    assert!(counts.iter().all(|n| (20..=30).contains(n)), "{counts:?}");
    drop(clients);
    let counters = server.end();
    assert_eq!(counters.sessions, 2);
    let trains = counts.iter().sum::<usize>() as u64 * 1000;
    // And it answers.
    let sent = counters.sent_bytes;
    assert!(sent > trains && sent < trains + 2000, "{sent}, {trains}");
}

#[test]
fn without_the_key_there_is_no_answer() {
    let server = Running::new(Key::random(), Limits::default());
    let failure = client(server.address, &Key::random()).unwrap_err();
    assert!(matches!(failure, Failure::NoAnswer(_)), "{failure}");
    let counters = server.end();
    assert_eq!((counters.sessions, counters.sent_bytes), (0, 0));
    assert!(counters.refused > 0);
}

#[test]
fn no_answer_is_longer_than_its_question_and_a_cookie_is_of_one_address() {
    let key = Key::random();
    let server = Running::new(key, Limits::default());
    let [here, elsewhere] = [0; 2].map(|_| UdpSocket::bind("127.0.0.1:0").unwrap());
    for socket in [&here, &elsewhere] {
        socket
            .set_read_timeout(Some(Duration::from_millis(300)))
            .unwrap();
    }
    let ask = |socket: &UdpSocket, kind, with: &[u8]| {
        let question = client::question(&key, kind, &[7; 16], with);
        socket.send_to(&question, server.address).unwrap();
        let mut answer = [0; 500];
        let length = socket.recv(&mut answer).ok()?;
        assert!(length <= question.len());
        Some(answer[18..length].to_vec())
    };
    let cookie = ask(&here, control::HELLO, &[]).unwrap();
    assert_eq!(ask(&elsewhere, control::OPEN, &cookie[..16]), None);
    let opened = ask(&here, control::OPEN, &cookie[..16]).unwrap();
    // Replayed, it opens the same session.
    let again = ask(&here, control::OPEN, &cookie[..16]).unwrap();
    assert_eq!(opened[..8], again[..8]);
    assert_eq!(server.end().sessions, 1);
}

#[test]
fn a_server_that_is_full_says_so_and_has_room_again_once_one_has_gone() {
    let key = Key::random();
    let limits = Limits {
        sessions: 1,
        ..Limits::default()
    };
    let server = Running::new(key, limits);
    let first = client(server.address, &key).unwrap();
    let since = Wall::now();
    let failure = client(server.address, &key).unwrap_err();
    assert!(matches!(failure, Failure::Full(_)), "{failure}");
    assert!(since.elapsed() < Duration::from_secs(1));
    drop(first);
    client(server.address, &key).unwrap();
    server.end();
}

#[test]
fn load_by_tcp_keeps_to_what_was_allowed_and_its_probes_are_answered() {
    let key = Key::random();
    let limits = Limits {
        max_bps: 40e6,
        ..Limits::default()
    };
    let server = Running::new(key, limits);
    let mut client = client(server.address, &key).unwrap();
    const BYTES: u64 = 6_000_000;
    for direction in [Direction::Down, Direction::Up] {
        let UnderLoad {
            found,
            bytes,
            failure,
        } = client.responsiveness(direction, BYTES);
        assert!(failure.is_none(), "{failure:?}");
        assert!(bytes > BYTES / 10 * 9 && bytes <= BYTES, "{bytes}");
        let score = found.score.expect("probes of all three kinds");
        assert!(score.rpm > 100.0, "{score:?}");
    }
    drop(client);
    // Retransmitted payload is not counted.
    assert!(server.end().sent_bytes <= BYTES);
}

#[test]
fn tcp_without_a_good_and_new_pass_gets_nothing() {
    use std::io::{Read, Write};
    let key = Key::random();
    let server = Running::new(key, Limits::default());
    let client = client(server.address, &key).unwrap();
    let good = client.pass_for_a_probe();
    let mut forged = good.clone();
    forged[18] ^= 1;
    let answer = |pass: &[u8]| {
        let mut stream = std::net::TcpStream::connect(server.address).unwrap();
        stream.write_all(pass).unwrap();
        let mut answer = Vec::new();
        // Reset rather than closed where data were left unread.
        let _ = stream.read_to_end(&mut answer);
        answer.len()
    };
    assert_eq!(answer(&forged), 0, "forged");
    assert_eq!(answer(&good), 1);
    assert_eq!(answer(&good), 0, "replayed");
    drop(client);
    assert_eq!(server.end().refused, 2);
}

#[test]
fn budgets_are_kept_whatever_a_client_asks_for() {
    let key = Key::random();
    let limits = Limits {
        session_bytes: 20_000,
        ..Limits::default()
    };
    let server = Running::new(key, limits);
    let mut client = client(server.address, &key).unwrap();
    // An eighth is reserved for answers.
    assert_eq!(client.budget(), 17_500);
    let greedy = client.train(Direction::Down, few(0), None).unwrap_err();
    assert!(
        matches!(
            greedy,
            Failure::Budget {
                left: ..=17_500,
                ..
            }
        ),
        "{greedy}"
    );
    let modest = TrainConfig {
        max_bytes: 15_000,
        ..few(1)
    };
    let (arrivals, _) = client.train(Direction::Down, modest, None).unwrap();
    assert_eq!(arrivals.len(), 15);
    assert!(client.train(Direction::Down, modest, None).is_err());
    assert!(server.end().sent_bytes <= 20_000);
}

#[test]
fn a_server_that_vanishes_is_told_of_within_seconds() {
    let key = Key::random();
    let server = Running::new(key, Limits::default());
    let mut client = client(server.address, &key).unwrap();
    server.end();
    let since = Wall::now();
    let failure = client.train(Direction::Down, few(0), None).unwrap_err();
    assert!(matches!(failure, Failure::Vanished(_)), "{failure}");
    assert!(since.elapsed() < Duration::from_secs(8));
}

#[test]
fn a_client_that_vanishes_is_sent_no_more() {
    let key = Key::random();
    let server = Running::new(key, Limits::default());
    let mut client = client(server.address, &key).unwrap();
    let long = TrainConfig {
        pace: Pace::Constant(800e3),
        max_time: Duration::from_secs(60),
        max_bytes: 10_000_000,
        ..overflow_train(0, 1000)
    };
    client.send_start(long);
    std::mem::forget(client);
    std::thread::sleep(SILENCE + Duration::from_millis(1500));
    // 100 packets a second, for no longer than silence is tolerated.
    let sent = server.end().sent_bytes;
    assert!(sent > 50_000 && sent < 400_000, "{sent}");
}

#[test]
fn forged_and_replayed_packets_say_nothing() {
    let key = Key::random();
    let mut here = Session::new([1; 8], key, false);
    let mut there = Session::new([1; 8], key, true);
    let packet = here.seal(&write(&Control::Alive));
    assert_eq!(there.open(&packet).map(read), Some(Ok(Control::Alive)));
    assert_eq!(there.open(&packet), None, "replayed");
    for byte in 0..packet.len() {
        let mut forged = here.seal(&write(&Control::Stop { flow: 3 }));
        forged[byte] ^= 1;
        assert_eq!(there.open(&forged), None, "byte {byte}");
    }
    // The server's own packet is not an answer.
    let own = there.seal(&write(&Control::Alive));
    assert_eq!(there.open(&own), None);
}
