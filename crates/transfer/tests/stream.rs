//! A stream between two endpoints over loopback.

use std::net::{Ipv4Addr, SocketAddr};
use tidegate_transfer::{Config, Connection, Endpoint, Identity, Token};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn loopback() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

async fn pair() -> (Endpoint, Endpoint, Connection, Connection) {
    let identity = Identity::generate();
    let server = Endpoint::bind(loopback(), Some(identity.clone()), Config::default()).unwrap();
    let token = Token::new(&identity, vec![server.local_address()], None);
    let client = Endpoint::bind(loopback(), None, Config::default()).unwrap();
    let near = client
        .connect(&token, server.local_address(), None)
        .await
        .unwrap();
    let far = server.accept().await.unwrap();
    (client, server, near, far)
}

#[tokio::test]
async fn what_is_written_is_read_both_ways() {
    let (client, server, mut near, mut far) = pair().await;
    let sent: Vec<u8> = (0..5_000_000u32).map(|n| (n * 7 >> 3) as u8).collect();
    let expected = sent.clone();
    let reader = tokio::spawn(async move {
        let mut read = Vec::new();
        far.read_to_end(&mut read).await.unwrap();
        assert!(read == expected);
        far.write_all(b"thanks").await.unwrap();
        far.shutdown().await.unwrap();
    });
    near.write_all(&sent).await.unwrap();
    near.shutdown().await.unwrap();
    let mut answer = Vec::new();
    near.read_to_end(&mut answer).await.unwrap();
    assert_eq!(answer, b"thanks");
    drop(near);
    reader.await.unwrap();
    client.wait_idle().await;
    server.wait_idle().await;
}
