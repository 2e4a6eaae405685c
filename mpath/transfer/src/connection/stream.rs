//! The application's side of a connection.

use super::{ConnectionError, State};
use crate::endpoint::Clock;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;

/// A connection as the application and the endpoint's task share it.
pub struct Link {
    state: Mutex<State>,
    /// Wakes the endpoint's task.
    wakeup: Arc<Notify>,
    clock: Clock,
}

impl Link {
    /// Makes a shared connection of `state`.
    pub fn new(state: State, wakeup: Arc<Notify>, clock: Clock) -> Self {
        Self {
            state: Mutex::new(state),
            wakeup,
            clock,
        }
    }

    /// Works also after a panic: a connection that is dropped then must not cause another panic.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream each way, like TCP's. Written bytes are sent on all useful paths, and read in order. To be dropped after
/// `shutdown`, otherwise bytes in flight are given up.
///
/// `shutdown` returns when the peer has received everything; `flush` makes sure that everything is sent.
pub struct Connection {
    link: Arc<Link>,
}

/// Observes a connection that is in use elsewhere.
#[derive(Clone)]
pub struct Monitor {
    link: Arc<Link>,
}

/// The state of a connection.
#[derive(Clone, Debug)]
pub struct Status {
    /// Paths in use, with the direct one.
    pub paths: usize,
    /// Proxies that are in use or may be used.
    pub usable_proxies: usize,
    /// Packets sent again.
    pub retransmits: u64,
    /// The direct path's round trip.
    pub round_trip: Option<Duration>,
    /// All windows together, in packets.
    pub window: f64,
    /// UDP payload of a full packet on the direct path, in bytes.
    pub packet_bytes: usize,
    /// Bytes, approximately, that have arrived and have not been read.
    pub waiting_bytes: usize,
    /// The proxies in use, and how many packets each path has delivered.
    pub proxies: Vec<(SocketAddr, u64)>,
}

/// The state of one of a connection's paths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathStatus {
    /// Its proxy; none: the direct path.
    pub proxy: Option<SocketAddr>,
    /// Its window, in packets.
    pub window: f64,
    /// Packets that it has delivered.
    pub delivered: u64,
}

impl Connection {
    /// The application's side.
    pub(crate) fn new(link: Arc<Link>) -> Self {
        Self { link }
    }

    /// A monitor that observes the connection while it is in use.
    pub fn monitor(&self) -> Monitor {
        Monitor {
            link: Arc::clone(&self.link),
        }
    }
}

impl Monitor {
    /// Every path in use now.
    pub fn paths(&self) -> Vec<PathStatus> {
        self.link.lock().paths()
    }

    /// The protocol's own numbers now.
    pub fn info(&self) -> tidegate_mpath::Info {
        self.link.lock().info()
    }

    /// The state of the connection now.
    pub fn status(&self) -> Status {
        self.link.lock().status()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.link.lock().close(self.link.clock.now());
        self.link.wakeup.notify_one();
    }
}

fn done<T>(result: Poll<Result<T, ConnectionError>>) -> Poll<io::Result<T>> {
    result.map_err(io::Error::from)
}

impl AsyncRead for Connection {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        out: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let budget = ready!(tokio::task::coop::poll_proceed(context));
        let mut state = self.link.lock();
        let result = state.poll_read(context, out);
        if state.has_urgent_feedback() {
            self.link.wakeup.notify_one();
        }
        if result.is_ready() {
            budget.made_progress();
        }
        done(result)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let budget = ready!(tokio::task::coop::poll_proceed(context));
        let result = self.link.lock().poll_write(context, bytes);
        if result.is_ready() {
            budget.made_progress();
            self.link.wakeup.notify_one();
        }
        done(result)
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.link.lock().cut();
        self.link.wakeup.notify_one();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = self.link.lock().poll_shutdown(context);
        self.link.wakeup.notify_one();
        done(result)
    }
}
