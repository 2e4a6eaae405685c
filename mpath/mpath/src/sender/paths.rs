//! All paths of a connection, and how their windows grow together (section 3.1.3).

use super::path::Path;
use crate::PathId;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// The direct path and those through proxies, in the order of their numbers.
#[derive(Debug)]
pub struct Paths {
    list: Vec<Path>,
    next_id: u32,
    /// Packets delivered since the last increase of any window in congestion avoidance.
    credit: f64,
}

impl Paths {
    /// The direct path.
    pub fn new(initial_window: u32) -> Self {
        let mut direct = Path::new(PathId::DIRECT, None, initial_window.into(), Instant::ZERO);
        direct.threshold = f64::INFINITY;
        Self {
            list: vec![direct],
            next_id: 1,
            credit: 0.0,
        }
    }

    /// The direct path.
    pub fn direct(&self) -> &Path {
        &self.list[0]
    }

    /// As [`Self::direct`].
    pub fn direct_mut(&mut self) -> &mut Path {
        &mut self.list[0]
    }

    /// Those through proxies.
    pub fn proxied(&self) -> &[Path] {
        &self.list[1..]
    }

    /// As [`Self::proxied`], with the direct path.
    pub fn split_mut(&mut self) -> (&mut Path, &mut [Path]) {
        let (direct, proxied) = self.list.split_first_mut().expect("the direct path stays");
        (direct, proxied)
    }

    /// All.
    pub fn iter(&self) -> impl Iterator<Item = &Path> {
        self.list.iter()
    }

    /// The path of that number, if it exists.
    pub fn get(&self, id: PathId) -> Option<&Path> {
        self.place(id).map(|place| &self.list[place])
    }

    /// As [`Self::get`].
    pub fn get_mut(&mut self, id: PathId) -> Option<&mut Path> {
        self.place(id).map(|place| &mut self.list[place])
    }

    fn place(&self, id: PathId) -> Option<usize> {
        self.list.binary_search_by_key(&id, |path| path.id).ok()
    }

    /// A number that no path has had.
    pub fn fresh_id(&mut self) -> PathId {
        let id = PathId(self.next_id);
        self.next_id += 1;
        id
    }

    /// Adds a path through the proxy at that place, with a window of one packet.
    pub fn create(&mut self, now: Instant, proxy: usize, round_trip: Duration) {
        let mut path = Path::new(self.fresh_id(), Some(proxy), 1.0, now);
        path.rtt.sample(round_trip);
        self.list.push(path);
    }

    /// Takes away a path through a proxy.
    pub fn remove(&mut self, id: PathId) -> Option<Path> {
        let place = self.place(id).filter(|&place| place > 0)?;
        Some(self.list.remove(place))
    }

    /// A path that may carry a packet; the direct one first, to use it as much as possible.
    pub fn ready(&mut self, now: Instant) -> Option<&mut Path> {
        self.list.iter_mut().find(|path| path.is_ready(now))
    }

    /// W: the sum of all windows.
    pub fn total_window(&self) -> f64 {
        self.list.iter().map(|path| path.window).sum()
    }

    /// A path has delivered packets. In slow start the direct path's window grows by one for each; in congestion
    /// avoidance the sum of all windows grows by one for each W of them, as one TCP's window would, whichever paths
    /// they took (section 3.2, "one mPath flow").
    pub fn grow(
        &mut self,
        now: Instant,
        by: PathId,
        delivered: u64,
        patience: Duration,
        random: &mut Pcg64Mcg,
    ) {
        let direct = self.direct_mut();
        let mut delivered = delivered as f64;
        if by == PathId::DIRECT && direct.in_slow_start() {
            let grown = delivered.min(direct.threshold - direct.window);
            direct.window += grown;
            delivered -= grown;
        }
        self.credit += delivered;
        let total = self.total_window();
        while self.credit >= total {
            self.credit -= total;
            self.increase_one(now, patience, random);
        }
    }

    /// One packet more for the proxied paths with probability P, otherwise for the direct one.
    fn increase_one(&mut self, now: Instant, patience: Duration, random: &mut Pcg64Mcg) {
        let proxied = random.random_bool(self.probability());
        let chosen = proxied
            .then(|| self.choose(now, patience, random))
            .flatten();
        match chosen {
            Some(place) => self.list[place].window += 1.0,
            None => self.direct_mut().window += 1.0,
        }
    }

    /// P = w₀/W · ρ + (W − w₀)/W (equation 3.1); 0 where there is no proxied path.
    fn probability(&self) -> f64 {
        let proxied = self.proxied();
        if proxied.is_empty() {
            return 0.0;
        }
        let clean = proxied.iter().filter(|path| path.loss.is_none()).count();
        let rho = clean as f64 / proxied.len() as f64;
        let direct = self.direct().window / self.total_window();
        (direct * rho + (1.0 - direct)).clamp(0.0, 1.0)
    }

    /// The place of a proxied path with a report within τ: any of those without a loss or, if there is none, one with a
    /// probability in proportion to its window.
    fn choose(&self, now: Instant, patience: Duration, random: &mut Pcg64Mcg) -> Option<usize> {
        let recently = |path: &Path| path.heard.is_some_and(|at| now - at <= patience);
        let places = 1..self.list.len();
        let active: Vec<usize> = places.filter(|&n| recently(&self.list[n])).collect();
        let clean: Vec<usize> = active
            .iter()
            .copied()
            .filter(|&n| self.list[n].loss.is_none())
            .collect();
        if !clean.is_empty() {
            return Some(clean[random.random_range(0..clean.len())]);
        }
        let sum: f64 = active.iter().map(|&n| self.list[n].window).sum();
        let mut left = random.random::<f64>() * sum;
        active.iter().copied().find(|&n| {
            left -= self.list[n].window;
            left < 0.0
        })
    }
}
