//! The sending end: which packet is sent on which path, and when.

mod path;
mod paths;
mod probing;
mod proxies;
mod queueing;
mod rtt;
mod shared_bottleneck;
mod stream;
#[cfg(feature = "tunable")]
pub use shared_bottleneck::{Odds, set_odds};
#[cfg(test)]
mod tests;

use crate::{Config, Data, Detection, Feedback, PathGap, PathId, PathReport};
use path::{News, Path, Sent};
use paths::Paths;
use probing::Probing;
use proxies::Proxies;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::time::Duration;
use stream::{Carrier, Stream};
use tidegate_basics::time::Instant;

/// A proxy, by the caller's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProxyId(pub u32);

/// A packet to be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Through which proxy; none: directly.
    pub proxy: Option<ProxyId>,
    /// The packet.
    pub data: Data,
}

/// The sender in numbers.
#[derive(Clone, Debug)]
pub struct Info {
    /// The direct path's smoothed round trip.
    pub direct_rtt: Option<Duration>,
    /// All windows together, in packets.
    pub window: f64,
    /// Packets sent again so far.
    pub retransmits: u64,
    /// Timeouts of the direct path so far.
    pub timeouts: u64,
    /// Shared losses so far that moved load to the direct path.
    pub aggregations: u64,
    /// Proxies that are in use or may be used.
    pub usable_proxies: usize,
}

/// A path in numbers.
#[derive(Clone, Copy, Debug)]
pub struct PathInfo {
    /// Which one.
    pub path: PathId,
    /// Its proxy; none: the direct path.
    pub proxy: Option<ProxyId>,
    /// Its window in packets.
    pub window: f64,
    /// Packets that it has delivered.
    pub delivered: u64,
    /// Its smoothed round trip.
    pub rtt: Option<Duration>,
}

/// The sending end.
///
/// After every call that takes `now` call [`Self::transmit`] until it returns none; then wait for the
/// next feedback, for the application or for [`Self::timeout`], whichever is first.
#[derive(Debug)]
pub struct Sender {
    config: Config,
    random: Pcg64Mcg,
    stream: Stream,
    paths: Paths,
    proxies: Proxies,
    probing: Probing,
    timeouts: u64,
    aggregations: u64,
    /// Since when nothing was in flight and nothing could be sent, if so.
    stalled: Option<Instant>,
}

/// A path whose contribution is less than this share of the others' mean is "significantly below
/// average" (section 3.1.3).
const FAR_BELOW: f64 = 0.25;

/// How long a path must have lived to be judged by its contribution.
const TRIAL: Duration = Duration::from_secs(10);

/// The least time that a probe may take: if τ is shorter, the 10 ms for which the receiver may delay its answer, or a
/// slow machine, would make every proxy fail.
const LEAST_PROBE: Duration = Duration::from_millis(30);

/// The round trip assumed before there is a measurement (RFC 6298 §2.1: half its timeout).
const UNKNOWN_RTT: Duration = Duration::from_millis(500);

impl Sender {
    /// An end that knows no proxy and has nothing to send.
    pub fn new(config: Config) -> Self {
        Self {
            random: Pcg64Mcg::seed_from_u64(config.seed),
            stream: Stream::new(),
            paths: Paths::new(config.initial_window),
            proxies: Proxies::default(),
            probing: Probing::new(),
            timeouts: 0,
            aggregations: 0,
            stalled: None,
            config,
        }
    }

    /// Adds proxies that the registry knows; known ones count once.
    pub fn add_proxies(&mut self, ids: impl IntoIterator<Item = ProxyId>) {
        self.proxies.add(ids);
    }

    /// Whether all proxies have been probed, so that the registry may be asked for more.
    pub fn wants_proxies(&self) -> bool {
        !self.proxies.has_untried()
    }

    /// The application writes `packets` packets.
    pub fn write(&mut self, packets: u64) {
        self.stream.write(packets);
    }

    /// The application has nothing more to write.
    pub fn finish(&mut self) {
        self.stream.finish();
    }

    /// Packets of the stream below this number need not be kept any more.
    pub fn acknowledged(&self) -> u64 {
        self.stream.acknowledged()
    }

    /// Whether everything written has arrived.
    pub fn is_acknowledged(&self) -> bool {
        self.stream.is_acknowledged()
    }

    /// τ (section 3.1.1).
    pub fn patience(&self) -> Duration {
        let rtt = self.paths.direct().rtt.smoothed();
        rtt.unwrap_or(UNKNOWN_RTT).mul_f64(self.config.patience)
    }

    /// The next packet to be sent at `now`.
    pub fn transmit(&mut self, now: Instant) -> Option<Transmission> {
        let transmission = self.transmit_probe(now).or_else(|| self.transmit_data(now));
        if transmission.is_some() {
            self.stalled = None;
        } else if self.is_stalled() {
            self.stalled.get_or_insert(now);
        }
        transmission
    }

    fn transmit_data(&mut self, now: Instant) -> Option<Transmission> {
        if !self.stream.has_work() {
            return None;
        }
        let patience = self.patience();
        let path = self.paths.ready(now)?;
        let (data, proxy) = put_on(path, &mut self.stream, now, patience)?;
        Some(Transmission {
            proxy: proxy.map(|place| self.proxies.id(place)),
            data,
        })
    }

    fn transmit_probe(&mut self, now: Instant) -> Option<Transmission> {
        // τ must be known; and a lost packet is not sent as a probe, since the receiver waits for it.
        if self.paths.direct().rtt.smoothed().is_none()
            || !self.probing.is_due(now, &self.proxies)
            || !self.stream.has_new()
        {
            return None;
        }
        let patience = self.patience();
        let proxy = self.probing.pick(&mut self.proxies, &mut self.random)?;
        let mut path = Path::new(self.paths.fresh_id(), Some(proxy), 1.0, now);
        let (data, _) = put_on(&mut path, &mut self.stream, now, patience)?;
        let interval = self.config.probe_interval;
        let until = now + patience.max(LEAST_PROBE);
        self.probing.send(now, path, until, interval);
        Some(Transmission {
            proxy: Some(self.proxies.id(proxy)),
            data,
        })
    }

    /// The receiver's feedback arrives.
    pub fn receive(&mut self, now: Instant, feedback: &Feedback) {
        // Windows grow only if they limited the sender (RFC 7661).
        let waits = self.stream.has_work();
        self.stream.acknowledge(feedback.next, feedback.limit);
        for gap in &feedback.lost {
            self.lose(gap);
        }
        let mut direct_before = None;
        let mut reduced = Vec::new();
        for report in &feedback.reports {
            let window = self.paths.direct().window;
            let news = self.report(now, report, last_lost(&self.paths, report, feedback), waits);
            if news.reduced && report.path == PathId::DIRECT {
                direct_before = Some(window);
            }
            reduced.extend(news.reduced.then_some(report.path));
        }
        if self.config.detection == Detection::Queues {
            let (direct, proxied) = self.paths.split_mut();
            shared_bottleneck::spread(&reduced, direct, proxied);
        }
        // After all halvings, so that equation 3.6 holds whatever the order of the reports.
        self.aggregate(now);
        if let Some(window) = direct_before {
            self.create_paths(now, window);
        }
        for gap in &feedback.missing {
            let (paths, probing) = (&self.paths, &self.probing);
            self.stream.ask(gap, |carrier| {
                let path = paths.get(carrier.path);
                path.is_some_and(|path| path.carries(carrier.path_seq))
                    || probing.carries(carrier.path)
            });
        }
        self.stalled = None;
    }

    /// The packets that a PNACK names are sent again, on any path that has room.
    fn lose(&mut self, lost: &PathGap) {
        let Some(path) = self.paths.get(lost.path) else {
            return;
        };
        for (path_seq, sent) in path.in_gap(&lost.gap) {
            let carrier = Carrier {
                path: lost.path,
                path_seq,
            };
            self.stream.lose(sent.stream, carrier);
        }
    }

    fn report(
        &mut self,
        now: Instant,
        report: &PathReport,
        lost: Option<(u64, Sent)>,
        waits: bool,
    ) -> News {
        if self.probing.report(now, report, &mut self.proxies) {
            return News::default();
        }
        let Some(path) = self.paths.get_mut(report.path) else {
            return News::default();
        };
        let limited = waits && path.is_used();
        let news = path.report(now, report, lost);
        if limited && news.delivered > 0 && news.lost == 0 {
            let patience = self.patience();
            self.paths
                .grow(now, report.path, news.delivered, patience, &mut self.random);
        }
        news
    }

    fn aggregate(&mut self, now: Instant) {
        let (direct, proxied) = self.paths.split_mut();
        let before = direct.window;
        let emptied = shared_bottleneck::aggregate(self.config.alpha, direct, proxied);
        self.aggregations += u64::from(direct.window > before);
        for id in emptied {
            self.drop_path(now, id);
        }
    }

    /// A loss on the direct path may create proxied paths: β of the direct path's `window` before the loss, once all
    /// existing ones have had a loss (section 3.1.3).
    fn create_paths(&mut self, now: Instant, window: f64) {
        if self.paths.proxied().iter().any(|path| path.loss.is_none()) {
            return;
        }
        let most = match self.proxies.has_unused() {
            true => (self.config.beta * window).ceil() as usize,
            // Then only "the best proxy that it has observed thus far".
            false => 1,
        };
        for _ in 0..most {
            let Some((proxy, rtt)) = self.proxies.pick_available(now, &mut self.random) else {
                break;
            };
            self.paths.create(now, proxy, rtt);
            if !self.proxies.has_unused() {
                break;
            }
        }
    }

    /// Gives a proxied path up: for good if it has contributed little, otherwise for a while. Its packets in flight are
    /// sent again. The thesis says so about timeouts; about paths that load aggregation has emptied it says only that
    /// they are dropped, and its Fig. 3.7 shows that they stay away.
    fn drop_path(&mut self, now: Instant, id: PathId) {
        let Some(mut path) = self.paths.remove(id) else {
            return;
        };
        self.give_up(id, path.abandon());
        let contribution = path.contribution(now);
        let Some(proxy) = path.proxy else {
            return;
        };
        if now - path.since > TRIAL && self.is_far_below(now, contribution) {
            self.proxies.retire(proxy);
        } else {
            let pause = self.config.pause;
            self.proxies.pause(now, proxy, contribution, pause);
        }
    }

    fn is_far_below(&self, now: Instant, contribution: f64) -> bool {
        let others = self.paths.proxied();
        let sum: f64 = others.iter().map(|path| path.contribution(now)).sum();
        !others.is_empty() && contribution < FAR_BELOW * sum / others.len() as f64
    }

    /// The packets in flight on a path are sent again.
    fn give_up(&mut self, path: PathId, streams: Vec<u64>) {
        for stream in streams {
            self.stream.lose_on(stream, path);
        }
    }

    /// When to call [`Self::expire`]; none: not unless something happens.
    pub fn timeout(&self) -> Option<Instant> {
        let ready = self.stream.has_new() && self.paths.direct().rtt.smoothed().is_some();
        let paths = self.paths.iter().filter_map(Path::timeout).min();
        let due = || self.paths.iter().filter_map(Path::due).min();
        let due = self.stream.has_work().then(due).flatten();
        let stall = self.stalled.map(|since| since + self.stall_timeout());
        [
            paths,
            due,
            self.probing.timeout(&self.proxies, ready),
            stall,
        ]
        .into_iter()
        .flatten()
        .min()
    }

    /// The time of [`Self::timeout`] has come. Too early is harmless.
    pub fn expire(&mut self, now: Instant) {
        let attempts = self.config.probe_attempts;
        for (path, stream) in self.probing.expire(now, &mut self.proxies, attempts) {
            self.stream.lose_on(stream, path);
        }
        let is_over = |path: &&Path| path.timeout().is_some_and(|at| at <= now);
        let over: Vec<PathId> = self.paths.iter().filter(is_over).map(|p| p.id).collect();
        for id in over {
            match id {
                PathId::DIRECT => self.time_out_direct(now),
                _ => self.drop_path(now, id),
            }
        }
        let stall_timeout = self.stall_timeout();
        if self
            .stalled
            .is_some_and(|since| since + stall_timeout <= now)
        {
            self.stalled = None;
            self.stream.retransmit_all();
        }
    }

    fn time_out_direct(&mut self, now: Instant) {
        self.timeouts += 1;
        let direct = self.paths.direct_mut();
        direct.time_out(now);
        let lost = direct.abandon();
        self.give_up(PathId::DIRECT, lost);
    }

    /// Nothing is in flight, yet not everything has arrived or may be sent.
    fn is_stalled(&self) -> bool {
        let quiet = self.paths.iter().all(|path| path.in_flight() == 0) && self.probing.is_quiet();
        quiet && (self.stream.unacknowledged() > 0 || self.stream.is_blocked())
    }

    fn stall_timeout(&self) -> Duration {
        self.paths.direct().rtt.timeout()
    }

    /// The sender in numbers.
    pub fn info(&self) -> Info {
        Info {
            direct_rtt: self.paths.direct().rtt.smoothed(),
            window: self.paths.total_window(),
            retransmits: self.stream.retransmits(),
            timeouts: self.timeouts,
            aggregations: self.aggregations,
            usable_proxies: self.proxies.usable(),
        }
    }

    /// The paths in numbers, the direct one first.
    pub fn paths(&self) -> impl Iterator<Item = PathInfo> {
        self.paths.iter().map(|path| PathInfo {
            path: path.id,
            proxy: path.proxy.map(|place| self.proxies.id(place)),
            window: path.window,
            delivered: path.delivered,
            rtt: path.rtt.smoothed(),
        })
    }
}

/// The next packet of the stream is sent on `path`; returns the packet, and the place of the path's proxy.
fn put_on(
    path: &mut Path,
    stream: &mut Stream,
    now: Instant,
    patience: Duration,
) -> Option<(Data, Option<usize>)> {
    let id = path.id;
    let mut path_seq = 0;
    let (number, fin) = stream.take(|number| {
        path_seq = path.send(now, number);
        Carrier { path: id, path_seq }
    })?;
    let data = Data {
        path: id,
        path_seq,
        stream: number,
        patience,
        fin,
    };
    Some((data, path.proxy))
}

/// The last packet of the report's path that the feedback names as lost.
fn last_lost(paths: &Paths, report: &PathReport, feedback: &Feedback) -> Option<(u64, Sent)> {
    let path = paths.get(report.path)?;
    let gaps = feedback.lost.iter().filter(|lost| lost.path == report.path);
    gaps.flat_map(|lost| path.in_gap(&lost.gap)).last()
}
