//! When a source has how much to send.

use crate::{Direction, WorkloadKind};
use std::time::Duration;

/// Smallest write of a source of constant rate, in bytes: a segment, lest it sends tiny ones.
const SEGMENT: u64 = 1448;

/// Shortest time between two writes of a source of constant rate.
const TICK: Duration = Duration::from_millis(1);

/// How much a source has produced by when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Schedule {
    /// Everything at once, up to a number of bytes.
    AtOnce(Option<u64>),
    /// A chunk at the start of every period.
    Chunks {
        /// Bytes of a chunk.
        bytes: u64,
        /// From the start of one to the start of the next.
        period: Duration,
    },
    /// Little by little.
    Rate {
        /// The rate.
        bytes_per_second: f64,
    },
}

impl Schedule {
    /// The schedule of a workload that is a stream, its direction and its number of connections.
    pub fn of(does: &WorkloadKind) -> Option<(Self, Direction, u64)> {
        Some(match *does {
            WorkloadKind::Bulk {
                direction,
                bytes,
                flows,
            } => (Self::AtOnce(bytes), direction, flows),
            WorkloadKind::Chunks {
                chunk_bytes,
                period_s,
            } => {
                let chunks = Self::Chunks {
                    bytes: chunk_bytes,
                    period: Duration::from_secs_f64(period_s),
                };
                (chunks, Direction::Down, 1)
            }
            WorkloadKind::ConstantRate { direction, mbps } => {
                let rate = Self::Rate {
                    bytes_per_second: mbps * 1e6 / 8.0,
                };
                (rate, direction, 1)
            }
            WorkloadKind::Mptcp { .. } => (Self::AtOnce(None), Direction::Down, 1),
            WorkloadKind::Reader { direction, .. } => (Self::AtOnce(None), direction, 1),
            WorkloadKind::Web { .. }
            | WorkloadKind::Page { .. }
            | WorkloadKind::Flows(_)
            | WorkloadKind::Video { .. }
            | WorkloadKind::AdaptiveVideo(_)
            | WorkloadKind::Datagrams { .. }
            | WorkloadKind::OnOff(_)
            | WorkloadKind::Ping { .. }
            | WorkloadKind::Mpath(_)
            | WorkloadKind::Sprout(_)
            | WorkloadKind::Command { .. } => return None,
        })
    }

    /// Bytes that the source has produced `elapsed` after its start.
    pub fn owed_bytes(&self, elapsed: Duration) -> u64 {
        match *self {
            Self::AtOnce(total) => total.unwrap_or(u64::MAX),
            Self::Chunks { bytes, period } => {
                let begun = elapsed.as_nanos() / period.as_nanos().max(1) + 1;
                bytes.saturating_mul(begun as u64)
            }
            // Down to a whole segment, or the source would always owe a byte or two.
            Self::Rate { bytes_per_second } => {
                let produced = bytes_per_second * elapsed.as_secs_f64();
                produced as u64 / SEGMENT * SEGMENT
            }
        }
    }

    /// When, after the start, the source produces the byte after the first `sent`.
    pub fn next_due(&self, sent: u64) -> Duration {
        match *self {
            Self::AtOnce(_) => Duration::ZERO,
            Self::Chunks { bytes, period } => {
                Duration::from_nanos((period.as_nanos() as u64).saturating_mul(sent / bytes))
            }
            Self::Rate { bytes_per_second } => {
                let segment = Duration::from_secs_f64((sent + SEGMENT) as f64 / bytes_per_second);
                let tick = Duration::from_secs_f64(sent as f64 / bytes_per_second) + TICK;
                segment.max(tick)
            }
        }
    }

    /// Bytes after which the source ends, if it does.
    pub fn total_bytes(&self) -> Option<u64> {
        match *self {
            Self::AtOnce(total) => total,
            _ => None,
        }
    }

    /// Size of a chunk, if there are chunks.
    pub fn chunk_bytes(&self) -> Option<u64> {
        match *self {
            Self::Chunks { bytes, .. } => Some(bytes),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
