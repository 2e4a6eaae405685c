//! What an ACK says about the path, and the largest recent rates.

use crate::cc::RateSample;
use crate::cc::path::{Bandwidth, Bubble};
use std::time::Duration;

/// A rate sample as the draft has it (§2.3).
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Whether rate and volume are known; they are zero otherwise.
    pub valid: bool,
    pub bandwidth: Bandwidth,
    pub delivered: u32,
    pub prior_delivered: u64,
    pub lost: u64,
    pub tx_in_flight: u32,
    pub prior_in_flight: u32,
    pub acked: u32,
    pub losses: u32,
    pub rtt: Option<Duration>,
    pub app_limited: bool,
}

impl Sample {
    pub fn new(s: &RateSample, bubble: &Bubble) -> Self {
        let valid = s.delivered.filter(|(_, interval)| !interval.is_zero());
        let (delivered, interval) = valid.unwrap_or((0, Duration::from_micros(1)));
        Self {
            valid: valid.is_some(),
            bandwidth: Bandwidth::new(delivered, interval),
            delivered: u32::try_from(delivered).unwrap_or(u32::MAX),
            prior_delivered: s.prior_delivered,
            lost: s.lost,
            tx_in_flight: s.tx_in_flight,
            prior_in_flight: s.prior_in_flight,
            acked: s.acked_sacked,
            losses: s.losses,
            rtt: s.rtt,
            app_limited: s.app_limited || bubble.holds(s.prior_delivered),
        }
    }

    pub fn delivery(&self) -> Delivery {
        Delivery {
            bandwidth: self.bandwidth,
            segments: self.delivered,
        }
    }
}

/// The largest rate of this cycle of PROBE_BW and of the one before (§5.5.3, §5.5.6).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TwoCycles {
    pub previous: Bandwidth,
    pub current: Bandwidth,
}

impl TwoCycles {
    pub fn get(&self) -> Bandwidth {
        self.previous.max(self.current)
    }

    /// `AdvanceMaxBwFilter`. A cycle in which nothing was measured does not count, as in Linux's.
    pub fn advance(&mut self) {
        if self.current > Bandwidth::ZERO {
            self.previous = std::mem::take(&mut self.current);
        }
    }
}

/// A rate and a volume: of the latest round, or bounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivery {
    pub bandwidth: Bandwidth,
    pub segments: u32,
}
