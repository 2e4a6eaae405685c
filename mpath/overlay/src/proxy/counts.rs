//! Counts of all packets by what was done with them.

use serde::Serialize;
use std::fmt;

/// Why a packet is not forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// Longer than a packet in an envelope can be.
    Oversized,
    /// No envelope, or one that is cut short or empty.
    Malformed,
    /// An envelope or a capability of an unknown version.
    Version,
    /// Another envelope inside: no packet goes through two proxies.
    Nested,
    /// The proxy is not listed for the sender's address family, and so has no key for it.
    NotListed,
    /// A capability that was not issued for this proxy, sender and destination.
    Capability,
    /// A capability that has expired.
    Expired,
    /// A destination to which no capability gives a right.
    Destination,
    /// One source sends more than it may.
    SourceRate,
    /// More than the proxy forwards in total.
    Rate,
    /// The system did not send it.
    Send,
}

impl Refusal {
    /// Every reason, in the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::Oversized,
        Self::Malformed,
        Self::Version,
        Self::Nested,
        Self::NotListed,
        Self::Capability,
        Self::Expired,
        Self::Destination,
        Self::SourceRate,
        Self::Rate,
        Self::Send,
    ];

    /// Its name for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Oversized => "oversized",
            Self::Malformed => "malformed",
            Self::Version => "version",
            Self::Nested => "nested",
            Self::NotListed => "not_listed",
            Self::Capability => "capability",
            Self::Expired => "expired",
            Self::Destination => "destination",
            Self::SourceRate => "source_rate",
            Self::Rate => "rate",
            Self::Send => "send",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Oversized => "too long",
            Self::Malformed => "no envelope",
            Self::Version => "unknown version",
            Self::Nested => "envelope in an envelope",
            Self::NotListed => "proxy not listed",
            Self::Capability => "bad capability",
            Self::Expired => "expired capability",
            Self::Destination => "forbidden destination",
            Self::SourceRate => "source's rate",
            Self::Rate => "overall rate",
            Self::Send => "not sent",
        })
    }
}

/// Packets, and their bytes after the UDP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// How many.
    pub packets: u64,
    /// How long.
    pub bytes: u64,
}

impl Traffic {
    /// Counts `packets` packets of `bytes` bytes in total.
    pub fn add(&mut self, packets: usize, bytes: usize) {
        self.packets += packets as u64;
        self.bytes += bytes as u64;
    }
}

/// Every packet received is counted in `forwarded` or under one of the refusals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets received.
    pub received: Traffic,
    /// Packets forwarded, without envelopes.
    pub forwarded: Traffic,
    refused: [u64; Refusal::ALL.len()],
}

impl Counts {
    /// Packets that were refused for this reason.
    pub fn refused(&self, why: Refusal) -> u64 {
        self.refused[why as usize]
    }

    /// All refused packets, by reason.
    pub fn refusals(&self) -> impl Iterator<Item = (Refusal, u64)> {
        let all = Refusal::ALL.into_iter();
        all.map(|why| (why, self.refused(why)))
    }

    /// Counts refused packets.
    pub fn refuse(&mut self, why: Refusal, packets: usize) {
        self.refused[why as usize] += packets as u64;
    }
}
