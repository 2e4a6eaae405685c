//! What the receiver learns of a link, and forecasts.

use crate::random;
use crate::sprout::belief::{Belief, RATES, TICK_S, log_poisson, rate};
use crate::sprout::forecast::{cautious, steady};
use rand::RngExt;

/// Packets of a tick on a Poisson link with that rate (Knuth's method).
fn poisson(rng: &mut impl rand::Rng, mean: f64) -> u32 {
    let limit = libm::exp(-mean);
    let (mut product, mut packets) = (rng.random::<f64>(), 0);
    while product > limit {
        product *= rng.random::<f64>();
        packets += 1;
    }
    packets
}

/// The belief after `ticks` ticks on a link of `rate` packets a second.
fn after(rate: f64, ticks: u32) -> Belief {
    let mut rng = random::stream(1, "sprout");
    let mut belief = Belief::uniform();
    for _ in 0..ticks {
        belief.evolve();
        belief.observe(poisson(&mut rng, rate * TICK_S));
    }
    belief
}

/// The expected rate, in packets a second.
fn mean(belief: &Belief) -> f64 {
    let of = belief.probabilities().iter().enumerate();
    of.map(|(nth, p)| p * rate(nth)).sum()
}

fn sum(belief: &Belief) -> f64 {
    belief.probabilities().iter().sum()
}

/// The mean of the belief's means over the ticks of ten seconds. It lies slightly above the rate, since a higher rate
/// can have brought few packets too, and the least rate is 0.
#[test]
fn a_poisson_links_rate_is_inferred() {
    for link in [100.0, 300.0, 700.0] {
        let mut rng = random::stream(1, "sprout");
        let mut belief = after(link, 100);
        let mut means = Vec::new();
        for _ in 0..500 {
            belief.evolve();
            belief.observe(poisson(&mut rng, link * TICK_S));
            means.push(mean(&belief));
        }
        let of_means = means.iter().sum::<f64>() / means.len() as f64;
        assert!(
            (0.95..1.15).contains(&(of_means / link)),
            "{of_means} of {link}"
        );
        let off = means.iter().filter(|&m| (m / link - 1.0).abs() > 0.5);
        assert!(off.count() < 75, "of {link}");
    }
}

#[test]
fn an_outage_is_believed_and_left_again() {
    let mut belief = after(300.0, 100);
    let before = belief.probabilities()[0];
    for _ in 0..25 {
        belief.evolve();
        belief.observe(0);
    }
    let outage = belief.probabilities()[0];
    assert!(before < 1e-6 && outage > 0.5, "{before}, {outage}");
    // During an outage the forecast is nothing.
    assert_eq!(cautious(&belief), [0; 8]);
    for _ in 0..10 {
        belief.evolve();
        belief.observe(6);
    }
    assert_eq!(belief.probabilities()[0], 0.0);
    assert!(mean(&belief) > 200.0, "{}", mean(&belief));
}

#[test]
fn without_observation_belief_spreads_and_stays_one() {
    let mut belief = Belief::certain(128);
    let spread = |belief: &Belief| {
        let mean = mean(belief);
        let of = belief.probabilities().iter().enumerate();
        let variance: f64 = of
            .map(|(nth, p)| p * (rate(nth) - mean) * (rate(nth) - mean))
            .sum();
        libm::sqrt(variance)
    };
    for tick in 1..=8 {
        belief.evolve();
        assert!((sum(&belief) - 1.0).abs() < 1e-12);
        // σ√τ.
        let expected = 200.0 * libm::sqrt(f64::from(tick) * TICK_S);
        let found = spread(&belief);
        assert!((found / expected - 1.0).abs() < 0.02, "{found}, {expected}");
    }
}

#[test]
fn an_outage_ends_at_its_rate() {
    let mut belief = Belief::certain(0);
    belief.evolve();
    assert!((belief.probabilities()[0] / libm::exp(-TICK_S) - 1.0).abs() < 0.02);
}

#[test]
fn what_was_held_impossible_is_believed_all_the_same() {
    let mut belief = Belief::certain(0);
    belief.observe(3);
    assert_eq!(belief.probabilities(), Belief::uniform().probabilities());
}

#[test]
fn more_than_a_tick_can_carry_is_the_highest_rate() {
    let mut belief = Belief::uniform();
    for _ in 0..20 {
        belief.evolve();
        belief.observe(60);
    }
    assert!(mean(&belief) > rate(RATES - 30), "{}", mean(&belief));
}

/// A single tick at a certain rate is a Poisson distribution; the forecast is its 5th percentile.
#[test]
fn the_first_tick_of_a_certain_rate_is_poissons_percentile() {
    for nth in [20, 77, 128, 200] {
        let mean = rate(nth) * TICK_S;
        let (mut below, mut count, mut log_factorial) = (0.0, 0, 0.0);
        loop {
            below += libm::exp(log_poisson(mean, count) - log_factorial);
            if below >= 0.05 {
                break;
            }
            count += 1;
            log_factorial += libm::log(f64::from(count));
        }
        assert_eq!(cautious(&Belief::certain(nth))[0], count, "{mean}");
    }
}

/// §3.3: fewer packets than forecast arrive only one time in twenty; a link whose rate stays is kinder than the model.
#[test]
fn forecasts_are_kept() {
    let mut rng = random::stream(2, "sprout");
    let link = 300.0;
    let mut belief = after(link, 50);
    let (mut broken, mut all, mut promised, mut came) = (0, 0, 0, 0);
    for _ in 0..400 {
        let forecast = cautious(&belief);
        assert!(forecast.is_sorted());
        let mut arrived = 0;
        for until in forecast {
            let packets = poisson(&mut rng, link * TICK_S);
            arrived += packets;
            broken += u32::from(arrived < until);
            all += 1;
            belief.evolve();
            belief.observe(packets);
        }
        promised += forecast[7];
        came += arrived;
    }
    assert!(broken * 20 < all, "{broken} of {all}");
    let share = f64::from(promised) / f64::from(came);
    assert!((0.3..0.8).contains(&share), "{share}");
}

#[test]
fn the_mean_goes_on() {
    assert_eq!(steady(2.5), [2, 5, 7, 10, 12, 15, 17, 20]);
}
