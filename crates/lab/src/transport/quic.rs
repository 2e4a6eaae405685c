//! QUIC (quinn), as in applications: over UDP sockets of the hosts' kernels, in this process.
//!
//! A runtime with its own threads drives the connections, so that acknowledgements leave while a workload sleeps; the
//! workloads' threads wait for its results.

mod control;
mod socket;
mod stream;

pub use control::{Control, takes_quic};
pub use stream::{QuicListener, QuicStream};

use crate::quic_ends::{NAME, identity};
use crate::term::Term;
use anyhow::{Context, Result};
use control::initial_window;
use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime, TransportConfig};
use socket::Counted;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};

/// The receive window in bytes: as large as TCP's on Linux. Chrome allows 6 MB for a stream and 15 MB for a connection,
/// which an over-buffered link of a few hundred Mbit/s can use up; here the receive window never limits.
const WINDOW: u32 = 32 << 20;

/// How long a call may block before its caller looks at the time.
const SLICE: Duration = Duration::from_millis(20);

/// QUIC between two hosts: a runtime, and their configurations.
pub struct Quic {
    runtime: Runtime,
    server: ServerConfig,
    client: ClientConfig,
    /// Datagrams lost because a socket's buffer was full.
    lost: Arc<AtomicU64>,
}

impl fmt::Debug for Quic {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Quic").finish_non_exhaustive()
    }
}

impl Quic {
    /// For senders with that congestion control, and that initial window in packets; absent: quinn's default.
    ///
    /// # Errors
    /// When threads cannot be started.
    pub fn new(control: Control, initial_packets: Option<u32>) -> Result<Self> {
        let (mut server, mut client) = identity()?;
        let mut transport = TransportConfig::default();
        transport
            .congestion_controller_factory(control.factory(initial_packets.map(initial_window)))
            .stream_receive_window(WINDOW.into())
            .send_window(WINDOW.into())
            // No timeout, like TCP, which may be silent for as long as there is nothing to send.
            .max_idle_timeout(None);
        let transport = Arc::new(transport);
        server.transport_config(transport.clone());
        client.transport_config(transport);
        // A thread for each host.
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("quic")
            .enable_all()
            .build()
            .context("cannot start threads for QUIC")?;
        Ok(Self {
            runtime,
            server,
            client,
            lost: Arc::default(),
        })
    }

    /// Packets that were lost between a host's kernel and its end of a connection.
    pub fn losses(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// An endpoint at a port that the kernel chooses, in the calling thread's namespace.
    fn endpoint(&self, at: IpAddr, server: Option<ServerConfig>) -> Result<(Endpoint, Counted)> {
        let socket = Counted::bind(at, self.lost.clone())?;
        let _runtime = self.runtime.enter();
        let config = EndpointConfig::default();
        let endpoint = Endpoint::new(config, server, socket.open()?, Arc::new(TokioRuntime));
        Ok((endpoint.context("cannot use a UDP socket")?, socket))
    }

    /// Listens at `address`, at a port that the kernel chooses.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn listen(&self, address: IpAddr) -> Result<(QuicListener, SocketAddr)> {
        let (endpoint, socket) = self.endpoint(address, Some(self.server.clone()))?;
        let at = endpoint.local_addr()?;
        Ok((QuicListener::new(self.waiter(), endpoint, socket), at))
    }

    /// Connects within `term`; none if it ended first.
    ///
    /// # Errors
    /// When the peer refuses.
    pub fn connect(&self, to: SocketAddr, term: &Term) -> Result<Option<QuicStream>> {
        let any = match to {
            SocketAddr::V4(_) => IpAddr::from([0, 0, 0, 0]),
            SocketAddr::V6(_) => IpAddr::from([0; 16]),
        };
        let (endpoint, socket) = self.endpoint(any, None)?;
        let port = endpoint.local_addr()?.port();
        let waiter = self.waiter();
        let connecting = {
            let _runtime = self.runtime.enter();
            endpoint.connect_with(self.client.clone(), to, NAME)?
        };
        match waiter.wait(term, connecting) {
            Some(Ok(connection)) => Ok(Some(QuicStream::new(
                waiter,
                connection,
                port,
                Some(socket),
            ))),
            // The other end may have closed because the term is over.
            Some(Err(_)) if term.is_over() => Ok(None),
            Some(Err(error)) => Err(error).with_context(|| format!("cannot connect to {to}")),
            None => Ok(None),
        }
    }

    fn waiter(&self) -> Waiter {
        Waiter(self.runtime.handle().clone())
    }
}

/// Lets a workload's thread wait for the runtime's threads.
#[derive(Clone, Debug)]
struct Waiter(Handle);

impl Waiter {
    /// The future's result; none if the term ended first.
    fn wait<T>(&self, term: &Term, what: impl Future<Output = T>) -> Option<T> {
        let mut what = pin!(what);
        while !term.is_over() {
            let slice = async { tokio::time::timeout(SLICE, &mut what).await };
            if let Ok(came) = self.0.block_on(slice) {
                return Some(came);
            }
        }
        None
    }
}
