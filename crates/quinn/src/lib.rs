//! Steers the credit of a live [`quinn::Connection`] by the laws of `tidegate-laws`.
//!
//! QUIC's receive window is encrypted: nothing on the path can lower it as the agent lowers TCP's. But the application
//! that reads can set it, with `MAX_DATA` (RFC 9000 §4.1). [`Law::Drwa`] keeps the queue in front of an over-buffered
//! link short. [`Law::Afc`] grants a reader the credit that its own rate has earned, where memory is too scarce for
//! large windows.
//!
//! ```
//! use tidegate_quinn::{Law, Settings, Steer};
//! use tokio::io::AsyncReadExt;
//!
//! # use std::sync::Arc;
//! # type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;
//! # const BYTES: usize = 1 << 20;
//! # /// Sends `BYTES` to the first client, and then waits for the end of the connection.
//! # async fn serve(endpoint: quinn::Endpoint) -> Result<()> {
//! #     let connection = endpoint.accept().await.ok_or("it was closed")?.await?;
//! #     let mut stream = connection.open_uni().await?;
//! #     stream.write_all(&vec![0; BYTES]).await?;
//! #     stream.finish()?;
//! #     connection.closed().await;
//! #     Ok(())
//! # }
//! async fn download(
//!     endpoint: quinn::Endpoint,
//!     mut config: quinn::ClientConfig,
//!     server: std::net::SocketAddr,
//! ) -> Result<Vec<u8>> {
//!     let settings = Settings {
//!         most: 4 << 20, // bytes of memory that the connection may come to need
//!         ..Settings::new(Law::Drwa { lambda: 2.0 })
//!     };
//!     let mut transport = quinn::TransportConfig::default();
//!     settings.apply(&mut transport);
//!     config.transport_config(Arc::new(transport));
//!
//!     let connection = endpoint.connect_with(config, server, "localhost")?.await?;
//!     let steer = Steer::new(connection.clone(), settings);
//!     let mut stream = steer.reader(connection.accept_uni().await?);
//!     let mut data = Vec::new();
//!     stream.read_to_end(&mut data).await?;
//!     assert!(steer.window() <= settings.most);
//!     Ok(data)
//! }
//! #
//! # #[tokio::main]
//! # async fn main() -> Result<()> {
//! #     let identity = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
//! #     let certificate = rustls::pki_types::CertificateDer::from(identity.cert);
//! #     let key = rustls::pki_types::PrivatePkcs8KeyDer::from(identity.signing_key.serialize_der());
//! #     let anywhere = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
//! #     let server = quinn::ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
//! #     let server = quinn::Endpoint::server(server, anywhere)?;
//! #     let address = server.local_addr()?;
//! #     let serving = tokio::spawn(serve(server));
//! #     let mut roots = rustls::RootCertStore::empty();
//! #     roots.add(certificate)?;
//! #     let config = quinn::ClientConfig::with_root_certificates(Arc::new(roots))?;
//! #     let data = download(quinn::Endpoint::client(anywhere)?, config, address).await?;
//! #     assert_eq!(data.len(), BYTES);
//! #     serving.await??;
//! #     Ok(())
//! # }
//! ```
//!
//! Limits: a promise cannot be taken back, so a window shrinks only as the application reads, and a reader that stops
//! keeps its promise open ([`Steer::promised`]). quinn fixes the windows of single streams at the start, so they are
//! opened wide here, and the connection's window bounds them together.

#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

mod credit;
mod law;
mod reader;

pub use law::Law;
pub use reader::Reader;

use credit::Credit;
use law::{Moment, State};
use quinn::{Connection, RecvStream, TransportConfig, VarInt};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// Two of the smallest datagrams that every path carries (RFC 9000 §14), in bytes.
const LEAST: u32 = 2400;

/// The window of a stream, in bytes: more than any connection's, and far below the largest VarInt.
const STREAM_WINDOW: VarInt = VarInt::from_u32(u32::MAX);

/// How a connection is steered.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// The law that steers it.
    pub law: Law,
    /// The initial window, in bytes.
    pub initial: u32,
    /// The largest window in bytes, whatever the law wants.
    pub most: u32,
}

impl Settings {
    /// Settings for that law: an initial window of 64 kB, or AFC's buffer, and at most 16 MB.
    pub fn new(law: Law) -> Self {
        Self {
            law,
            initial: match law {
                Law::Afc { buffer } => buffer,
                Law::Drwa { .. } => 64 << 10,
            },
            most: 16 << 20,
        }
    }

    /// Sets the initial windows of connections. Without this, quinn's windows are unlimited from the start, and cannot
    /// be taken back.
    pub fn apply(&self, config: &mut TransportConfig) {
        config
            .receive_window(VarInt::from_u32(self.initial))
            .stream_receive_window(STREAM_WINDOW);
    }
}

/// Steers a connection that was made with [`Settings::apply`]. Clones steer the same connection.
#[derive(Clone, Debug)]
pub struct Steer {
    connection: Connection,
    began: Instant,
    settings: Settings,
    steered: Arc<Mutex<Steered>>,
}

#[derive(Debug)]
struct Steered {
    law: State,
    credit: Credit,
    /// The window that the law wants, in bytes.
    window: u32,
}

impl Steer {
    /// Begins to steer `connection`, from which nothing has been read yet.
    pub fn new(connection: Connection, settings: Settings) -> Self {
        Self {
            connection,
            began: Instant::now(),
            settings,
            steered: Arc::new(Mutex::new(Steered {
                law: State::new(settings.law),
                credit: Credit::new(settings.initial),
                window: settings.initial,
            })),
        }
    }

    /// A stream of the connection whose reads are noted.
    pub fn reader(&self, stream: RecvStream) -> Reader {
        Reader::new(stream, self.clone())
    }

    /// The application has read `bytes` from a stream of the connection: runs the law, and sets the window. Has to be
    /// called for every read, unless [`Self::reader`] is used.
    pub fn read(&self, bytes: usize) {
        let most = self.settings.most;
        let moment = self.moment();
        let mut steered = self.lock();
        let Steered {
            law,
            credit,
            window,
        } = &mut *steered;
        credit.read(bytes as u64);
        if let Some(wanted) = law.read(bytes, &moment, most) {
            *window = wanted.min(most).max(LEAST);
        }
        if let Some(receive_window) = credit.want(*window) {
            // Under the lock, so that quinn gets the windows in order.
            self.connection
                .set_receive_window(VarInt::from_u32(receive_window));
        }
    }

    /// The window that the law wants, in bytes.
    pub fn window(&self) -> u32 {
        self.lock().window
    }

    /// Bytes that the peer may still send or that wait to be read: the memory that the connection may
    /// come to need.
    pub fn promised(&self) -> u64 {
        self.lock().credit.outstanding()
    }

    fn moment(&self) -> Moment {
        Moment {
            now_us: self.began.elapsed().as_micros() as u64,
            rtt: self.connection.rtt(),
            min_rtt: self.connection.min_rtt(),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Steered> {
        self.steered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
