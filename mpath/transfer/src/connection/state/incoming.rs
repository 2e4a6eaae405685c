//! Packets that arrive.

use super::{KEEP_ALIVE, State, wake};
use crate::connection::ConnectionError;
use crate::connection::shutdown::Shutdown;
use crate::rejected::Rejections;
use crate::session::Refused;
use std::net::SocketAddr;
use tidegate_mpath::wire::{self, Control, Packet, Sealed};
use tidegate_mpath::{Arrival, Data, Feedback, Instant, PathId};

impl State {
    /// A sealed packet arrives.
    pub fn receive(
        &mut self,
        now: Instant,
        from: SocketAddr,
        sealed: &Sealed,
        rejected: &Rejections,
    ) {
        let mut plain = std::mem::take(&mut self.plain);
        match self.session.open(sealed, &mut plain) {
            Ok(nonce) => self.receive_plain(now, from, nonce, &plain, rejected),
            Err(Refused::Forged) => rejected.count(|r| r.forged += 1),
            Err(Refused::Replayed) => rejected.count(|r| r.replayed += 1),
        }
        self.plain = plain;
    }

    /// As [`Self::receive`], of a packet that has been opened already.
    pub fn receive_plain(
        &mut self,
        now: Instant,
        from: SocketAddr,
        nonce: u64,
        plain: &[u8],
        rejected: &Rejections,
    ) {
        self.liveness.receive(now);
        match wire::parse(plain) {
            Ok(Packet::Data { data, payload, .. }) => {
                let direct = data.path == PathId::DIRECT;
                if self.peer_moves && direct && self.session.is_newest(nonce) {
                    self.peer = from;
                }
                self.receive_data(now, &data, payload, rejected);
            }
            Ok(Packet::Feedback { feedback, .. }) => self.receive_feedback(now, &feedback),
            Ok(Packet::Control { control, .. }) => self.receive_control(now, control),
            Ok(_) => rejected.count(|r| r.malformed += 1),
            Err(malformed) => rejected.count(|r| r.note(malformed)),
        }
    }

    fn receive_data(&mut self, now: Instant, data: &Data, payload: &[u8], rejected: &Rejections) {
        if self.shutdown.is_some() {
            return;
        }
        match self.receiver.receive(now, data) {
            Arrival::New => {
                let mut buffer = self.incoming.buffer();
                buffer.extend_from_slice(payload);
                self.incoming.put(data.stream, buffer);
            }
            Arrival::Duplicate => {}
            Arrival::Refused => rejected.count(|r| r.unwanted += 1),
        }
        if self.receiver.readable() > 0 || self.receiver.finished() {
            wake(&mut self.reader);
        }
    }

    fn receive_feedback(&mut self, now: Instant, feedback: &Feedback) {
        let before = self.sender.acknowledged();
        self.sender.receive(now, feedback);
        let delivered = self
            .sender
            .paths()
            .next()
            .map_or(0, |direct| direct.delivered);
        let timeouts = self.sender.info().timeouts;
        self.black_hole.note(delivered, timeouts);
        self.release(before);
    }

    /// Returns the buffers of the packets that have been acknowledged since `before`.
    fn release(&mut self, before: u64) {
        let acknowledged = self.sender.acknowledged();
        if acknowledged == before {
            return;
        }
        for number in before..acknowledged {
            let buffer = self.outgoing.take(number);
            self.outgoing.give_back(buffer);
        }
        if self.has_room() || self.sender.is_acknowledged() {
            wake(&mut self.writer);
        }
    }

    fn receive_control(&mut self, now: Instant, control: Control) {
        match control {
            Control::Ping(number) => self.send_control(Control::Pong(number)),
            Control::Pong(KEEP_ALIVE) => self.black_hole.answered(),
            Control::Pong(size) => self.mtu.answered(size as usize),
            Control::Close(read) => self.receive_close(now, read),
            // Only as an answer: otherwise the application would wait for ever, without an error.
            Control::Closed if self.shutdown.is_some() => self.shutdown = Some(Shutdown::done()),
            Control::Closed => {}
        }
    }

    /// The peer has closed. Its message also acknowledges what it had read. If this end is closing, too, it need not
    /// repeat its own message: the peer may remove the connection as soon as it has its answer.
    fn receive_close(&mut self, now: Instant, read: u64) {
        self.send_control(Control::Closed);
        if let Some(shutdown) = &mut self.shutdown {
            shutdown.peer_closed(now);
            return;
        }
        self.receive_feedback(
            now,
            &Feedback {
                next: read,
                ..Feedback::default()
            },
        );
        self.fail(ConnectionError::Closed);
        self.shutdown = Some(Shutdown::draining(now));
    }
}
