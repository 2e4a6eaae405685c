//! Two hosts, and a UDP flow between them whose packets are numbered.

use crate::remains::{gate_table, has_table, is_alive, queues};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tidegate_gate::{Flow, Mechanisms};
use tidegate_lab::{IpVersion, Namespace, Veth};
use tidegate_testing::{is_root, skipped};

/// How long a receiver waits for the first packet.
const FIRST: Duration = Duration::from_secs(10);

/// Two hosts on a link; none, with a message, without root or queues.
pub fn hosts() -> Option<Veth> {
    if !is_root() {
        return None;
    }
    let hosts = Veth::new().unwrap();
    let known = hosts.client.run(|| Ok(Mechanisms::here()?)).unwrap();
    if known.queue.is_none() {
        skipped("needs nfnetlink_queue, and nft_queue or xt_NFQUEUE");
        return None;
    }
    Some(hosts)
}

/// A UDP flow from the client to the server.
pub struct Path {
    pub from: UdpSocket,
    pub to: UdpSocket,
    pub flow: Flow,
}

impl Path {
    pub fn new(hosts: &Veth, version: IpVersion) -> Self {
        let server = Veth::server_address(version);
        Self::between(&hosts.client, &hosts.server, server, Veth::INTERFACE)
    }

    /// From one host, over its interface of that name, to another.
    pub fn between(from: &Namespace, to: &Namespace, address: IpAddr, interface: &str) -> Self {
        let to = to.run(|| Ok(UdpSocket::bind((address, 0))?)).unwrap();
        let any: IpAddr = match address {
            IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let (from, index) = from
            .run(|| {
                let from = UdpSocket::bind((any, 0))?;
                from.connect(to.local_addr()?)?;
                Ok((from, nix::net::if_::if_nametoindex(interface)?))
            })
            .unwrap();
        for socket in [&from, &to] {
            room(socket, 64 << 20);
        }
        let flow = Flow {
            interface: index,
            local: from.local_addr().unwrap(),
            remote: to.local_addr().unwrap(),
        };
        Self { from, to, flow }
    }

    /// Sends packets of these numbers.
    pub fn send(&self, numbers: std::ops::Range<u32>) {
        for number in numbers {
            self.send_one(number);
        }
    }

    pub fn send_one(&self, number: u32) {
        self.from.send(&number.to_be_bytes()).unwrap();
    }

    /// Receives on a thread until no packet has come for `quiet`. The first packet may take longer, since its sender
    /// may have to wait for a processor.
    pub fn receive(&self, quiet: Duration) -> JoinHandle<Vec<(u32, Instant)>> {
        let socket = self.to.try_clone().unwrap();
        socket.set_read_timeout(Some(FIRST.max(quiet))).unwrap();
        std::thread::spawn(move || {
            let mut came = Vec::new();
            let mut buffer = [0; 2048];
            loop {
                match socket.recv(&mut buffer) {
                    Ok(_) => {
                        let number = u32::from_be_bytes(*buffer.first_chunk().unwrap());
                        if came.is_empty() {
                            socket.set_read_timeout(Some(quiet)).unwrap();
                        }
                        came.push((number, Instant::now()));
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return came,
                    Err(error) => panic!("{error}"),
                }
            }
        })
    }
}

/// Sets the socket's send buffer, which waiting packets count against.
fn room(socket: &UdpSocket, bytes: usize) {
    use nix::sys::socket::{setsockopt, sockopt};
    setsockopt(socket, sockopt::SndBufForce, &bytes).unwrap();
    setsockopt(socket, sockopt::RcvBufForce, &bytes).unwrap();
}

pub fn assert_all_in_order(came: &[(u32, Instant)], count: u32) {
    let misplaced = (0..).zip(came).find(|(place, (number, _))| place != number);
    assert_eq!(misplaced.map(|(place, (number, _))| (place, *number)), None);
    assert_eq!(came.len() as u32, count, "the last are missing");
}

/// Checks that all arrived, those that had waited first and in order. Others may have overtaken packets that were still
/// in the queue when the flow was taken out of it; how many is printed.
pub fn assert_none_lost(came: &[(u32, Instant)], count: u32, waited: u32) {
    assert_all_in_order(&came[..waited as usize], waited);
    let mut numbers: Vec<_> = came.iter().map(|(number, _)| *number).collect();
    let overtaken = numbers.windows(2).filter(|pair| pair[1] < pair[0]).count();
    println!("{overtaken} runs of packets were overtaken");
    numbers.sort_unstable();
    assert_eq!(numbers.len() as u32, count, "some are missing");
    assert!((0..count).eq(numbers), "some came twice");
}

/// Waits until the condition holds.
pub fn until(limit: Duration, what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < limit, "not within {limit:?}: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Checks that nothing of a process's gate is left.
pub fn assert_nothing_left(host: &Namespace, process: u32) {
    let limit = Duration::from_secs(5);
    until(limit, "the process ends", || !is_alive(process));
    // The kernel may remove a dead process's table a little later.
    until(limit, "the table goes", || {
        !has_table(host, &gate_table(process))
    });
    until(limit, "the queue goes", || queues(host) == 0);
}
