//! Handshakes that this end has begun.

use super::Batch;
use crate::connection::ConnectionError;
use crate::mtu;
use crate::session::{Initiator, Session};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Duration;
use tidegate_mpath::Instant;
use tidegate_mpath::wire::write_hello;

/// Time before the first hello is repeated; it doubles.
const FIRST_REPEAT: Duration = Duration::from_millis(250);

/// Longest time between two repetitions.
const LAST_REPEAT: Duration = Duration::from_secs(2);

/// A handshake without an answer yet, and what belongs to it.
struct Handshake<T> {
    initiator: Initiator,
    /// The whole packet.
    packet: Vec<u8>,
    to: SocketAddr,
    repeat: Duration,
    next: Instant,
    since: Instant,
    note: T,
}

/// All of them, by connection.
pub struct Handshakes<T> {
    waiting: HashMap<u64, Handshake<T>>,
    timeout: Duration,
}

impl<T> Handshakes<T> {
    /// No handshakes yet; each waits for its answer for `timeout`.
    pub fn new(timeout: Duration) -> Self {
        Self {
            waiting: HashMap::new(),
            timeout,
        }
    }

    /// Begins a handshake.
    pub fn begin(
        &mut self,
        now: Instant,
        connection: u64,
        initiator: Initiator,
        to: SocketAddr,
        note: T,
    ) {
        let mut packet = Vec::new();
        write_hello(&mut packet, &initiator.hello());
        // As large as any packet will be: the peer cannot be made to send more than it receives, and a path that does
        // not carry this size is found out now (RFC 9000 §14.1).
        packet.resize(mtu::BASE, 0);
        let handshake = Handshake {
            initiator,
            packet,
            to,
            repeat: FIRST_REPEAT,
            next: now,
            since: now,
            note,
        };
        self.waiting.insert(connection, handshake);
    }

    /// Puts the hellos that are due into the batch.
    pub fn transmit(&mut self, now: Instant, batch: &mut Batch) {
        for handshake in self.waiting.values_mut().filter(|g| g.next <= now) {
            batch.push(handshake.to, None, |out| out.extend(&handshake.packet));
            handshake.next = now + handshake.repeat;
            handshake.repeat = (handshake.repeat * 2).min(LAST_REPEAT);
        }
    }

    /// An answer arrives: returns the session, the peer's address and the note. None: no handshake waits for it.
    pub fn answer(
        &mut self,
        connection: u64,
        message: &[u8],
    ) -> Option<Result<(Session, SocketAddr, T), ()>> {
        let handshake = self.waiting.remove(&connection)?;
        match handshake.initiator.finish(message) {
            Ok(session) => Some(Ok((session, handshake.to, handshake.note))),
            Err(initiator) => {
                let handshake = Handshake {
                    initiator: *initiator,
                    ..handshake
                };
                self.waiting.insert(connection, handshake);
                Some(Err(()))
            }
        }
    }

    /// Handshakes that have waited too long.
    pub fn expire(&mut self, now: Instant) -> Vec<(ConnectionError, T)> {
        let timeout = self.timeout;
        let over = self
            .waiting
            .extract_if(|_, handshake| now >= handshake.since + timeout);
        over.map(|(_, handshake)| {
            let error = ConnectionError::NoAnswer {
                address: handshake.to,
                after: timeout,
            };
            (error, handshake.note)
        })
        .collect()
    }

    /// When to look again.
    pub fn timeout(&self) -> Option<Instant> {
        let each = self.waiting.values();
        each.map(|g| g.next.min(g.since + self.timeout)).min()
    }
}
