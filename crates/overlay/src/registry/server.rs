//! HTTP around the service: one request a connection, and a bound for everything that a stranger could
//! use up. Servers of the usual kind wait for a client's next byte as long as it likes.

mod connection;
mod places;
mod request;

pub use request::Received;

use super::{Reply, Service};
use crate::Now;
use crate::limits::whose;
use connection::Connection;
use places::Places;
use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// After a failure to accept, for want of descriptors for instance.
const PAUSE: Duration = Duration::from_millis(100);

/// Serves until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    ended: Arc<AtomicBool>,
    accepting: Option<JoinHandle<()>>,
}

impl Server {
    /// Serves at this address; port 0 stands for any.
    ///
    /// # Errors
    /// When nobody can listen there.
    pub fn start(address: SocketAddr, service: Service) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        let address = listener.local_addr()?;
        let ended = Arc::new(AtomicBool::new(false));
        let (seen, service) = (Arc::clone(&ended), Arc::new(service));
        let accepting = thread::Builder::new()
            .name("registry".into())
            .spawn(move || accept(&listener, &service, &seen))?;
        Ok(Self {
            address,
            ended,
            accepting: Some(accepting),
        })
    }

    /// Where that is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        // It waits for somebody who connects.
        let mut at = self.address;
        if at.ip().is_unspecified() {
            at.set_ip(match at {
                SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
                SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
            });
        }
        if TcpStream::connect_timeout(&at, Duration::from_secs(1)).is_ok()
            && let Some(accepting) = self.accepting.take()
        {
            let _ = accepting.join();
        }
    }
}

fn accept(listener: &TcpListener, service: &Arc<Service>, ended: &AtomicBool) {
    let places = Arc::new(Places::default());
    let began = Instant::now();
    for stream in listener.incoming() {
        if ended.load(Ordering::Relaxed) {
            return;
        }
        let Ok(stream) = stream else {
            thread::sleep(PAUSE);
            continue;
        };
        let Ok(peer) = stream.peer_addr() else {
            continue;
        };
        let Some(place) = places.take(whose(peer.ip())) else {
            continue;
        };
        let service = Arc::clone(service);
        let _ = thread::Builder::new()
            .name("request".into())
            .spawn(move || {
                // A client that has gone is no error.
                let _ = serve(stream, peer, &service, began);
                drop(place);
            });
    }
}

fn serve(stream: TcpStream, peer: SocketAddr, service: &Service, began: Instant) -> io::Result<()> {
    let mut connection = Connection::new(stream);
    let reply: Reply = match connection.read()? {
        Ok(request) => {
            let now = Now::since(began);
            service.answer(request.borrow(), peer.ip(), now, &mut rand::rng())
        }
        Err(refusal) => refusal,
    };
    connection.answer(&reply)
}
