//! The rule above all others: a flow that its window holds back while its own delay shows no queue gets
//! more, whatever any record says.
//!
//! The flows here are joined by mistake: their links carry the same for a while, to the last bit. Then the
//! first one's becomes faster, the others' slower.

mod model;

use model::{Model, Outcome, Source, deep};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::time::Duration;
use tidegate_laws::Params;
use tidegate_link::{Rate, RateSeries};

/// Until when the links are alike, how long they stay at one rate until then, and the end.
const ALIKE: Duration = Duration::from_secs(8);
const STEP: Duration = Duration::from_millis(250);
const END: Duration = Duration::from_secs(20);
/// In so many round trips of the flow's the link is full again; a third a lag makes 10 out of 1 in 9.
const ROUNDS: f64 = 30.0;

#[derive(Clone, Debug)]
struct Mistake {
    /// Before the links part, in Mbit/s, and how much faster and slower they are afterwards.
    mbps: f64,
    faster: f64,
    slower: f64,
    others: usize,
    /// One way of all, and how much longer the first one's way back is, in ms.
    delay_ms: u64,
    farther_ms: u64,
}

fn mistakes() -> impl Strategy<Value = Mistake> {
    (
        3.0f64..60.0,
        1.0f64..8.0,
        1.0f64..8.0,
        1usize..4,
        2u64..60,
        0u64..60,
    )
        .prop_map(
            |(mbps, faster, slower, others, delay_ms, farther_ms)| Mistake {
                mbps,
                faster,
                slower,
                others,
                delay_ms,
                farther_ms,
            },
        )
}

/// What became of it.
struct Fate {
    /// Whether the first flow was in a group with another when the links parted.
    joined: bool,
    /// The share of its link that it used from then on, but for its first rounds.
    used: f64,
    outcome: Outcome,
}

impl Mistake {
    /// A link that goes up and down as all do, and carries `mbps` from then on.
    fn link(&self, mbps: f64) -> Rate {
        let steps = (ALIKE.as_millis() / STEP.as_millis()) as u32;
        let swing = (0..steps).map(|i| {
            let part = [1.0, 0.5, 0.8, 0.6][i as usize % 4];
            (STEP * i, part * self.mbps * 1e6)
        });
        let steps: Vec<_> = swing
            .chain([(ALIKE, mbps * 1e6), (END, mbps * 1e6)])
            .collect();
        RateSeries::steps(&steps).expect("in order").into()
    }

    fn rtt_s(&self) -> f64 {
        (2 * self.delay_ms + self.farther_ms) as f64 / 1e3
    }

    fn run(&self) -> Fate {
        let delay = Duration::from_millis(self.delay_ms);
        let slow = self.link(self.mbps / self.slower);
        let mut links = vec![deep(self.link(self.mbps * self.faster), delay)];
        links.extend((0..self.others).map(|_| deep(slow.clone(), delay)));
        let other = |i| Source::bulk(0).over(&[i]);
        let first = Source::bulk(0).farther(self.farther_ms);
        let warmup = ALIKE + Duration::from_secs_f64(ROUNDS * self.rtt_s().max(0.005));
        let outcome = Model {
            links,
            back: vec![(Duration::ZERO, delay)],
            sources: [first]
                .into_iter()
                .chain((1..=self.others).map(other))
                .collect(),
            ..Model::deep(Params::default(), vec![], END.as_secs(), 0)
        };
        let outcome = Model { warmup, ..outcome }.run();
        let group = |flow: usize| {
            let past = outcome.groups[flow]
                .iter()
                .rev()
                .find(|g| g.0 < ALIKE.as_secs_f64());
            past.and_then(|g| g.1)
        };
        let mine = group(0);
        Fate {
            joined: mine.is_some() && (1..=self.others).any(|other| group(other) == mine),
            used: outcome.utilisation,
            outcome,
        }
    }
}

#[test]
fn explore() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::new(Config {
        rng_seed: RngSeed::Fixed(0x7464),
        failure_persistence: None,
        ..Config::default()
    });
    for _ in 0..60 {
        let m = mistakes().new_tree(&mut runner).unwrap().current();
        let f = m.run();
        println!(
            "joined {} used {:.2} q {:.0?} {m:?} {:?}",
            f.joined, f.used, f.outcome.queued_ms, f.outcome.groups
        );
    }
}
#[test]
fn why() {
    for m in [Mistake {
        mbps: 19.48688534208732,
        faster: 4.752742175511313,
        slower: 5.374321881586921,
        others: 2,
        delay_ms: 38,
        farther_ms: 8,
    }] {
        let f = m.run();
        println!(
            "why used {:.2} {:?} q {:?} bytes {:?}",
            f.used, f.outcome.groups, f.outcome.queued_ms, f.outcome.bytes
        );
    }
}
#[test]
fn hspa() {
    let mut m = Model::deep(Params::default(), vec![], 120, 10);
    use tidegate_link::*;
    m.links = (0..2)
        .map(|i| {
            let rate = Rate::from(CellModel::new(CellKind::Hspa, None, 100 * 1 + i as u64));
            deep(rate, Duration::from_millis(21))
        })
        .collect();
    m.sources = (0..2).map(|i| Source::bulk(0).over(&[i])).collect();
    m.back = vec![(Duration::ZERO, Duration::from_millis(21))];
    let o = m.run();
    println!("why {:?} {:?}", o.groups, o.bytes);
}
