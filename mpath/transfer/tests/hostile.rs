//! Streams through a network that drops, duplicates, reorders, corrupts and truncates, while proxies
//! come, go, and become slow. The long one: `cargo test --release -p tidegate-transfer --test hostile --
//! --ignored`.

mod common;

use common::{Faults, Middle, Proxy, client, connect, server, transfer_blocks, until, within};
use std::time::Duration;
use tidegate_transfer::{Config, Connection, Rejected};
use tokio::sync::watch;

/// Sends 64 KiB blocks; returns what the receiver refused, and how often each proxy forwarded.
async fn through_a_hostile_network(blocks: u64, seconds: u64) -> (Rejected, Vec<u64>) {
    let (server, client) = (server(Config::default()), client(Config::default()));
    let middle = Middle::start(1, server.endpoint.local_address(), Faults::hostile()).await;
    let mut proxies = Vec::new();
    for seed in 0..4 {
        proxies.push(Proxy::start(seed, Faults::hostile()).await);
    }
    let relays = proxies.iter().map(Proxy::relay).collect::<Vec<_>>();
    let (list, known) = watch::channel(relays);
    let (near, far): (Connection, Connection) =
        connect(&client, &server, middle.address, Some(known)).await;
    let monitor = near.monitor();
    let transfer = tokio::spawn(transfer_blocks(near, far, blocks));
    until(20, || monitor.status().paths > 1).await;
    // One dies, one becomes slow, another comes.
    let used = monitor.status().proxies[0].0;
    let dying = proxies.iter().position(|p| p.relay().address == used);
    proxies[dying.unwrap()].kill();
    let slow = &proxies[(dying.unwrap() + 1) % proxies.len()];
    slow.faults.lock().unwrap().delay = Duration::from_millis(30);
    let new = Proxy::start(9, Faults::hostile()).await;
    list.send_modify(|relays| relays.push(new.relay()));
    proxies.push(new);
    within(seconds, transfer).await.unwrap();
    let forwarded = proxies.iter().map(Proxy::forwarded).collect();
    (server.endpoint.rejected(), forwarded)
}

fn check(rejected: &Rejected, forwarded: &[u64]) {
    assert!(rejected.forged > 0, "{rejected:?}");
    assert!(rejected.truncated > 0, "{rejected:?}");
    assert!(rejected.replayed > 0, "{rejected:?}");
    assert!(
        forwarded.iter().all(|&packets| packets > 0),
        "{forwarded:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thirty_megabytes_arrive_intact() {
    let (rejected, forwarded) = through_a_hostile_network(480, 50).await;
    check(&rejected, &forwarded);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a gigabyte takes minutes"]
async fn a_gigabyte_arrives_intact() {
    let (rejected, forwarded) = through_a_hostile_network(16_384, 1200).await;
    check(&rejected, &forwarded);
}
