use super::{exponential, log_normal, normal, pareto};
use rand::{Rng, SeedableRng};
use rand_distr::{Distribution, Exp1, LogNormal, Pareto, StandardNormal};
use rand_pcg::Pcg64Mcg;

/// Enough to reach the normal distribution's tail some hundreds of times.
const DRAWS: usize = 1_000_000;

/// Asserts that our draws and `rand_distr`'s from the same stream agree, except for their last bits.
fn agree(ours: fn(&mut Pcg64Mcg) -> f64, theirs: impl Distribution<f64>) {
    let [mut one, mut other] = [(); 2].map(|()| Pcg64Mcg::seed_from_u64(17));
    for n in 0..DRAWS {
        let (a, b) = (ours(&mut one), theirs.sample(&mut other));
        assert!((a - b).abs() <= 1e-13 * b.abs(), "{n}: {a}, {b}");
    }
    assert_eq!(one.next_u64(), other.next_u64());
}

#[test]
fn draws_are_those_of_rand_distr() {
    agree(normal, StandardNormal);
    agree(exponential, Exp1);
    agree(|rng| pareto(rng, 2.2), Pareto::new(1.0, 2.2).unwrap());
    agree(
        |rng| log_normal(rng, 0.9),
        LogNormal::new(0.0, 0.9).unwrap(),
    );
}

/// A million draws may miss the tails: the share beyond is e^−tail, and 2 Q(tail).
#[test]
fn tails_are_met() {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let beyond = |draw: &mut dyn FnMut() -> f64, tail: f64| {
        (0..2 * DRAWS).filter(|_| draw().abs() > tail).count() as f64
    };
    let far = beyond(&mut || normal(&mut rng), 3.654_152_885_361_009);
    assert!((far - 516.0).abs() < 100.0, "{far}");
    let far = beyond(&mut || exponential(&mut rng), 7.697_117_470_131_05);
    assert!((far - 908.0).abs() < 130.0, "{far}");
}
