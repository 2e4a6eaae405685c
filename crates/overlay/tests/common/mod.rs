//! Registries and receivers on this machine.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::net::{Ipv4Addr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};
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

/// A receiver that is announced.
pub fn announced(registry: &Registry, name: ReceiverId, listening: SocketAddr) -> Announcement {
    let announcement = Announcement::start(registry, name, listening);
    let addresses = announcement.wait(Duration::from_secs(10));
    assert_eq!(addresses, Ok(vec![listening]));
    announcement
}

/// Waits for something that comes soon.
pub fn until(what: &str, mut come: impl FnMut() -> bool) {
    let began = Instant::now();
    while !come() {
        assert!(began.elapsed() < Duration::from_secs(20), "not yet: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
