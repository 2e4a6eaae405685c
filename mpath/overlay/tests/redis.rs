//! Registries over a real Redis server, which the tests start themselves; where it is not installed they say so and are
//! skipped.

mod common;

use common::{announced, ask, enrol, registry, serve, serve_at, unix_s, until};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tidegate_overlay::registry::{Config, Redis, StoreError};
use tidegate_overlay::{Error, ReceiverId, Registry, Secret};
use tidegate_testing::skipped;

const SOON: Duration = Duration::from_secs(10);
const RECEIVER: ReceiverId = ReceiverId([7; 16]);

fn secret() -> Secret {
    Secret::new([1; 32])
}

fn local(port: u16) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, port).into()
}

/// A server of our own, on a Unix socket in a folder that goes with it.
struct Server {
    folder: TempDir,
    process: Child,
}

impl Server {
    /// None if the program is not installed.
    fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        match run(&folder) {
            Ok(process) => Some(Self { folder, process }),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                skipped("neither redis-server nor redis-tools is installed");
                None
            }
            Err(error) => panic!("redis-server: {error}"),
        }
    }

    fn url(&self) -> String {
        format!("redis+unix://{}/socket", self.folder.path().display())
    }

    fn open(&self) -> Redis {
        let mut store = None;
        until("the server answers", || {
            store = Redis::open(&self.url()).ok();
            store.is_some()
        });
        store.unwrap()
    }

    fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    fn restart(&mut self) {
        self.kill();
        self.process = run(&self.folder).unwrap();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Debian's package redis-tools also has the server's program, under another name and without a service that starts on
/// installation: the name by which it is called decides which of the two it is.
fn run(folder: &TempDir) -> std::io::Result<Child> {
    match run_as("redis-server", folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => run_as("redis-check-rdb", folder),
        started => started,
    }
}

fn run_as(program: &str, folder: &TempDir) -> std::io::Result<Child> {
    Command::new(program)
        .arg0("redis-server")
        .args([
            "--port",
            "0",
            "--save",
            "",
            "--unixsocket",
            "socket",
            "--dir",
        ])
        .arg(folder.path())
        .stdout(Stdio::null())
        .spawn()
}

#[test]
fn registries_share_what_they_know_and_a_restart_does_not_forget_it() {
    let Some(server) = Server::start() else {
        return;
    };
    let [one, other] = [(); 2].map(|()| serve(secret(), server.open(), Config::default()));
    let _receiver = announced(&registry(&one), RECEIVER, local(4000));
    let proxy = registry(&other).enrol(secret(), local(5000), Vec::new());
    assert_eq!(proxy.wait(SOON), Ok(vec![local(5000)]));
    let ways = |registry: &Registry| {
        let grant = registry.relays(RECEIVER, &[]).unwrap();
        let relays = grant.relays.iter().map(|relay| relay.address);
        (grant.destination, relays.collect::<Vec<_>>())
    };
    let known = (local(4000), vec![local(5000)]);
    assert_eq!(ways(&registry(&one)), known);
    assert_eq!(ways(&registry(&other)), known);
    let address = one.address();
    drop(one);
    // Clients that know both do not notice.
    let both = ["127.0.0.1:9".parse().unwrap(), other.address()];
    let both = Registry::new(both.map(|at: SocketAddr| format!("http://{at}"))).unwrap();
    assert_eq!(ways(&both), known);
    let one = serve_at(address, secret(), server.open(), Config::default());
    assert_eq!(ways(&registry(&one)), known);
    drop(proxy);
    assert_eq!(ways(&registry(&one)).1, []);
}

#[test]
fn neither_names_nor_words_can_be_used_twice_at_two_registries() {
    let Some(server) = Server::start() else {
        return;
    };
    let [one, other] = [(); 2].map(|()| serve(secret(), server.open(), Config::default()));
    let _receiver = announced(&registry(&one), RECEIVER, local(4000));
    let second = registry(&other).announce(RECEIVER, [4; 16], local(4001));
    let refused = second.wait(SOON);
    assert!(
        matches!(refused, Err(Error::Refused { status: 409, .. })),
        "{refused:?}"
    );
    let request = enrol(&secret(), unix_s(), "aa", 5000);
    assert!(ask(one.address(), &request).starts_with("HTTP/1.1 200"));
    assert!(ask(other.address(), &request).contains("said before"));
}

#[test]
fn everything_that_is_written_has_our_name_and_an_end() {
    let Some(server) = Server::start() else {
        return;
    };
    let config = Config {
        listed_s: 3,
        ..Config::default()
    };
    let registry_server = serve(secret(), server.open(), config);
    let said = ask(
        registry_server.address(),
        &enrol(&secret(), unix_s(), "aa", 5000),
    );
    assert!(said.starts_with("HTTP/1.1 200"), "{said}");
    let receiver = announced(&registry(&registry_server), RECEIVER, local(4000));
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_connection().unwrap();
    let mut keys: Vec<String> = redis::cmd("KEYS").arg("*").query(&mut connection).unwrap();
    keys.sort();
    let name = format!("tidegate:mpath:receiver:{RECEIVER}:4");
    let expected = [
        "tidegate:mpath:nonce:aa",
        "tidegate:mpath:proxies",
        &name,
        "tidegate:mpath:receivers:127.0.0.1",
        "tidegate:mpath:receivers:all",
        "tidegate:mpath:receivers:network:127.0.0.0",
    ];
    assert_eq!(keys, expected);
    for key in keys {
        let ends_s: i64 = redis::cmd("TTL").arg(&key).query(&mut connection).unwrap();
        assert!((0..=121).contains(&ends_s), "{key}: {ends_s}");
    }
    // The proxy is silent, and disappears by itself, also from a list that others keep alive.
    until("the proxy is forgotten", || {
        let grant = registry(&registry_server).relays(RECEIVER, &[]);
        grant.unwrap().relays.is_empty()
    });
    assert_eq!(receiver.error(), None);
}

#[test]
fn a_store_that_restarts_is_found_again() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let config = Config {
        listed_s: 3,
        ..Config::default()
    };
    let registry_server = serve(secret(), server.open(), config);
    let client = registry(&registry_server);
    let receiver = announced(&client, RECEIVER, local(4000));
    server.kill();
    until("the receiver notices", || receiver.error().is_some());
    let refused = receiver.error().unwrap();
    assert!(
        matches!(&refused, Error::Refused { status: 503, reason, .. } if reason.contains("store")),
        "{refused}"
    );
    server.process = run(&server.folder).unwrap();
    until("it is back", || client.relays(RECEIVER, &[]).is_ok());
    // A connection that ended between two questions is not noticed at all.
    server.restart();
    server.open();
    until("it is back again", || client.relays(RECEIVER, &[]).is_ok());
}

#[test]
fn one_address_cannot_fill_it() {
    if let Some(server) = Server::start() {
        common::one_address_cannot_fill(&server.open());
    }
}

#[test]
fn one_network_cannot_fill_it() {
    if let Some(server) = Server::start() {
        common::one_network_cannot_fill(&server.open());
    }
}

#[test]
fn no_server_is_said_at_once() {
    for url in [
        "redis+unix:///nowhere/socket",
        "redis://127.0.0.1:1",
        "nonsense",
    ] {
        let refused = Redis::open(url).err().unwrap();
        assert!(matches!(refused, StoreError::Server(_)), "{refused}");
    }
}
