//! Connections over QUIC, with the same interface as TCP's. Each end opens a stream for the data that it sends.

use super::Waiter;
use super::socket::Counted;
use crate::term::Term;
use crate::transport::{Arrival, Info};
use anyhow::{Context, Result, anyhow};
use quinn::{
    Connection, ConnectionError, ConnectionStats, Endpoint, ReadError, RecvStream, SendStream,
    VarInt,
};
use std::pin::pin;
use std::task::{self, Poll, Waker};
use tokio::sync::Mutex;

/// Error codes of connections that were closed in order, and that were aborted.
const DONE: VarInt = VarInt::from_u32(0);
const ABORTED: VarInt = VarInt::from_u32(1);

/// A listening endpoint.
#[derive(Debug)]
pub struct QuicListener {
    waiter: Waiter,
    endpoint: Endpoint,
    _socket: Counted,
}

impl QuicListener {
    pub(super) fn new(waiter: Waiter, endpoint: Endpoint, socket: Counted) -> Self {
        Self {
            waiter,
            endpoint,
            _socket: socket,
        }
    }

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

/// A connection. When dropped, it closes once everything has been sent, as the kernel's TCP does.
#[derive(Debug)]
pub struct QuicStream {
    waiter: Waiter,
    connection: Connection,
    port: u16,
    sending: Mutex<Option<SendStream>>,
    receiving: Mutex<Option<RecvStream>>,
    /// The client's socket; a server's belongs to its listener.
    _socket: Option<Counted>,
}

impl QuicStream {
    pub(super) fn new(
        waiter: Waiter,
        connection: Connection,
        port: u16,
        socket: Option<Counted>,
    ) -> Self {
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

    /// Reads what has arrived, if anything, without waiting for more.
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

    /// Ends the data of this direction: nothing more will be sent.
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

    /// What quinn knows about the connection.
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
