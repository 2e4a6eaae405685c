//! What a packet costs where a proxy has as many connections as the largest tables are for: each packet is another one's, so
//! that nothing of its flow is in the processor's caches.

use super::traffic::{Mix, Traffic, Way};
use super::{BLOCK, BLOCKS, Bench, rows, traffic};
use crate::bench::Row;
use anyhow::{Result, ensure};
use std::sync::atomic::Ordering;
use tidegate_agent::Direction;
use tidegate_laws::Law;

/// Connections, and those of a small server beside them.
const MANY: u32 = 100_000;
const FEW: u32 = 1_000;

/// What the tables are made for: a kernel forgets the oldest a little before they are full.
const TABLE: u32 = 131_072;

impl Bench<'_> {
    /// Under `tide`, [`MANY`] connections beside [`FEW`], by turns.
    pub fn many(&self, direction: Direction) -> Result<Vec<Row>> {
        let sizes = [MANY, FEW];
        let mut all = Vec::new();
        for flows in sizes {
            let programs = self.this.load_for(direction, Law::Tide, Some(TABLE))?;
            let together = false;
            let mut traffic = Traffic::new(direction, Mix { flows, together });
            traffic.greet(&programs)?;
            // Each has brought something: who has not, costs less.
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
