//! How connections end.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// Why there is no connection, or none any more.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ConnectionError {
    /// Nobody answered.
    #[error(
        "no answer from {address} within {} s: is the receiver running, reachable over UDP, and is \
         this the token that it printed?", .after.as_secs_f64()
    )]
    NoAnswer {
        /// Who was asked.
        address: SocketAddr,
        /// For how long.
        after: Duration,
    },
    /// The token's key is none.
    #[error("the token's key cannot be used")]
    Token,
    /// Nothing has been received from the peer for too long.
    #[error("nothing has been heard of the other end for {} s", .0.as_secs_f64())]
    IdleTimeout(Duration),
    /// The peer has gone before everything had come.
    #[error("the other end has closed the connection")]
    Closed,
    /// Large packets no longer arrive, and those on their way cannot be made smaller.
    #[error("the path no longer carries packets as large as before: connect again")]
    BlackHole,
    /// The key may seal no more.
    #[error("the session's key is worn out: connect again")]
    KeyExhausted,
    /// The endpoint is no more.
    #[error("the socket has been closed")]
    Endpoint,
}

impl From<ConnectionError> for io::Error {
    fn from(error: ConnectionError) -> Self {
        let kind = match error {
            ConnectionError::NoAnswer { .. } | ConnectionError::IdleTimeout(_) => {
                io::ErrorKind::TimedOut
            }
            ConnectionError::Token => io::ErrorKind::InvalidInput,
            ConnectionError::Closed
            | ConnectionError::BlackHole
            | ConnectionError::KeyExhausted
            | ConnectionError::Endpoint => io::ErrorKind::ConnectionReset,
        };
        Self::new(kind, error)
    }
}
