//! What a packet costs with as many connections as the largest tables hold, as on a proxy: each packet belongs to
//! another flow, so that nothing of its flow is in the processor's caches.

use super::traffic::{Mix, Traffic, Way};
use super::{BLOCK, BLOCKS, Bench, rows, traffic};
use crate::bench::Row;
use anyhow::{Result, ensure};
use std::sync::atomic::Ordering;
use tidegate_agent::Direction;
use tidegate_laws::Law;

/// Connections of a proxy, and of a small server to compare with.
const MANY: u32 = 100_000;
const FEW: u32 = 1_000;

/// Size of the tables: a kernel evicts the oldest entries shortly before a table is full.
const TABLE: u32 = 131_072;

impl Bench<'_> {
    /// Compares [`MANY`] connections with [`FEW`], in turns, under `tide`.
    pub fn many(&self, direction: Direction) -> Result<Vec<Row>> {
        let sizes = [MANY, FEW];
        let mut all = Vec::new();
        for flows in sizes {
            let programs = self.this.load_for(direction, Law::Tide, Some(TABLE))?;
            let together = false;
            let mut traffic = Traffic::new(direction, Mix { flows, together });
            traffic.greet(&programs)?;
            // Give each flow some data first: a flow without data costs less.
            for _ in 0..flows {
                for packet in traffic.segment() {
                    programs.pass(&packet)?;
                }
            }
            all.push((programs, traffic));
        }
        let mut costs = vec![Vec::new(); all.len()];
        for block in 0..BLOCKS {
            ensure!(!self.stop.load(Ordering::Relaxed), "stopped");
            for turn in 0..all.len() {
                let which = (block + turn) % all.len();
                let (programs, traffic) = &mut all[which];
                let packets: Vec<_> = (0..BLOCK).flat_map(|_| traffic.segment()).collect();
                costs[which].push(self.pass(&packets, programs)?);
            }
        }
        let name = |way: Way| format!("{}, tide, {MANY} flows", traffic::name(direction, way));
        Ok(rows(name, &["1000 flows"], &costs))
    }
}
