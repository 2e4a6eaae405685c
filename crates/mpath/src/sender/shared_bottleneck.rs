//! Load aggregation: what paths lose together with the direct one goes over to it (section 3.1.3).

use super::path::Path;
use super::queueing::Queueing;
use crate::PathId;

/// How likely it is that a path shares a queue with the direct one: the logarithm of the odds, by Wald's
/// sequential test. Whenever one of both loses, the other's queues are looked at. If they share the queue
/// that has overflowed it was full for both; if not, the other's were as full as they usually are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence(f64);

/// What the evidence is made of: what is assumed, and when it is enough. What is "swept" is judged by `./dev constants`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Odds {
    /// How often a shared queue that overflows is seen to be full: a path of few packets may miss it. Swept.
    pub seen: f64,
    /// Nothing is held for rarer than that. Swept.
    pub rare: f64,
    /// The logarithm of the odds that is taken for certain: of 20 to 1, an error of one in twenty (Wald, "Sequential
    /// tests of statistical hypotheses", 1945). Swept.
    pub certain: f64,
    /// So far it goes at most, as a multiple of that, so that what changes is noticed. Swept.
    pub most: f64,
}

impl Odds {
    /// What mPath has.
    pub const IN_USE: Self = Self {
        seen: 0.8,
        rare: 0.1,
        certain: 3.0,
        most: 2.0,
    };
}

#[cfg(not(feature = "tunable"))]
const fn odds() -> Odds {
    Odds::IN_USE
}

#[cfg(feature = "tunable")]
pub use tunable::{odds, set_odds};

#[cfg(feature = "tunable")]
mod tunable {
    use super::Odds;
    use std::sync::RwLock;

    static ODDS: RwLock<Odds> = RwLock::new(Odds::IN_USE);

    pub fn odds() -> Odds {
        *ODDS.read().expect("nobody panics with it")
    }

    /// Has every path of the process judge by these from now on.
    ///
    /// # Panics
    /// Never: nobody panics while holding them.
    pub fn set_odds(odds: Odds) {
        *ODDS.write().expect("nobody panics with it") = odds;
    }
}

impl Evidence {
    /// One path has lost; `other` are the other's queues.
    pub fn add(&mut self, other: &Queueing) {
        let Some(usually) = other.usually_long() else {
            return;
        };
        let Odds {
            seen,
            rare,
            certain,
            most,
        } = odds();
        let usually = usually.clamp(rare, 1.0 - rare);
        let ratio = match other.is_long() {
            true => seen / usually,
            false => (1.0 - seen) / (1.0 - usually),
        };
        // What is as good as always full tells nothing.
        if usually < seen {
            let most = most * certain;
            self.0 = (self.0 + libm::log(ratio)).clamp(-most, most);
        }
    }

    /// Whether it is certain.
    pub fn is_certain(&self) -> bool {
        self.0 >= odds().certain
    }
}

/// Paths in `reduced` have just lost something: looks whether the direct path shares a queue with each of the
/// proxied, and, where it does, takes the loss of one for a loss of both, as one TCP would that had its packets
/// in that queue.
pub fn spread(reduced: &[PathId], direct: &mut Path, proxied: &mut [Path]) {
    let direct_lost = reduced.contains(&direct.id);
    for path in proxied {
        let lost = reduced.contains(&path.id);
        if direct_lost {
            path.evidence.add(&path.queueing);
        }
        if lost {
            path.evidence.add(&direct.queueing);
        }
        if !path.evidence.is_certain() {
            continue;
        }
        if direct_lost && !lost {
            path.lose_with(direct);
        }
        if lost && !direct_lost {
            direct.lose_with(path);
        }
    }
}

/// Whether a path's last loss and the direct path's overlap in time, and nothing has come of it yet.
fn shares(direct: &Path, path: &Path) -> bool {
    let intervals = direct.loss.zip(path.loss);
    !path.aggregated && intervals.is_some_and(|(ours, its)| ours.overlaps(&its))
}

/// Moves min(α, w₀ ÷ Σwⱼ) of each path that shares the direct one's last loss over to the direct path,
/// which so at most doubles; all of them have been halved before. Returns those of which less than a
/// packet is left: they are to be dropped.
pub fn aggregate(alpha: f64, direct: &mut Path, proxied: &mut [Path]) -> Vec<PathId> {
    let mut sharing: Vec<&mut Path> = proxied.iter_mut().filter(|p| shares(direct, p)).collect();
    let sum: f64 = sharing.iter().map(|path| path.window).sum();
    let share = alpha.min(direct.window / sum);
    let mut emptied = Vec::new();
    for path in &mut sharing {
        let moved = path.window * share;
        path.window -= moved;
        direct.window += moved;
        path.aggregated = true;
        if path.window < 1.0 {
            emptied.push(path.id);
        }
    }
    emptied
}

#[cfg(test)]
mod tests;
