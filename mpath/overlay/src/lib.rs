//! mPath's overlay: which proxies forward packets, for whom, and by what right (`docs/internals/mpath.md`).
//!
//! ```text
//!            announces itself ┌──────────┐ registers
//!        Receiver ───────────▶│ registry │◀──────────── Proxy
//!            ▲                └──────────┘                │
//!            │          address, │  ▲ asks for            │
//!            │      capabilities ▼  │ a receiver          │
//!            │                 Sender ──── envelope ─────▶│
//!            └────────────── packet ──────────────────────┘
//! ```
//!
//! * [`Registry`] is the registry as its clients see it: [`Registry::relays`] for senders,
//!   [`Registry::announce`] for receivers, [`Registry::enrol`] for proxies.
//! * [`registry`] and [`proxy`] are the two servers.
//! * [`capability`] is the right itself.

mod address;
pub mod api;
pub mod capability;
mod client;
mod limits;
pub mod proxy;
pub mod registry;
mod secret;

pub use api::{GrantedRelay, ReceiverId};
pub use client::{Error, Grant, Listing, Registry};
pub use limits::{Limits, Rate};
pub use secret::{BadToken, Secret};
pub use tidegate_basics::time::Instant;

use std::time::{SystemTime, UNIX_EPOCH};

/// The time by both clocks.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Seconds since 1970, for times that several machines must agree on.
    pub unix_s: u64,
    /// Time since the start of the process, for intervals that must not jump.
    pub instant: Instant,
}

impl Now {
    /// The time now, in a process that began at `began`.
    pub fn since(began: std::time::Instant) -> Self {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            unix_s: unix.unwrap_or_default().as_secs(),
            instant: Instant::ZERO + began.elapsed(),
        }
    }
}
