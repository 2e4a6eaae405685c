//! One socket, its application, and the packets on the way to it.

use super::parsed;
use crate::targets::input::{byte, bytes};
use std::collections::VecDeque;
use tidegate_tcp::wire::{Addresses, Parsed};
use tidegate_tcp::{Config, Connection, Ending, Flags, Instant, Socket, State};

pub struct Side {
    pub config: Config,
    pub addresses: Addresses,
    /// None until a SYN has come.
    pub socket: Option<Socket>,
    pub inbox: VecDeque<Vec<u8>>,
    pub written: u64,
    pub read: u64,
    /// The furthest right edge that it has advertised, as an offset.
    edge: u64,
    /// Segments were forged before its handshake was over: we do not know which sequence numbers it believes, nor where
    /// the stream begins in them.
    pub misled: bool,
}

impl Side {
    pub fn connect(config: Config, addresses: Addresses, now: Instant) -> Self {
        let mut side = Self::listen(config.clone(), addresses);
        side.socket = Some(Socket::connect(config, addresses, now));
        side
    }

    pub fn listen(config: Config, addresses: Addresses) -> Self {
        Self {
            config,
            addresses,
            socket: None,
            inbox: VecDeque::new(),
            written: 0,
            read: 0,
            edge: 0,
            misled: false,
        }
    }

    pub fn connection(&self) -> Option<&Connection> {
        self.socket.as_ref().map(Socket::connection)
    }

    /// Whether its handshake is over.
    pub fn is_open(&self) -> bool {
        let handshaking = |c: &Connection| matches!(c.state(), State::SynSent | State::SynReceived);
        self.connection().is_some_and(|c| !handshaking(c))
    }

    pub fn ending(&self) -> Option<Ending> {
        self.connection()?.ending()
    }

    pub fn timeout(&self) -> Option<Instant> {
        self.socket.as_ref()?.timeout()
    }

    pub fn expire(&mut self, now: Instant) {
        if let Some(socket) = &mut self.socket {
            socket.expire(now);
        }
    }

    pub fn receive(&mut self, now: Instant, packet: &[u8]) {
        let packet = parsed(packet);
        match &mut self.socket {
            Some(socket) => socket.receive(now, &packet),
            None => self.socket = Socket::accept(self.config.clone(), &packet, now),
        }
    }

    /// Takes the packet at `index`, if there is one, out of those on the way.
    pub fn take(&mut self, index: usize) -> Option<Vec<u8>> {
        let len = self.inbox.len();
        (len > 0).then(|| self.inbox.remove(index % len))?
    }

    /// Lets a packet arrive once more, later.
    pub fn repeat(&mut self, index: usize) {
        if !self.inbox.is_empty() {
            self.inbox
                .push_back(self.inbox[index % self.inbox.len()].clone());
        }
    }

    pub fn write(&mut self, most: usize) {
        if let Some(socket) = &mut self.socket {
            self.written += socket.write(&bytes(self.written + 1, most)) as u64;
        }
    }

    pub fn read(&mut self, now: Instant, most: usize) {
        let Some(socket) = &mut self.socket else {
            return;
        };
        let readable = socket.connection().readable();
        let mut out = vec![0; most.min(readable as usize)];
        let got = socket.read(now, &mut out);
        assert_eq!(got, out.len());
        for &is in &out[..got] {
            self.read += 1;
            let expected = byte(self.read);
            assert!(
                self.misled || is == expected,
                "{is} at offset {}, expected {expected}",
                self.read
            );
        }
    }

    pub fn close(&mut self) {
        if let Some(socket) = &mut self.socket {
            socket.close();
        }
    }

    pub fn abort(&mut self) {
        if let Some(socket) = &mut self.socket {
            socket.abort();
        }
    }

    /// All packets that it sends now.
    pub fn transmit(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let mut packets = Vec::new();
        let mut packet = Vec::new();
        while self
            .socket
            .as_mut()
            .is_some_and(|socket| socket.transmit(now, &mut packet))
        {
            self.check(&parsed(&packet));
            packets.push(packet.clone());
            assert!(packets.len() < 100_000, "it sends and sends");
        }
        packets
    }

    fn check(&mut self, packet: &Parsed) {
        assert_eq!(packet.addresses, self.addresses);
        let segment = packet.segment;
        let connection = self.socket.as_ref().expect("it sends").connection();
        let offset = connection.offset_of_ours(segment.seq).expect("ours");
        assert_eq!(packet.payload, bytes(offset, packet.payload.len()));
        // An ACK alone may stand after the FIN.
        let end = offset + u64::from(segment.len);
        assert!(segment.len == 0 || end <= self.written + 1, "not written");
        if segment.flags.has(Flags::RST) || !segment.flags.has(Flags::ACK) {
            return;
        }
        let scale = if segment.flags.has(Flags::SYN) {
            0
        } else {
            connection.window_scale()
        };
        let ack = connection.offset_of_theirs(segment.ack).expect("theirs");
        let edge = ack + (u64::from(segment.window) << scale);
        assert!(
            edge >= self.edge,
            "retracted from {} to {edge}: {segment:?}",
            self.edge
        );
        self.edge = edge;
    }
}
