//! Packets a second through a proxy over loopback, by the CPU time of the thread that forwards them: we put a burst
//! into its socket and let it work. The time includes delivery into the receivers' sockets, which on loopback is done
//! by the sender.

use super::super::{Row, median};
use anyhow::{Context, Result, bail, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::socket::{ControlMessage, MsgFlags, SockaddrStorage, sendmsg, setsockopt, sockopt};
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::io::{ErrorKind, IoSlice};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tidegate_mpath::wire::{self, Packet, write_relay};
use tidegate_overlay::proxy::{Filter, Options, Proxy};
use tidegate_overlay::registry::{Config, Memory, Server, Service};
use tidegate_overlay::{Instant, Limits, Now, Rate, Registry, Secret};

/// Bytes in an envelope: the smallest MTU of IPv6.
const PACKET: usize = 1200;

/// Packets in a burst: fewer than a default socket buffer holds.
const BURST: usize = 96;

/// Packets per measurement, and how many measurements; we report their median.
const PACKETS: usize = 40_000;
const TIMES: usize = 7;

/// How many checks to measure without sockets.
const CHECKS: u32 = 400_000;

/// Checked as in a real proxy, and never reached.
const LIMITS: Limits = Limits {
    overall: Some(RATE),
    source: Some(RATE),
};
const RATE: Rate = Rate {
    per_second: 1e15,
    burst: 1e15,
};

/// When the capability expires.
const END_S: u32 = u32::MAX;

/// How packets come in, and where they go.
struct Case {
    name: &'static str,
    /// How many packets the kernel has joined into one.
    joined: usize,
    receivers: usize,
}

const CASES: [Case; 3] = [
    Case {
        name: "trains of 32",
        joined: 32,
        receivers: 1,
    },
    Case {
        name: "single packets",
        joined: 1,
        receivers: 1,
    },
    Case {
        name: "single packets to 96 receivers",
        joined: 1,
        receivers: BURST,
    },
];

/// The cost of forwarding.
struct Cost {
    /// Nanoseconds a packet.
    ns: f64,
    /// The part of it that is spent in the kernel.
    system: f64,
}

pub fn measure(stop: &AtomicBool) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let check = check_ns()?;
    let mut first = None;
    for case in &CASES {
        let cost = Bench::new(case)?.cost(stop)?;
        let name = format!("mpath: proxy, {}", case.name);
        let row = Row::new(name.as_str(), 1e3 / cost.ns, "Mpackets/s a core");
        let versus = "trains of 32";
        let first = *first.get_or_insert(cost.ns);
        rows.push(row.versus(versus, first / cost.ns));
        rows.push(Row::new(format!("{name}: all"), cost.ns, "ns/packet"));
        let kernel = cost.ns * cost.system;
        let row = Row::new(format!("{name}: kernel"), kernel, "ns/packet");
        rows.push(row.versus("all", cost.system));
        let row = Row::new(format!("{name}: check"), check, "ns/packet");
        rows.push(row.versus("all", check / cost.ns));
    }
    let mac = mac_ns()?;
    let row = Row::new("mpath: proxy, check: capability", mac, "ns/packet");
    rows.push(row.versus("check", mac / check));
    let parse = parse_ns()?;
    let row = Row::new("mpath: proxy, check: envelope", parse, "ns/packet");
    rows.push(row.versus("check", parse / check));
    Ok(rows)
}

fn secret() -> Secret {
    Secret::new([1; 32])
}

const SENDER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A packet in an envelope that this proxy will forward.
fn enveloped(proxy: SocketAddr, to: SocketAddr) -> Vec<u8> {
    let capability = secret().proxy_key(proxy).issue(SENDER, to, END_S);
    let mut datagram = Vec::new();
    write_relay(&mut datagram, to, &capability);
    datagram.resize(datagram.len() + PACKET, 0);
    datagram
}

/// A proxy with a sender and receivers.
struct Bench {
    proxy: Proxy,
    _registry: Server,
    sender: UdpSocket,
    receivers: Vec<UdpSocket>,
    /// Data of one send call each, for a whole burst.
    trains: Vec<Vec<u8>>,
    segment: usize,
    to: SockaddrStorage,
}

impl Bench {
    fn new(case: &Case) -> Result<Self> {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let service = Service::new(secret(), Box::new(Memory::default()), Config::default());
        let server = Server::start(any, service)?;
        let registry = Registry::new([format!("http://{}", server.address())])?;
        let options = Options {
            listen: any,
            public: Vec::new(),
            limits: LIMITS,
            allow_private: true,
        };
        let proxy = Proxy::start(&registry, secret(), &options)?;
        proxy.enrolment().wait(Duration::from_secs(10))?;
        let address = proxy.address()?;
        let receivers = (0..case.receivers).map(|_| receiver(any));
        let receivers = receivers.collect::<Result<Vec<_>>>()?;
        let trains = (0..BURST / case.joined).map(|i| {
            let to = receivers[i % receivers.len()].local_addr()?;
            Ok(enveloped(address, to).repeat(case.joined))
        });
        let trains = trains.collect::<Result<Vec<_>>>()?;
        Ok(Self {
            proxy,
            _registry: server,
            sender: UdpSocket::bind(any)?,
            segment: trains[0].len() / case.joined,
            trains,
            receivers,
            to: address.into(),
        })
    }

    fn cost(&mut self, stop: &AtomicBool) -> Result<Cost> {
        let (mut ns, mut system) = (Vec::new(), Vec::new());
        for _ in 0..TIMES {
            if stop.load(Ordering::Relaxed) {
                bail!("interrupted");
            }
            let (mut worked, mut in_kernel, mut in_all) = (0.0, 0.0, 0.0);
            for _ in 0..PACKETS / BURST {
                self.send()?;
                let (began, [user, kernel]) = (cpu_ns()?, usage_us()?);
                self.forward()?;
                worked += cpu_ns()? - began;
                let [user_after, kernel_after] = usage_us()?;
                in_kernel += kernel_after - kernel;
                in_all += user_after + kernel_after - user - kernel;
                self.receive()?;
            }
            ns.push(worked / (PACKETS / BURST * BURST) as f64);
            system.push(in_kernel / in_all);
        }
        Ok(Cost {
            ns: median(ns),
            system: median(system),
        })
    }

    /// Puts a burst into the proxy's socket.
    fn send(&self) -> Result<()> {
        let segment = self.segment as u16;
        for train in &self.trains {
            let gso = [ControlMessage::UdpGsoSegments(&segment)];
            let gso = if train.len() > self.segment {
                &gso[..]
            } else {
                &[]
            };
            let contents = [IoSlice::new(train)];
            let to = Some(&self.to);
            sendmsg(
                self.sender.as_raw_fd(),
                &contents,
                gso,
                MsgFlags::empty(),
                to,
            )
            .context("send to the proxy")?;
        }
        Ok(())
    }

    fn forward(&mut self) -> Result<()> {
        let until = self.proxy.counts().received.packets + BURST as u64;
        while self.proxy.counts().received.packets < until {
            let before = self.proxy.counts().received.packets;
            self.proxy.turn(Duration::from_secs(1));
            let counts = self.proxy.counts();
            ensure!(
                counts.received.packets > before,
                "packets to the proxy were lost"
            );
            ensure!(
                counts.forwarded.packets == counts.received.packets,
                "the proxy refused packets: {counts:?}"
            );
        }
        Ok(())
    }

    /// Empties the receivers' sockets.
    fn receive(&self) -> Result<()> {
        let mut buffer = [0; 65_535];
        let mut bytes = 0;
        for receiver in &self.receivers {
            loop {
                match receiver.recv(&mut buffer) {
                    Ok(count) => bytes += count,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error.into()),
                }
            }
        }
        ensure!(
            bytes == BURST * PACKET,
            "packets to the receivers were lost"
        );
        Ok(())
    }
}

/// A receiver that takes joined packets, as mPath's do.
fn receiver(at: SocketAddr) -> Result<UdpSocket> {
    let receiver = UdpSocket::bind(at)?;
    receiver.set_nonblocking(true)?;
    setsockopt(&receiver, sockopt::UdpGroSegment, &true)?;
    Ok(receiver)
}

/// CPU time of this thread.
fn cpu_ns() -> Result<f64> {
    Ok(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?.num_nanoseconds() as f64)
}

/// CPU time in user space and in the kernel.
fn usage_us() -> Result<[f64; 2]> {
    let usage = getrusage(UsageWho::RUSAGE_THREAD)?;
    Ok([usage.user_time(), usage.system_time()].map(|time| time.num_microseconds() as f64))
}

fn ns_each(mut what: impl FnMut()) -> Result<f64> {
    let times = (0..TIMES).map(|_| {
        let began = cpu_ns()?;
        for _ in 0..CHECKS {
            what();
        }
        Ok((cpu_ns()? - began) / f64::from(CHECKS))
    });
    Ok(median(times.collect::<Result<_>>()?))
}

fn addresses() -> (SocketAddr, SocketAddr) {
    (([127, 0, 0, 1], 7481).into(), ([127, 0, 0, 1], 4433).into())
}

/// Cost of all checks that a proxy makes.
fn check_ns() -> Result<f64> {
    let (proxy, to) = addresses();
    let now = Now {
        unix_s: 0,
        instant: Instant::ZERO,
    };
    let mut gate = Filter::new(secret(), LIMITS, true, now);
    gate.set_listed(&[proxy]);
    let datagram = enveloped(proxy, to);
    ns_each(|| {
        let pass = gate.pass(black_box(&datagram), SENDER, now);
        assert!(black_box(pass).is_ok());
    })
}

fn mac_ns() -> Result<f64> {
    let (proxy, to) = addresses();
    let key = secret().proxy_key(proxy);
    let capability = key.issue(SENDER, to, END_S);
    ns_each(|| {
        let good = key.check(black_box(&capability), SENDER, to, 0);
        assert!(black_box(good).is_ok());
    })
}

fn parse_ns() -> Result<f64> {
    let (proxy, to) = addresses();
    let datagram = enveloped(proxy, to);
    ns_each(|| {
        let parsed = wire::parse(black_box(&datagram));
        assert!(matches!(black_box(parsed), Ok(Packet::Relay(_))));
    })
}
