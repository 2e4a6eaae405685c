//! QUIC (quinn), as applications have it: over UDP sockets of the hosts' kernels, in this process.
//!
//! A runtime with threads of its own drives the connections, so that acknowledgements leave while a
//! workload sleeps; the workloads' threads wait for what they ask of it. Data of each direction go on a
//! stream that their sender opens.

mod control;
mod socket;

pub use control::{Control, takes_quic};

use super::{Arrival, Info};
use crate::term::Term;
use anyhow::{Context, Result, anyhow};
use control::initial_window;
use quinn::{
    ClientConfig, Connection, ConnectionError, ConnectionStats, Endpoint, EndpointConfig,
    ReadError, RecvStream, SendStream, ServerConfig, TokioRuntime, TransportConfig, VarInt,
};
use rustls::RootCertStore;
use rustls::pki_types::PrivatePkcs8KeyDer;
use socket::Counted;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{self, Poll, Waker};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::Mutex;

/// What an end may send ahead of the other's application, in bytes: what Linux lets TCP have. Chrome allows
/// 6 MB on a stream and 15 MB on a connection, which an over-buffered link of a few hundred Mbit/s takes; here
/// no receive window is ever the limit.
const WINDOW: u32 = 32 << 20;

/// The name in the server's certificate.
const NAME: &str = "server";

/// How long a call may block before its caller looks at the time.
const SLICE: Duration = Duration::from_millis(20);

/// Connections that were closed because nothing more was to come, and that were given up.
const DONE: VarInt = VarInt::from_u32(0);
const ABORTED: VarInt = VarInt::from_u32(1);

/// What both hosts need to speak QUIC with each other.
pub struct Quic {
    runtime: Runtime,
    server: ServerConfig,
    client: ClientConfig,
    /// Datagrams that found no room in a socket.
    lost: Arc<AtomicU64>,
}

impl fmt::Debug for Quic {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Quic").finish_non_exhaustive()
    }
}

impl Quic {
    /// Senders with that congestion control and an initial window of so many packets; absent: quinn's.
    ///
    /// # Errors
    /// When there can be no threads.
    pub fn new(control: Control, initial_packets: Option<u32>) -> Result<Self> {
        let own = rcgen::generate_simple_self_signed([NAME.to_owned()])?;
        let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
        let certificate = own.cert.der().clone();
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone())?;
        let mut server = ServerConfig::with_single_cert(vec![certificate], key.into())?;
        let mut client = ClientConfig::with_root_certificates(Arc::new(roots))?;
        let mut transport = TransportConfig::default();
        transport
            .congestion_controller_factory(control.factory(initial_packets.map(initial_window)))
            .stream_receive_window(WINDOW.into())
            .send_window(WINDOW.into())
            // As TCP, which is silent for as long as there is nothing to send.
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
        let listener = QuicListener {
            waiter: self.waiter(),
            endpoint,
            _socket: socket,
        };
        Ok((listener, at))
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
            // The other end may have gone with the term.
            Some(Err(_)) if term.is_over() => Ok(None),
            Some(Err(error)) => Err(error).with_context(|| format!("cannot connect to {to}")),
            None => Ok(None),
        }
    }

    fn waiter(&self) -> Waiter {
        Waiter(self.runtime.handle().clone())
    }
}

/// Lets a workload's thread wait for what the runtime's do.
#[derive(Clone, Debug)]
struct Waiter(Handle);

impl Waiter {
    /// What comes of it within the term; none if that ended first.
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

/// Where connections come in.
#[derive(Debug)]
pub struct QuicListener {
    waiter: Waiter,
    endpoint: Endpoint,
    _socket: Counted,
}

impl QuicListener {
    /// Accepts one connection within `term`; none if it ended first.
    ///
    /// # Errors
    /// When the listener is broken.
    pub fn accept(&self, term: &Term) -> Result<Option<QuicStream>> {
        let accepting = async {
            let incoming = self.endpoint.accept().await;
            incoming
                .context("the endpoint is closed")?
                .await
                .context("a handshake failed")
        };
        let port = self.endpoint.local_addr()?.port();
        match self.waiter.wait(term, accepting) {
            Some(Ok(connection)) => Ok(Some(QuicStream::new(
                self.waiter.clone(),
                connection,
                port,
                None,
            ))),
            Some(Err(_)) if term.is_over() => Ok(None),
            Some(Err(error)) => Err(error.context("cannot accept a connection")),
            None => Ok(None),
        }
    }
}

/// A connection. Dropped, it closes once everything has been sent, as the kernel's TCP does.
#[derive(Debug)]
pub struct QuicStream {
    waiter: Waiter,
    connection: Connection,
    port: u16,
    sending: Mutex<Option<SendStream>>,
    receiving: Mutex<Option<RecvStream>>,
    /// The client's; that of a server is its listener's.
    _socket: Option<Counted>,
}

impl QuicStream {
    fn new(waiter: Waiter, connection: Connection, port: u16, socket: Option<Counted>) -> Self {
        Self {
            waiter,
            connection,
            port,
            sending: Mutex::default(),
            receiving: Mutex::default(),
            _socket: socket,
        }
    }

    /// Reads what has arrived.
    ///
    /// # Errors
    /// When the connection broke before the term was over.
    pub fn receive(&self, buffer: &mut [u8], term: &Term) -> Result<Arrival> {
        let arrival = self.waiter.wait(term, self.read(buffer));
        arrived(arrival.unwrap_or(Ok(Arrival::Over)), term)
    }

    /// Reads what has arrived without waiting for more, which may be nothing.
    ///
    /// # Errors
    /// When the connection broke before the term was over.
    pub fn receive_at_once(&self, buffer: &mut [u8], term: &Term) -> Result<Arrival> {
        let mut context = task::Context::from_waker(Waker::noop());
        match pin!(self.read(buffer)).poll(&mut context) {
            Poll::Ready(arrival) => arrived(arrival, term),
            Poll::Pending => Ok(Arrival::Bytes(0)),
        }
    }

    async fn read(&self, buffer: &mut [u8]) -> Result<Arrival, ReadError> {
        let mut receiving = self.receiving.lock().await;
        let stream = match &mut *receiving {
            Some(stream) => stream,
            none => match self.connection.accept_uni().await {
                Ok(stream) => none.insert(stream),
                Err(error) => return Err(error.into()),
            },
        };
        let count = stream.read(buffer).await?;
        Ok(count.map_or(Arrival::End, Arrival::Bytes))
    }

    /// Hands over all of `data`; `false` if the term ended first.
    ///
    /// # Errors
    /// When the connection broke before the term was over.
    pub fn send_whole(&self, data: &[u8], term: &Term) -> Result<bool> {
        let sending = async {
            let mut sending = self.sending.lock().await;
            let stream = self.opened(&mut sending).await?;
            stream.write_all(data).await.map_err(anyhow::Error::from)
        };
        match self.waiter.wait(term, sending) {
            Some(Ok(())) => Ok(true),
            Some(Err(error)) if !term.is_over() => {
                Err(error.context("the connection broke while sending"))
            }
            _ => Ok(false),
        }
    }

    /// Nothing more will be sent.
    ///
    /// # Errors
    /// When the connection broke.
    pub fn finish(&self, term: &Term) -> Result<()> {
        let finishing = async {
            let mut sending = self.sending.lock().await;
            let stream = self.opened(&mut sending).await?;
            stream.finish().map_err(|_| anyhow!("the connection broke"))
        };
        self.waiter.wait(term, finishing).unwrap_or(Ok(()))
    }

    async fn opened<'a>(&self, sending: &'a mut Option<SendStream>) -> Result<&'a mut SendStream> {
        match sending {
            Some(stream) => Ok(stream),
            none => Ok(none.insert(self.connection.open_uni().await?)),
        }
    }

    /// Drops the connection at once.
    pub fn abort(&self) {
        self.connection.close(ABORTED, b"aborted");
    }

    /// Port of this end.
    pub fn local_port(&self) -> u16 {
        self.port
    }

    /// What quinn knows of the connection.
    pub fn info(&self) -> Info {
        let ConnectionStats {
            path,
            udp_rx,
            udp_tx,
            ..
        } = self.connection.stats();
        Info::Quic {
            srtt_us: path.rtt.as_micros() as u32,
            cwnd_packets: (path.cwnd / u64::from(path.current_mtu).max(1)) as u32,
            lost: path.lost_packets,
            received: udp_rx.datagrams,
            sent: udp_tx.datagrams,
        }
    }
}

impl Drop for QuicStream {
    fn drop(&mut self) {
        let connection = self.connection.clone();
        let sent = self.sending.get_mut().take();
        self.waiter.0.spawn(async move {
            if let Some(mut stream) = sent {
                let _ = stream.finish();
                let _ = stream.stopped().await;
            }
            connection.close(DONE, b"done");
        });
    }
}

/// An arrival, or an error if the connection broke before the term was over.
fn arrived(arrival: Result<Arrival, ReadError>, term: &Term) -> Result<Arrival> {
    match arrival {
        Ok(arrival) => Ok(arrival),
        Err(ReadError::ConnectionLost(ConnectionError::ApplicationClosed(close)))
            if close.error_code == DONE =>
        {
            Ok(Arrival::End)
        }
        Err(_) if term.is_over() => Ok(Arrival::Over),
        Err(error) => Err(error).context("the connection broke while receiving"),
    }
}
