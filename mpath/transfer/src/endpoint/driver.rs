//! The task of an endpoint: passes arriving packets to their connections, sends the packets of the connections, and
//! keeps their timers.

#[cfg(test)]
mod campaign;

use super::half_open::{HalfOpen, Unanswered};
use super::handshakes::Handshakes;
use super::socket::Socket;
use super::{Batch, Clock};
use crate::connection::{Connection, ConnectionError, Link, Parameters, State};
use crate::mtu;
use crate::rejected::Rejections;
use crate::session::{Initiator, Refused, Session};
use crate::{Config, Identity, Rejected, Token};
use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use tidegate_mpath::Instant;
use tidegate_mpath::wire::{self, Hello, Packet, Sealed};
use tokio::sync::{Notify, mpsc, oneshot, watch};

/// How the caller of `connect` gets the result.
pub type Reply = oneshot::Sender<Result<(Arc<Link>, Arc<Notify>), ConnectionError>>;

/// A request of the endpoint to its task.
pub enum Command {
    /// Make a connection.
    Connect {
        token: Box<Token>,
        to: SocketAddr,
        /// Bytes to leave free in each packet for a relay's envelope.
        envelope: usize,
        reply: Reply,
    },
}

/// The data of a handshake that was begun.
struct Asked {
    envelope: usize,
    reply: Reply,
}

/// The task.
pub struct Driver {
    socket: Socket,
    core: Core,
}

/// Everything but the socket.
struct Core {
    identity: Option<Identity>,
    config: Config,
    clock: Clock,
    wakeup: Arc<Notify>,
    links: HashMap<u64, Arc<Link>>,
    handshakes: Handshakes<Asked>,
    half_open: HalfOpen,
    batch: Batch,
    rejected: Rejections,
    accepted: mpsc::Sender<Connection>,
    /// Connections whose end the peer does not know yet.
    live: usize,
    told_live: watch::Sender<usize>,
    /// Plaintext of a half open session's first packet.
    plain: Vec<u8>,
}

impl Driver {
    /// A task without connections.
    pub fn new(
        socket: Socket,
        identity: Option<Identity>,
        config: Config,
        rejected: Rejections,
        accepted: mpsc::Sender<Connection>,
        live: watch::Sender<usize>,
    ) -> Self {
        let batch = Batch::new(socket.segments());
        Self {
            socket,
            core: Core {
                identity,
                config,
                clock: Clock::new(),
                wakeup: Arc::new(Notify::new()),
                links: HashMap::new(),
                handshakes: Handshakes::new(config.handshake_timeout),
                half_open: HalfOpen::default(),
                batch,
                rejected,
                accepted,
                live: 0,
                told_live: live,
                plain: Vec::new(),
            },
        }
    }

    /// Runs until the endpoint and its connections are gone.
    pub async fn run(mut self, mut commands: mpsc::UnboundedReceiver<Command>) {
        let wakeup = Arc::clone(&self.core.wakeup);
        let mut open = true;
        while open || !self.core.links.is_empty() {
            let received = self.receive();
            let core = &mut self.core;
            let next = core.work();
            let blocked = !self.socket.send(&mut core.batch);
            core.tell_live();
            if !blocked && (received || next <= core.clock.now()) {
                // Lets the readers and writers run.
                tokio::task::yield_now().await;
                while let Ok(command) = commands.try_recv() {
                    self.core.execute(command);
                }
                continue;
            }
            tokio::select! {
                command = commands.recv(), if open => match command {
                    Some(command) => self.core.execute(command),
                    None => open = false,
                },
                () = wakeup.notified() => {}
                // An error here would be the runtime's, which is about to end.
                _ = self.socket.ready(blocked) => {}
                // While nothing can be sent, no timer needs action.
                () = tokio::time::sleep_until(self.core.clock.at(next)), if !blocked => {}
            }
        }
    }
}

impl Driver {
    /// Receives the packets that are there, up to a limit; returns whether there were any. Timeouts are checked only if
    /// there were none: if the machine is late, the missing answer is among the packets.
    fn receive(&mut self) -> bool {
        let core = &mut self.core;
        let now = core.clock.now();
        let mut packets = 0;
        while packets < AT_ONCE {
            let more = self
                .socket
                .receive(|from, packet| core.receive(now, from, packet));
            if more == 0 {
                break;
            }
            packets += more;
        }
        packets > 0
    }
}

impl Drop for Core {
    /// Tells waiting callers that the endpoint has ended.
    fn drop(&mut self) {
        for link in self.links.values() {
            link.lock().abort(ConnectionError::Endpoint);
        }
        self.told_live.send_replace(0);
    }
}

impl Core {
    fn execute(&mut self, command: Command) {
        let Command::Connect {
            token,
            to,
            envelope,
            reply,
        } = command;
        let connection = rand::random();
        let Ok(initiator) = Initiator::new(&token, connection) else {
            let _ = reply.send(Err(ConnectionError::Token));
            return;
        };
        let now = self.clock.now();
        let asked = Asked { envelope, reply };
        self.handshakes.begin(now, connection, initiator, to, asked);
    }

    fn reject(&self, count: impl FnOnce(&mut Rejected)) {
        self.rejected.count(count);
    }

    fn receive(&mut self, now: Instant, from: SocketAddr, packet: &[u8]) {
        if packet.len() > self.config.largest_packet {
            return self.reject(|r| r.oversized += 1);
        }
        match wire::parse(packet) {
            Ok(Packet::Sealed(sealed)) => self.receive_sealed(now, from, &sealed),
            Ok(Packet::Hello(hello)) => self.receive_hello(now, from, &hello, packet.len()),
            Ok(Packet::Answer(answer)) => {
                self.receive_answer(now, answer.connection, answer.message);
            }
            Ok(_) => self.reject(|r| r.malformed += 1),
            Err(malformed) => self.reject(|r| r.note(malformed)),
        }
    }

    fn receive_sealed(&mut self, now: Instant, from: SocketAddr, sealed: &Sealed) {
        let Some(link) = self.links.get(&sealed.connection) else {
            return self.receive_first(now, from, sealed);
        };
        link.lock().receive(now, from, sealed, &self.rejected);
    }

    /// The first packet of a session shows that the peer has received the answer.
    fn receive_first(&mut self, now: Instant, from: SocketAddr, sealed: &Sealed) {
        let Some(session) = self.half_open.get_mut(sealed.connection) else {
            return self.reject(|r| r.unknown += 1);
        };
        if self.links.len() >= self.config.connections {
            return self.reject(|r| r.crowded += 1);
        }
        let Ok(place) = self.accepted.clone().try_reserve_owned() else {
            return self.reject(|r| r.crowded += 1);
        };
        let nonce = match session.open(sealed, &mut self.plain) {
            Ok(nonce) => nonce,
            Err(Refused::Forged) => return self.reject(|r| r.forged += 1),
            Err(Refused::Replayed) => return self.reject(|r| r.replayed += 1),
        };
        let session = self.half_open.take(sealed.connection);
        let session = session.expect("it was there just now");
        let link = self.open(now, session, from, None);
        link.lock()
            .receive_plain(now, from, nonce, &self.plain, &self.rejected);
        place.send(Connection::new(link));
    }

    fn receive_hello(&mut self, now: Instant, from: SocketAddr, hello: &Hello, bytes: usize) {
        let Some(identity) = &self.identity else {
            return self.reject(|r| r.malformed += 1);
        };
        if bytes < mtu::BASE {
            return self.reject(|r| r.truncated += 1);
        }
        if self.links.contains_key(&hello.connection) {
            // A late repetition: later packets show that the answer has arrived.
            return;
        }
        match self.half_open.answer(now, identity, hello) {
            Ok(answer) => self.batch.push(from, None, |out| out.extend(answer)),
            Err(Unanswered::Unauthenticated) => self.reject(|r| r.strangers += 1),
            Err(Unanswered::Replayed) => self.reject(|r| r.replayed += 1),
            Err(Unanswered::Full) => self.reject(|r| r.crowded += 1),
        }
    }

    fn receive_answer(&mut self, now: Instant, connection: u64, message: &[u8]) {
        match self.handshakes.answer(connection, message) {
            None => self.reject(|r| r.unknown += 1),
            Some(Err(())) => self.reject(|r| r.forged += 1),
            Some(Ok((session, peer, asked))) => {
                let link = self.open(now, session, peer, Some(asked.envelope));
                let answer = (Arc::clone(&link), Arc::clone(&self.wakeup));
                if asked.reply.send(Ok(answer)).is_err() {
                    link.lock().close(now);
                }
            }
        }
    }

    /// Opens a connection; the side that asked for it leaves room for envelopes, and its peer's address does not
    /// change.
    fn open(
        &mut self,
        now: Instant,
        session: Session,
        peer: SocketAddr,
        made_here: Option<usize>,
    ) -> Arc<Link> {
        let connection = session.connection();
        let parameters = Parameters {
            config: self.config,
            session,
            peer,
            peer_moves: made_here.is_none(),
            envelope: made_here.unwrap_or(0),
            seed: rand::random(),
        };
        let state = State::new(now, parameters);
        let link = Arc::new(Link::new(state, Arc::clone(&self.wakeup), self.clock));
        self.links.insert(connection, Arc::clone(&link));
        link
    }

    /// After sending, so that a caller who waits for this may end the runtime.
    fn tell_live(&self) {
        let live = self.live;
        self.told_live
            .send_if_modified(|told| std::mem::replace(told, live) != live);
    }

    /// Lets each connection fill the batch as far as there is room; returns when to be called again.
    fn work(&mut self) -> Instant {
        let now = self.clock.now();
        for (error, asked) in self.handshakes.expire(now) {
            let _ = asked.reply.send(Err(error));
        }
        self.handshakes.transmit(now, &mut self.batch);
        let mut next = self.handshakes.timeout().unwrap_or(Instant::MAX);
        let mut over = Vec::new();
        let mut live = 0;
        for (&connection, link) in &self.links {
            let mut state = link.lock();
            state.expire(now);
            state.transmit(now, &mut self.batch);
            live += usize::from(!state.is_settled());
            if state.is_over(now) {
                over.push(connection);
            } else {
                next = next.min(state.timeout());
            }
        }
        for connection in over {
            self.links.remove(&connection);
        }
        self.live = live;
        // A connection that found no room in the batch is served as soon as the batch is sent.
        match self.batch.is_full() {
            true => Instant::ZERO,
            false => next.min(now + LONGEST),
        }
    }
}

/// The most packets that are received before others get their turn.
const AT_ONCE: usize = 256;

/// The longest time of a timer.
const LONGEST: std::time::Duration = std::time::Duration::from_secs(60);
