//! Many sockets behind one device: which of them gets a packet, and what happens to the other packets.

use crate::socket::Socket;
use crate::steer::{LawFactory, OwnEdge, Paths};
use crate::wire::{self, Addresses, Malformed, Parsed};
use crate::{Config, Connection, Flags, Segment, Seq, State};
use std::collections::{BTreeMap, VecDeque};
use tidegate_basics::time::Instant;

/// The sockets behind a device such as a TUN, and the ports that listen. It answers for every
/// address that packets are sent to; sockets are named by their [`Addresses`], their own end as
/// source.
///
/// As with [`Connection`]: after every call, [`Self::transmit`] until it returns false.
#[derive(Debug)]
pub struct Stack {
    mtu: u16,
    secret: u64,
    listeners: BTreeMap<u16, (Config, Option<LawFactory>)>,
    sockets: BTreeMap<Addresses, Entry>,
    /// The queues in front of this host, as far as laws of the caller's own have measured them.
    paths: Paths,
    /// Established, and not yet handed out.
    accepted: VecDeque<Addresses>,
    resets: VecDeque<(Addresses, Segment)>,
}

#[derive(Debug)]
struct Entry {
    socket: Socket,
    holder: Holder,
    /// The law of the caller's own for the data that arrive.
    edge: Option<Box<OwnEdge>>,
}

/// The holder of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    /// No application yet: the handshake is under way.
    Listener,
    Application,
    /// No application any more: the connection only closes.
    Nobody,
}

impl Stack {
    /// No sockets yet. `mtu`: bytes of a packet at most; `secret`: where sequence numbers and
    /// timestamps begin.
    pub fn new(mtu: u16, secret: u64) -> Self {
        Self {
            mtu,
            secret,
            listeners: BTreeMap::new(),
            sockets: BTreeMap::new(),
            paths: Paths::default(),
            accepted: VecDeque::new(),
            resets: VecDeque::new(),
        }
    }

    /// Opens `port` for connections like `config`, whose sequence number and clock are set for each; with that law for
    /// the data that arrive, if there is one.
    pub fn listen(&mut self, port: u16, config: Config, law: Option<LawFactory>) {
        self.listeners.insert(port, (config, law));
    }

    /// Opens a connection from `addresses`' source to its destination, with that law for the data that arrive, if there
    /// is one; false if the connection exists.
    pub fn connect(
        &mut self,
        now: Instant,
        config: Config,
        law: Option<&LawFactory>,
        addresses: Addresses,
    ) -> bool {
        if self.sockets.contains_key(&addresses) {
            return false;
        }
        let config = self.own(now, config, &addresses);
        let socket = Socket::connect(config, addresses, now);
        self.hold(socket, Holder::Application, law);
        true
    }

    /// The oldest established connection that a peer has opened to `port`.
    pub fn accept(&mut self, port: u16) -> Option<Addresses> {
        let mine = |addresses: &Addresses| addresses.source().port() == port;
        let index = self.accepted.iter().position(mine)?;
        self.accepted.remove(index)
    }

    /// A socket that was opened here, or [accepted](Self::accept), and not yet released.
    pub fn socket(&mut self, addresses: &Addresses) -> Option<&mut Socket> {
        let entry = self.sockets.get_mut(addresses)?;
        (entry.holder == Holder::Application).then_some(&mut entry.socket)
    }

    /// [Releases](Socket::release) a socket and forgets it once it has ended.
    pub fn release(&mut self, now: Instant, addresses: &Addresses) {
        if let Some(entry) = self.sockets.get_mut(addresses) {
            entry.holder = Holder::Nobody;
            entry.socket.release(now);
        }
    }

    /// A packet arrives.
    ///
    /// # Errors
    ///
    /// [`Malformed`] packets do nothing.
    pub fn receive(&mut self, now: Instant, packet: &[u8]) -> Result<(), Malformed> {
        let packet = wire::parse(packet)?;
        let ours = packet.addresses.reversed();
        match self.sockets.get_mut(&ours) {
            Some(entry) if !entry.gives_way_to(&packet.segment) => {
                if entry.receive(now, &packet, &mut self.paths) {
                    self.accepted.push_back(ours);
                }
            }
            _ => self.receive_unknown(now, &packet),
        }
        Ok(())
    }

    /// Makes `packet` the next packet to be sent at `now`; false if there is none.
    pub fn transmit(&mut self, now: Instant, packet: &mut Vec<u8>) -> bool {
        if let Some((addresses, reset)) = self.resets.pop_front() {
            wire::write(packet, &addresses, &reset, [&[], &[]]);
            return true;
        }
        let mut sockets = self.sockets.values_mut();
        if sockets.any(|entry| entry.transmit(now, packet)) {
            return true;
        }
        self.sockets.retain(|_, entry| !entry.is_over());
        false
    }

    /// When to call [`Self::expire`]; None: never, unless something else happens.
    pub fn timeout(&self) -> Option<Instant> {
        let sockets = self.sockets.values();
        sockets.filter_map(|entry| entry.socket.timeout()).min()
    }

    /// The time of [`Self::timeout`] has come. Too early is harmless.
    pub fn expire(&mut self, now: Instant) {
        for entry in self.sockets.values_mut() {
            entry.socket.expire(now);
        }
    }

    /// A packet that belongs to no connection: it opens one, or is refused (RFC 9293 §3.10.7.1, 2).
    fn receive_unknown(&mut self, now: Instant, packet: &Parsed) {
        let addresses = packet.addresses.reversed();
        let listener = self.listeners.get(&addresses.source().port()).cloned();
        if listener.is_some() && is_nothing(&packet.segment) {
            return;
        }
        let accepted = listener.and_then(|(config, law)| {
            let config = self.own(now, config, &addresses);
            Some((Socket::accept(config, packet, now)?, law))
        });
        match accepted {
            // An address whose last socket is still held cannot be used again.
            Some((socket, law)) if !self.holds(&addresses) => {
                self.hold(socket, Holder::Listener, law.as_ref());
            }
            _ => {
                let reset = refusal(&packet.segment);
                self.resets.extend(reset.map(|reset| (addresses, reset)));
            }
        }
    }

    fn holds(&self, addresses: &Addresses) -> bool {
        let entry = self.sockets.get(addresses);
        entry.is_some_and(|entry| entry.holder == Holder::Application)
    }

    fn hold(&mut self, socket: Socket, holder: Holder, law: Option<&LawFactory>) {
        let addresses = *socket.addresses();
        let entry = Entry {
            socket,
            holder,
            edge: law.map(|law| Box::new(law.edge())),
        };
        self.sockets.insert(addresses, entry);
    }

    /// `config` for a connection that begins now. As in Linux (`secure_tcp_seq`), initial sequence numbers follow a
    /// clock of 64 ns, and timestamps run on from one connection to the next, so that the peer can tell a new
    /// connection from an old one in TIME-WAIT.
    fn own(&self, now: Instant, config: Config, addresses: &Addresses) -> Config {
        let clock = (now.as_nanos() >> 6) as u32;
        let headers = addresses.ip_header_bytes() as u16 + 20;
        Config {
            initial_seq: Seq((self.secret as u32).wrapping_add(clock)),
            timestamp_offset: (self.secret >> 32) as u32,
            mss: config.mss.min(self.mtu.saturating_sub(headers)),
            ..config
        }
    }
}

impl Entry {
    /// A packet arrives; returns whether this has established a connection that the application may accept.
    fn receive(&mut self, now: Instant, packet: &Parsed, paths: &mut Paths) -> bool {
        let socket = &mut self.socket;
        match &mut self.edge {
            Some(edge) => edge.arrives(paths, now, &packet.segment, || {
                socket.receive(now, packet);
                socket.connection()
            }),
            None => socket.receive(now, packet),
        }
        let accepted = self.holder == Holder::Listener && self.connection().is_established();
        if accepted {
            self.holder = Holder::Application;
        }
        accepted
    }

    /// Makes `packet` the next packet to be sent at `now`; false if there is none.
    fn transmit(&mut self, now: Instant, packet: &mut Vec<u8>) -> bool {
        match &mut self.edge {
            Some(edge) => self
                .socket
                .transmit_steered(now, packet, |segment| edge.leaves(now, segment)),
            None => self.socket.transmit(now, packet),
        }
    }

    fn connection(&self) -> &Connection {
        self.socket.connection()
    }

    fn is_over(&self) -> bool {
        self.holder != Holder::Application && self.connection().state() == State::Closed
    }

    /// Whether the segment belongs to another connection: this one is over, or is in TIME-WAIT and the segment is a SYN
    /// of the next connection (RFC 9293 §3.10.7.4, Linux's `tcp_timewait_state_process`).
    fn gives_way_to(&self, segment: &Segment) -> bool {
        match self.connection().state() {
            State::Closed => true,
            State::TimeWait if self.holder == Holder::Nobody => {
                let connection = self.connection();
                let offset = connection.offset_of_theirs(segment.seq);
                segment.flags == Flags::SYN
                    && offset.is_some_and(|offset| offset > connection.receiver().next())
            }
            _ => false,
        }
    }
}

/// Whether the segment neither opens, acknowledges nor resets anything: a listening port does not answer it.
fn is_nothing(segment: &Segment) -> bool {
    !segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK)
}

/// The reset in answer to a segment that belongs to no connection (RFC 9293 §3.10.7.1).
fn refusal(segment: &Segment) -> Option<Segment> {
    if segment.flags.has(Flags::RST) {
        return None;
    }
    Some(if segment.flags.has(Flags::ACK) {
        Segment {
            seq: segment.ack,
            flags: Flags::RST,
            ..Segment::default()
        }
    } else {
        Segment {
            ack: Seq::at(segment.seq, segment.seq_len().into()),
            flags: Flags::RST.with(Flags::ACK),
            ..Segment::default()
        }
    })
}
