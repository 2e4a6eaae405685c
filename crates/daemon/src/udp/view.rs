//! The hold's state, joined with what the agent knows of the same flows.

use super::rules::{Rules, Sort};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::net::SocketAddr;
use tidegate_agent::{
    Direction, Endpoint, HoldPrograms, HoldView, Holding, Interface, PathView, WindowlessView,
};
use tidegate_gate::{Counts, Flow};
use tidegate_scenario::Udp;

/// The protocol number of UDP.
const UDP: u32 = 17;

/// How long after its last packet a flow's record is surely its own, and how long its delay is news.
const RECORD_US: u64 = 10_000_000;
const LATELY_US: u64 = 1_000_000;

/// Totals over all flows since the start.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct HoldCounts {
    /// Packets at the gate.
    #[serde(flatten)]
    pub gate: Counts,
    /// Packets that were marked or dropped.
    pub signalled: u64,
    /// Echoes sent.
    pub echoes: u64,
    /// Whether the gate's process has ended.
    pub gate_gone: bool,
}

/// A flow that has a record.
pub struct Seen {
    /// The flow.
    pub flow: Flow,
    /// Which way its data go.
    pub direction: Direction,
    /// When its last packet arrived, µs of CLOCK_MONOTONIC.
    pub seen_us: u64,
    /// What the hold knows of it and does with it.
    pub hold: HoldView,
}

/// The hold's whole state.
pub struct HoldSnapshot {
    /// Flows that have records.
    pub flows: Vec<Seen>,
    /// The rules in force.
    pub rules: Rules,
    /// The interfaces and directions where the hold is.
    pub on: Vec<(Interface, Direction)>,
    /// Whether the gate's process has ended.
    pub gate_gone: bool,
    /// Totals over all flows since the start.
    pub counts: HoldCounts,
}

impl HoldSnapshot {
    /// Adds to each flow without a window what the hold does about it, if the hold is on its interface.
    pub fn explain(&self, ways: &mut [WindowlessView], now_us: u64) {
        let of = |seen: &Seen| ((seen.flow, seen.direction), seen.hold);
        let flows: HashMap<_, _> = self.flows.iter().map(of).collect();
        let young = |seen: &&Seen| now_us.saturating_sub(seen.seen_us) < RECORD_US;
        let full = self.flows.iter().filter(young).count() >= HoldPrograms::PLACES;
        for way in ways.iter_mut().filter(|way| way.protocol == UDP) {
            let direction = way.direction;
            let is_here =
                |(i, of): &&(Interface, Direction)| i.index == way.ifindex && *of == direction;
            let here = self.on.iter().find(is_here);
            way.hold = here.map(|(interface, _)| {
                let remote = address(way.remote);
                let flow = Flow {
                    interface: way.ifindex,
                    local: address(way.local),
                    remote,
                };
                let record = flows.get(&(flow, direction));
                let sort = Sort {
                    interface: &interface.name,
                    remote,
                    direction,
                    kind: way.kind,
                };
                let asks = way.bytes >= HoldPrograms::ASKS;
                self.one(record.copied(), self.refusal(sort), full && asks)
            });
        }
    }

    /// Why such a flow must not be held; none: it may.
    fn refusal(&self, sort: Sort<'_>) -> Option<Holding> {
        match self.rules.verdict(sort) {
            Udp::Hold => None,
            _ if self.rules.is_ruled(sort) => Some(Holding::Denied),
            _ => Some(Holding::NotHttp3),
        }
    }

    fn one(&self, record: Option<HoldView>, refusal: Option<Holding>, full: bool) -> HoldView {
        let without = || {
            HoldView::without_record(if full {
                Holding::TableFull
            } else {
                Holding::NotBulk
            })
        };
        let seen = record.unwrap_or_else(without);
        let gone = self.gate_gone.then_some(Holding::GateGone);
        let state = refusal.or(gone).unwrap_or(seen.state);
        HoldView { state, ..seen }
    }

    /// Counts held flows in the queues of paths and groups; the agent counts only flows with windows.
    pub fn count_in(&self, paths: &mut [PathView], now_us: u64) {
        for path in paths {
            let own = self.flows.iter().filter(|seen| {
                (seen.flow.interface, seen.direction) == (path.ifindex, path.direction)
                    && now_us.saturating_sub(seen.seen_us) < LATELY_US
            });
            for seen in own {
                path.queue_us = path.queue_us.max(seen.hold.queue_us.unwrap_or(0));
                let mut groups = path.groups.iter_mut();
                if let Some(group) = groups.find(|g| Some(g.group) == seen.hold.group) {
                    group.flows += 1;
                }
            }
        }
    }
}

fn address(end: Endpoint) -> SocketAddr {
    SocketAddr::new(end.address, end.port)
}

#[cfg(test)]
mod tests;
