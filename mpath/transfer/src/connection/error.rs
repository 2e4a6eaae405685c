//! How connections end.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// Why there is no connection, or no longer one.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ConnectionError {
    /// No answer came.
    #[error(
        "no answer from {address} within {} s: is the receiver running, reachable over UDP, and is \
         this the token that it printed?", .after.as_secs_f64()
    )]
    NoAnswer {
        /// The address that was asked.
        address: SocketAddr,
        /// How long we waited.
        after: Duration,
    },
    /// The token's key is no valid public key.
    #[error("the token's public key is not valid: was the token made by this program?")]
    Token,
    /// Nothing has been received from the peer for too long.
    #[error("nothing has been heard of the other end for {} s", .0.as_secs_f64())]
    IdleTimeout(Duration),
    /// The peer has gone before all data had arrived.
    #[error("the other end has closed the connection")]
    Closed,
    /// Large packets no longer arrive, and those in flight cannot be made smaller.
    #[error("the path no longer carries packets as large as before: connect again")]
    BlackHole,
    /// The key must not seal any more packets.
    #[error("the session's key has sealed as much as one key may: connect again")]
    KeyExhausted,
    /// The endpoint no longer exists.
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
