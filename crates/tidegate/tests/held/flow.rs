//! Flows without a window between the namespaces, and what `top` shows of them.

use crate::running::{Running, json};
use crate::{DATAGRAM, TIMEOUT};
use serde_json::Value;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tidegate_lab::{IpVersion, Veth};

/// A QUIC client's first datagram, as seen on the path.
pub fn initial() -> [u8; DATAGRAM] {
    let mut initial = [0; DATAGRAM];
    initial[..5].copy_from_slice(&[0xc3, 0, 0, 0, 1]);
    initial
}

/// Datagrams from a port of the server, and answers to some of them.
pub struct Flow {
    stop: Arc<AtomicBool>,
    ends: Vec<JoinHandle<()>>,
    server: SocketAddr,
}

impl Flow {
    /// The client begins with `hello`, and sends `answer` bytes for each `every` datagrams that arrive.
    fn start(hosts: &Veth, server: SocketAddr, hello: &[u8], every: usize, answer: usize) -> Self {
        let sender = hosts.server.run(|| Ok(UdpSocket::bind(server)?)).unwrap();
        let client = UdpSocket::bind(("0.0.0.0", 0)).unwrap();
        client.connect(server).unwrap();
        client.send(hello).unwrap();
        let (_, to) = sender.recv_from(&mut [0]).unwrap();
        for socket in [&sender, &client] {
            let pause = Some(Duration::from_millis(100));
            socket.set_read_timeout(pause).unwrap();
        }
        let stop = Arc::new(AtomicBool::new(false));
        let (ended, end) = (stop.clone(), stop.clone());
        let sends = move || {
            while !ended.load(Ordering::Relaxed) {
                // If the receiver has closed its socket, we go on.
                let _ = sender.send_to(&[7; DATAGRAM], to);
                thread::sleep(Duration::from_millis(2));
            }
        };
        let answers = move || {
            let (mut came, mut buffer) = (0, [0; 2 * DATAGRAM]);
            while !end.load(Ordering::Relaxed) {
                if client.recv(&mut buffer).is_err() {
                    continue;
                }
                came += 1;
                if came % every == 0 {
                    let _ = client.send(&vec![7; answer]);
                }
            }
        };
        let ends = vec![thread::spawn(sends), thread::spawn(answers)];
        Self { stop, ends, server }
    }

    pub fn download(hosts: &Veth, server: SocketAddr) -> Self {
        Self::start(hosts, server, &[0], 10, 30)
    }

    /// A flow that begins with a QUIC handshake.
    pub fn quic(hosts: &Veth, server: SocketAddr) -> Self {
        Self::start(hosts, server, &initial(), 10, 30)
    }

    /// A flow with as many bytes in each direction.
    pub fn call(hosts: &Veth, server: SocketAddr) -> Self {
        Self::start(hosts, server, &[0], 1, DATAGRAM)
    }
}

impl Drop for Flow {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for end in self.ends.drain(..) {
            let _ = end.join();
        }
    }
}

/// What `top` shows of the flow's arriving data.
pub fn seen(agent: &Running, flow: &Flow) -> Value {
    let look = json(&agent.top(&["--json", "--all", "--filter", "down"]));
    let rows = look["windowless"].as_array().unwrap().clone();
    let of = |row: &Value| {
        row["remote"]["port"] == flow.server.port()
            && row["remote"]["address"] == flow.server.ip().to_string()
    };
    rows.into_iter().find(of).unwrap_or(Value::Null)
}

/// Waits until the flow's row satisfies the condition.
pub fn await_row(
    agent: &Running,
    flow: &Flow,
    what: &str,
    is_so: impl Fn(&Value) -> bool,
) -> Value {
    let began = Instant::now();
    loop {
        let row = seen(agent, flow);
        if is_so(&row) {
            return row;
        }
        assert!(began.elapsed() < TIMEOUT, "never {what}: {row}");
    }
}

/// Waits until the hold's state of the flow is one of these.
pub fn await_state(agent: &Running, flow: &Flow, states: &[&str]) -> Value {
    let row = await_row(agent, flow, &format!("{states:?}"), |row| {
        states.iter().any(|state| row["hold"]["state"] == **state)
    });
    assert_eq!(row["limit"], row["hold"]["state"], "{row}");
    row
}

pub fn server(port: u16) -> SocketAddr {
    SocketAddr::new(Veth::server_address(IpVersion::V4), port)
}
