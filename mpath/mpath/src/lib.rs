//! mPath without I/O and without a clock: one stream over the direct path and over paths through proxies, which avoid
//! congested core links (thesis chapter 3).
//!
//! ```text
//!                 ┌────────────── direct ──────────────┐
//!  write ─▶ Sender┼─▶ proxy ─┐                         ├▶ Receiver ─▶ read
//!                 └─▶ proxy ─┴─────────────────────────┘     │
//!              ▲                                             │
//!              └───────────── feedback, direct ──────────────┘
//! ```
//!
//! The caller brings packets, what the application writes and reads, and the time; [`Sender`] and [`Receiver`] say what
//! to send, through which proxy, and when to be called again. Simulator and sockets move the same [`Data`] and
//! [`Feedback`]; [`wire`] has their form in bytes.
//!
//! * The stream is counted in packets. Their payload stays with the caller, filed under
//!   [`Data::stream`].
//! * The behaviour depends on the configuration, its seed, the calls and their times.
//! * "Equation" and "section" without more are the thesis's; where it leaves a choice, the comment says which reading
//!   was taken.
//!
//! A stream of two packets, whose payload goes with them as bytes:
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::time::Duration;
//! use tidegate_mpath::{Config, Instant, Receiver, ReceiverConfig, Sender, wire};
//!
//! const CONNECTION: u64 = 7;
//! let stream = ["over many ", "paths"];
//! let mut sender = Sender::new(Config::default());
//! sender.write(stream.len() as u64);
//! sender.finish();
//!
//! let mut receiver = Receiver::new(ReceiverConfig::default());
//! let mut held = BTreeMap::new();
//! let mut now = Instant::ZERO;
//! while let Some(sent) = sender.transmit(now) {
//!     let mut bytes = Vec::new();
//!     wire::write_data(&mut bytes, CONNECTION, &sent.data);
//!     bytes.extend(stream[sent.data.stream as usize].as_bytes());
//!
//!     // A network is between here and there.
//!     let wire::Packet::Data { data, payload, .. } = wire::parse(&bytes)? else {
//!         unreachable!("it was written as data")
//!     };
//!     receiver.receive(now + Duration::from_millis(20), &data);
//!     held.insert(data.stream, payload.to_vec());
//! }
//! assert_eq!(receiver.read(u64::MAX), 2);
//! assert_eq!(held.into_values().collect::<Vec<_>>().concat(), b"over many paths");
//!
//! now = receiver.timeout().expect("an acknowledgement waits for others, not for ever");
//! let feedback = receiver.transmit(now).expect("its time has come");
//! sender.receive(now + Duration::from_millis(20), &feedback);
//! assert!(sender.is_acknowledged());
//! # Ok::<(), wire::Malformed>(())
//! ```

#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

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
#[cfg(feature = "tunable")]
pub use sender::{Odds, set_odds};
pub use tidegate_basics::time::Instant;
