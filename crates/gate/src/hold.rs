//! Packets that wait: each flow's in their order, all of them bounded in number, bytes and time.

use crate::{Flow, Leaving};
use serde::{Deserialize, Serialize};
use std::cmp::{Ordering, Reverse};
use std::collections::hash_map::Entry;
use std::collections::{BinaryHeap, HashMap};

/// How much may wait. What is beyond makes those go that would have gone next.
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
    /// Those that waited.
    pub waited: u64,
    /// Those that left before their time, as too much waited.
    pub pushed: u64,
    /// Those that wait now.
    pub waiting: u64,
    /// The longest time that one has waited so far, in µs.
    pub longest_us: u64,
}

/// Packets that wait, known by the numbers that the kernel gave them.
pub struct Hold {
    limits: Limits,
    waiting: BinaryHeap<Reverse<Waiting>>,
    /// Those flows of which packets wait.
    flows: HashMap<Flow, Waiters>,
    bytes: u64,
    counts: Counts,
}

struct Waiting {
    due_us: u64,
    /// Its place among all that came.
    place: u64,
    id: u32,
    packet: Leaving,
}

struct Waiters {
    count: usize,
    /// When the last of them may leave.
    last_us: u64,
}

impl Hold {
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            waiting: BinaryHeap::new(),
            flows: HashMap::new(),
            bytes: 0,
            counts: Counts::default(),
        }
    }

    /// A packet has come which may leave at `due_us`; neither before others of its flow, nor later than
    /// the limits say.
    pub fn push(&mut self, packet: Leaving, id: u32, due_us: u64) {
        let latest_us = packet.at_us.saturating_add(self.limits.wait_us);
        let waiters = self.flows.entry(packet.flow).or_insert(Waiters {
            count: 0,
            last_us: 0,
        });
        let due_us = due_us.min(latest_us).max(waiters.last_us);
        waiters.count += 1;
        waiters.last_us = due_us;
        self.bytes += u64::from(packet.bytes);
        self.counts.came += 1;
        self.waiting.push(Reverse(Waiting {
            due_us,
            place: self.counts.came,
            id,
            packet,
        }));
    }

    /// The next packet that leaves now.
    pub fn pop(&mut self, now_us: u64) -> Option<u32> {
        let Reverse(next) = self.waiting.peek()?;
        let is_due = next.due_us <= now_us;
        if !is_due && self.fits() {
            return None;
        }
        let Reverse(Waiting { id, packet, .. }) = self.waiting.pop()?;
        self.bytes -= u64::from(packet.bytes);
        if let Entry::Occupied(mut waiters) = self.flows.entry(packet.flow) {
            waiters.get_mut().count -= 1;
            if waiters.get().count == 0 {
                waiters.remove();
            }
        }
        let waited_us = now_us.saturating_sub(packet.at_us);
        self.counts.waited += u64::from(waited_us > 0);
        self.counts.pushed += u64::from(!is_due);
        self.counts.longest_us = self.counts.longest_us.max(waited_us);
        Some(id)
    }

    fn fits(&self) -> bool {
        self.waiting.len() <= self.limits.packets && self.bytes <= self.limits.bytes
    }

    /// When the next packet may leave.
    pub fn next_us(&self) -> Option<u64> {
        self.waiting.peek().map(|Reverse(next)| next.due_us)
    }

    /// All that wait may leave now, or those of one flow.
    pub fn let_go(&mut self, flow: Option<&Flow>) {
        let is_meant = |of: &Flow| flow.is_none_or(|flow| flow == of);
        let mut waiting = std::mem::take(&mut self.waiting).into_vec();
        for Reverse(one) in waiting.iter_mut().filter(|w| is_meant(&w.0.packet.flow)) {
            one.due_us = 0;
        }
        self.waiting = waiting.into();
        for (_, waiters) in self.flows.iter_mut().filter(|(of, _)| is_meant(of)) {
            waiters.last_us = 0;
        }
    }

    pub fn counts(&self) -> Counts {
        Counts {
            waiting: self.waiting.len() as u64,
            ..self.counts
        }
    }
}

impl Waiting {
    fn rank(&self) -> (u64, u64) {
        (self.due_us, self.place)
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.rank() == other.rank()
    }
}

impl Eq for Waiting {}

#[cfg(test)]
mod tests;
