//! A connection without I/O: the protocol's two ends for each direction, their payloads, the session.

use super::error::ConnectionError;
use super::liveness::{Liveness, Parting, Silence};
use crate::Config;
use crate::endpoint::Batch;
use crate::mtu::{Look, Mtu, Suspicion};
use crate::packets::Packets;
use crate::rejected::Rejected;
use crate::relays::{Relay, Relays};
use crate::session::{Refused, Session};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::task::{Context, Poll, Waker};
use tidegate_mpath::wire::{
    self, CONTROL_HEADER, Control, DATA_HEADER, Packet, SEAL, Sealed, write_control, write_data,
    write_feedback,
};
use tidegate_mpath::{
    Arrival, Data, Feedback, Instant, PathId, Receiver, ReceiverConfig, Sender, Transmission,
};

/// Packets that may wait to be sent for the first time; more would only grow old in memory.
const UNSENT: u64 = 256;

/// Words that may wait to be said: a peer that asks faster is not answered.
const CONTROLS: usize = 64;

/// What a connection begins with.
pub struct Parameters {
    /// Settings.
    pub config: Config,
    /// Its session.
    pub session: Session,
    /// Where the peer's direct packets come from.
    pub peer: SocketAddr,
    /// Whether it may come to send from elsewhere, as behind a NAT. Receivers stay: relays' capabilities
    /// are for their addresses.
    pub peer_moves: bool,
    /// Bytes to leave free in each packet for a relay's envelope.
    pub envelope: usize,
    /// Where random choices start from.
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
    /// Packets that may be written and not acknowledged.
    capacity: u64,
    /// The packet that is being written.
    writing: Vec<u8>,
    written: u64,
    /// Numbers below it have been sent.
    sent: u64,
    finished: bool,
    /// The packet that is being read, and how much of it has been.
    reading: (Vec<u8>, usize),
    read: u64,
    relays: Relays,
    mtu: Mtu,
    suspicion: Suspicion,
    liveness: Liveness,
    /// Words to be said, each with the size of its packet.
    controls: VecDeque<(Control, usize)>,
    error: Option<ConnectionError>,
    parting: Option<Parting>,
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
            // One more: the end may need an empty packet of its own.
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
            suspicion: Suspicion::default(),
            liveness: Liveness::new(now, &config),
            controls: VecDeque::new(),
            error: None,
            parting: None,
            plain: Vec::new(),
            reader: None,
            writer: None,
        }
    }

    /// Bytes of the stream that go into a packet.
    fn payload(&self) -> usize {
        self.mtu.size() - SEAL - DATA_HEADER - self.relays.envelope()
    }

    /// The registry's latest list of relays.
    pub fn update_relays(&mut self, relays: &[Relay]) {
        let new = self.relays.update(relays);
        self.sender.add_proxies(new);
    }

    // What arrives.

    /// A sealed packet arrives.
    pub fn receive(
        &mut self,
        now: Instant,
        from: SocketAddr,
        sealed: &Sealed,
        rejected: &mut Rejected,
    ) {
        let mut plain = std::mem::take(&mut self.plain);
        match self.session.open(sealed, &mut plain) {
            Ok(nonce) => self.receive_plain(now, from, nonce, &plain, rejected),
            Err(Refused::Forged) => rejected.forged += 1,
            Err(Refused::Replayed) => rejected.replayed += 1,
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
        rejected: &mut Rejected,
    ) {
        self.liveness.hear(now);
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
            Ok(_) => rejected.malformed += 1,
            Err(malformed) => rejected.count(malformed),
        }
    }

    fn receive_data(&mut self, now: Instant, data: &Data, payload: &[u8], rejected: &mut Rejected) {
        if self.parting.is_some() {
            return;
        }
        match self.receiver.receive(now, data) {
            Arrival::New => {
                let mut buffer = self.incoming.buffer();
                buffer.extend_from_slice(payload);
                self.incoming.put(data.stream, buffer);
            }
            Arrival::Duplicate => {}
            Arrival::Refused => rejected.unwanted += 1,
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
        self.suspicion.note(delivered, timeouts);
        self.release(before);
    }

    /// Gives the buffers back of what has been acknowledged since.
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
            Control::Ping(number) => self.say(Control::Pong(number)),
            Control::Pong(0) => self.suspicion.answered(),
            Control::Pong(size) => self.mtu.answered(size as usize),
            Control::Close(read) => self.receive_close(now, read),
            // Only an answer: else the application would wait for ever, without an error.
            Control::Closed if self.parting.is_some() => self.parting = Some(Parting::over()),
            Control::Closed => {}
        }
    }

    /// The peer has gone. What it had read is acknowledged with that. An end that is going itself need not
    /// say so any more: the peer may have forgotten the connection as soon as it has its answer.
    fn receive_close(&mut self, now: Instant, read: u64) {
        self.say(Control::Closed);
        if let Some(parting) = &mut self.parting {
            parting.hear(now);
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
        self.parting = Some(Parting::gone(now));
    }

    /// Ends with an error, unless it has ended.
    fn fail(&mut self, error: ConnectionError) {
        self.error.get_or_insert(error);
        wake(&mut self.reader);
        wake(&mut self.writer);
    }

    /// As [`Self::fail`], with nothing left to be said.
    pub fn abandon(&mut self, error: ConnectionError) {
        self.fail(error);
        self.parting = Some(Parting::over());
    }

    // What is sent.

    fn say(&mut self, control: Control) {
        if self.controls.len() < CONTROLS {
            self.controls.push_back((control, 0));
        }
    }

    /// Puts packets into the batch until that is full or nothing is to be sent at `now`.
    pub fn transmit(&mut self, now: Instant, batch: &mut Batch) {
        self.cut_when_idle();
        while !batch.is_full() && self.transmit_one(now, batch) {}
        if self.has_room() {
            wake(&mut self.writer);
        }
    }

    fn transmit_one(&mut self, now: Instant, batch: &mut Batch) -> bool {
        self.plain.clear();
        let connection = self.session.connection();
        if let Some((control, size)) = self.controls.pop_front() {
            write_control(&mut self.plain, connection, control);
            self.plain
                .resize(size.saturating_sub(SEAL).max(CONTROL_HEADER), 0);
            let (session, plain) = (&mut self.session, &self.plain);
            batch.push_alone(self.peer, |out| session.seal(plain, out));
            return true;
        }
        if self.parting.is_some() {
            return false;
        }
        if let Some(feedback) = self.receiver.transmit(now) {
            write_feedback(&mut self.plain, connection, &feedback);
            self.seal(batch, None);
            return true;
        }
        let Some(Transmission { proxy, data }) = self.sender.transmit(now) else {
            return false;
        };
        write_data(&mut self.plain, connection, &data);
        self.plain.extend_from_slice(self.outgoing.get(data.stream));
        self.sent = self.sent.max(data.stream + 1);
        self.seal(batch, proxy);
        true
    }

    fn seal(&mut self, batch: &mut Batch, proxy: Option<tidegate_mpath::ProxyId>) {
        let relay = proxy.and_then(|id| self.relays.get(id));
        let (session, plain) = (&mut self.session, &self.plain);
        batch.push(self.peer, relay, |out| session.seal(plain, out));
    }

    /// When to call [`Self::expire`].
    pub fn timeout(&self) -> Instant {
        if let Some(parting) = &self.parting {
            return parting.timeout();
        }
        [
            self.sender.timeout(),
            self.receiver.timeout(),
            self.mtu.timeout(),
        ]
        .into_iter()
        .flatten()
        .fold(self.liveness.timeout(), Instant::min)
    }

    /// Time has passed.
    pub fn expire(&mut self, now: Instant) {
        if let Some(parting) = &mut self.parting {
            if parting.says(now) {
                let read = self.receiver.next();
                self.say(Control::Close(read));
            }
            return;
        }
        match self.liveness.look(now) {
            Silence::TooLong => {
                let vanished = ConnectionError::Vanished(self.liveness.idle_timeout());
                return self.abandon(vanished);
            }
            Silence::Long => self.say(Control::Ping(0)),
            Silence::Short => {}
        }
        if self.session.is_worn_out() {
            return self.abandon(ConnectionError::WornOut);
        }
        for size in self.mtu.probes(now) {
            self.controls.push_back((Control::Ping(size as u64), size));
        }
        self.sender.expire(now);
        self.suspect_size(now);
    }

    fn suspect_size(&mut self, now: Instant) {
        match self.suspicion.look(self.sender.info().timeouts) {
            Look::BlackHole if self.mtu.shrink() => {
                self.fail(ConnectionError::Shrunk);
                self.parting = Some(Parting::going(now));
            }
            Look::Ask => self.say(Control::Ping(0)),
            _ => {}
        }
    }

    /// Whether the connection can be forgotten.
    pub fn is_over(&self, now: Instant) -> bool {
        self.parting.as_ref().is_some_and(|p| p.is_over(now)) && self.controls.is_empty()
    }

    /// Whether the peer knows all that it should of the connection's end.
    pub fn is_settled(&self) -> bool {
        matches!(self.parting, Some(Parting::Gone { .. })) && self.controls.is_empty()
    }

    // What the application does.

    /// Whether another packet may be written.
    fn has_room(&self) -> bool {
        // The end may be a packet of its own, sent and acknowledged without having been written.
        let kept = self.written.saturating_sub(self.sender.acknowledged());
        kept < self.capacity && self.written.saturating_sub(self.sent) < UNSENT
    }

    /// Writes some of `bytes`.
    pub fn poll_write(
        &mut self,
        context: &mut Context,
        bytes: &[u8],
    ) -> Poll<Result<usize, ConnectionError>> {
        if let Some(error) = &self.error {
            return Poll::Ready(Err(error.clone()));
        }
        if self.finished {
            return Poll::Ready(Err(ConnectionError::Closed));
        }
        let mut left = bytes;
        while !left.is_empty() && self.has_room() {
            let room = self.payload().saturating_sub(self.writing.len());
            let (now, later) = left.split_at(left.len().min(room));
            self.writing.extend_from_slice(now);
            left = later;
            if self.writing.len() >= self.payload() {
                self.cut();
            }
        }
        let taken = bytes.len() - left.len();
        if taken == 0 && !bytes.is_empty() {
            self.writer = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(Ok(taken))
    }

    /// What has been written so far becomes a packet.
    pub fn cut(&mut self) {
        if self.writing.is_empty() {
            return;
        }
        let next = self.outgoing.buffer();
        let packet = std::mem::replace(&mut self.writing, next);
        self.outgoing.put(self.written, packet);
        self.written += 1;
        self.sender.write(1);
    }

    /// A little that was written goes when nothing is on its way (RFC 896).
    fn cut_when_idle(&mut self) {
        if self.sender.is_acknowledged() && self.has_room() {
            self.cut();
        }
    }

    /// The application has nothing more to write; ready when all of it has been acknowledged.
    pub fn poll_shutdown(&mut self, context: &mut Context) -> Poll<Result<(), ConnectionError>> {
        if !self.finished {
            self.cut();
            self.sender.finish();
            self.finished = true;
        }
        if self.sender.is_acknowledged() {
            return Poll::Ready(Ok(()));
        }
        if let Some(error) = &self.error {
            return Poll::Ready(Err(error.clone()));
        }
        self.writer = Some(context.waker().clone());
        Poll::Pending
    }

    /// Reads into `out` until that is full or nothing more has come in order; 0 bytes: the end.
    pub fn poll_read(
        &mut self,
        context: &mut Context,
        out: &mut tokio::io::ReadBuf,
    ) -> Poll<Result<(), ConnectionError>> {
        let before = out.filled().len();
        while out.remaining() > 0 && self.has_reading() {
            let (packet, done) = &mut self.reading;
            let count = out.remaining().min(packet.len() - *done);
            out.put_slice(&packet[*done..*done + count]);
            *done += count;
        }
        if out.filled().len() > before || out.remaining() == 0 || self.receiver.finished() {
            return Poll::Ready(Ok(()));
        }
        if let Some(error) = &self.error {
            return Poll::Ready(Err(error.clone()));
        }
        self.reader = Some(context.waker().clone());
        Poll::Pending
    }

    /// Whether there is something to read; takes the next packet for that if need be.
    fn has_reading(&mut self) -> bool {
        while self.reading.1 == self.reading.0.len() {
            if self.receiver.read(1) == 0 {
                return false;
            }
            let next = self.incoming.take(self.read);
            let read = std::mem::replace(&mut self.reading, (next, 0));
            self.incoming.give_back(read.0);
            self.read += 1;
        }
        true
    }

    /// Whether the peer should be told at once that there is room again.
    pub fn has_urgent_feedback(&self) -> bool {
        self.receiver.is_urgent()
    }

    /// The application has gone.
    pub fn close(&mut self, now: Instant) {
        if self.parting.is_none() {
            self.parting = Some(Parting::going(now));
        }
        self.error.get_or_insert(ConnectionError::Endpoint);
    }

    /// What the paths do.
    pub fn status(&self) -> super::Status {
        let info = self.sender.info();
        super::Status {
            paths: self.sender.paths().count(),
            usable_proxies: info.usable_proxies,
            retransmits: info.retransmits,
            round_trip: info.direct_rtt,
            window: info.window,
            packet_bytes: self.mtu.size(),
            waiting_bytes: self.receiver.waiting() as usize * self.payload(),
            proxies: self.proxies(),
        }
    }

    /// Every path in use.
    pub fn paths(&self) -> Vec<super::PathStatus> {
        let path = |path: tidegate_mpath::PathInfo| super::PathStatus {
            proxy: path.proxy.and_then(|id| Some(self.relays.get(id)?.address)),
            window: path.window,
            delivered: path.delivered,
        };
        self.sender.paths().map(path).collect()
    }

    /// What the protocol knows of itself.
    pub fn info(&self) -> tidegate_mpath::Info {
        self.sender.info()
    }

    fn proxies(&self) -> Vec<(SocketAddr, u64)> {
        let paths = self.sender.paths();
        let proxied = paths.filter_map(|path| {
            let relay = self.relays.get(path.proxy?)?;
            Some((relay.address, path.delivered))
        });
        proxied.collect()
    }
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}

#[cfg(test)]
mod tests;
