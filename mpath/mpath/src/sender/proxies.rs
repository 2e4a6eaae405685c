//! The list of proxies, and the state of each.

use super::ProxyId;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// The state of a proxy.
///
/// ```text
///                    answered               created
///  Untried ─▶ Probed ─────────▶ Available ─────────▶ InUse
///     ▲         │  │                ▲                 │ │
///     └─────────┘  │ too often      └── for a while ──┘ │ for good
///      no answer   ▼                                    ▼
///               Unusable ◀──────────────────────────────┘
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Untried,
    Probed,
    Available,
    InUse,
    Unusable,
}

/// A proxy.
#[derive(Clone, Debug)]
struct Proxy {
    id: ProxyId,
    state: State,
    /// Probes in a row that were not answered.
    failures: u32,
    /// Round trip of the probe that was answered.
    round_trip: Duration,
    /// Whether it has ever carried a path.
    used: bool,
    /// Packets a second that it carried in its last lifetime.
    contribution: f64,
    /// It is not used until then.
    paused_until: Instant,
    /// How often it has been dropped.
    drops: u32,
}

/// All proxies.
#[derive(Debug, Default)]
pub struct Proxies {
    list: Vec<Proxy>,
    /// Places of the proxies to be probed.
    untried: Vec<usize>,
    /// Places of the proxies that are available and have never been used.
    unused: Vec<usize>,
}

impl Proxies {
    /// Adds the unknown ones of `ids`.
    pub fn add(&mut self, ids: impl IntoIterator<Item = ProxyId>) {
        for id in ids {
            if self.list.iter().any(|proxy| proxy.id == id) {
                continue;
            }
            self.untried.push(self.list.len());
            self.list.push(Proxy {
                id,
                state: State::Untried,
                failures: 0,
                round_trip: Duration::ZERO,
                used: false,
                contribution: 0.0,
                paused_until: Instant::ZERO,
                drops: 0,
            });
        }
    }

    /// The caller's number of the proxy at `place`.
    pub fn id(&self, place: usize) -> ProxyId {
        self.list[place].id
    }

    /// Whether some have not been probed.
    pub fn has_untried(&self) -> bool {
        !self.untried.is_empty()
    }

    /// One at random to be probed (section 3.1.1): its place.
    pub fn pick_untried(&mut self, random: &mut Pcg64Mcg) -> Option<usize> {
        let place = pick(&mut self.untried, random)?;
        self.list[place].state = State::Probed;
        Some(place)
    }

    /// The proxy has answered.
    pub fn answer(&mut self, place: usize, round_trip: Duration) {
        let proxy = &mut self.list[place];
        proxy.state = State::Available;
        proxy.round_trip = round_trip;
        self.unused.push(place);
    }

    /// It has not answered; returns whether to probe it again at once ("two consecutive attempts").
    pub fn fail(&mut self, place: usize, attempts: u32) -> bool {
        let proxy = &mut self.list[place];
        proxy.failures += 1;
        let again = proxy.failures < attempts;
        if !again {
            proxy.state = State::Unusable;
        }
        again
    }

    /// One for a new path: at random of those never used, or else the best of the others (section
    /// 3.1.3). Its place and the round trip of its probe.
    pub fn pick_available(
        &mut self,
        now: Instant,
        random: &mut Pcg64Mcg,
    ) -> Option<(usize, Duration)> {
        let place = pick(&mut self.unused, random).or_else(|| self.best(now))?;
        let proxy = &mut self.list[place];
        proxy.state = State::InUse;
        proxy.used = true;
        Some((place, proxy.round_trip))
    }

    /// Whether some have never been used.
    pub fn has_unused(&self) -> bool {
        !self.unused.is_empty()
    }

    fn best(&self, now: Instant) -> Option<usize> {
        let may = |proxy: &Proxy| {
            proxy.state == State::Available && proxy.used && proxy.paused_until <= now
        };
        let candidates = self.list.iter().enumerate().filter(|(_, p)| may(p));
        candidates
            .max_by(|a, b| a.1.contribution.total_cmp(&b.1.contribution))
            .map(|(place, _)| place)
    }

    /// Its path is given up for a while: for `pause`, twice as long each further time.
    pub fn pause(&mut self, now: Instant, place: usize, contribution: f64, pause: Duration) {
        let proxy = &mut self.list[place];
        proxy.state = State::Available;
        proxy.contribution = contribution;
        proxy.paused_until = now + pause * (1 << proxy.drops.min(LONGEST));
        proxy.drops += 1;
    }

    /// Its path is given up for good.
    pub fn retire(&mut self, place: usize) {
        self.list[place].state = State::Unusable;
    }

    /// How many are in use or may be used.
    pub fn usable(&self) -> usize {
        let usable = |p: &&Proxy| matches!(p.state, State::Available | State::InUse);
        self.list.iter().filter(usable).count()
    }
}

/// The most doublings of the pause: 30 s become about an hour.
const LONGEST: u32 = 7;

fn pick(places: &mut Vec<usize>, random: &mut Pcg64Mcg) -> Option<usize> {
    if places.is_empty() {
        return None;
    }
    let n = random.random_range(0..places.len());
    Some(places.swap_remove(n))
}
