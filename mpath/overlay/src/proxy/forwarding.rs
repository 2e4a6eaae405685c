//! The proxy's socket: many packets a system call, in (recvmmsg, GRO) and out (GSO).

use super::counts::{Counts, Refusal};
use super::gate::Filter;
use super::outgoing::{Outgoing, Train};
use crate::{Limits, Listing, Now, Registry, Secret};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use quinn_udp::{BATCH_SIZE, RecvMeta, Transmit, UdpSocketState};
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

/// The buffer in bytes that we ask the kernel for, each way: some milliseconds at 10 Gbit/s.
const SOCKET_BUFFER: usize = 4 << 20;

/// The most bytes of a datagram, or of a train of them that the kernel has joined.
const DATAGRAMS: usize = 65_535;

/// How long no trains are sent after the kernel has refused one: quinn-udp then assumes that the device cannot segment,
/// but perhaps only that sender's packets were too long for the link.
const NO_TRAINS: Duration = Duration::from_secs(1);

/// Pause after the system has failed.
const PAUSE: Duration = Duration::from_millis(10);

/// Settings of a proxy.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where it listens; port 0 stands for any.
    pub listen: SocketAddr,
    /// Its public addresses, if the registry does not see them.
    pub public: Vec<SocketAddr>,
    /// The bytes that it forwards.
    pub limits: Limits,
    /// Whether it forwards to its own machine, and to private addresses even if it has none itself.
    pub allow_private: bool,
}

/// A proxy that is listed and forwards, as long as the caller calls [`Self::turn`].
#[derive(Debug)]
pub struct Proxy {
    socket: UdpSocket,
    /// The socket takes only IPv6 addresses, with IPv4 mapped.
    ipv6: bool,
    state: UdpSocketState,
    /// When trains were last tried again.
    revived: Instant,
    enrolment: Listing,
    gate: Filter,
    counts: Counts,
    buffers: Vec<Vec<u8>>,
    outgoing: Outgoing,
    began: Instant,
}

impl Proxy {
    /// Listens, and gets listed.
    ///
    /// # Errors
    /// If the address cannot be bound.
    pub fn start(registry: &Registry, secret: Secret, options: &Options) -> io::Result<Self> {
        let socket = UdpSocket::bind(options.listen)?;
        let listening = socket.local_addr()?;
        let state = UdpSocketState::new((&socket).into())?;
        // If we ask for more than the system allows, it gives as much as it allows.
        let _ = state.set_recv_buffer_size((&socket).into(), SOCKET_BUFFER);
        let _ = state.set_send_buffer_size((&socket).into(), SOCKET_BUFFER);
        let public = options.public.clone();
        let enrolment = registry.enrol(secret.clone(), listening, public);
        let began = Instant::now();
        let now = Now::since(began);
        Ok(Self {
            socket,
            ipv6: listening.is_ipv6(),
            state,
            revived: began,
            enrolment,
            gate: Filter::new(secret, options.limits, options.allow_private, now),
            counts: Counts::default(),
            buffers: vec![vec![0; DATAGRAMS]; BATCH_SIZE],
            outgoing: Outgoing::default(),
            began,
        })
    }

    /// The address at which it listens.
    ///
    /// # Errors
    /// If the system does not tell it.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Its entry in the registry.
    pub fn enrolment(&self) -> &Listing {
        &self.enrolment
    }

    /// The counts of all packets so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Waits for packets, at most for `patience`, and forwards them. If the system fails, for want of memory or because
    /// an interface has gone, packets are lost, as in a router.
    pub fn turn(&mut self, patience: Duration) {
        let waited = match self.forward() {
            Ok(true) => Ok(()),
            Ok(false) => self.wait(patience),
            Err(error) => Err(error),
        };
        if waited.is_err() {
            // If it fails again and again, not at once.
            thread::sleep(PAUSE.min(patience));
        }
    }

    fn wait(&self, patience: Duration) -> io::Result<()> {
        let patience = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
        let mut wanted = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        match poll(&mut wanted, patience) {
            Ok(_) | Err(nix::Error::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Forwards the packets of one receive call; returns whether there were any.
    fn forward(&mut self) -> io::Result<bool> {
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let mut slices: Vec<_> = self
            .buffers
            .iter_mut()
            .map(|b| IoSliceMut::new(b))
            .collect();
        let socket = (&self.socket).into();
        let count = match self.state.recv(socket, &mut slices, &mut metas) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        };
        self.gate.set_listed(&self.enrolment.addresses());
        let now = Now::since(self.began);
        let mut out = Out {
            socket: &self.socket,
            ipv6: self.ipv6,
            state: &self.state,
        };
        for (meta, buffer) in metas[..count].iter().zip(&self.buffers) {
            for datagram in datagrams(buffer, meta) {
                self.counts.received.add(1, datagram.len());
                match self.gate.pass(datagram, meta.addr.ip(), now) {
                    Ok(pass) => {
                        let most = self.state.max_gso_segments();
                        let counts = &mut self.counts;
                        let send = |train: &Train| out.send(train, counts);
                        self.outgoing
                            .push(pass.destination, pass.packet, most, send);
                    }
                    Err(why) => self.counts.refuse(why, 1),
                }
            }
        }
        let counts = &mut self.counts;
        self.outgoing.flush(|train| out.send(train, counts));
        self.revive();
        Ok(true)
    }

    /// Tries trains again after a while without them.
    fn revive(&mut self) {
        if self.state.max_gso_segments() == 1
            && self.revived.elapsed() > NO_TRAINS
            && let Ok(state) = UdpSocketState::new((&self.socket).into())
        {
            self.state = state;
            self.revived = Instant::now();
        }
    }
}

/// The datagrams of one buffer: a single one, which may be empty, or several that the kernel has joined.
fn datagrams<'a>(buffer: &'a [u8], meta: &RecvMeta) -> impl Iterator<Item = &'a [u8]> {
    let empty = (meta.len == 0).then_some(&buffer[..0]);
    let joined = buffer[..meta.len].chunks(meta.stride.max(1));
    empty.into_iter().chain(joined)
}

/// The way out of the proxy.
struct Out<'a> {
    socket: &'a UdpSocket,
    ipv6: bool,
    state: &'a UdpSocketState,
}

impl Out<'_> {
    fn send(&mut self, train: &Train, counts: &mut Counts) {
        let packets = train.packets();
        match self.try_send(train, &train.bytes) {
            Ok(()) => counts.forwarded.add(packets, train.bytes.len()),
            // Packets that do not fit into a full queue are lost, as in a router.
            Err(error) if packets == 1 || error.kind() == ErrorKind::WouldBlock => {
                counts.refuse(Refusal::Send, packets);
            }
            // A device without segmentation refuses the whole train.
            Err(_) => {
                for packet in train.bytes.chunks(train.segment) {
                    match self.try_send(train, packet) {
                        Ok(()) => counts.forwarded.add(1, packet.len()),
                        Err(_) => counts.refuse(Refusal::Send, 1),
                    }
                }
            }
        }
    }

    fn try_send(&self, train: &Train, contents: &[u8]) -> io::Result<()> {
        let transmit = Transmit {
            destination: self.mapped(train.destination),
            ecn: None,
            contents,
            segment_size: (contents.len() > train.segment).then_some(train.segment),
            src_ip: None,
        };
        self.state.try_send(self.socket.into(), &transmit)
    }

    fn mapped(&self, to: SocketAddr) -> SocketAddr {
        match to.ip() {
            IpAddr::V4(ip) if self.ipv6 => SocketAddr::new(ip.to_ipv6_mapped().into(), to.port()),
            _ => to,
        }
    }
}
