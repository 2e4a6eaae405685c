//! The proxy: takes packets out of their envelopes and sends them on, if the registry has allowed it. It knows its key
//! and nothing about any transfer; it keeps nothing about senders but token buckets.
//!
//! [`Filter`] decides, without sockets and without a clock; [`Proxy`] moves the packets.

mod counts;
mod destination;
mod forwarding;
mod gate;
mod outgoing;
#[cfg(test)]
mod tests;

pub use counts::{Counts, Refusal, Traffic};
pub use forwarding::{Options, Proxy};
pub use gate::{Filter, Pass};
