//! An arrived packet.

use crate::{Data, Stage};
use tidegate_basics::time::Instant;

/// A train's packet at its far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its place in the train.
    pub sequence: u32,
    /// The stage of the train that it belongs to.
    pub stage: Stage,
    /// Length of the IP packet.
    pub bytes: u16,
    /// When it was sent, by the sender's clock.
    pub sent: Instant,
    /// When it arrived, by the receiver's clock.
    pub arrived: Instant,
}

impl Arrival {
    /// The record of `data`.
    pub fn of(data: &Data, arrived: Instant) -> Self {
        Self {
            sequence: data.sequence,
            stage: data.stage,
            bytes: data.bytes,
            sent: data.sent,
            arrived,
        }
    }

    /// Time on the way by the two clocks, in nanoseconds, including their difference. The far end may claim any time.
    pub fn one_way_ns(&self) -> i64 {
        let way = i128::from(self.arrived.as_nanos()) - i128::from(self.sent.as_nanos());
        way.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}
