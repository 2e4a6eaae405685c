//! mPath without I/O and without a clock: one stream over the direct path and over paths through
//! proxies, that goes round congested core links (thesis chapter 3).
//!
//! ```text
//!                 ┌────────────── direct ──────────────┐
//!  write ─▶ Sender┼─▶ proxy ─┐                         ├▶ Receiver ─▶ read
//!                 └─▶ proxy ─┴─────────────────────────┘     │
//!              ▲                                             │
//!              └───────────── feedback, direct ──────────────┘
//! ```
//!
//! The caller brings packets, what the application writes and reads, and the time; [`Sender`] and
//! [`Receiver`] say what to send, by which proxy, and when to be called again. Simulator and sockets
//! move the same [`Data`] and [`Feedback`]; [`wire`] is how they look as bytes.
//!
//! * The stream is counted in packets. Their payload stays with the caller, filed under
//!   [`Data::stream`].
//! * What happens depends on the configuration, its seed, the calls and their times.
//! * "Equation" and "section" without more are the thesis's; where it leaves something open the
//!   comment says which reading was taken.

mod config;
mod gaps;
mod packet;
mod receiver;
mod sender;
pub mod wire;

pub use config::{Config, Detection, ReceiverConfig};
pub use packet::{Data, Feedback, Gap, PathGap, PathId, PathReport};
pub use receiver::{Arrival, Receiver};
pub use sender::{Info, PathInfo, ProxyId, Sender, Transmission};
pub use tidegate_time::Instant;
