//! Packets that were refused, each under the name of its reason.

use std::sync::{Arc, Mutex};
use tidegate_mpath::wire::Malformed;

/// Packets refused so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rejected {
    /// Shorter than their headers say.
    pub truncated: u64,
    /// Longer than their headers say, or than any packet of ours.
    pub oversized: u64,
    /// Packets of another version, or of a kind that does not belong here.
    pub malformed: u64,
    /// Hellos without a proof that their sender holds the token.
    pub strangers: u64,
    /// Hellos for which there was no room.
    pub crowded: u64,
    /// Packets of an unknown connection.
    pub unknown: u64,
    /// Not sealed with the session's key, or changed on the way.
    pub forged: u64,
    /// Seen before, or too old to tell.
    pub replayed: u64,
    /// Authentic, but beyond the limit that the receiver had told.
    pub unwanted: u64,
}

impl Rejected {
    /// Counts a datagram that is no packet.
    pub(crate) fn note(&mut self, malformed: Malformed) {
        match malformed {
            Malformed::Truncated => self.truncated += 1,
            Malformed::Oversized => self.oversized += 1,
            _ => self.malformed += 1,
        }
    }
}

/// The counts of refused packets, shared by an endpoint's task and its connections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rejections(Arc<Mutex<Rejected>>);

impl Rejections {
    /// Counts a packet.
    pub(crate) fn count(&self, count: impl FnOnce(&mut Rejected)) {
        count(&mut self.0.lock().expect("counters"));
    }

    /// All so far.
    pub(crate) fn so_far(&self) -> Rejected {
        *self.0.lock().expect("counters")
    }
}
