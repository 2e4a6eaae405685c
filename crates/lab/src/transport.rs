//! Transports of the workloads' streams: the kernel's TCP, our own, or QUIC.

mod info;
mod own;
mod quic;
mod socket;

pub use info::Info;
pub use own::{Own, UserHost};
pub use quic::{Control, Quic, takes_quic};
pub use socket::{Arrival, use_congestion_control};

use crate::tcp_info::TcpInfo;
use crate::term::Term;
use anyhow::Result;
use own::{OwnListener, OwnStream};
use quic::{QuicListener, QuicStream};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

/// The transport that a host uses.
#[derive(Clone, Debug)]
pub enum Transport {
    /// The kernel's TCP, in the calling thread's namespace, with this congestion control.
    Kernel(String),
    /// The same over several paths (MPTCP).
    Multipath(String),
    /// `tidegate-tcp`, in this process.
    Own(Arc<UserHost>, Own),
    /// QUIC, over UDP of the calling thread's namespace.
    Quic(Arc<Quic>),
}

impl Transport {
    /// The protocol of its sockets.
    fn protocol(&self) -> i32 {
        match self {
            Self::Multipath(_) => libc::IPPROTO_MPTCP,
            _ => libc::IPPROTO_TCP,
        }
    }

    /// Packets that it has lost by itself so far, without those that the hosts' devices count.
    pub fn losses(&self) -> u64 {
        match self {
            Self::Quic(quic) => quic.losses(),
            _ => 0,
        }
    }

    /// Listens at `address`, at a port of the transport's choice.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn listen(&self, address: IpAddr) -> Result<(Listener, SocketAddr)> {
        match self {
            Self::Kernel(congestion_control) | Self::Multipath(congestion_control) => {
                let listener = socket::listen(address, congestion_control, self.protocol())?;
                let at = listener.local_addr()?;
                Ok((Listener::Kernel(listener, congestion_control.clone()), at))
            }
            Self::Own(host, own) => {
                let listener = host.listen(own);
                let at = SocketAddr::new(address, listener.port());
                Ok((Listener::Own(listener), at))
            }
            Self::Quic(quic) => {
                let (listener, at) = quic.listen(address)?;
                Ok((Listener::Quic(listener), at))
            }
        }
    }

    /// Connects within `term`; none if it ended first.
    ///
    /// # Errors
    /// When the peer refuses.
    pub fn connect(&self, to: SocketAddr, term: &Term) -> Result<Option<Stream>> {
        match self {
            Self::Kernel(congestion_control) | Self::Multipath(congestion_control) => {
                let stream = socket::connect(to, congestion_control, self.protocol(), term)?;
                Ok(stream.map(Stream::Kernel))
            }
            Self::Own(host, own) => Ok(host.connect(to, own, term)?.map(Stream::Own)),
            Self::Quic(quic) => Ok(quic.connect(to, term)?.map(Stream::Quic)),
        }
    }
}

/// A listening socket.
#[derive(Debug)]
pub enum Listener {
    /// The kernel's, with the congestion control of its connections.
    Kernel(TcpListener, String),
    /// Our own.
    Own(OwnListener),
    /// QUIC's.
    Quic(QuicListener),
}

impl Listener {
    /// Accepts one connection within `term`; none if it ended first.
    ///
    /// # Errors
    /// When the listener is broken.
    pub fn accept(&self, term: &Term) -> Result<Option<Stream>> {
        match self {
            Self::Kernel(listener, congestion_control) => {
                Ok(socket::accept(listener, congestion_control, term)?.map(Stream::Kernel))
            }
            Self::Own(listener) => Ok(listener.accept(term).map(Stream::Own)),
            Self::Quic(listener) => Ok(listener.accept(term)?.map(Stream::Quic)),
        }
    }
}

/// One connection. Every wait is bounded by the term.
#[derive(Debug)]
pub enum Stream {
    /// The kernel's.
    Kernel(TcpStream),
    /// Our own.
    Own(OwnStream),
    /// QUIC's.
    Quic(QuicStream),
}

impl Stream {
    /// Reads what has arrived.
    ///
    /// # Errors
    /// When the connection broke before the term was over.
    pub fn receive(&self, buffer: &mut [u8], term: &Term) -> Result<Arrival> {
        match self {
            Self::Kernel(stream) => socket::receive(stream, buffer, term),
            Self::Own(stream) => stream.receive(buffer, term),
            Self::Quic(stream) => stream.receive(buffer, term),
        }
    }

    /// Reads what has arrived, if anything, without waiting for more.
    ///
    /// # Errors
    /// When the connection broke before the term was over.
    pub fn receive_at_once(&self, buffer: &mut [u8], term: &Term) -> Result<Arrival> {
        match self {
            Self::Kernel(stream) => socket::receive_at_once(stream, buffer, term),
            Self::Own(stream) => stream.receive_at_once(buffer, term),
            Self::Quic(stream) => stream.receive_at_once(buffer, term),
        }
    }

    /// Hands over all of `data`; `false` if the term ended first.
    ///
    /// # Errors
    /// When the connection broke before the term was over.
    pub fn send_whole(&self, data: &[u8], term: &Term) -> Result<bool> {
        match self {
            Self::Kernel(stream) => socket::send_whole(stream, data, term),
            Self::Own(stream) => stream.send_whole(data, term),
            Self::Quic(stream) => stream.send_whole(data, term),
        }
    }

    /// Ends the data of this direction: nothing more will be sent.
    ///
    /// # Errors
    /// When the connection broke.
    pub fn finish(&self, term: &Term) -> Result<()> {
        match self {
            Self::Kernel(stream) => Ok(stream.shutdown(Shutdown::Write)?),
            Self::Own(stream) => {
                stream.finish(term);
                Ok(())
            }
            Self::Quic(stream) => stream.finish(term),
        }
    }

    /// Drops the connection at once: what is queued is discarded and the peer is reset.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn abort(&self, term: &Term) -> Result<()> {
        match self {
            Self::Kernel(stream) => socket::abort(stream),
            Self::Own(stream) => {
                stream.abort(term);
                Ok(())
            }
            Self::Quic(stream) => {
                stream.abort();
                Ok(())
            }
        }
    }

    /// Port of this end.
    ///
    /// # Errors
    /// When the kernel does not know.
    pub fn local_port(&self) -> Result<u16> {
        match self {
            Self::Kernel(stream) => Ok(stream.local_addr()?.port()),
            Self::Own(stream) => Ok(stream.local_port()),
            Self::Quic(stream) => Ok(stream.local_port()),
        }
    }

    /// What the transport knows about the connection.
    pub fn info(&self) -> Option<Info> {
        match self {
            Self::Kernel(stream) => TcpInfo::of(stream).map(Info::Tcp),
            Self::Own(stream) => Some(Info::Tcp(stream.info())),
            Self::Quic(stream) => Some(stream.info()),
        }
    }
}
