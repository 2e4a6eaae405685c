//! Holes in a sequence of numbers.

use std::collections::BTreeMap;

/// Disjoint ranges of numbers in order, each with a note that both parts keep when one is cut in two.
#[derive(Clone, Debug)]
pub struct Gaps<T> {
    /// By their first numbers: the number after the last, and the note.
    ranges: BTreeMap<u64, (u64, T)>,
}

impl<T> Default for Gaps<T> {
    fn default() -> Self {
        Self {
            ranges: BTreeMap::new(),
        }
    }
}

impl<T: Copy> Gaps<T> {
    /// Adds [first, end), which is above all other ranges; nothing if it is empty.
    pub fn push(&mut self, first: u64, end: u64, note: T) {
        if first < end {
            self.ranges.insert(first, (end, note));
        }
    }

    /// Takes a number out; false if it was in no range.
    pub fn remove(&mut self, number: u64) -> bool {
        let Some((&first, &(end, note))) = self.ranges.range(..=number).next_back() else {
            return false;
        };
        if number >= end {
            return false;
        }
        self.ranges.remove(&first);
        self.push(first, number, note);
        self.push(number + 1, end, note);
        true
    }

    /// Forgets the lowest range.
    pub fn pop_first(&mut self) {
        self.ranges.pop_first();
    }

    /// The lowest number.
    pub fn first(&self) -> Option<u64> {
        self.ranges.first_key_value().map(|(&first, _)| first)
    }

    /// How many ranges there are.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// First number, the number after the last, and the note, of all ranges in order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (u64, u64, &mut T)> {
        let ranges = self.ranges.iter_mut();
        ranges.map(|(&first, (end, note))| (first, *end, note))
    }
}
