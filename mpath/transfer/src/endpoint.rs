//! A socket and the task that drives its connections.

mod batch;
mod clock;
mod driver;
mod half_open;
mod handshakes;
mod socket;

pub(crate) use batch::Batch;
pub(crate) use clock::Clock;

use crate::connection::{Connection, ConnectionError, Link};
use crate::rejected::Rejections;
use crate::{Config, Identity, Rejected, Relay, Token};
use driver::{Command, Driver};
use socket::Socket;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use tidegate_mpath::wire::relay_header;
use tokio::sync::{Notify, mpsc, oneshot, watch};

/// The most connections that wait to be accepted.
const BACKLOG: usize = 16;

/// The size in bytes that the capabilities of unknown relays are assumed to have.
const CAPABILITY: usize = 32;

/// A UDP socket with its connections. It needs a Tokio runtime around it.
pub struct Endpoint {
    address: SocketAddr,
    commands: mpsc::UnboundedSender<Command>,
    accepted: tokio::sync::Mutex<mpsc::Receiver<Connection>>,
    rejected: Rejections,
    live: watch::Receiver<usize>,
}

impl Endpoint {
    /// Binds a socket. With an identity it accepts connections from peers that hold a token of it.
    ///
    /// # Errors
    /// When the address cannot be bound.
    pub fn bind(
        address: SocketAddr,
        identity: Option<Identity>,
        config: Config,
    ) -> io::Result<Self> {
        let socket = Socket::bind(address)?;
        let address = socket.local_address()?;
        let (commands, received) = mpsc::unbounded_channel();
        let (accepting, accepted) = mpsc::channel(BACKLOG);
        let (counting, live) = watch::channel(0);
        let rejected = Rejections::default();
        let driver = Driver::new(
            socket,
            identity,
            config,
            rejected.clone(),
            accepting,
            counting,
        );
        tokio::spawn(driver.run(received));
        Ok(Self {
            address,
            commands,
            accepted: tokio::sync::Mutex::new(accepted),
            rejected,
            live,
        })
    }

    /// Where it listens.
    pub fn local_address(&self) -> SocketAddr {
        self.address
    }

    /// The next connection from a peer; none when the socket no longer exists.
    pub async fn accept(&self) -> Option<Connection> {
        self.accepted.lock().await.recv().await
    }

    /// Connects to a token's receiver at `to`. The relays may change at any time; relays whose capability is much
    /// longer than those of the first ones are left out.
    ///
    /// # Errors
    /// If no answer comes.
    pub async fn connect(
        &self,
        token: &Token,
        to: SocketAddr,
        relays: Option<watch::Receiver<Vec<Relay>>>,
    ) -> Result<Connection, ConnectionError> {
        let envelope = relays.as_ref().map_or(0, |r| envelope(&r.borrow()));
        let (reply, answered) = oneshot::channel();
        let command = Command::Connect {
            token: Box::new(token.clone()),
            to,
            envelope,
            reply,
        };
        let gone = |_| ConnectionError::Endpoint;
        self.commands
            .send(command)
            .map_err(|_| ConnectionError::Endpoint)?;
        let (link, wakeup) = answered.await.map_err(gone)??;
        if let Some(relays) = relays {
            tokio::spawn(follow(relays, Arc::downgrade(&link), wakeup));
        }
        Ok(Connection::new(link))
    }

    /// Packets refused so far.
    pub fn rejected(&self) -> Rejected {
        self.rejected.so_far()
    }

    /// Waits until the peers of all dropped connections know that, or are assumed to.
    pub async fn wait_idle(&self) {
        // If the task has ended, there is nothing left to wait for.
        let _ = self.live.clone().wait_for(|&live| live == 0).await;
    }
}

/// Bytes to leave free in each packet for a relay's envelope.
fn envelope(relays: &[Relay]) -> usize {
    let longest = relays.iter().map(|relay| relay.capability.len()).max();
    relay_header(longest.unwrap_or(0).max(CAPABILITY))
}

/// Tells a connection its relays as long as both exist.
async fn follow(mut relays: watch::Receiver<Vec<Relay>>, link: Weak<Link>, wakeup: Arc<Notify>) {
    loop {
        let latest = relays.borrow_and_update().clone();
        let Some(link) = link.upgrade() else {
            return;
        };
        link.lock().update_relays(&latest);
        drop(link);
        wakeup.notify_one();
        if relays.changed().await.is_err() {
            return;
        }
    }
}
