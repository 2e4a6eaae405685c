//! Probing: proxies are tried with packets of the stream before they are used (section 3.1.1).

use super::path::Path;
use super::proxies::Proxies;
use crate::{PathId, PathReport};
use rand_pcg::Pcg64Mcg;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// A probe in flight: a path of a single packet.
#[derive(Debug)]
struct Probe {
    path: Path,
    proxy: usize,
    /// The probe has failed if there is no answer by then: τ after it was sent.
    until: Instant,
}

/// The probes, one at a time each [`Config::probe_interval`](crate::Config::probe_interval).
#[derive(Debug)]
pub struct Probing {
    on_their_way: Vec<Probe>,
    /// Proxies that failed once, to be tried again.
    again: Vec<usize>,
    /// No probe before this time.
    next: Instant,
}

impl Probing {
    /// Nothing has been probed yet.
    pub fn new() -> Self {
        Self {
            on_their_way: Vec::new(),
            again: Vec::new(),
            next: Instant::ZERO,
        }
    }

    /// Whether it is time for a probe.
    pub fn is_due(&self, now: Instant, proxies: &Proxies) -> bool {
        self.next <= now && self.has_candidates(proxies)
    }

    fn has_candidates(&self, proxies: &Proxies) -> bool {
        !self.again.is_empty() || proxies.has_untried()
    }

    /// The place of the proxy to be probed now.
    pub fn pick(&mut self, proxies: &mut Proxies, random: &mut Pcg64Mcg) -> Option<usize> {
        self.again.pop().or_else(|| proxies.pick_untried(random))
    }

    /// A packet of the stream is sent through `proxy` as a probe that may take until `until`.
    pub fn send(&mut self, now: Instant, path: Path, until: Instant, interval: Duration) {
        let proxy = path.proxy.expect("a probe goes through a proxy");
        self.on_their_way.push(Probe { path, proxy, until });
        self.next = now + interval;
    }

    /// Processes a report that may be about a probe; returns whether it is.
    pub fn report(&mut self, now: Instant, report: &PathReport, proxies: &mut Proxies) -> bool {
        let mut probes = self.on_their_way.iter();
        let Some(n) = probes.position(|probe| probe.path.id == report.path) else {
            return false;
        };
        let mut probe = self.on_their_way.swap_remove(n);
        probe.path.report(now, report, None);
        let round_trip = probe.path.rtt.smoothed().unwrap_or_default();
        proxies.answer(probe.proxy, round_trip);
        true
    }

    /// Gives up probes that took too long; returns their packets of the stream, by path.
    pub fn expire(
        &mut self,
        now: Instant,
        proxies: &mut Proxies,
        attempts: u32,
    ) -> Vec<(PathId, u64)> {
        let mut lost = Vec::new();
        let failed = self.on_their_way.extract_if(.., |probe| probe.until <= now);
        for mut probe in failed {
            if proxies.fail(probe.proxy, attempts) {
                self.again.push(probe.proxy);
            }
            let id = probe.path.id;
            lost.extend(probe.path.abandon().into_iter().map(|stream| (id, stream)));
        }
        lost
    }

    /// Whether `path` is a probe in flight.
    pub fn carries(&self, path: PathId) -> bool {
        self.on_their_way.iter().any(|probe| probe.path.id == path)
    }

    /// Whether no probe is in flight.
    pub fn is_quiet(&self) -> bool {
        self.on_their_way.is_empty()
    }

    /// When a probe is due or has failed; `ready` says whether there is a packet for one.
    pub fn timeout(&self, proxies: &Proxies, ready: bool) -> Option<Instant> {
        let due = (ready && self.has_candidates(proxies)).then_some(self.next);
        let fails = self.on_their_way.iter().map(|probe| probe.until).min();
        [due, fails].into_iter().flatten().min()
    }
}
