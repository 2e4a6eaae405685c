use super::rtt_accuracy;
use crate::emulator::{LaneRecord, Record, Ways};
use crate::sample::AgentSample;
use crate::steer::SteeredFlow;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;
use tidegate_link::Instant;
use tidegate_measure::{Demand, LinkRecord, Passage, Window};
use tidegate_scenario::{DOWN, Direction, UP};

/// The server's addresses, for packets that cross no hop and for those that cross the only one.
const NEAR: [u8; 4] = [198, 18, 0, 2];
const FAR: [u8; 4] = [198, 18, 128, 1];

fn ways() -> BTreeMap<IpAddr, Ways> {
    let ways = |down: &[usize]| Ways {
        down: down.into(),
        up: vec![UP],
    };
    let (near, far) = (ways(&[DOWN]), ways(&[UP + 1, DOWN]));
    BTreeMap::from([(NEAR.into(), near), (FAR.into(), far)])
}

/// Ten bins; in each the downlink takes 100 ms, the uplink 20 and the hop 50.
fn record() -> Record {
    let window = Window {
        warmup: Instant::ZERO,
        end: Instant::from_millis(1000),
    };
    let lane = |forward| {
        let mut lane = LaneRecord::new(LinkRecord::new(window, Demand::default(), true));
        for bin in 0..10 {
            let due = Instant::from_millis(bin * 100 + 150);
            let passage = Passage {
                bytes: 1500,
                arrived: due - Duration::from_millis(forward),
                due,
                queued: Duration::ZERO,
            };
            lane.count(&passage, Duration::ZERO);
        }
        lane
    };
    Record {
        down: lane(100),
        up: lane(20),
        hops: vec![lane(50)],
        refused: 0,
        cpu_share: 0.0,
        counted: Duration::from_secs(1),
    }
}

fn sample(at_ms: u64, server: [u8; 4], rtt_ms: Option<u32>) -> AgentSample {
    AgentSample {
        at: Instant::from_millis(at_ms),
        flows: vec![SteeredFlow {
            direction: Direction::Down,
            client_port: 1,
            server: (server, 2).into(),
            rtt_us: rtt_ms.map(|ms| ms * 1000),
            queue_us: 0,
            window_bytes: 0,
        }],
    }
}

#[test]
fn the_mean_of_a_bin_is_compared_and_bins_without_samples_are_not() {
    let agent = [
        sample(250, NEAR, Some(500)), // warm-up
        sample(510, NEAR, Some(120)),
        sample(590, NEAR, Some(132)),
        sample(650, NEAR, None),
        sample(750, NEAR, Some(117)),
        sample(850, NEAR, Some(180)),
    ];
    let accuracy = rtt_accuracy((&record(), &ways()), &agent, Instant::from_millis(300)).unwrap();
    assert_eq!(accuracy.bins, 3);
    assert_eq!(accuracy.median_truth_ms, 120.0);
    // Errors 6, 3 and 60 ms.
    assert_eq!(accuracy.median_error_ms, 6.0);
    assert_eq!(accuracy.median_relative_error, 6.0 / 120.0);
}

#[test]
fn each_flow_is_held_against_its_own_links() {
    let agent = [sample(550, FAR, Some(171)), sample(650, NEAR, Some(121))];
    let accuracy = rtt_accuracy((&record(), &ways()), &agent, Instant::ZERO).unwrap();
    assert_eq!((accuracy.bins, accuracy.median_error_ms), (2, 1.0));
}

#[test]
fn without_samples_there_is_nothing_to_compare() {
    let nothing = |agent: &[_]| rtt_accuracy((&record(), &ways()), agent, Instant::ZERO).is_none();
    assert!(nothing(&[]));
    assert!(nothing(&[sample(500, NEAR, None)]));
    assert!(nothing(&[sample(500, [192, 0, 2, 1], Some(120))]));
}
