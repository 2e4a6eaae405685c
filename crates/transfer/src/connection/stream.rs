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
    /// Rouses the endpoint's task.
    wakeup: Arc<Notify>,
    clock: Clock,
}

impl Link {
    /// Shares it.
    pub fn new(state: State, wakeup: Arc<Notify>, clock: Clock) -> Self {
        Self {
            state: Mutex::new(state),
            wakeup,
            clock,
        }
    }

    /// Also after a panic: who drops a connection then must not panic again.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream each way, like TCP's. What is written goes over all paths that are worth it, what is read
/// comes in order. To be dropped after `shutdown`, or else what is on its way is given up.
///
/// `shutdown` returns when the peer has everything; `flush` makes sure that everything leaves.
pub struct Connection {
    link: Arc<Link>,
}

/// Looks at a connection that is in use elsewhere.
#[derive(Clone)]
pub struct Monitor {
    link: Arc<Link>,
}

/// What a connection does.
#[derive(Clone, Debug)]
pub struct Status {
    /// Paths in use, with the direct one.
    pub paths: usize,
    /// Proxies that may be used or are.
    pub usable_proxies: usize,
    /// Packets sent again.
    pub retransmits: u64,
    /// The direct path's round trip.
    pub round_trip: Option<Duration>,
    /// All windows together, in packets.
    pub window: f64,
    /// UDP payload of a full packet on the direct path, in bytes.
    pub packet_bytes: usize,
    /// Bytes, about, that have come and have not been read.
    pub waiting_bytes: usize,
    /// The proxies in use, and how many packets each path has delivered.
    pub proxies: Vec<(SocketAddr, u64)>,
}

/// What one of a connection's paths does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathStatus {
    /// Whose path it is; none: the direct one.
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

    /// Something to look at it with while it is in use.
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

    /// What the protocol knows of itself now.
    pub fn info(&self) -> tidegate_mpath::Info {
        self.link.lock().info()
    }

    /// What the connection does now.
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
