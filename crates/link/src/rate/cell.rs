//! Generated cells.

use super::burst::Burst;
use crate::Instant;
use rand::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64Mcg;
use std::time::Duration;

/// Cellular technologies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// LTE: bursts every 4 ms.
    Lte,
    /// HSPA: bursts every 10 ms.
    Hspa,
    /// EVDO: bursts every 10 ms, long fades.
    Evdo,
}

/// A generated cell: the same model gives the same opportunities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CellModel {
    cell: Cell,
    mean_bps: f64,
    seed: u64,
}

impl CellModel {
    /// A cell of that technology, with that long-run mean rate in bit/s (its own by default).
    pub fn new(cell: Cell, mean_bps: Option<f64>, seed: u64) -> Self {
        let mean_bps = mean_bps.unwrap_or(match cell {
            Cell::Lte => 12e6,
            Cell::Hspa => 3e6,
            Cell::Evdo => 0.6e6,
        });
        Self {
            cell,
            mean_bps,
            seed,
        }
    }

    fn tti(&self) -> Duration {
        Duration::from_millis(match self.cell {
            Cell::Lte => 4,
            Cell::Hspa | Cell::Evdo => 10,
        })
    }
}

/// Walks through a cell's opportunities.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    model: CellModel,
    rng: Pcg64Mcg,
    log_rate: f64,
    next: Burst,
    passed: Instant,
    carried: u64,
}

impl Cursor {
    pub(super) fn new(model: &CellModel) -> Self {
        let mut cursor = Self {
            model: *model,
            rng: Pcg64Mcg::seed_from_u64(model.seed),
            log_rate: 0.0,
            next: Burst {
                at: Instant::ZERO,
                bytes: 0,
            },
            passed: Instant::ZERO,
            carried: 0,
        };
        cursor.advance();
        cursor
    }

    pub(super) fn peek(&self) -> Burst {
        self.next
    }

    pub(super) fn advance(&mut self) {
        let tti = self.model.tti();
        self.passed = self.next.at;
        self.carried += self.next.bytes;
        let shock: f64 = StandardNormal.sample(&mut self.rng);
        self.log_rate = self.log_rate * 0.99 + 0.08 * shock;
        let bytes = self.model.mean_bps * self.log_rate.exp() * tti.as_secs_f64() / 8.0;
        self.next = Burst {
            at: self.next.at + tti,
            bytes: bytes as u64,
        };
    }

    pub(super) fn skip_past(&mut self, now: Instant) {
        while self.next.at <= now {
            self.advance();
        }
    }

    /// The last opportunity passed.
    pub(super) fn passed(&self) -> Instant {
        self.passed
    }

    /// Bytes of all opportunities passed.
    pub(super) fn carried(&self) -> u64 {
        self.carried
    }
}
