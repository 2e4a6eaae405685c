//! What became of every packet.

use serde::Serialize;
use std::fmt;

/// Why a packet is not forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    /// Longer than a packet in an envelope can be.
    Oversized,
    /// No envelope, or one that is cut short or empty.
    Malformed,
    /// An envelope or a capability of a version that is not known.
    Version,
    /// Another envelope inside: no packet goes through two proxies.
    Nested,
    /// The proxy is not listed, by the sender's family of addresses, and so has no key for it.
    NotListed,
    /// A capability that was not issued for this proxy, sender and destination.
    Capability,
    /// A capability that was good.
    Expired,
    /// A destination that no capability is good enough for.
    Destination,
    /// More than one source may send.
    SourceRate,
    /// More than the proxy forwards in all.
    Rate,
    /// The system did not take it.
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

    /// A word for programs.
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

/// Packets, and their bytes from behind the UDP header on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// How many.
    pub packets: u64,
    /// How long.
    pub bytes: u64,
}

impl Traffic {
    /// Counts packets of so many bytes together.
    pub fn add(&mut self, packets: usize, bytes: usize) {
        self.packets += packets as u64;
        self.bytes += bytes as u64;
    }
}

/// Everything that came is in `forwarded` or in one of `refused`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// What came.
    pub received: Traffic,
    /// What went on, without envelopes.
    pub forwarded: Traffic,
    refused: [u64; Refusal::ALL.len()],
}

impl Counts {
    /// Packets that were refused for this reason.
    pub fn refused(&self, why: Refusal) -> u64 {
        self.refused[why as usize]
    }

    /// Those that were refused for any, by reason.
    pub fn refusals(&self) -> impl Iterator<Item = (Refusal, u64)> {
        let all = Refusal::ALL.into_iter();
        all.map(|why| (why, self.refused(why)))
    }

    /// Counts some.
    pub fn refuse(&mut self, why: Refusal, packets: usize) {
        self.refused[why as usize] += packets as u64;
    }
}
