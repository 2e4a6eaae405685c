//! mPath on real sockets: sessions that only the two ends can read, a stream like TCP's over them, and
//! files over the stream.
//!
//! ```text
//!  file ─▶ Connection (AsyncRead, AsyncWrite) ─▶ State: tidegate-mpath's two ends, Session ─▶ Endpoint ─▶ UDP
//! ```
//!
//! * [`Endpoint`]: one socket and one task that drives its connections: batches, offloads, timers.
//! * [`Connection`]: a stream each way. What is written goes by all paths that the protocol finds
//!   worth it; relays come as plain data and may change at any time ([`Relay`]).
//! * [`Token`]: what a person copies from the receiver to the sender.
//! * [`mod@file`]: files with a checksum, that go on where they were interrupted.
//!
//! Memory: each connection keeps at most [`Config::buffer_bytes`] written and not acknowledged, and as
//! much received and not read.

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
