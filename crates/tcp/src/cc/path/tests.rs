//! Both versions on paths that change at random.

use super::bottleneck::{Bottleneck, Link, MSS};
use crate::cc::CongestionControl;
use crate::cc::bbr::Bbr;
use crate::cc::bbr3::Bbr3;
use proptest::prelude::*;
use std::time::Duration;

fn link() -> impl Strategy<Value = Link> {
    (
        50u64..5_000,
        1u64..300,
        1u64..2_000,
        prop_oneof![Just(0u64), 2u64..200],
        prop::option::of((50u64..5_000, 1u64..500)),
        prop_oneof![Just(0u64), 1u64..50],
        prop::option::of(1u64..10_000),
    )
        .prop_map(
            |(rate, rtt, buffer, loss_every, policer, slot, offered)| Link {
                loss_every,
                policer,
                ack_slot: Duration::from_millis(slot),
                offered,
                ..Link::new(rate, rtt, buffer)
            },
        )
}

/// Nothing overflows; window and rate stay such that the sender can go on, and it does go on.
fn survives<A: CongestionControl>(control: A, links: &[Link]) -> Result<(), TestCaseError> {
    let mut b = Bottleneck::new(control, links[0]);
    for link in links {
        b.link = *link;
        let before = b.delivered;
        let mut sound = true;
        b.run(Duration::from_secs(4), |b| {
            let rate = b.window.pacing_rate.unwrap();
            sound &= b.window.cwnd >= 1 && rate > 0 && rate < u64::from(MSS) * 100_000_000;
        });
        prop_assert!(
            sound,
            "cwnd {}, rate {:?}",
            b.window.cwnd,
            b.window.pacing_rate
        );
        prop_assert!(b.delivered > before, "nothing delivered: {:?}", b.link);
    }
    let fastest = links.iter().map(|l| l.rate).max().unwrap();
    prop_assert!(b.delivered <= fastest * 4 * links.len() as u64);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn version_1_survives(links in prop::collection::vec(link(), 1..5), seed: u64) {
        survives(Bbr::new(seed), &links)?;
    }

    #[test]
    fn version_3_survives(links in prop::collection::vec(link(), 1..5), seed: u64) {
        survives(Bbr3::new(seed), &links)?;
    }
}
