//! What a link does to packets: bursts, rate, buffer, drop policy, queues and delays, after chapter 4 of
//! the thesis. But for [`net`] there is no I/O and no clock: packets and the time come in, packets and results come out.
//!
//! ```text
//!   Train ──▶ Message::Data ──▶ the link ──▶ Receiver ──▶ Arrivals ──▶ analysis ──▶ results
//!     ▲                                         │
//!     └──────────── Message::Report ◀───────────┘
//! ```
//!
//! * [`Train`] says which packets to send when; [`Receiver`] notes what arrives and reports back.
//! * [`analysis`] are pure functions from what arrived to what the link is.
//! * [`net`] drives both ends over UDP; [`emulated`] does over a [`tidegate_link::Link`] in virtual time, where the truth is known.

pub mod analysis;
mod arrival;
pub mod emulated;
pub mod examine;
mod message;
pub mod net;
mod ping;
mod receiver;
pub mod results;
mod train;
mod wire;

pub use arrival::Arrival;
pub use message::{Data, HEADERS, Message, Ping, Pong, Report, SEAL, Stage};
pub use ping::{Echo, Pinger};
pub use receiver::Receiver;
pub use train::{Pace, Train, TrainConfig};
pub use wire::{Malformed, decode, encode};
