//! Token buckets, for everything and for each source.

use crate::Instant;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::time::Duration;
use tidegate_admission::network_of;

/// A rate of whatever is counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    /// Per second.
    pub per_second: f64,
    /// The largest burst.
    pub burst: f64,
}

/// The rates that may pass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// In total; none: unlimited.
    pub overall: Option<Rate>,
    /// From one source; none: unlimited.
    pub source: Option<Rate>,
}

/// A token bucket: fills with its rate, up to its burst.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    left: f64,
    at: Instant,
}

impl Bucket {
    /// A full one.
    pub fn new(rate: Rate, now: Instant) -> Self {
        Self {
            left: rate.burst,
            at: now,
        }
    }

    /// Takes `much` out if it is there.
    pub fn take(&mut self, rate: Rate, much: f64, now: Instant) -> bool {
        self.fill(rate, now);
        let there = much <= self.left;
        if there {
            self.left -= much;
        }
        there
    }

    fn fill(&mut self, rate: Rate, now: Instant) {
        let gained = (now - self.at).as_secs_f64() * rate.per_second;
        self.left = (self.left + gained).min(rate.burst);
        self.at = self.at.max(now);
    }

    /// Whether it is full: then it can be forgotten, since a new one would be the same.
    fn is_full(&mut self, rate: Rate, now: Instant) -> bool {
        self.fill(rate, now);
        self.left >= rate.burst
    }
}

/// The most sources at a time. Full buckets make room; if there are none, new sources are refused.
const SOURCES: usize = 1 << 14;

/// The most sources of one network, since one person may have all of its addresses: a /48 of IPv6 has 65 536 sources.
const OF_NETWORK: usize = 256;

/// Least time between two searches for room, since a search looks at every bucket.
const SWEEP: Duration = Duration::from_secs(1);

/// A bucket for each source.
#[derive(Debug)]
pub(crate) struct Sources {
    rate: Rate,
    buckets: HashMap<IpAddr, Bucket>,
    /// How many buckets each network has.
    networks: HashMap<IpAddr, usize>,
    most: usize,
    swept: Option<Instant>,
}

impl Sources {
    /// With `rate` for each source.
    pub fn new(rate: Rate) -> Self {
        Self {
            rate,
            buckets: HashMap::new(),
            networks: HashMap::new(),
            most: SOURCES,
            swept: None,
        }
    }

    /// Takes `much` out of this source's bucket if it is there.
    pub fn take(&mut self, source: IpAddr, much: f64, now: Instant) -> bool {
        let (source, rate) = (whose(source), self.rate);
        if let Some(bucket) = self.buckets.get_mut(&source) {
            return bucket.take(rate, much, now);
        }
        let network = network_of(source);
        if !self.has_room(network) {
            self.make_room(now);
        }
        if !self.has_room(network) {
            return false;
        }
        let mut bucket = Bucket::new(rate, now);
        let there = bucket.take(rate, much, now);
        self.buckets.insert(source, bucket);
        *self.networks.entry(network).or_default() += 1;
        there
    }

    fn has_room(&self, network: IpAddr) -> bool {
        let of_network = self.networks.get(&network).copied().unwrap_or(0);
        self.buckets.len() < self.most && of_network < OF_NETWORK
    }

    fn make_room(&mut self, now: Instant) {
        if self.swept.is_some_and(|swept| now - swept < SWEEP) {
            return;
        }
        self.swept = Some(now);
        let rate = self.rate;
        self.buckets.retain(|_, bucket| !bucket.is_full(rate, now));
        self.networks.clear();
        for source in self.buckets.keys() {
            *self.networks.entry(network_of(*source)).or_default() += 1;
        }
    }
}

/// A source is an address of IPv4 or a /64 of IPv6, since one user has all of the /64.
pub(crate) fn whose(source: IpAddr) -> IpAddr {
    match source.to_canonical() {
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX)).into(),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: Rate = Rate {
        per_second: 100.0,
        burst: 10.0,
    };

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    #[test]
    fn a_bucket_gives_its_burst_and_then_its_rate() {
        let mut bucket = Bucket::new(RATE, at(0));
        assert!(bucket.take(RATE, 10.0, at(0)));
        assert!(!bucket.take(RATE, 1.0, at(5)));
        assert!(bucket.take(RATE, 1.0, at(11)));
        let taken = (0..1005).filter(|&ms| bucket.take(RATE, 1.0, at(10_000 + ms)));
        assert_eq!(taken.count(), 10 + 100);
    }

    #[test]
    fn time_that_goes_back_gives_nothing() {
        let mut bucket = Bucket::new(RATE, at(1000));
        assert!(bucket.take(RATE, 10.0, at(1000)));
        assert!(!bucket.take(RATE, 1.0, at(0)));
        assert!(!bucket.take(RATE, 1.0, at(1000)));
    }

    #[test]
    fn sources_have_buckets_of_their_own_and_a_network_of_ipv6_has_one() {
        let mut sources = Sources::new(RATE);
        let mut take = |source: &str| sources.take(source.parse().unwrap(), 10.0, at(0));
        assert!(take("192.0.2.1"));
        assert!(!take("192.0.2.1"));
        assert!(!take("::ffff:192.0.2.1"));
        assert!(take("192.0.2.2"));
        assert!(take("2001:db8::1"));
        assert!(!take("2001:db8::2"));
        assert!(take("2001:db8:0:1::1"));
    }

    #[test]
    fn one_network_takes_a_part_of_the_table() {
        let mut sources = Sources::new(RATE);
        let network = |n: u128| IpAddr::from((0x2001_0db8 << 96 | n << 64).to_be_bytes());
        let taken = (0..70_000).filter(|&n| sources.take(network(n), 10.0, at(0)));
        // Two /48: the numbers above 65 535 belong to the second.
        assert_eq!(taken.count(), 2 * OF_NETWORK);
        assert!(sources.take([192, 0, 2, 1].into(), 10.0, at(0)));
    }

    #[test]
    fn the_table_stays_small_and_makes_room_when_buckets_are_full_again() {
        let mut sources = Sources::new(RATE);
        sources.most = 3;
        let mut take = |last: u8, ms| sources.take([192, 0, 2, last].into(), 10.0, at(ms));
        assert!(take(1, 0) && take(2, 0) && take(3, 0));
        assert!(!take(4, 0));
        // There is room, but the last search for it was a moment ago.
        assert!(!take(4, 500));
        assert!(take(4, 1000));
        assert_eq!(sources.buckets.len(), 1);
    }
}
