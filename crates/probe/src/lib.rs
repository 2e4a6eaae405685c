//! How a link treats packets: bursts, rate, buffer, drop policy, queues and delays, after chapter 4 of the thesis.
//! Except for [`net`] there is no I/O and no clock: packets and the time come in, packets and results come out.
//!
//! ```text
//!   Train ──▶ Message::Data ──▶ the link ──▶ Receiver ──▶ Arrivals ──▶ analysis ──▶ results
//!     ▲                                         │
//!     └──────────── Message::Report ◀───────────┘
//! ```
//!
//! * [`Train`] says which packets to send when; [`Receiver`] notes arrivals and reports back.
//! * [`analysis`] has pure functions from arrivals to the link's properties.
//! * [`net`] drives both ends over UDP; [`emulated`] drives them over a [`tidegate_link::Link`] in virtual time, where
//!   all properties of the link are known.

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
