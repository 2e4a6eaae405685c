//! Registries and receivers on this machine.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tidegate_overlay::registry::{Config, Server, Service, Store};
use tidegate_overlay::{Announcement, ReceiverId, Registry, Secret};

/// A registry at some port.
pub fn serve(secret: Secret, store: impl Store + 'static, config: Config) -> Server {
    serve_at((Ipv4Addr::LOCALHOST, 0).into(), secret, store, config)
}

/// A registry at this address.
pub fn serve_at(
    address: SocketAddr,
    secret: Secret,
    store: impl Store + 'static,
    config: Config,
) -> Server {
    let service = Service::new(secret, Box::new(store), config);
    Server::start(address, service).unwrap()
}

/// As its clients see it.
pub fn registry(server: &Server) -> Registry {
    Registry::new([format!("http://{}", server.address())]).unwrap()
}

/// What receivers have that nobody else knows.
pub const KEY: [u8; 16] = [3; 16];

/// A receiver that is announced.
pub fn announced(registry: &Registry, name: ReceiverId, listening: SocketAddr) -> Announcement {
    let announcement = Announcement::start(registry, name, KEY, listening);
    let addresses = announcement.wait(Duration::from_secs(10));
    assert_eq!(addresses, Ok(vec![listening]));
    announcement
}

/// Waits for something that comes soon.
pub fn until(what: &str, mut come: impl FnMut() -> bool) {
    let began = Instant::now();
    while !come() {
        assert!(began.elapsed() < Duration::from_secs(20), "not yet: {what}");
        // Less often than one address may ask a registry.
        thread::sleep(Duration::from_millis(80));
    }
}

/// A request.
pub fn post(path: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// A proxy's, which it says at this time.
pub fn enrol(secret: &Secret, unix_s: u64, nonce: &str, port: u16) -> String {
    let body = format!("{{\"port\":{port}}}");
    let mac = secret.enrolment_mac(unix_s, nonce, body.as_bytes());
    let mac = mac.to_hex();
    let length = body.len();
    format!(
        "POST /v1/proxies HTTP/1.1\r\nauthorization: tidegate1 {unix_s} {nonce} {mac}\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// What comes back for these bytes.
pub fn ask(registry: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(registry).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    said
}

/// Seconds since 1970.
pub fn unix_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}
