//! How much of a server a stranger can use up: places, time, memory.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use tidegate_admission::Bounds;
use tidegate_admission::http::{Received, Refusal, Reply, Server, Service};

/// Answers with the request.
struct Echo;

impl Service for Echo {
    fn answer(&self, request: &Received, _peer: IpAddr) -> Reply {
        reply(200, &request.path)
    }

    fn refuse(&self, refusal: &Refusal) -> Reply {
        reply(refusal.status, &refusal.why)
    }
}

fn reply(status: u16, body: &str) -> Reply {
    Reply {
        status,
        content_type: "text/plain",
        headers: &[("x-content-type-options", "nosniff")],
        body: body.into(),
    }
}

const BOUNDS: Bounds = Bounds {
    all: 16,
    network: 8,
};

fn server() -> Server {
    Server::start(([127, 0, 0, 1], 0).into(), BOUNDS, Echo).unwrap()
}

fn connect(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).unwrap();
    let patience = Some(Duration::from_secs(20));
    stream.set_read_timeout(patience).unwrap();
    stream.set_write_timeout(patience).unwrap();
    stream
}

/// The answer to these bytes.
fn ask(to: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = connect(to);
    stream.write_all(bytes).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn idle_connections_keep_nobody_out() {
    let server = server();
    let mut idle: Vec<_> = (0..400).map(|_| connect(server.address())).collect();
    let began = Instant::now();
    let answer = ask(server.address(), b"GET /metrics HTTP/1.1\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.ends_with("/metrics"), "{answer}");
    assert!(
        answer.contains("\r\nx-content-type-options: nosniff\r\n"),
        "{answer}"
    );
    // At once, and not only after the idle ones have timed out.
    assert!(began.elapsed() < Duration::from_secs(3));
    // The oldest gave way: they are closed.
    for stream in &mut idle[..400 - BOUNDS.all] {
        let ended = matches!(stream.read(&mut [0]), Ok(0))
            || stream.take_error().is_ok_and(|error| error.is_some());
        assert!(ended, "{stream:?}");
    }
}

#[test]
fn a_header_without_end_is_refused_before_it_takes_memory() {
    const MANY: usize = 60_000_000;
    let server = server();
    let mut stream = connect(server.address());
    stream.write_all(b"GET / HTTP/1.1\r\nx: ").unwrap();
    let mut reader = stream.try_clone().unwrap();
    let piece = vec![b'x'; 64 << 10];
    let mut taken = 0;
    let error = loop {
        match stream.write(&piece) {
            Ok(count) => taken += count,
            Err(error) => break error,
        }
        assert!(taken < MANY, "the server takes all of it");
    };
    assert!(
        matches!(
            error.kind(),
            io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset
        ),
        "{error}"
    );
    let _ = reader.read(&mut [0; 64]);

    // A client that stops at the bound is told why.
    let answer = ask(
        server.address(),
        &[b"GET / HTTP/1.1\r\nx: ".as_slice(), &[b'x'; 9000]].concat(),
    );
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
}
