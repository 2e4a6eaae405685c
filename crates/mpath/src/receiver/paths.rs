//! Paths as the receiver sees them.

use crate::Feedback;
use crate::gaps::Gaps;
use crate::packet::{Gap, PathGap, PathId, PathReport};
use std::collections::{BTreeMap, VecDeque};
use tidegate_time::Instant;

/// Paths of one sender at most: the one that has been silent for longest makes room.
const MOST: usize = 4096;

/// Holes of a path that are kept to see whether the missing come late.
const HOLES: usize = 64;

/// Losses that wait to be told: a sender that leaves gaps faster than they can be told hears of the latest. What is missing of
/// the stream is asked for all the same.
const UNTOLD: usize = 4096;

/// A path.
#[derive(Debug)]
struct Path {
    /// The number after the largest that has come.
    next: u64,
    /// When that one came.
    latest_came: Instant,
    /// Numbers below `next` that have not come.
    lost: u64,
    /// Where they are, of late.
    holes: Gaps<()>,
    /// How many more feedbacks tell of it.
    tell: u8,
}

/// A report goes into two feedbacks, so that the loss of one does not look like the loss of a path's
/// last packet.
const TELL: u8 = 2;

/// All paths.
#[derive(Debug, Default)]
pub struct Paths {
    paths: BTreeMap<PathId, Path>,
    /// Those of which there is something to tell, in order of their turn.
    turns: VecDeque<PathId>,
    /// What is missing and has not been told.
    lost: VecDeque<PathGap>,
}

impl Paths {
    /// Number `seq` comes on a path; whether that shows a loss.
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

    /// What is missing and has not been told, as much as fits.
    pub fn lost(&mut self) -> Vec<PathGap> {
        let count = self.lost.len().min(Feedback::GAPS);
        self.lost.drain(..count).collect()
    }

    /// Whether something did not fit.
    pub fn has_news(&self) -> bool {
        let untold = |id: &PathId| self.paths[id].tell == TELL;
        !self.lost.is_empty() || self.turns.front().is_some_and(untold)
    }
}

impl Path {
    /// The numbers that are missing since, if any. A path keeps the order of its packets: what is
    /// overtaken is taken for lost at once, and taken back if it comes after all.
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
