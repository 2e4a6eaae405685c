//! A connection without I/O: the protocol's two ends for each direction, their payloads, the session.

mod application;
mod incoming;
mod observed;
mod outgoing;

use super::error::ConnectionError;
use super::liveness::Liveness;
use super::shutdown::Shutdown;
use crate::Config;
use crate::mtu::{BlackHoleDetector, Mtu};
use crate::packets::Packets;
use crate::relays::{Relay, Relays};
use crate::session::Session;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::task::Waker;
use tidegate_mpath::wire::{Control, DATA_HEADER, SEAL};
use tidegate_mpath::{Instant, Receiver, ReceiverConfig, Sender};

/// The most control messages that wait to be sent: a peer that asks faster gets no answer.
const CONTROLS: usize = 64;

/// The number of a ping that asks whether the peer is there. Any other ping probes the path's MTU: its number is its
/// packet's size in bytes.
const KEEP_ALIVE: u64 = 0;

/// The initial parameters of a connection.
pub struct Parameters {
    /// Settings.
    pub config: Config,
    /// Its session.
    pub session: Session,
    /// The address that the peer's direct packets come from.
    pub peer: SocketAddr,
    /// Whether the peer's address may change, as behind a NAT. A receiver's does not: relays' capabilities are for that
    /// address.
    pub peer_moves: bool,
    /// Bytes to leave free in each packet for a relay's envelope.
    pub envelope: usize,
    /// The seed of random choices.
    pub seed: u64,
}

/// A connection.
pub struct State {
    session: Session,
    peer: SocketAddr,
    peer_moves: bool,
    sender: Sender,
    receiver: Receiver,
    outgoing: Packets,
    incoming: Packets,
    /// The most packets that are written and not acknowledged.
    capacity: u64,
    /// The packet that is being written.
    writing: Vec<u8>,
    written: u64,
    /// Numbers below it have been sent.
    sent: u64,
    finished: bool,
    /// The packet that is being read, and how much of it has been read.
    reading: (Vec<u8>, usize),
    read: u64,
    relays: Relays,
    mtu: Mtu,
    black_hole: BlackHoleDetector,
    liveness: Liveness,
    /// Control messages to be sent, each with the size of its packet.
    controls: VecDeque<(Control, usize)>,
    error: Option<ConnectionError>,
    shutdown: Option<Shutdown>,
    /// Plaintext on its way to or from a packet.
    plain: Vec<u8>,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl State {
    /// A connection that has just been made.
    pub fn new(now: Instant, parameters: Parameters) -> Self {
        let Parameters {
            config,
            session,
            peer,
            peer_moves,
            envelope,
            seed,
        } = parameters;
        let capacity = (config.buffer_bytes / config.largest_packet).max(1);
        let mut paths = config.paths;
        paths.seed = seed;
        Self {
            session,
            peer,
            peer_moves,
            sender: Sender::new(paths),
            receiver: Receiver::new(ReceiverConfig {
                buffer: capacity as u64,
                ..ReceiverConfig::default()
            }),
            // One more: the end of the stream may need an empty packet of its own.
            outgoing: Packets::new(capacity + 1),
            incoming: Packets::new(capacity),
            capacity: capacity as u64,
            writing: Vec::new(),
            written: 0,
            sent: 0,
            finished: false,
            reading: (Vec::new(), 0),
            read: 0,
            relays: Relays::new(envelope),
            mtu: Mtu::new(config.largest_packet),
            black_hole: BlackHoleDetector::default(),
            liveness: Liveness::new(now, &config),
            controls: VecDeque::new(),
            error: None,
            shutdown: None,
            plain: Vec::new(),
            reader: None,
            writer: None,
        }
    }

    /// Bytes of the stream that fit into a packet.
    fn payload(&self) -> usize {
        self.mtu.size() - SEAL - DATA_HEADER - self.relays.envelope()
    }

    /// The registry's latest list of relays.
    pub fn update_relays(&mut self, relays: &[Relay]) {
        let new = self.relays.update(relays);
        self.sender.add_proxies(new);
    }

    fn send_control(&mut self, control: Control) {
        if self.controls.len() < CONTROLS {
            self.controls.push_back((control, 0));
        }
    }

    /// Ends the connection with an error, unless it has ended.
    fn fail(&mut self, error: ConnectionError) {
        self.error.get_or_insert(error);
        wake(&mut self.reader);
        wake(&mut self.writer);
    }

    /// As [`Self::fail`], with nothing left to be sent.
    pub fn abort(&mut self, error: ConnectionError) {
        self.fail(error);
        self.shutdown = Some(Shutdown::done());
    }

    /// The application has closed the connection.
    pub fn close(&mut self, now: Instant) {
        if self.shutdown.is_none() {
            self.shutdown = Some(Shutdown::closing(now));
        }
        self.error.get_or_insert(ConnectionError::Endpoint);
    }

    /// Whether the connection can be removed.
    pub fn is_over(&self, now: Instant) -> bool {
        self.shutdown.as_ref().is_some_and(|p| p.is_over(now)) && self.controls.is_empty()
    }

    /// Whether the peer knows all that it needs to know about the connection's end.
    pub fn is_settled(&self) -> bool {
        matches!(self.shutdown, Some(Shutdown::Draining { .. })) && self.controls.is_empty()
    }
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}

#[cfg(test)]
mod tests;
