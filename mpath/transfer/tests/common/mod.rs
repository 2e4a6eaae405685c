//! Two endpoints, and hops between them.
#![allow(dead_code, unused_imports, reason = "each test takes what it needs")]

mod network;

pub use network::{Faults, Middle, Proxy};

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;
use tidegate_transfer::{Config, Connection, Endpoint, Identity, Relay, Token};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::watch;

/// Any port of this machine.
pub fn loopback() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

/// An end that accepts connections, and its token.
pub struct Server {
    pub endpoint: Endpoint,
    pub token: Token,
    pub identity: Identity,
}

pub fn server(config: Config) -> Server {
    let identity = Identity::generate();
    let endpoint = Endpoint::bind(loopback(), Some(identity.clone()), config).unwrap();
    let token = Token::new(&identity, vec![endpoint.local_address()], None);
    Server {
        endpoint,
        token,
        identity,
    }
}

pub fn client(config: Config) -> Endpoint {
    Endpoint::bind(loopback(), None, config).unwrap()
}

/// Connects; returns both ends.
pub async fn connect(
    client: &Endpoint,
    server: &Server,
    to: SocketAddr,
    relays: Option<watch::Receiver<Vec<Relay>>>,
) -> (Connection, Connection) {
    let near = client.connect(&server.token, to, relays).await.unwrap();
    let far = server.endpoint.accept().await.unwrap();
    (near, far)
}

/// Fails rather than wait for ever.
pub async fn within<T>(seconds: u64, what: impl Future<Output = T>) -> T {
    let limit = Duration::from_secs(seconds);
    let result = tokio::time::timeout(limit, what).await;
    result.unwrap_or_else(|_| panic!("not done within {seconds} s"))
}

/// Waits until `condition` holds.
pub async fn until(seconds: u64, mut condition: impl FnMut() -> bool) {
    within(seconds, async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

/// Bytes that differ from one position to the next.
fn block(number: u64) -> Vec<u8> {
    let mut hash = blake3::Hasher::new();
    hash.update(&number.to_be_bytes());
    let mut bytes = vec![0; BLOCK];
    hash.finalize_xof().fill(&mut bytes);
    bytes
}

const BLOCK: usize = 64 << 10;

/// Sends `blocks` blocks of 64 KiB and compares them at the other end, and the end of the stream.
pub async fn transfer_blocks(mut near: Connection, mut far: Connection, blocks: u64) {
    let reader = tokio::spawn(async move {
        let mut bytes = vec![0; BLOCK];
        for number in 0..blocks {
            far.read_exact(&mut bytes).await.unwrap();
            assert!(
                bytes == block(number),
                "block {number} is not what was sent"
            );
        }
        assert_eq!(far.read(&mut bytes).await.unwrap(), 0);
    });
    for number in 0..blocks {
        near.write_all(&block(number)).await.unwrap();
    }
    near.shutdown().await.unwrap();
    reader.await.unwrap();
}
