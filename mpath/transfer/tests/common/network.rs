//! An unreliable network: a proxy, and a hop on the direct path.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tidegate_mpath::wire::{self, Packet};
use tidegate_transfer::Relay;
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// Faults of packets: shares of them, except for the delay.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    pub drop: f64,
    pub duplicate: f64,
    /// Held back so that later ones overtake them.
    pub reorder: f64,
    pub corrupt: f64,
    pub truncate: f64,
    pub delay: Duration,
    /// Larger packets vanish.
    pub mtu: Option<usize>,
}

impl Faults {
    /// Some of every fault.
    pub fn hostile() -> Self {
        Self {
            drop: 0.006,
            duplicate: 0.006,
            reorder: 0.006,
            corrupt: 0.003,
            truncate: 0.003,
            ..Self::default()
        }
    }
}

/// How late a packet is that was held back.
const HELD: Duration = Duration::from_millis(3);

struct Wire {
    faults: Arc<Mutex<Faults>>,
    random: Pcg64Mcg,
    socket: Arc<UdpSocket>,
}

impl Wire {
    /// Sends a packet on, or does to it what the faults demand.
    async fn forward(&mut self, packet: &[u8], to: SocketAddr) {
        let faults = *self.faults.lock().unwrap();
        let mut packet = packet.to_vec();
        let mut hit = |share: f64| self.random.random_bool(share);
        if hit(faults.drop) || faults.mtu.is_some_and(|mtu| packet.len() > mtu) {
            return;
        }
        let copies = if hit(faults.duplicate) { 2 } else { 1 };
        let (corrupt, truncate) = (hit(faults.corrupt), hit(faults.truncate));
        let held = if hit(faults.reorder) {
            HELD
        } else {
            Duration::ZERO
        };
        if corrupt {
            let place = self.random.random_range(0..packet.len());
            packet[place] ^= 1 << self.random.random_range(0..8);
        }
        if truncate {
            packet.truncate(self.random.random_range(0..packet.len()));
        }
        let delay = faults.delay + held;
        for _ in 0..copies {
            if delay.is_zero() {
                let _ = self.socket.send_to(&packet, to).await;
                continue;
            }
            let (socket, packet) = (Arc::clone(&self.socket), packet.clone());
            tokio::spawn(async move {
                tokio::time::sleep(delay).await;
                let _ = socket.send_to(&packet, to).await;
            });
        }
    }
}

/// A proxy: takes the envelope off, sends the packet on, and checks no capability.
pub struct Proxy {
    address: SocketAddr,
    pub faults: Arc<Mutex<Faults>>,
    pub forwarded: Arc<AtomicU64>,
    task: JoinHandle<()>,
}

impl Proxy {
    pub async fn start(seed: u64, faults: Faults) -> Self {
        let socket = Arc::new(UdpSocket::bind(super::loopback()).await.unwrap());
        let address = socket.local_addr().unwrap();
        let faults = Arc::new(Mutex::new(faults));
        let forwarded = Arc::new(AtomicU64::new(0));
        let mut wire = Wire {
            faults: Arc::clone(&faults),
            random: Pcg64Mcg::seed_from_u64(seed),
            socket: Arc::clone(&socket),
        };
        let count = Arc::clone(&forwarded);
        let task = tokio::spawn(async move {
            let mut buffer = vec![0; 65_536];
            loop {
                let (length, _) = socket.recv_from(&mut buffer).await.unwrap();
                if let Ok(Packet::Relay(relay)) = wire::parse(&buffer[..length]) {
                    count.fetch_add(1, Ordering::Relaxed);
                    wire.forward(relay.packet, relay.destination).await;
                }
            }
        });
        Self {
            address,
            faults,
            forwarded,
            task,
        }
    }

    pub fn relay(&self) -> Relay {
        Relay {
            address: self.address,
            capability: vec![7; 32],
        }
    }

    pub fn forwarded(&self) -> u64 {
        self.forwarded.load(Ordering::Relaxed)
    }

    /// From now on no packet passes.
    pub fn kill(&self) {
        self.task.abort();
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A hop between a sender and a receiver, with faults both ways.
pub struct Middle {
    pub address: SocketAddr,
    pub faults: Arc<Mutex<Faults>>,
    /// Every packet towards the receiver, if the test asks for it.
    pub recorded: Arc<Mutex<Option<Vec<Vec<u8>>>>>,
    /// Packets towards the receiver.
    pub forwarded: Arc<AtomicU64>,
    tasks: [JoinHandle<()>; 2],
}

impl Middle {
    pub async fn start(seed: u64, receiver: SocketAddr, faults: Faults) -> Self {
        let near = Arc::new(UdpSocket::bind(super::loopback()).await.unwrap());
        let far = Arc::new(UdpSocket::bind(super::loopback()).await.unwrap());
        let address = near.local_addr().unwrap();
        let faults = Arc::new(Mutex::new(faults));
        let recorded = Arc::new(Mutex::new(None::<Vec<Vec<u8>>>));
        let sender = Arc::new(Mutex::new(None));
        let wire = |seed, socket: &Arc<UdpSocket>| Wire {
            faults: Arc::clone(&faults),
            random: Pcg64Mcg::seed_from_u64(seed),
            socket: Arc::clone(socket),
        };
        let (mut there, mut back) = (wire(seed, &far), wire(seed + 1, &near));
        let forwarded = Arc::new(AtomicU64::new(0));
        let (known, record) = (Arc::clone(&sender), Arc::clone(&recorded));
        let count = Arc::clone(&forwarded);
        let forth = tokio::spawn(async move {
            let mut buffer = vec![0; 65_536];
            loop {
                let (length, from) = near.recv_from(&mut buffer).await.unwrap();
                let packet = &buffer[..length];
                if matches!(wire::parse(packet), Ok(Packet::Hello(_))) {
                    *known.lock().unwrap() = Some(from);
                }
                if let Some(all) = &mut *record.lock().unwrap() {
                    all.push(packet.to_vec());
                }
                count.fetch_add(1, Ordering::Relaxed);
                there.forward(packet, receiver).await;
            }
        });
        let home = tokio::spawn(async move {
            let mut buffer = vec![0; 65_536];
            loop {
                let (length, _) = far.recv_from(&mut buffer).await.unwrap();
                let to = *sender.lock().unwrap();
                if let Some(to) = to {
                    back.forward(&buffer[..length], to).await;
                }
            }
        });
        Self {
            address,
            faults,
            recorded,
            forwarded,
            tasks: [forth, home],
        }
    }
}

impl Drop for Middle {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}
