//! Packets that get no answer, and packets that are refused, with the names under which they are counted.

mod common;

use common::{Faults, Middle, client, connect, loopback, server, until, within};
use std::time::Duration;
use tidegate_mpath::wire::{Hello, SEALED_HEADER, write_hello};
use tidegate_transfer::{Config, ConnectionError, Rejected, Token};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UdpSocket;

#[tokio::test]
async fn a_wrong_token_is_not_answered() {
    let impatient = Config {
        handshake_timeout: Duration::from_millis(600),
        ..Config::default()
    };
    let (server, client) = (server(Config::default()), client(impatient));
    let wrong = Token {
        secret: [0; 32],
        ..server.token.clone()
    };
    let to = server.endpoint.local_address();
    let result = within(5, client.connect(&wrong, to, None)).await;
    let Err(error @ ConnectionError::NoAnswer { .. }) = result else {
        panic!("connected, or failed otherwise");
    };
    assert!(error.to_string().contains("token"), "{error}");
    // The hello and its repetition at 250 ms.
    assert_eq!(server.endpoint.rejected().strangers, 2);
    within(5, client.connect(&server.token, to, None))
        .await
        .map(drop)
        .unwrap();
}

/// A peer that does not hold the token gets no answer, whatever it sends.
#[tokio::test]
async fn a_stranger_hears_nothing() {
    let server = server(Config::default());
    let stranger = UdpSocket::bind(loopback()).await.unwrap();
    stranger
        .connect(server.endpoint.local_address())
        .await
        .unwrap();
    let mut hello = Vec::new();
    let guess = Hello {
        connection: 1,
        proof: [0; 32],
        message: &[0; 96],
    };
    write_hello(&mut hello, &guess);
    let short = hello.clone();
    hello.resize(1200, 0);
    let bad = [
        &hello[..],
        &short,
        &hello[..40],
        b"",
        b"GET / HTTP/1.0",
        &[0x14; 100],
    ];
    for packet in bad {
        stranger.send(packet).await.unwrap();
    }
    let seen = |r: Rejected| r.strangers + r.truncated + r.malformed + r.oversized;
    until(5, || seen(server.endpoint.rejected()) >= 5).await;
    let rejected = server.endpoint.rejected();
    assert_eq!(
        (rejected.strangers, rejected.malformed),
        (1, 1),
        "{rejected:?}"
    );
    let silence = Duration::from_millis(200);
    let heard = tokio::time::timeout(silence, stranger.recv(&mut [0; 100])).await;
    assert!(heard.is_err(), "a stranger was answered");
}

/// A connection goes on unharmed while its own packets come back in every wrong way.
#[tokio::test]
async fn each_bad_packet_is_counted_under_its_name() {
    let (server, client) = (server(Config::default()), client(Config::default()));
    let to = server.endpoint.local_address();
    let middle = Middle::start(1, to, Faults::default()).await;
    *middle.recorded.lock().unwrap() = Some(Vec::new());
    let (mut near, mut far) = connect(&client, &server, middle.address, None).await;
    let mut buffer = [0; 1000];
    near.write_all(&buffer).await.unwrap();
    far.read_exact(&mut buffer).await.unwrap();
    let sealed = {
        let recorded = middle.recorded.lock().unwrap();
        let mut all = recorded.as_ref().unwrap().iter();
        all.rfind(|p| p[0] == 0x14 && p.len() > 1000)
            .unwrap()
            .clone()
    };
    assert_eq!(server.endpoint.rejected(), Rejected::default());
    let attacker = UdpSocket::bind(loopback()).await.unwrap();
    let changed = |place: usize| {
        let mut packet = sealed.clone();
        packet[place] ^= 0x80;
        packet
    };
    let longer = [&sealed[..], b"x"].concat();
    let cases: [(Vec<u8>, Counter); 9] = [
        (sealed.clone(), |r| r.replayed),
        // A number that has not arrived, so that only the tag can tell.
        (changed(12), |r| r.forged),
        (changed(0), |r| r.malformed),
        (changed(4), |r| r.unknown),
        (sealed[..sealed.len() - 1].to_vec(), |r| r.truncated),
        (sealed[..SEALED_HEADER].to_vec(), |r| r.truncated),
        (sealed[..1].to_vec(), |r| r.truncated),
        (longer, |r| r.oversized),
        (vec![0x14; 9000], |r| r.oversized),
    ];
    for (n, (packet, count)) in cases.iter().enumerate() {
        let before = count(&server.endpoint.rejected());
        attacker.send_to(packet, to).await.unwrap();
        until(5, || count(&server.endpoint.rejected()) == before + 1).await;
        let total = sum(&server.endpoint.rejected());
        assert_eq!(total, n as u64 + 1, "case {n}");
    }
    near.write_all(&[5; 1000]).await.unwrap();
    within(5, far.read_exact(&mut buffer)).await.unwrap();
    assert_eq!(buffer, [5; 1000]);
}

/// An attacker on the path repeats the hello of a connection that has ended.
#[tokio::test]
async fn a_recorded_hello_is_not_answered() {
    let (server, client) = (server(Config::default()), client(Config::default()));
    let to = server.endpoint.local_address();
    let middle = Middle::start(1, to, Faults::default()).await;
    *middle.recorded.lock().unwrap() = Some(Vec::new());
    let (near, far) = connect(&client, &server, middle.address, None).await;
    drop((near, far));
    within(10, server.endpoint.wait_idle()).await;
    within(10, client.wait_idle()).await;
    let hello = {
        let recorded = middle.recorded.lock().unwrap();
        let mut all = recorded.as_ref().unwrap().iter();
        all.find(|packet| packet[0] == 0x15).unwrap().clone()
    };
    let attacker = UdpSocket::bind(loopback()).await.unwrap();
    // For a moment the connection is still known, and may take repetitions for late packets.
    let before = server.endpoint.rejected().replayed;
    within(10, async {
        while server.endpoint.rejected().replayed == before {
            attacker.send_to(&hello, to).await.unwrap();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    let silence = Duration::from_millis(200);
    let heard = tokio::time::timeout(silence, attacker.recv(&mut [0; 100])).await;
    assert!(heard.is_err(), "a recording was answered");
}

/// The counter that a case should increase.
type Counter = fn(&Rejected) -> u64;

fn sum(rejected: &Rejected) -> u64 {
    let Rejected {
        truncated,
        oversized,
        malformed,
        strangers,
        crowded,
        unknown,
        forged,
        replayed,
        unwanted,
    } = rejected;
    truncated + oversized + malformed + strangers + crowded + unknown + forged + replayed + unwanted
}

/// A holder of the token may open a limited number of connections; when one has ended there is room again.
#[tokio::test]
async fn connections_are_bounded() {
    let server = server(Config {
        connections: 2,
        ..Config::default()
    });
    let client = client(Config::default());
    let to = server.endpoint.local_address();
    let mut held = Vec::new();
    for _ in 0..2 {
        held.push(connect(&client, &server, to, None).await);
    }
    let third = within(5, client.connect(&server.token, to, None)).await;
    let mut third = third.unwrap_or_else(|error| panic!("{error}"));
    third.write_all(b"here").await.unwrap();
    until(5, || server.endpoint.rejected().crowded > 0).await;
    drop(held.pop());
    let mut far = within(10, server.endpoint.accept()).await.unwrap();
    let mut said = [0; 4];
    within(5, far.read_exact(&mut said)).await.unwrap();
    assert_eq!(&said, b"here");
}
