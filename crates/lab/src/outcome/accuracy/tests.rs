use super::rtt_accuracy;
use crate::emulator::{LaneRecord, Record};
use crate::sample::AgentSample;
use crate::steer::SteeredFlow;
use std::time::Duration;
use tidegate_link::Instant;
use tidegate_measure::{Demand, LinkRecord, Passage, Window};

/// Ten bins; in each the downlink takes 100 ms and the uplink 20.
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
        hops: Vec::new(),
        refused: 0,
        cpu_share: 0.0,
        counted: Duration::from_secs(1),
    }
}

fn sample(at_ms: u64, rtt_ms: Option<u32>) -> AgentSample {
    AgentSample {
        at: Instant::from_millis(at_ms),
        flows: vec![SteeredFlow {
            client_port: 1,
            server_port: 2,
            rtt_us: rtt_ms.map(|ms| ms * 1000),
            ..SteeredFlow::default()
        }],
    }
}

#[test]
fn the_mean_of_a_bin_is_compared_and_bins_without_samples_are_not() {
    let agent = [
        sample(250, Some(500)), // warm-up
        sample(510, Some(120)),
        sample(590, Some(132)),
        sample(650, None),
        sample(750, Some(117)),
        sample(850, Some(180)),
    ];
    let accuracy = rtt_accuracy(&record(), &agent, Instant::from_millis(300)).unwrap();
    assert_eq!(accuracy.bins, 3);
    assert_eq!(accuracy.median_truth_ms, 120.0);
    // Errors 6, 3 and 60 ms.
    assert_eq!(accuracy.median_error_ms, 6.0);
    assert_eq!(accuracy.median_relative_error, 6.0 / 120.0);
}

#[test]
fn without_samples_there_is_nothing_to_compare() {
    assert!(rtt_accuracy(&record(), &[], Instant::ZERO).is_none());
    assert!(rtt_accuracy(&record(), &[sample(500, None)], Instant::ZERO).is_none());
}
