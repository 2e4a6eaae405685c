//! Explicit congestion notification, as both halves of a connection know it.
//!
//! ```text
//!  sender                     network            receiver
//!  new data, ECT ──────────▶  marks: CE ───────▶ notes it
//!  reduces its window  ◀──────────────────────── ECE until CWR (classic), or how many (accurate)
//!  CWR (classic) ───────────────────────────────▶
//! ```

/// How congestion that the network has marked is told to the sender, the finer the greater.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EcnMode {
    /// Nothing is ECN-capable.
    #[default]
    Off,
    /// RFC 3168: whether there was congestion, once a round trip.
    Classic,
    /// Accurate ECN (RFC 9768): how many packets were marked.
    Accurate,
}

/// Accurate ECN: the first value of a counter of marked packets. It is not 0, so that a counter that a middlebox has
/// cleared shows (RFC 9768 §3.2.1).
pub(crate) const CEP_INIT: u8 = 5;

/// What a segment reports about the marks that its sender has received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Echo {
    /// Nothing.
    #[default]
    Nothing,
    /// Classic: there was congestion.
    Congestion,
    /// Accurate: the low three bits of the number of packets marked, from `CEP_INIT`.
    Count(u8),
}
