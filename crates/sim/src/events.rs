//! The event queue: what is to be woken when.
//!
//! Every target has at most one entry. TCP's timers move with almost every segment, and nearly always to a later time.
//! So an entry is only ever moved to an earlier time; one that comes up too early is put at its due time then, without
//! a look at its target. The usual segment therefore costs two visits to the heap, those of the two links that it
//! crosses, both near the top however many connections sleep below.

use tidegate_basics::time::Instant;

/// Something that can be woken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target(u32);

/// Kinds of [`Target`]. At the same instant they are woken in this order, and those of a kind in order of their
/// numbers: the order does not depend on which asked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The observers: they see the state before anything else happens at their instant.
    Clock,
    /// Links.
    Link,
    /// The hosts' interfaces.
    Interface,
    /// Packets held at the client's edge, and the law's echoes there.
    Edge,
    /// Ends of connections.
    End,
    /// Applications.
    Application,
}

/// Numbers of the clocks, in the order in which they are woken.
pub mod clock {
    /// Observes the flows.
    pub const SAMPLER: usize = 0;
    /// The end of the warm-up.
    pub const WARMUP: usize = 1;
    /// Records the curves.
    pub const CURVES: usize = 2;
    /// cake-autorate's next echo.
    pub const PING: usize = 3;
    /// cake-autorate's next measurement of how much has passed.
    pub const MONITOR: usize = 4;
}

impl Target {
    const KIND_SHIFT: u32 = 29;

    /// The target of a kind by its number.
    pub fn new(kind: Kind, index: usize) -> Self {
        debug_assert!(index < 1 << Self::KIND_SHIFT);
        Self((kind as u32) << Self::KIND_SHIFT | index as u32)
    }

    /// Its kind.
    pub fn kind(self) -> Kind {
        match self.0 >> Self::KIND_SHIFT {
            0 => Kind::Clock,
            1 => Kind::Link,
            2 => Kind::Interface,
            3 => Kind::Edge,
            4 => Kind::End,
            _ => Kind::Application,
        }
    }

    /// Its number within its kind.
    pub fn index(self) -> usize {
        (self.0 & ((1 << Self::KIND_SHIFT) - 1)) as usize
    }
}

/// Time in the high bits, target in the low ones: one comparison orders both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry(u128);

impl Entry {
    fn new(at: Instant, target: Target) -> Self {
        Self(u128::from(at.as_nanos()) << 32 | u128::from(target.0))
    }

    fn at(self) -> Instant {
        Instant::from_nanos((self.0 >> 32) as u64)
    }

    fn target(self) -> Target {
        Target(self.0 as u32)
    }
}

/// Children of a node: four entries are a cache line.
const ARITY: usize = 4;

/// Not in the heap.
const ABSENT: u32 = u32::MAX;

/// State of a target.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// When it is to be woken; [`Instant::MAX`]: never.
    due: Instant,
    /// Place of its entry in the heap, which may be earlier than `due`.
    place: u32,
}

/// A heap with four children a node that knows where each target's entry is.
#[derive(Debug, Default)]
pub struct EventQueue {
    heap: Vec<Entry>,
    /// By kind and index.
    slots: [Vec<Slot>; 6],
}

impl EventQueue {
    /// The next target to be woken before `until`, and when. It is not woken again unless it asks.
    pub fn pop(&mut self, until: Instant) -> Option<(Instant, Target)> {
        loop {
            let first = *self.heap.first()?;
            let (at, target) = (first.at(), first.target());
            if at >= until {
                return None;
            }
            let slot = self.slot(target);
            if slot.due == at {
                slot.due = Instant::MAX;
                return Some((at, target));
            }
            // Too early: its time has been moved since.
            match slot.due {
                Instant::MAX => self.remove(0),
                due => self.sift_down(0, Entry::new(due, target)),
            }
        }
    }

    /// Wakes `target` at `at` and not before; never if `at` is none.
    pub fn set(&mut self, target: Target, at: Option<Instant>) {
        let due = at.unwrap_or(Instant::MAX);
        let slot = self.slot(target);
        slot.due = due;
        let place = slot.place;
        if due == Instant::MAX {
            return;
        }
        let entry = Entry::new(due, target);
        if place == ABSENT {
            self.heap.push(entry);
            self.sift_up(self.heap.len() - 1, entry);
        } else if entry < self.heap[place as usize] {
            self.sift_up(place as usize, entry);
        }
    }

    /// Wakes `target` at `at`, or earlier if it is already to be woken earlier.
    pub fn wake_by(&mut self, target: Target, at: Instant) {
        if at < self.slot(target).due {
            self.set(target, Some(at));
        }
    }

    fn slot(&mut self, target: Target) -> &mut Slot {
        let slots = &mut self.slots[target.kind() as usize];
        if slots.len() <= target.index() {
            let none = Slot {
                due: Instant::MAX,
                place: ABSENT,
            };
            slots.resize(target.index() + 1, none);
        }
        &mut slots[target.index()]
    }

    fn remove(&mut self, place: usize) {
        let target = self.heap[place].target();
        self.slot(target).place = ABSENT;
        let last = self.heap.pop().expect("there is one at least");
        if place < self.heap.len() {
            self.sift_down(place, last);
        }
    }

    fn sift_up(&mut self, mut place: usize, entry: Entry) {
        while place > 0 {
            let parent = (place - 1) / ARITY;
            if self.heap[parent] <= entry {
                break;
            }
            self.put(place, self.heap[parent]);
            place = parent;
        }
        self.put(place, entry);
    }

    fn sift_down(&mut self, mut place: usize, entry: Entry) {
        loop {
            let first = place * ARITY + 1;
            let end = (first + ARITY).min(self.heap.len());
            let children = self.heap.get(first..end).unwrap_or_default();
            let mut least = (place, entry);
            for (nth, &child) in children.iter().enumerate() {
                if child < least.1 {
                    least = (first + nth, child);
                }
            }
            if least.0 == place {
                break;
            }
            self.put(place, least.1);
            place = least.0;
        }
        self.put(place, entry);
    }

    fn put(&mut self, place: usize, entry: Entry) {
        let target = entry.target();
        self.heap[place] = entry;
        self.slots[target.kind() as usize][target.index()].place = place as u32;
    }
}

#[cfg(test)]
mod tests;
