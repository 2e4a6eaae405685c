//! The runs of a sweep that make up a shard.

use std::ops::Range;

/// The most virtual seconds of a shard: some seconds of work on one processor.
const MOST_S: f64 = 7200.0;

/// The least number of shards, if there are enough variants, so that each of some processors gets several.
const LEAST_SHARDS: f64 = 64.0;

/// Runs that make up a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    /// The variants that these runs belong to.
    pub variants: Range<usize>,
    /// Their numbers in the sweep, in order; at least one.
    pub runs: Vec<usize>,
}

/// Divides a sweep into the shards that are still to be made. A shard has whole variants in their order, with as many
/// runs as take the shard's virtual time together, except those that are `done`.
///
/// The same sweep is divided in the same way on every machine, so its files are the same however often it was
/// interrupted.
pub fn batches(variants: &[(usize, f64)], done: impl Fn(usize) -> bool) -> Vec<Batch> {
    let all: f64 = variants.iter().map(|(_, seconds)| seconds).sum();
    let most = (all / LEAST_SHARDS).min(MOST_S);
    let mut batches = Vec::new();
    let (mut first, mut first_run, mut end_run, mut taken) = (0, 0, 0, 0.0);
    for (variant, &(runs, seconds)) in variants.iter().enumerate() {
        end_run += runs;
        taken += seconds;
        if taken < most && variant + 1 < variants.len() {
            continue;
        }
        let runs: Vec<_> = (first_run..end_run).filter(|&run| !done(run)).collect();
        let variants = first..variant + 1;
        if !runs.is_empty() {
            batches.push(Batch { variants, runs });
        }
        (first, first_run, taken) = (variant + 1, end_run, 0.0);
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_in_one_shard() {
        for (variants, seconds, shards) in [
            (0, 60.0, 0),
            (1, 60.0, 1),
            (20, 60.0, 20),
            (640, 60.0, 64),
            (10_000, 20.0, 64),
            (100_000, 60.0, 834),
            (3, 10_000.0, 3),
        ] {
            let batches = batches(&vec![(2, seconds); variants], |_| false);
            assert_eq!(batches.len(), shards, "{variants} variants of {seconds} s");
            let runs = batches.iter().flat_map(|batch| batch.runs.clone());
            assert_eq!(
                runs.collect::<Vec<_>>(),
                (0..2 * variants).collect::<Vec<_>>()
            );
            let variants_of = batches.iter().flat_map(|batch| batch.variants.clone());
            assert!(variants_of.eq(0..variants));
        }
    }

    #[test]
    fn what_is_done_is_in_none_and_moves_nothing() {
        let sweep = [(3, 60.0), (3, 60.0), (3, 60.0)];
        let all = batches(&sweep, |_| false);
        assert_eq!(
            batches(&sweep, |run| (3..6).contains(&run)),
            [all[0].clone(), all[2].clone()]
        );
        let rest = batches(&sweep, |run| run != 4);
        let [one] = rest.as_slice() else {
            panic!("{rest:?}")
        };
        assert_eq!(
            (one.variants.clone(), one.runs.as_slice()),
            (1..2, &[4][..])
        );
    }
}
