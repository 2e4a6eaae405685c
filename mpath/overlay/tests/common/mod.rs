//! Registries and receivers on this machine.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tidegate_overlay::registry::{
    Config, Put, RECEIVERS_EACH, RECEIVERS_OF_NETWORK, Receiver, Server, Service, Store,
};
use tidegate_overlay::{Listing, ReceiverId, Registry, Secret};

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

/// The registry as its clients see it.
pub fn registry(server: &Server) -> Registry {
    Registry::new([format!("http://{}", server.address())]).unwrap()
}

/// The secret of the tests' receivers.
pub const KEY: [u8; 16] = [3; 16];

/// A receiver that is announced.
pub fn announced(registry: &Registry, name: ReceiverId, listening: SocketAddr) -> Listing {
    let announcement = registry.announce(name, KEY, listening);
    let addresses = announcement.wait(Duration::from_secs(10));
    assert_eq!(addresses, Ok(vec![listening]));
    announcement
}

/// Waits for something that happens soon.
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

/// The request of a proxy at this time.
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

/// The answer to these bytes.
pub fn ask(registry: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(registry).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    said
}

/// Checks that every store limits the entries of one address.
pub fn one_address_cannot_fill(store: &dyn Store) {
    let put = |last: u8, name: u8, end: &str| {
        let receiver = Receiver {
            address: end.parse().unwrap(),
            key: KEY,
        };
        let name = ReceiverId([name; 16]);
        store
            .put_receiver(name, receiver, 60, 1000 + u64::from(last))
            .unwrap()
    };
    let most = u8::try_from(RECEIVERS_EACH).unwrap();
    for (one, same, other) in [
        ("192.0.2.1:9447", "192.0.2.1:1", "192.0.2.2:9447"),
        (
            "[2001:db8::1]:9447",
            "[2001:db8::2]:9447",
            "[2001:db8:0:1::1]:9447",
        ),
    ] {
        for name in 0..most {
            assert_eq!(put(0, name, one), Put::Done);
        }
        assert_eq!(put(1, most, one), Put::OverQuota);
        assert_eq!(put(1, most, same), Put::OverQuota);
        // Existing receivers may stay, and others have other addresses.
        assert_eq!(put(1, 0, one), Put::Done);
        assert_eq!(put(1, most, other), Put::Done);
        let leaving = Receiver {
            address: one.parse().unwrap(),
            key: KEY,
        };
        store.remove_receiver(ReceiverId([1; 16]), leaving).unwrap();
        assert_eq!(put(2, most + 1, one), Put::Done);
        assert_eq!(put(2, most + 2, one), Put::OverQuota);
        // The minute of most of them is over.
        assert_eq!(put(60, most + 2, one), Put::Done);
    }
}

/// The same for a user who has a /48 of IPv6, or 16 addresses of a /24.
pub fn one_network_cannot_fill(store: &dyn Store) {
    let put = |name: u16, address: IpAddr| {
        let receiver = Receiver {
            address: SocketAddr::new(address, 9447),
            key: KEY,
        };
        let mut id = [9; 16];
        id[..2].copy_from_slice(&name.to_be_bytes());
        store
            .put_receiver(ReceiverId(id), receiver, 60, 1000)
            .unwrap()
    };
    let most = u16::try_from(RECEIVERS_OF_NETWORK).unwrap();
    let v6 = |name: u16| Ipv6Addr::new(0x2001, 0xdb8, 0, name, 0, 0, 0, 1).into();
    let v4 = |name: u16| Ipv4Addr::new(192, 0, 2, name.to_be_bytes()[1]).into();
    let elsewhere = ["2001:db8:1::1", "192.0.3.1"].map(|text| text.parse().unwrap());
    for name in 0..most {
        assert_eq!(put(name, v6(name)), Put::Done);
        assert_eq!(put(name, v4(name)), Put::Done);
    }
    assert_eq!(put(most, v6(most)), Put::OverQuota);
    assert_eq!(put(most, v4(255)), Put::OverQuota);
    assert_eq!(put(0, v6(0)), Put::Done, "who is there may stay");
    assert!(
        elsewhere
            .into_iter()
            .all(|address| put(most, address) == Put::Done)
    );
}

/// Seconds since 1970.
pub fn unix_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}
