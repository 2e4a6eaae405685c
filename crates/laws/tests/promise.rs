//! The rule above all others: a flow that its window limits while its own delay shows no queue gets more, whatever any
//! record says.
//!
//! The flows here are joined by mistake: each has a link of its own, and for a while all links carry the
//! same, to the last bit. Then the first one's becomes faster, the others' slower, or the others end.

mod model;

use model::{Model, Outcome, Source, deep};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::time::Duration;
use tidegate_laws::Params;
use tidegate_link::{Rate, RateSeries};

/// When the links stop being alike, how long they stay at one rate until then, and the end.
const ALIKE: Duration = Duration::from_secs(8);
const STEP: Duration = Duration::from_millis(250);
const END: Duration = Duration::from_secs(24);
/// Within this many of its round trips the flow fills its link: a third more in each makes ten for one out of nine, but
/// first the queue that it was taken to share has to be seen to be another's.
const ROUNDS: f64 = 40.0;
/// A round trip shorter than this counts as this long, as it does for the law.
const LAG_LEAST_S: f64 = 0.005;

#[derive(Clone, Debug)]
struct Mistake {
    /// The highest rate before the links part, in Mbit/s, and how much faster and slower they are afterwards.
    mbps: f64,
    faster: f64,
    slower: f64,
    others: usize,
    /// Whether the other flows fall silent instead.
    ends: bool,
    /// The one-way delay of all, and how much longer the first one's way back is, in ms.
    delay_ms: u64,
    farther_ms: u64,
    /// When the first one starts, after the others.
    late_ms: u64,
}

fn mistakes() -> impl Strategy<Value = Mistake> {
    let links = (3.0f64..30.0, 1.0f64..8.0, 1.0f64..8.0);
    let ways = (2u64..60, 0u64..60, 0u64..3_000);
    (links, 1usize..4, any::<bool>(), ways).prop_map(|(links, others, ends, ways)| Mistake {
        mbps: links.0,
        faster: links.1,
        slower: links.2,
        others,
        ends,
        delay_ms: ways.0,
        farther_ms: ways.1,
        late_ms: ways.2,
    })
}

impl Mistake {
    /// A link whose rate goes up and down like that of all others, and is then `mbps`.
    fn link(&self, mbps: f64) -> Rate {
        let steps = (ALIKE.as_millis() / STEP.as_millis()) as u32;
        let part = |i: u32| [1.0, 0.5, 0.8, 0.6][i as usize % 4];
        let swing = (0..steps).map(|i| (STEP * i, part(i) * self.mbps * 1e6));
        let steps: Vec<_> = swing.chain([(ALIKE, mbps * 1e6)]).collect();
        RateSeries::steps(&steps).expect("in order").into()
    }

    fn sources(&self) -> Vec<Source> {
        let mut first = Source::bulk(0).farther(self.farther_ms);
        first.start += Duration::from_millis(self.late_ms);
        let others = (1..=self.others).map(|link| Source {
            end: self.ends.then_some(ALIKE),
            ..Source::bulk(0).over(&[link])
        });
        [first].into_iter().chain(others).collect()
    }

    /// The outcome, counted from when the first flow must have its link.
    fn run(&self) -> Outcome {
        let delay = Duration::from_millis(self.delay_ms);
        let rtt_s = (2 * self.delay_ms + self.farther_ms) as f64 / 1e3;
        let slow = deep(self.link(self.mbps / self.slower), delay);
        let fast = deep(self.link(self.mbps * self.faster), delay);
        Model {
            links: [fast].into_iter().chain(vec![slow; self.others]).collect(),
            back: vec![(Duration::ZERO, delay)],
            warmup: ALIKE + Duration::from_secs_f64(ROUNDS * rtt_s.max(LAG_LEAST_S)),
            ..Model::deep(Params::default(), self.sources(), END.as_secs(), 0)
        }
        .run()
    }
}

/// The times, from and to, in which the first flow was joined with others.
fn joined(o: &Outcome) -> Vec<(f64, f64)> {
    let others = 1..o.groups.len();
    others.flat_map(|other| o.together(0, other)).collect()
}

#[test]
fn whatever_it_was_taken_for_a_flow_gets_its_link() {
    let mut runner = TestRunner::new(Config {
        rng_seed: RngSeed::Fixed(0x7464),
        failure_persistence: None,
        ..Config::default()
    });
    let parted_s = ALIKE.as_secs_f64();
    let (mut mistaken, mut longest_s) = (0, 0.0f64);
    for _ in 0..100 {
        let mistake = mistakes()
            .new_tree(&mut runner)
            .expect("no rejects")
            .current();
        let o = mistake.run();
        let spans = joined(&o);
        mistaken += usize::from(spans.iter().any(|s| (s.0..s.1).contains(&parted_s)));
        let after = spans
            .iter()
            .filter(|_| !mistake.ends)
            .map(|s| s.1 - parted_s.max(s.0));
        longest_s = after.fold(longest_s, f64::max);
        assert!(
            o.utilisation > 0.9,
            "{:.3} used, {:.0?} ms: {mistake:?} {:?}",
            o.utilisation,
            o.queued_ms,
            o.groups
        );
    }
    println!(
        "{mistaken} of 100 were joined when the links parted, {longest_s:.1} s at most from then on"
    );
    assert!(mistaken > 15, "{mistaken}");
}
