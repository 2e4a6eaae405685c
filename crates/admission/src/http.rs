//! HTTP/1.1 for untrusted clients: one request per connection, and a bound for everything that a stranger could use up.
//! Ordinary servers wait for a client's next byte without limit.

mod connection;
mod request;

pub use request::Received;

use crate::{Bounds, Places};
use connection::Connection;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The pause after a failure to accept, for example without a free descriptor.
const PAUSE: Duration = Duration::from_millis(100);

/// Answers requests.
pub trait Service: Send + Sync + 'static {
    /// The answer to a request from `peer`.
    fn answer(&self, request: &Received, peer: IpAddr) -> Reply;

    /// The answer to bytes that are not a request, or to a request that is too long.
    fn refuse(&self, refusal: &Refusal) -> Reply;
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// HTTP's status.
    pub status: u16,
    /// The header Content-Type.
    pub content_type: &'static str,
    /// Headers beside those that every answer has.
    pub headers: &'static [(&'static str, &'static str)],
    /// The bytes after the headers.
    pub body: Vec<u8>,
}

/// Why a request cannot be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// HTTP's status.
    pub status: u16,
    /// A sentence.
    pub why: String,
}

impl Refusal {
    fn new(status: u16, why: impl Into<String>) -> Self {
        let why = why.into();
        Self { status, why }
    }
}

/// Serves until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    ended: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves at this address; port 0 means any free port. `bounds` limit the connections whose request has not been
    /// answered.
    ///
    /// # Errors
    /// If the address cannot be listened at.
    pub fn start(address: SocketAddr, bounds: Bounds, service: impl Service) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let ended = Arc::new(AtomicBool::new(false));
        let (seen, service) = (Arc::clone(&ended), Arc::new(service));
        let accepting = thread::Builder::new()
            .name("http".into())
            .spawn(move || accept(&listener, bounds, &service, &seen))?;
        Ok(Self {
            address,
            ended,
            accepting: Some(accepting),
        })
    }

    /// The address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // A connection wakes the thread, which waits in accept.
        let mut at = self.address;
        if at.ip().is_unspecified() {
            at.set_ip(match at {
                SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
            });
        }
        if TcpStream::connect_timeout(&at, Duration::from_secs(1)).is_ok()
            && let Some(accepting) = self.accepting.take()
        {
            let _ = accepting.join();
        }
    }
}

fn accept<S: Service>(
    listener: &TcpListener,
    bounds: Bounds,
    service: &Arc<S>,
    ended: &AtomicBool,
) {
    let places = Places::new(bounds);
    for stream in listener.incoming() {
        if ended.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else {
            thread::sleep(PAUSE);
            continue;
        };
        let Ok(place) = places.take(&stream) else {
            continue;
        };
        let service = Arc::clone(service);
        let _ = thread::Builder::new()
            .name("request".into())
            .spawn(move || {
                // A client that has gone is no error.
                let _ = serve(stream, &*service);
                drop(place);
            });
    }
}

fn serve(stream: TcpStream, service: &impl Service) -> io::Result<()> {
    let peer = stream.peer_addr()?.ip();
    let mut connection = Connection::new(stream);
    let (reply, head_only) = match connection.read()? {
        Ok(request) => (service.answer(&request, peer), request.method == "HEAD"),
        Err(refusal) => (service.refuse(&refusal), false),
    };
    connection.answer(&reply, head_only)
}
