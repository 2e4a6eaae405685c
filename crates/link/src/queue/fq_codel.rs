//! FlowQueue-CoDel (RFC 8290): deficit round robin over flows, each with a CoDel of its own, and new
//! flows first. Names are the RFC's.

use super::backlog::{Backlog, Queued};
use super::codel::Codel;
use super::marking::Signals;
use crate::{Instant, Packet, QueueConfig};
use std::collections::VecDeque;
use std::time::Duration;

/// §4.1.3: packets dropped at most for one that does not fit, which pays for the search of the fattest flow.
const DROP_BATCH: u32 = 64;

/// Parameters of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelPolicy {
    /// CoDel's target for each flow (RFC 8290 §5.2.2; 5 ms).
    pub target: Duration,
    /// CoDel's interval for each flow (§5.2.1; 100 ms).
    pub interval: Duration,
    /// Bytes that a flow may send in a round (§5.2.4: the MTU, here without a link-layer header).
    pub quantum: u32,
    /// Queues that flows hash to (§5.2.5; 1024).
    pub flows: u32,
}

impl Default for FqCodelPolicy {
    /// 5 ms, 100 ms, 1500 bytes, 1024 queues.
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            quantum: 1500,
            flows: 1024,
        }
    }
}

/// Flows, their turns and the limits on all of them together.
///
/// ```text
///         first packet
///  empty ──────────────▶ new ──────────────▶ old: served after the new ones
///    ▲   deficit :=        deficit ≤ 0, or    │   quantum each round
///    │     quantum         empty while        │
///    │                     others are old     │
///    └────────────────────────────────────────┘
///                       empty
/// ```
#[derive(Debug)]
pub(crate) struct FqCodel<P> {
    flows: Vec<Flow<P>>,
    /// Flows that have become active lately, in order of service (§4.2).
    new_flows: VecDeque<u32>,
    old_flows: VecDeque<u32>,
    quantum: i64,
    max_packets: usize,
    max_bytes: usize,
    packets: usize,
    bytes: usize,
    /// When a packet was last taken in.
    newest: Instant,
    signals: Signals,
}

#[derive(Debug)]
struct Flow<P> {
    backlog: Backlog<P>,
    codel: Codel,
    /// Bytes that it may still send in this round.
    deficit: i64,
    /// Whether it is in one of the lists.
    listed: bool,
}

impl<P: Packet> FqCodel<P> {
    pub(super) fn new(config: QueueConfig, policy: FqCodelPolicy) -> Self {
        let flow = |_| Flow {
            backlog: Backlog::default(),
            codel: Codel::new(policy.target, policy.interval),
            deficit: 0,
            listed: false,
        };
        Self {
            flows: (0..policy.flows.max(1)).map(flow).collect(),
            new_flows: VecDeque::new(),
            old_flows: VecDeque::new(),
            quantum: i64::from(policy.quantum.max(1)),
            max_packets: config.packets.unwrap_or(usize::MAX),
            max_bytes: config.bytes.unwrap_or(usize::MAX),
            packets: 0,
            bytes: 0,
            newest: Instant::ZERO,
            signals: Signals::new(config.marking),
        }
    }

    /// Another quantum, and other parameters for every flow's CoDel.
    pub(super) fn retune(&mut self, policy: FqCodelPolicy) {
        self.quantum = i64::from(policy.quantum.max(1));
        for flow in &mut self.flows {
            flow.codel.retune(policy.target, policy.interval);
        }
    }

    /// §4.1.
    #[inline(never)]
    pub(super) fn push(&mut self, queued: Queued<P>) {
        let index = self.classify(queued.packet.flow());
        self.packets += 1;
        self.bytes += queued.packet.wire_bytes();
        self.newest = queued.arrival;
        let flow = &mut self.flows[index as usize];
        flow.backlog.push(queued);
        if !flow.listed {
            flow.listed = true;
            flow.deficit = self.quantum;
            self.new_flows.push_back(index);
        }
        while self.packets > self.max_packets || self.bytes > self.max_bytes {
            self.drop_from_fattest();
        }
    }

    /// §4.1.1: which queue a flow hashes to.
    fn classify(&self, flow: u64) -> u32 {
        // Fibonacci hashing: the upper half is well mixed even if the callers' numbers are 0, 1, 2 …
        let hash = flow.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        ((hash * self.flows.len() as u64) >> 32) as u32
    }

    /// §4.1.3: half of the flow with the most bytes, oldest first, though no more than a batch.
    fn drop_from_fattest(&mut self) {
        // Of several equally fat flows the first, as in Linux.
        let Some(flow) = self
            .flows
            .iter_mut()
            .rev()
            .max_by_key(|f| f.backlog.bytes())
        else {
            return;
        };
        let threshold = flow.backlog.bytes() / 2;
        let mut gone = 0;
        for _ in 0..DROP_BATCH {
            let Some(queued) = flow.backlog.pop(self.newest) else {
                break;
            };
            gone += queued.packet.wire_bytes();
            self.packets -= 1;
            self.signals.drop(&queued, self.newest);
            // Linux lets CoDel know, so that it signals harder.
            flow.codel.dropped_elsewhere();
            if gone >= threshold {
                break;
            }
        }
        self.bytes -= gone;
    }

    /// §4.2.
    #[inline(never)]
    pub(super) fn pop(&mut self, at: Instant) -> Option<Queued<P>> {
        loop {
            let is_new = !self.new_flows.is_empty();
            let list = if is_new {
                &mut self.new_flows
            } else {
                &mut self.old_flows
            };
            let index = *list.front()?;
            let flow = &mut self.flows[index as usize];
            if flow.deficit <= 0 {
                flow.deficit += self.quantum;
                list.pop_front();
                self.old_flows.push_back(index);
                continue;
            }
            if let Some(queued) = self.take(index, at) {
                self.flows[index as usize].deficit -= queued.packet.wire_bytes() as i64;
                return Some(queued);
            }
            self.retire(index, is_new);
        }
    }

    /// The flow's next packet, as its CoDel sees fit.
    fn take(&mut self, index: u32, at: Instant) -> Option<Queued<P>> {
        let Self {
            flows,
            packets,
            bytes,
            signals,
            ..
        } = self;
        let Flow { backlog, codel, .. } = &mut flows[index as usize];
        let before = (backlog.len(), backlog.bytes());
        let queued = codel.next(at, backlog, signals);
        *packets -= before.0 - backlog.len();
        *bytes -= before.1 - backlog.bytes();
        queued
    }

    /// An empty flow leaves its list. A new one first passes once through the old ones, if there are any; otherwise it
    /// could return as new at once and starve them.
    fn retire(&mut self, index: u32, is_new: bool) {
        if is_new {
            self.new_flows.pop_front();
        } else {
            self.old_flows.pop_front();
        }
        if is_new && !self.old_flows.is_empty() {
            self.old_flows.push_back(index);
        } else {
            self.flows[index as usize].listed = false;
        }
    }

    /// When a packet was last taken in; none while there is none.
    pub(super) fn newest(&self) -> Option<Instant> {
        (self.packets > 0).then_some(self.newest)
    }

    pub(super) fn len(&self) -> usize {
        self.packets
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    #[cfg(debug_assertions)]
    pub(super) fn backlogs(&self) -> impl Iterator<Item = &Backlog<P>> {
        self.flows.iter().map(|flow| &flow.backlog)
    }

    pub(super) fn signals(&self) -> Signals {
        self.signals
    }
}

#[cfg(test)]
mod tests;
