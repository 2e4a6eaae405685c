//! The order of rows.

use crate::top::row::Row;
use clap::ValueEnum;
use std::cmp::Ordering;
use tidegate_agent::Direction;

/// A column to sort by; the largest first, and names from A to Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Order {
    /// Queueing delay
    #[default]
    Queue,
    /// Round trip
    Rtt,
    /// Smallest round trip
    RttMin,
    /// Rate
    Rate,
    /// Window as the sender is told
    Window,
    /// Window as the kernel had it
    Kernel,
    /// Bytes so far
    Bytes,
    /// The far end's address
    Remote,
    /// Device
    Device,
    /// What limits the flow
    Why,
    /// Group, so that flows that share a queue stand together
    Group,
}

/// Sort key that keeps rows of one queue together; flows that share no queue come last.
fn queue_of(row: &Row) -> (bool, u32, Direction, Option<u32>) {
    let group = row.group();
    (group.is_none(), row.key.ifindex, row.key.direction, group)
}

impl Order {
    /// Which row comes first. Live rows come before idle and closed ones.
    pub fn compare(self, a: &Row, b: &Row) -> Ordering {
        a.state
            .cmp(&b.state)
            .then_with(|| self.column(a, b))
            .then_with(|| b.bytes.cmp(&a.bytes))
            .then_with(|| (a.key.remote, a.key.local).cmp(&(b.key.remote, b.key.local)))
    }

    fn column(self, a: &Row, b: &Row) -> Ordering {
        let number = |row: &Row| -> Option<f64> {
            match self {
                Self::Queue => row.queue_us().map(f64::from),
                Self::Rtt => row.rtt_us().map(f64::from),
                Self::RttMin => row.rtt_min_us().map(f64::from),
                Self::Rate => row.rate_bps,
                Self::Window => row.window_bytes().map(f64::from),
                Self::Kernel => row.kernel_bytes().map(f64::from),
                Self::Bytes => Some(row.bytes as f64),
                Self::Group | Self::Remote | Self::Device | Self::Why => None,
            }
        };
        match self {
            Self::Group => queue_of(a).cmp(&queue_of(b)),
            Self::Remote => (a.key.remote, a.key.local).cmp(&(b.key.remote, b.key.local)),
            Self::Device => (a.device.is_none(), &a.device).cmp(&(b.device.is_none(), &b.device)),
            Self::Why => a.why().cmp(&b.why()),
            // Unknown values come last.
            _ => number(b).partial_cmp(&number(a)).unwrap_or(Ordering::Equal),
        }
    }

    /// The order `by` places after this one, wrapping around.
    pub fn step(self, by: isize) -> Self {
        let all = Self::value_variants();
        let at = all.iter().position(|o| *o == self).unwrap_or(0);
        let next = (at as isize + by).rem_euclid(all.len() as isize);
        all[next as usize]
    }
}
