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
//! * What happens depends only on the configuration, the calls and their times: never on how often
//!   [`Connection::transmit`] is asked.

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
pub mod wire;

pub use config::{Config, FlowControl, ReceiveBuffer};
pub use connection::{Connection, Ending, State};
pub use ecn::{Echo, EcnMode};
pub use segment::{Flags, ReadReport, SackBlocks, Segment, Seq, SynOptions, Timestamps};
pub use socket::Socket;
pub use stack::Stack;
pub use tidegate_ecn::Ecn;
pub use tidegate_time::Instant;
