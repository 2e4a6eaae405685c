//! Both ends over UDP: who may measure, how much, and protection of third parties against floods.
//!
//! ```text
//!   client                                server
//!     Hello  (tag by the shared key) ──▶            nothing is remembered
//!            ◀── Cookie (tag by a secret of the server's, of address and time)
//!     Open   (the cookie again) ──▶                 the address is the client's: a session
//!            ◀── Opened (session, budgets)
//!     Start  ──▶ train or receiver                  every packet with the session's tag and a counter
//!     Data, Report, Ping, Pong, Fetch, Records …
//!     Close  ──▶
//!   TCP: a pass with a tag ──▶ load or probes       ([`load`])
//! ```
//!
//! * No answer is longer than its request before the cookie has come back.
//! * A tag is a keyed BLAKE3 of direction, session, counter and the packet's contents; a packet that was seen before,
//!   comes from another address or has a wrong tag is dropped and counted.
//! * The server sends only while it hears from the client ([`SILENCE`]), no faster than its rate and no more than the
//!   session's and the server's budgets.

mod budget;
mod client;
mod control;
mod load;
mod seal;
mod server;
mod socket;
#[cfg(test)]
mod tests;
mod watch;

pub use client::{Client, Direction, Failure, UnderLoad};
pub use seal::{Key, KeyError};
pub use server::{Counters, Limits, Server};

use std::time::Duration;

/// The port that the server listens at, unless told otherwise.
pub const PORT: u16 = 4817;

/// A far end that is silent for this long has gone.
pub const SILENCE: Duration = Duration::from_secs(3);

/// Packets that are received before sending gets its turn: if they come faster than they can be processed, the far end
/// must still get its reports.
const AT_ONCE: usize = 256;
