//! mPath on real sockets: sessions that only the two ends can read, a stream like TCP's over them, and
//! files over the stream.
//!
//! ```text
//!  file ─▶ Connection (AsyncRead, AsyncWrite) ─▶ State: tidegate-mpath's two ends, Session ─▶ Endpoint ─▶ UDP
//! ```
//!
//! * [`Endpoint`]: one socket and one task that drives its connections: batches, offloads, timers.
//! * [`Connection`]: a stream each way. Written bytes take all paths that the protocol finds useful; relays are plain
//!   data and may change at any time ([`Relay`]).
//! * [`Token`]: the line that a person copies from the receiver to the sender.
//! * [`mod@file`]: files with a checksum, which continue where they were interrupted.
//!
//! Memory: each connection keeps at most [`Config::buffer_bytes`] that are written and not acknowledged, and as many
//! that are received and not read.

mod config;
mod connection;
mod endpoint;
pub mod file;
mod mtu;
mod packets;
mod rejected;
mod relays;
mod session;
mod token;

pub use config::Config;
pub use connection::{Connection, ConnectionError, Monitor, PathStatus, Status};
pub use endpoint::Endpoint;
pub use rejected::Rejected;
pub use relays::Relay;
pub use session::{Cipher, Identity};
pub use token::{Token, TokenError};
