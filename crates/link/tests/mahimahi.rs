//! The link on a trace against Mahimahi's `mm-link`: by hand, and against a plain implementation of its rule.

use proptest::prelude::*;
use std::collections::VecDeque;
use std::time::Duration;
use tidegate_link::{Config, Instant, Link, QueueConfig, Rate, Trace};

/// Bytes of one opportunity.
const OPPORTUNITY: usize = 1500;

/// A packet: when it arrives, in µs, and its bytes.
type Arrival = (u64, usize);

/// A departure: when, in ms, and the µs that the packet waited for the first opportunity that
/// carried some of it.
type Departure = (u64, u64);

fn through_link(lines: &[u64], arrivals: &[Arrival]) -> Vec<Departure> {
    let text: String = lines.iter().map(|ms| format!("{ms}\n")).collect();
    let unlimited = QueueConfig {
        packets: None,
        ..QueueConfig::default()
    };
    let config = Config {
        rate: Rate::from(Trace::parse(&text).expect("valid")),
        queue: unlimited,
        ..Config::default()
    };
    let mut link = Link::new(config, 1);
    for &(us, bytes) in arrivals {
        link.push(Instant::from_nanos(us * 1000), vec![0; bytes]);
    }
    let end = Instant::ZERO + Duration::from_secs(3600);
    std::iter::from_fn(|| link.poll(end))
        .map(|d| {
            (
                d.due.as_nanos() / 1_000_000,
                d.queued.as_micros().try_into().expect("not that long"),
            )
        })
        .collect()
}

/// Mahimahi's rule, opportunity by opportunity, without skipping or batching.
fn by_the_rule(lines: &[u64], arrivals: &[Arrival]) -> Vec<Departure> {
    let period = *lines.last().expect("at least one line");
    let opportunities = (0..).flat_map(|n| lines.iter().map(move |ms| n * period + ms));
    let mut coming: VecDeque<Arrival> = arrivals.iter().copied().collect();
    let mut queue: VecDeque<Arrival> = VecDeque::new();
    // Bytes left of the packet in transit, and how long it waited.
    let mut transit: Option<(usize, u64)> = None;
    let mut departures = Vec::new();
    for ms in opportunities {
        // A packet must have come before the opportunity, not with it.
        while coming.front().is_some_and(|&(us, _)| us < ms * 1000) {
            queue.extend(coming.pop_front());
        }
        let mut left = OPPORTUNITY;
        while left > 0 {
            let waiting = || queue.pop_front().map(|(us, bytes)| (bytes, ms * 1000 - us));
            let Some((bytes, waited)) = transit.take().or_else(waiting) else {
                break;
            };
            let sent = bytes.min(left);
            left -= sent;
            if sent == bytes {
                departures.push((ms, waited));
            } else {
                transit = Some((bytes - sent, waited));
            }
        }
        if departures.len() == arrivals.len() {
            return departures;
        }
    }
    unreachable!("opportunities do not end")
}

/// Opportunities at 1, 2, 2, 4, 10; 11, 12, 12, 14, 20; 21 …
#[test]
fn by_hand() {
    let lines = [1, 2, 2, 4, 10];
    let arrivals = [
        (0, 1500),    // all of the one at 1
        (500, 700),   // shares the first at 2
        (600, 800),   // shares it too, and fills it
        (1000, 1400), // the second at 2; 100 bytes are left over …
        (2000, 100),  // … but too early, and one that comes at 2 is too late: it goes at 4 …
        (3000, 3200), // … with 1400 bytes of this one; 1500 at 10, 300 at 11
        (9000, 1200), // the rest of 11
        (9500, 1),    // 12, whose other bytes are lost
        (12_000, 60), // 14, since it comes with the two at 12
    ];
    let expected = [
        (1, 1000),
        (2, 1500),
        (2, 1400),
        (2, 1000),
        (4, 2000),
        (11, 1000),
        (11, 2000),
        (12, 2500),
        (14, 2000),
    ];
    assert_eq!(through_link(&lines, &arrivals), expected);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn by_the_rule_for_any_trace(
        mut lines in prop::collection::vec(0u64..20, 1..30),
        gaps in prop::collection::vec((prop_oneof![Just(0), 0u64..5000, Just(1000), Just(50_000)], 1usize..4000), 1..60),
    ) {
        lines.sort_unstable();
        lines.push(20);
        let mut now = 0;
        let arrivals: Vec<Arrival> = gaps.iter().map(|&(gap, bytes)| {
            now += gap;
            (now, bytes)
        }).collect();
        prop_assert_eq!(through_link(&lines, &arrivals), by_the_rule(&lines, &arrivals));
    }
}
