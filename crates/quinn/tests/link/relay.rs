//! Carries datagrams between a client and a server, through a link each way.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tidegate_link::{Config, DelayProfile, Instant, Link, QueueConfig, Rate};
use tokio::net::UdpSocket;
use tokio::time::{Instant as Wake, sleep_until};

/// Bytes of the headers of IPv4 and UDP, which the link carries, too.
const HEADERS: usize = 28;

struct Packet(Vec<u8>);

impl tidegate_link::Packet for Packet {
    fn wire_bytes(&self) -> usize {
        self.0.len() + HEADERS
    }
}

/// A link with that rate in Mbit/s, delay each way, and buffer in packets.
pub fn link(mbps: f64, delay_ms: u64, packets: usize) -> Config {
    Config {
        rate: Rate::constant(mbps * 1e6),
        delay: DelayProfile::new(Duration::from_millis(delay_ms), Vec::new()),
        queue: QueueConfig {
            packets: Some(packets),
            ..QueueConfig::default()
        },
        ..Config::default()
    }
}

/// A relay between a server and the first client that sends to it. It ends with its runtime.
pub struct Relay {
    /// The address that the client sends to.
    pub address: SocketAddr,
    /// The queueing delay of each packet to the client.
    pub queued: Arc<Mutex<Vec<Duration>>>,
}

impl Relay {
    /// Begins to carry datagrams, over the same kind of link each way.
    pub async fn start(server: SocketAddr, link: Config) -> io::Result<Self> {
        let front = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let back = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        back.connect(server).await?;
        let relay = Self {
            address: front.local_addr()?,
            queued: Arc::default(),
        };
        let queued = relay.queued.clone();
        tokio::spawn(async move { carry(front, back, link, &queued).await });
        Ok(relay)
    }

    /// Quantile of the queueing delays towards the client since `skip` packets, in ms.
    pub fn queue_ms(&self, skip: usize, quantile: f64) -> f64 {
        let mut queued = self.queued.lock().unwrap()[skip..].to_vec();
        queued.sort_unstable();
        let place = (queued.len() - 1) as f64 * quantile;
        queued[place as usize].as_secs_f64() * 1e3
    }
}

async fn carry(
    front: UdpSocket,
    back: UdpSocket,
    config: Config,
    queued: &Mutex<Vec<Duration>>,
) -> io::Result<()> {
    let start = Wake::now();
    let clock = || Instant::ZERO + start.elapsed();
    let (mut up, mut down) = (Link::new(config.clone(), 1), Link::new(config, 2));
    let mut client = None;
    let (mut one, mut other) = ([0; 2048], [0; 2048]);
    loop {
        let next = [up.next_event(), down.next_event()];
        let next = next.into_iter().flatten().min();
        let due = start + next.map_or(Duration::from_secs(1), |at| at - Instant::ZERO);
        tokio::select! {
            received = front.recv_from(&mut one) => {
                let (len, from) = received?;
                client = Some(from);
                up.push(clock(), Packet(one[..len].to_vec()));
            }
            received = back.recv(&mut other) => {
                down.push(clock(), Packet(other[..received?].to_vec()));
            }
            () = sleep_until(due) => {}
        }
        let now = clock();
        while let Some(delivery) = up.poll(now) {
            back.send(&delivery.packet.0).await?;
        }
        while let Some(delivery) = down.poll(now) {
            queued.lock().unwrap().push(delivery.queued);
            if let Some(client) = client {
                front.send_to(&delivery.packet.0, client).await?;
            }
        }
    }
}
