//! Load aggregation: the load of paths that lose packets together with the direct one moves to the direct one (section
//! 3.1.3).

use super::path::Path;
use super::queueing::Queueing;
use crate::PathId;

/// How likely it is that a path shares a queue with the direct one: the logarithm of the odds, by Wald's sequential
/// test. Whenever one of the two loses a packet, the other's queues are looked at. If they share the queue that
/// overflowed, it was full for both; if not, the other's queues were as full as they usually are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence(f64);

/// The parameters of the evidence: the assumptions, and how much is enough. `./dev constants` judges those that are
/// "swept".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Odds {
    /// How often a shared queue that overflows is seen to be full: a path with few packets may miss it. Swept.
    pub seen: f64,
    /// The least probability that is assumed for anything. Swept.
    pub rare: f64,
    /// The logarithm of the odds that counts as certain: 20 to 1, one error in twenty (Wald, "Sequential tests of
    /// statistical hypotheses", 1945). Swept.
    pub certain: f64,
    /// The most that the logarithm can reach, as a multiple of that, so that changes are noticed. Swept.
    pub most: f64,
}

impl Odds {
    /// The values in use.
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

    /// Sets the odds by which every path of the process judges from now on.
    ///
    /// # Panics
    /// Never: nobody panics while holding them.
    pub fn set_odds(odds: Odds) {
        *ODDS.write().expect("nobody panics with it") = odds;
    }
}

impl Evidence {
    /// One of the two paths has lost a packet; `other` are the other's queues.
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
        // A queue that is almost always full tells nothing.
        if usually < seen {
            let most = most * certain;
            self.0 = (self.0 + libm::log(ratio)).clamp(-most, most);
        }
    }

    /// Whether the evidence is enough.
    pub fn is_certain(&self) -> bool {
        self.0 >= odds().certain
    }
}

/// Paths in `reduced` have just lost a packet: checks whether the direct path shares a queue with each proxied path. If
/// it does, a loss of one counts as a loss of both, as for one TCP with its packets in that queue.
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

/// Whether a path's last loss and the direct path's overlap in time, without any consequences yet.
fn shares(direct: &Path, path: &Path) -> bool {
    let intervals = direct.loss.zip(path.loss);
    !path.aggregated && intervals.is_some_and(|(ours, its)| ours.overlaps(&its))
}

/// Moves min(α, w₀ ÷ Σwⱼ) of the window of each path that shares the direct one's last loss to the direct path, which
/// at most doubles by that; all of them have been halved before. Returns the paths that have less than a packet left:
/// they are to be dropped.
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
