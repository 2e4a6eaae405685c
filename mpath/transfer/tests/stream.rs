//! A stream between two endpoints over loopback.

mod common;

use common::{Faults, Middle, client, connect, server, until, within};
use std::time::Duration;
use tidegate_transfer::Config;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[tokio::test]
async fn what_is_written_is_read_both_ways() {
    let (server, client) = (server(Config::default()), client(Config::default()));
    let (mut near, mut far) =
        connect(&client, &server, server.endpoint.local_address(), None).await;
    let sent: Vec<u8> = (0..5_000_000u32).map(|n| ((n * 7) >> 3) as u8).collect();
    let expected = sent.clone();
    let reader = tokio::spawn(async move {
        let mut read = Vec::new();
        far.read_to_end(&mut read).await.unwrap();
        assert!(read == expected);
        far.write_all(b"thanks").await.unwrap();
        far.shutdown().await.unwrap();
    });
    within(20, async {
        near.write_all(&sent).await.unwrap();
        near.shutdown().await.unwrap();
        let mut answer = Vec::new();
        near.read_to_end(&mut answer).await.unwrap();
        assert_eq!(answer, b"thanks");
        drop(near);
        reader.await.unwrap();
        client.wait_idle().await;
        server.endpoint.wait_idle().await;
    })
    .await;
}

/// A few bytes that are written without `flush` are sent all the same, as over TCP.
#[tokio::test]
async fn nothing_waits_for_a_flush() {
    let (server, client) = (server(Config::default()), client(Config::default()));
    let (mut near, mut far) =
        connect(&client, &server, server.endpoint.local_address(), None).await;
    let mut byte = [0];
    for n in 0..20 {
        near.write_all(&[n]).await.unwrap();
        within(5, far.read_exact(&mut byte)).await.unwrap();
        assert_eq!(byte, [n]);
    }
}

/// A reader that does not read holds the writer back: at either end no more bytes wait than configured.
#[tokio::test]
async fn memory_is_bounded_when_nobody_reads() {
    const BUFFER: usize = 1_000_000;
    let config = Config {
        buffer_bytes: BUFFER,
        ..Config::default()
    };
    let (server, client) = (server(config), client(config));
    let (mut near, mut far) =
        connect(&client, &server, server.endpoint.local_address(), None).await;
    let chunk = vec![1; 10_000];
    let mut written = 0;
    let quiet = Duration::from_secs(1);
    while let Ok(result) = tokio::time::timeout(quiet, near.write_all(&chunk)).await {
        result.unwrap();
        written += chunk.len();
        assert!(written < 10 * BUFFER, "the writer is not held back");
    }
    let waiting = far.monitor().status().waiting_bytes;
    assert!(
        waiting <= BUFFER && waiting > BUFFER / 2,
        "{waiting} bytes wait"
    );
    assert!(
        written <= 2 * BUFFER + chunk.len(),
        "{written} bytes were taken"
    );
    // And the transfer goes on as soon as the reader reads.
    let reader = tokio::spawn(async move {
        let mut all = Vec::new();
        far.read_to_end(&mut all).await.unwrap();
        all.len()
    });
    within(20, near.shutdown()).await.unwrap();
    assert!(within(20, reader).await.unwrap() >= written);
}

#[tokio::test]
async fn a_peer_that_vanishes_is_noticed() {
    let config = Config {
        idle_timeout: Duration::from_millis(1500),
        ..Config::default()
    };
    let (server, client) = (server(config), client(config));
    let middle = Middle::start(1, server.endpoint.local_address(), Faults::default()).await;
    let (mut near, mut far) = connect(&client, &server, middle.address, None).await;
    near.write_all(b"hello").await.unwrap();
    let mut hello = [0; 5];
    far.read_exact(&mut hello).await.unwrap();
    // Silence alone is no reason: twice the timeout passes with questions and answers.
    tokio::time::sleep(config.idle_timeout * 2).await;
    near.write_all(b"hello").await.unwrap();
    within(5, far.read_exact(&mut hello)).await.unwrap();
    drop(middle);
    let error = within(10, far.read(&mut hello)).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut, "{error}");
    let error = within(10, near.read(&mut hello)).await.unwrap_err();
    assert!(
        error.to_string().contains("nothing has been heard"),
        "{error}"
    );
}

/// If a connection is dropped without `shutdown`, bytes that have not arrived are given up; the peer gets an error.
#[tokio::test]
async fn a_dropped_connection_is_an_error_at_the_other_end() {
    let (server, client) = (server(Config::default()), client(Config::default()));
    let (near, mut far) = connect(&client, &server, server.endpoint.local_address(), None).await;
    drop(near);
    let error = within(5, far.read(&mut [0; 5])).await.unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}");
}

#[tokio::test]
async fn packets_grow_to_what_the_path_carries() {
    let (server, client) = (server(Config::default()), client(Config::default()));
    let narrow = Faults {
        mtu: Some(1400),
        ..Faults::default()
    };
    let middle = Middle::start(1, server.endpoint.local_address(), narrow).await;
    let (near, _far) = connect(&client, &server, middle.address, None).await;
    let monitor = near.monitor();
    until(5, || monitor.status().packet_bytes == 1372).await;
    let (near, _far) = connect(&client, &server, server.endpoint.local_address(), None).await;
    let monitor = near.monitor();
    until(5, || monitor.status().packet_bytes == 1452).await;
}

/// A path that stops carrying large packets ends the connection instead of blocking it; a new connection may use small
/// packets.
#[tokio::test]
async fn a_black_hole_for_large_packets_is_noticed() {
    let (server, client) = (server(Config::default()), client(Config::default()));
    let middle = Middle::start(1, server.endpoint.local_address(), Faults::default()).await;
    let (mut near, mut far) = connect(&client, &server, middle.address, None).await;
    let monitor = near.monitor();
    until(5, || monitor.status().packet_bytes == 1452).await;
    near.write_all(&[1; 10_000]).await.unwrap();
    within(5, far.read_exact(&mut [0; 10_000])).await.unwrap();
    until(5, || monitor.status().round_trip.is_some()).await;
    middle.faults.lock().unwrap().mtu = Some(1300);
    near.write_all(&[1; 100_000]).await.unwrap();
    let error = within(20, near.shutdown()).await.unwrap_err();
    assert!(error.to_string().contains("packets as large"), "{error}");
}

/// Both ends may close at the same time; neither waits for an answer that does not come.
#[tokio::test]
async fn both_may_go_at_once() {
    let (server, client) = (server(Config::default()), client(Config::default()));
    let to = server.endpoint.local_address();
    for _ in 0..20 {
        let (near, far) = connect(&client, &server, to, None).await;
        drop((near, far));
        // Well before all close messages have been sent.
        within(1, client.wait_idle()).await;
        within(1, server.endpoint.wait_idle()).await;
    }
}
