//! Random links, round trips, queues and shares: no answer is wrong.

use crate::fifo::{Answer, Fifo, Obeys};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// A link, and the queue that stands in it.
#[derive(Clone, Debug)]
struct Draw {
    mbit: f64,
    rtt_us: u32,
    queue_us: u64,
    /// The others' share of what is in flight.
    others: f64,
    tick_us: u32,
}

/// The lag is longer than a silence: a window can be lowered by no more than itself.
fn draws(others: impl Strategy<Value = f64>) -> impl Strategy<Value = Draw> {
    let mbit = (0.6f64..1.7).prop_map(|tens| libm::pow(10.0, tens));
    let rtt_us = 25_000u32..200_000;
    let tick_us = prop::sample::select(vec![1u32, 1_000, 4_000]);
    let draw = (mbit, rtt_us, 60_000u64..500_000, others, tick_us);
    draw.prop_map(|(mbit, rtt_us, queue_us, others, tick_us)| Draw {
        mbit,
        rtt_us,
        queue_us,
        others,
        tick_us,
    })
}

impl Draw {
    fn fifo(&self) -> Fifo {
        let mut fifo = Fifo::new(self.mbit, self.rtt_us);
        fifo.tick_us = self.tick_us;
        let fits = fifo.carries(self.queue_us) as f64;
        if self.others > 0.0 {
            fifo.others.cwnd = fits as u64;
            fifo.ours.cwnd = (fits * (1.0 - self.others) / self.others) as u64;
        } else {
            fifo.ours.cwnd = 2 * fits as u64;
            fifo.obeys = Obeys::More(fits as u64 - fifo.carries(0));
        }
        fifo
    }

    /// The first answer that tells anything.
    fn answer(&self) -> Option<Answer> {
        let mut fifo = self.fifo();
        let says = |a: &&Answer| matches!(a, Answer::Ours | Answer::Others);
        fifo.until(20_000_000, |f| f.answers.iter().any(|a| says(&a)));
        fifo.answers.iter().find(says).copied()
    }
}

/// How many answers are `right`, and how many are wrong.
fn answers(others: impl Strategy<Value = f64>, right: Answer) -> (usize, usize) {
    let mut runner = TestRunner::new(Config {
        rng_seed: RngSeed::Fixed(0x7464),
        failure_persistence: None,
        ..Config::default()
    });
    let draws = draws(others);
    let mut counts = (0, 0);
    for _ in 0..300 {
        let draw = draws.new_tree(&mut runner).expect("no rejects").current();
        match draw.answer() {
            Some(answer) if answer == right => counts.0 += 1,
            Some(_) => {
                println!("wrong: {draw:?}");
                counts.1 += 1;
            }
            None => {}
        }
    }
    println!("{counts:?} of 300 are {right:?}");
    counts
}

#[test]
fn a_queue_of_ours_is_never_taken_for_anothers() {
    let (right, wrong) = answers(Just(0.0), Answer::Ours);
    assert!(right > 280 && wrong == 0, "{right} {wrong}");
}

#[test]
fn anothers_queue_is_never_taken_for_ours() {
    let (right, wrong) = answers(0.5f64..0.9, Answer::Others);
    assert!(right > 280 && wrong == 0, "{right} {wrong}");
}
