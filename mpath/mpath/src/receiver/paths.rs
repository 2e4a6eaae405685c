//! Paths as the receiver sees them.

use crate::Feedback;
use crate::gaps::Gaps;
use crate::packet::{Gap, PathGap, PathId, PathReport};
use std::collections::{BTreeMap, VecDeque};
use tidegate_basics::time::Instant;

/// The most paths of one sender: the one that has been silent for longest makes room.
const MOST: usize = 4096;

/// The most holes of a path that are kept to see whether the missing packets come late.
const HOLES: usize = 64;

/// The most losses that wait to be told: if a sender leaves gaps faster than they can be told, it is told the latest.
/// Missing numbers of the stream are asked for all the same.
const UNTOLD: usize = 4096;

/// A path.
#[derive(Debug)]
struct Path {
    /// The number after the largest that has arrived.
    next: u64,
    /// When that packet arrived.
    latest_came: Instant,
    /// Numbers below `next` that have not arrived.
    lost: u64,
    /// The recent ones of these.
    holes: Gaps<()>,
    /// How many more feedbacks report it.
    tell: u8,
}

/// A report goes into two feedbacks, so that the loss of one does not look like the loss of a path's
/// last packet.
const TELL: u8 = 2;

/// All paths.
#[derive(Debug, Default)]
pub struct Paths {
    paths: BTreeMap<PathId, Path>,
    /// Paths with something to report, in the order of their turns.
    turns: VecDeque<PathId>,
    /// Missing numbers that have not been told.
    lost: VecDeque<PathGap>,
}

impl Paths {
    /// Number `seq` arrives on a path; returns whether that shows a loss.
    pub fn arrive(&mut self, now: Instant, id: PathId, seq: u64) -> bool {
        if !self.paths.contains_key(&id) {
            self.make_room();
        }
        let path = self.paths.entry(id).or_insert(Path {
            next: 0,
            latest_came: now,
            lost: 0,
            holes: Gaps::default(),
            tell: 0,
        });
        if path.tell == 0 {
            self.turns.push_back(id);
        }
        path.tell = TELL;
        let gap = path.arrive(now, seq);
        self.lost.extend(gap.map(|gap| PathGap { path: id, gap }));
        if self.lost.len() > UNTOLD {
            self.lost.pop_front();
        }
        gap.is_some()
    }

    fn make_room(&mut self) {
        if self.paths.len() < MOST {
            return;
        }
        let silent = self.paths.iter().min_by_key(|(_, path)| path.latest_came);
        if let Some((&id, _)) = silent {
            self.paths.remove(&id);
            self.turns.retain(|&turn| turn != id);
        }
    }

    /// The state of those paths whose turn it is.
    pub fn reports(&mut self, now: Instant) -> Vec<PathReport> {
        let count = self.turns.len().min(Feedback::REPORTS);
        let turns: Vec<PathId> = self.turns.drain(..count).collect();
        let mut reports = Vec::with_capacity(count);
        for id in turns {
            let Some(path) = self.paths.get_mut(&id) else {
                continue;
            };
            reports.push(PathReport {
                path: id,
                largest: path.next - 1,
                lost: path.lost,
                delay: now - path.latest_came,
            });
            path.tell -= 1;
            if path.tell > 0 {
                self.turns.push_back(id);
            }
        }
        reports
    }

    /// Missing numbers that have not been told, as many as fit.
    pub fn lost(&mut self) -> Vec<PathGap> {
        let count = self.lost.len().min(Feedback::GAPS);
        self.lost.drain(..count).collect()
    }

    /// Whether some reports did not fit.
    pub fn has_news(&self) -> bool {
        let untold = |id: &PathId| self.paths[id].tell == TELL;
        !self.lost.is_empty() || self.turns.front().is_some_and(untold)
    }
}

impl Path {
    /// The numbers that are missing now, if any. A path keeps the order of its packets: an overtaken packet counts as
    /// lost at once, and no longer if it arrives after all.
    fn arrive(&mut self, now: Instant, seq: u64) -> Option<Gap> {
        if seq < self.next {
            if self.holes.remove(seq) {
                self.lost -= 1;
            }
            return None;
        }
        let missing = seq - self.next;
        self.holes.push(self.next, seq, ());
        if self.holes.len() > HOLES {
            self.holes.pop_first();
        }
        let gap = (missing > 0).then(|| Gap {
            first: self.next,
            count: u32::try_from(missing).unwrap_or(u32::MAX),
        });
        self.lost += missing;
        self.next = seq.saturating_add(1);
        self.latest_came = now;
        gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_that_leaves_gaps_and_hears_nothing_fills_no_memory() {
        let mut paths = Paths::default();
        for n in 0..20_000 {
            let path = PathId(n as u32 % 10_000);
            assert!(paths.arrive(Instant::from_millis(n), path, 2 * n + 1));
        }
        assert_eq!((paths.lost.len(), paths.paths.len()), (UNTOLD, MOST));
        assert!(paths.turns.len() <= MOST);
    }
}
