//! Packets that wait: each flow's in order, with bounds for all of them in number, bytes and time.

use crate::{Flow, Leaving};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// How often a law is asked about a waiting packet, in µs: its answer changes as data arrive.
const POLL_INTERVAL_US: u64 = 1000;

/// A packet that leaves sooner does not count as having waited, since the law may not have been asked any sooner.
const WAITED_US: u64 = POLL_INTERVAL_US;

/// Says when packets leave.
pub trait Law {
    /// What the law notes about a packet that comes.
    type Mark: Copy + Default;

    /// A packet has come; `head` are its first bytes from the IP header on. The law gets the returned mark again when
    /// it is asked about the packet.
    fn came(&mut self, packet: &Leaving, head: &[u8]) -> Self::Mark;

    /// How much longer the packet with that `mark` (from [`Self::came`]) has to wait at `now_us`, by CLOCK_MONOTONIC in
    /// µs; 0: it may leave. Asked repeatedly for the first of a flow's packets.
    fn wait_us(&mut self, packet: &Leaving, mark: Self::Mark, now_us: u64) -> u64;

    /// The packet leaves, because of the law or of a limit.
    fn leaves(&mut self, _packet: &Leaving) {}

    /// Whether the law may hear late of packets that come while others of their flow wait, namely when it is next asked
    /// about those. A process that need not wake for each packet takes far less processor time.
    fn may_hear_late(&self) -> bool {
        false
    }
}

/// A law that decides once, when the packet comes, when it leaves.
impl<F: FnMut(&Leaving, &[u8]) -> u64> Law for F {
    type Mark = u64;

    fn came(&mut self, packet: &Leaving, head: &[u8]) -> u64 {
        self(packet, head)
    }

    fn wait_us(&mut self, _packet: &Leaving, due_us: u64, now_us: u64) -> u64 {
        due_us.saturating_sub(now_us)
    }
}

/// How much may wait. When a limit is exceeded, the packets that are next in turn leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Packets.
    pub packets: usize,
    /// Bytes of all of them.
    pub bytes: u64,
    /// How long each waits at most, in µs.
    pub wait_us: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            packets: 4096,
            bytes: 16 << 20,
            wait_us: 2_000_000,
        }
    }
}

/// What became of packets so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Packets that came.
    pub came: u64,
    /// Those that waited, for a millisecond at least.
    pub waited: u64,
    /// Those that left before their time, since too many packets or bytes waited.
    pub pushed: u64,
    /// Those that wait now.
    pub waiting: u64,
    /// The longest wait of a packet so far, in µs.
    pub longest_us: u64,
}

impl Counts {
    /// Those of an earlier gate, where nothing waits any more, and of this one together.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        Self {
            came: self.came + later.came,
            waited: self.waited + later.waited,
            pushed: self.pushed + later.pushed,
            waiting: later.waiting,
            longest_us: self.longest_us.max(later.longest_us),
        }
    }
}

/// What became of a flow's packets since it is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowCounts {
    /// Those that waited, as in [`Counts`].
    pub waited: u64,
    /// Those that wait now.
    pub waiting: u64,
}

/// Packets that wait, known by the numbers that the kernel gave them.
pub struct Hold<M = u64> {
    limits: Limits,
    /// Flows with waiting packets.
    flows: BTreeMap<Flow, VecDeque<Waiting<M>>>,
    /// Packets that leave now.
    ready: VecDeque<(u32, Leaving)>,
    /// When the law has to be asked again.
    next_us: Option<u64>,
    bytes: u64,
    counts: Counts,
    each: HashMap<Flow, FlowCounts>,
}

struct Waiting<M> {
    /// Its place among all that came.
    place: u64,
    id: u32,
    packet: Leaving,
    mark: M,
    /// Whether it no longer has to wait.
    free: bool,
}

impl<M: Copy> Hold<M> {
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            flows: BTreeMap::new(),
            ready: VecDeque::new(),
            next_us: None,
            bytes: 0,
            counts: Counts::default(),
            each: HashMap::new(),
        }
    }

    /// A packet has come; the law has returned `mark`.
    pub fn push(&mut self, packet: Leaving, id: u32, mark: M) {
        self.bytes += u64::from(packet.bytes);
        self.counts.came += 1;
        self.counts.waiting += 1;
        self.each.entry(packet.flow).or_default().waiting += 1;
        let waiting = Waiting {
            place: self.counts.came,
            id,
            packet,
            mark,
            free: false,
        };
        self.flows
            .entry(packet.flow)
            .or_default()
            .push_back(waiting);
        self.next_us = Some(0);
    }

    /// Asks the law which packets may leave: none before earlier ones of its flow, nor later than the limits say.
    pub fn look(&mut self, law: &mut impl Law<Mark = M>, now_us: u64) {
        let flows: Vec<Flow> = self.flows.keys().copied().collect();
        self.next_us = None;
        for flow in flows {
            while let Some(wait_us) = self.wait_us(&flow, law, now_us) {
                if wait_us > 0 {
                    let next_us = now_us + wait_us.min(POLL_INTERVAL_US);
                    self.next_us = Some(self.next_us.map_or(next_us, |us| us.min(next_us)));
                    break;
                }
                self.release(&flow, now_us);
            }
        }
        while !self.fits() {
            let first =
                |(_, waiting): &(&Flow, &VecDeque<Waiting<M>>)| waiting.front().map(|w| w.place);
            let Some((&flow, _)) = self.flows.iter().min_by_key(first) else {
                return;
            };
            self.release(&flow, now_us);
            self.counts.pushed += 1;
        }
    }

    /// How long the flow's first packet still has to wait; none if no packet waits.
    fn wait_us(&mut self, flow: &Flow, law: &mut impl Law<Mark = M>, now_us: u64) -> Option<u64> {
        let first = self.flows.get(flow)?.front()?;
        let latest_us = first.packet.at_us.saturating_add(self.limits.wait_us);
        if first.free || now_us >= latest_us {
            return Some(0);
        }
        let wait_us = law.wait_us(&first.packet, first.mark, now_us);
        Some(wait_us.min(latest_us - now_us))
    }

    fn release(&mut self, flow: &Flow, now_us: u64) {
        let Some(waiting) = self.flows.get_mut(flow) else {
            return;
        };
        if let Some(first) = waiting.pop_front() {
            self.ready.push_back((first.id, first.packet));
            self.bytes -= u64::from(first.packet.bytes);
            let waited_us = now_us.saturating_sub(first.packet.at_us);
            self.counts.waiting -= 1;
            self.counts.waited += u64::from(waited_us >= WAITED_US);
            self.counts.longest_us = self.counts.longest_us.max(waited_us);
            let own = self.each.entry(*flow).or_default();
            own.waiting -= 1;
            own.waited += u64::from(waited_us >= WAITED_US);
        }
        if waiting.is_empty() {
            self.flows.remove(flow);
        }
    }

    /// The next packet that leaves now.
    pub fn pop(&mut self) -> Option<(u32, Leaving)> {
        self.ready.pop_front()
    }

    fn fits(&self) -> bool {
        self.counts.waiting <= self.limits.packets as u64 && self.bytes <= self.limits.bytes
    }

    /// When the law has to be asked again.
    pub fn next_us(&self) -> Option<u64> {
        self.next_us
    }

    /// Lets all waiting packets leave now, or those of one flow.
    pub fn let_go(&mut self, flow: Option<&Flow>) {
        let meant = self.flows.iter_mut();
        for (_, waiting) in meant.filter(|(of, _)| flow.is_none_or(|flow| flow == *of)) {
            waiting.iter_mut().for_each(|one| one.free = true);
        }
        self.next_us = Some(0);
    }

    /// The number of flows with waiting packets.
    pub fn waiting_flows(&self) -> usize {
        self.flows.len()
    }

    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The counts of each flow that has had a packet.
    pub fn each(&self) -> impl Iterator<Item = (Flow, FlowCounts)> {
        self.each.iter().map(|(flow, counts)| (*flow, *counts))
    }

    /// Resets the flow's counts; none of its packets waits.
    pub fn forget(&mut self, flow: &Flow) {
        self.each.remove(flow);
    }
}

#[cfg(test)]
mod tests;
