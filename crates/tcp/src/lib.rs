//! A TCP endpoint without I/O and without a clock, complete enough to talk to Linux.
//!
//! The caller brings segments, the application's wishes and the time; [`Connection`] says what to
//! send and when to be called again. The simulator steps it in virtual time and moves [`Segment`]s,
//! which only count their payload; the laboratory steps it in real time and moves bytes, which
//! [`wire`] reads and writes and [`stream`] holds.
//!
//! ```text
//!                   write ─▶ Sender ─────▶ transmit
//! application                  ▲ acks        segments
//!                    read ◀─ Receiver ◀─── receive
//! ```
//!
//! * Where Linux differs from an RFC, Linux wins by default, and the difference is named where it is
//!   made.
//! * Inside, positions are [offsets](Seq::offset) of 64 bits; sequence numbers exist only in
//!   segments.
//! * The behaviour depends only on the configuration, the calls and their times: never on how often
//!   [`Connection::transmit`] is called.
//!
//! A download of 1 MB over a path of 20 ms each way, in virtual time:
//!
//! ```
//! use std::collections::VecDeque;
//! use std::time::Duration;
//! use tidegate_tcp::{Config, Connection, Instant};
//!
//! const ONE_WAY: Duration = Duration::from_millis(20);
//! let mut client = Connection::connect(Config::default(), Instant::ZERO);
//! let syn = client.transmit(Instant::ZERO).expect("the SYN");
//! let mut now = Instant::ZERO + ONE_WAY;
//! let mut server = Connection::accept(Config::default(), now, &syn).expect("it is a SYN");
//! server.write(1_000_000);
//! server.close();
//!
//! let (mut down, mut up) = (VecDeque::new(), VecDeque::new());
//! let mut arrived = 0;
//! while !client.at_end() {
//!     while let Some(segment) = server.transmit(now) {
//!         down.push_back((now + ONE_WAY, segment));
//!     }
//!     while let Some(segment) = client.transmit(now) {
//!         up.push_back((now + ONE_WAY, segment));
//!     }
//!     let arrivals = [&down, &up].map(|way| way.front().map(|(at, _)| *at));
//!     let timers = [client.timeout(), server.timeout()];
//!     let next = arrivals.into_iter().chain(timers).flatten().min();
//!     now = now.max(next.expect("data are on their way"));
//!     if let Some((_, segment)) = down.pop_front_if(|(at, _)| *at <= now) {
//!         client.receive(now, &segment);
//!     }
//!     arrived += client.read(now, u64::MAX);
//!     if let Some((_, segment)) = up.pop_front_if(|(at, _)| *at <= now) {
//!         server.receive(now, &segment);
//!     }
//!     client.expire(now);
//!     server.expire(now);
//! }
//! assert_eq!(arrived, 1_000_000);
//! // The handshake takes a round trip and a half; slow start brings 10, 20, … 320 segments in one each; the rest is on its way.
//! assert_eq!(now, Instant::from_millis(60 + 6 * 40 + 20));
//! ```
//!
//! [`cc::Factory`] shows how to put a congestion control of one's own into [`Config::congestion_control`].

#![warn(clippy::missing_errors_doc, clippy::missing_panics_doc)]

pub mod cc;
mod config;
mod connection;
mod ecn;
pub mod receive;
mod segment;
pub mod send;
mod socket;
mod stack;
pub mod steer;
pub mod stream;
mod ticks;
pub mod wire;

pub use config::{Config, FlowControl, ReceiveBuffer};
pub use connection::{Connection, Ending, State};
pub use ecn::{Echo, EcnMode};
pub use segment::{Flags, ReadReport, SackBlocks, Segment, Seq, SynOptions, Timestamps};
pub use socket::Socket;
pub use stack::Stack;
pub use ticks::Ticks;
pub use tidegate_basics::ecn::Ecn;
pub use tidegate_basics::time::Instant;
