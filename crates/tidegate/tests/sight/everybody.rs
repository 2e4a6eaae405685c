//! One download of every kind over one link, each recognised by its server's port: steered, denied by a rule, over
//! QUIC, with a useless timestamp clock and without timestamps, forwarded for another machine, and older than the
//! agent.

use crate::stamps::{CLIENT, Clock, DEVICE, SERVER, Stamped};
use quinn::{Endpoint, TransportConfig, VarInt};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use tidegate_lab::Namespace;
use tidegate_lab::quic_ends::{NAME, endpoint, identity};

pub const QUIC: u16 = 443;
pub const STEERED: u16 = 5001;
pub const DENIED: u16 = 5002;
pub const UNSTAMPED: u16 = 5003;
pub const CLOCKLESS: u16 = 5004;
pub const FORWARDED: u16 = 5005;
/// Forwarded, and the agent has missed its handshake.
pub const MISSED: u16 = 5006;
/// This machine's own, and older than the agent.
pub const OLD: u16 = 5007;

/// The rules for it.
pub const CONFIG: &str = "[[rule]]\nremote_port = 5002\naction = \"deny\"\n";

fn clock_of(port: u16) -> Option<Clock> {
    match port {
        UNSTAMPED => Some(|_, _| None),
        CLOCKLESS => Some(|_, _| Some(77)),
        _ => None,
    }
}

/// The link, a machine behind its client, and the downloads.
pub struct Everybody {
    pub hosts: Stamped,
    lan: Namespace,
    stop: Arc<AtomicBool>,
    ends: Vec<JoinHandle<()>>,
}

impl Drop for Everybody {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for end in self.ends.drain(..) {
            let _ = end.join();
        }
    }
}

fn sh(host: &Namespace, command: &str) {
    let run = || Ok(Command::new("sh").args(["-ec", command]).status()?);
    assert!(host.run(run).unwrap().success(), "{command}");
}

impl Everybody {
    pub fn new() -> Self {
        let hosts = Stamped::new(clock_of);
        let lan = Namespace::new().unwrap();
        let (pid, fd) = (std::process::id(), lan.as_fd().as_raw_fd());
        sh(
            &hosts.client,
            &format!(
                "echo 1 > /proc/sys/net/ipv4/ip_forward
                 ip link add lan0 type veth peer name up0 netns /proc/{pid}/fd/{fd}
                 ip address add 10.77.0.1/24 dev lan0
                 ip link set lan0 up"
            ),
        );
        let lan_side = "ip address add 10.77.0.2/24 dev up0
                        ip link set up0 up
                        ip route add default via 10.77.0.1";
        sh(&lan, lan_side);
        let back = format!("ip route add 10.77.0.0/24 via {CLIENT} dev {DEVICE}");
        sh(&hosts.server, &back);
        Self {
            hosts,
            lan,
            stop: Arc::default(),
            ends: Vec::new(),
        }
    }

    /// A TCP connection from that port, without data yet.
    pub fn connect(&self, port: u16) -> (TcpStream, TcpStream) {
        let listen = || Ok(TcpListener::bind((SERVER, port))?);
        let listener = self.hosts.server.run(listen).unwrap();
        let near = match port {
            FORWARDED | MISSED => &self.lan,
            _ => &self.hosts.client,
        };
        let near = near
            .run(|| Ok(TcpStream::connect((SERVER, port))?))
            .unwrap();
        (near, listener.accept().unwrap().0)
    }

    /// Downloads over the connection.
    pub fn download(&mut self, (mut near, mut far): (TcpStream, TcpStream)) {
        let [sends, reads] = [Arc::clone(&self.stop), Arc::clone(&self.stop)];
        self.ends.push(thread::spawn(move || {
            while !sends.load(Ordering::Relaxed) && far.write_all(&[7; 10_000]).is_ok() {}
        }));
        self.ends.push(thread::spawn(move || {
            let mut room = vec![0; 1 << 16];
            while !reads.load(Ordering::Relaxed) && near.read(&mut room).is_ok_and(|n| n > 0) {}
        }));
    }

    /// Downloads over QUIC, with windows as large as in browsers.
    pub fn download_quic(&mut self) {
        let (mut server, mut client) = identity().unwrap();
        let mut transport = TransportConfig::default();
        transport.send_window(64 << 20);
        server.transport_config(Arc::new(transport));
        let mut transport = TransportConfig::default();
        transport.stream_receive_window(VarInt::from_u32(6 << 20));
        client.transport_config(Arc::new(transport));
        let at = SocketAddr::new(SERVER.into(), QUIC);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let (far, near) = {
            let _inside = runtime.enter();
            (
                endpoint(&self.hosts.server, at, Some(server)).unwrap(),
                endpoint(&self.hosts.client, ([0; 4], 0).into(), None).unwrap(),
            )
        };
        let stop = Arc::clone(&self.stop);
        self.ends.push(thread::spawn(move || {
            runtime.block_on(async {
                tokio::spawn(send(far));
                let connection = near.connect_with(client, at, NAME).unwrap().await.unwrap();
                let mut stream = connection.accept_uni().await.unwrap();
                while !stop.load(Ordering::Relaxed) {
                    stream.read_chunk(1 << 20, true).await.unwrap();
                }
            });
        }));
    }
}

async fn send(end: Endpoint) {
    let connection = end.accept().await.unwrap().await.unwrap();
    let mut stream = connection.open_uni().await.unwrap();
    while stream.write_all(&[7; 10_000]).await.is_ok() {}
}
