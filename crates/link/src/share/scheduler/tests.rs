use super::*;
use crate::RateSeries;

const TTI: Duration = Duration::from_millis(1);

/// HDR's time constant.
const FAIR: Scheduler = Scheduler::ProportionalFair {
    time_constant: Duration::from_millis(1670),
};

fn air(scheduler: Scheduler, rates: Vec<Rate>) -> Air {
    let rates = rates.into_iter().map(|rate| (rate, Duration::ZERO));
    Air::new(scheduler, TTI, rates)
}

fn constants(mbps: &[f64]) -> Vec<Rate> {
    mbps.iter().map(|m| Rate::constant(m * 1e6)).collect()
}

/// A rate in Mbit/s for each TTI.
fn series(mbps: impl Iterator<Item = u32>) -> Rate {
    let rows: String = (0..)
        .zip(mbps)
        .map(|(ms, mbps)| format!("{},{mbps}e6\n", f64::from(ms) / 1e3))
        .collect();
    Rate::from(RateSeries::parse(&rows).expect("valid"))
}

/// TTIs and Mbit/s that each of two users got in `seconds`, both always with something to receive.
fn shares(air: &mut Air, seconds: u64) -> Vec<(u64, f64)> {
    let mut shares = vec![(0, 0); air.users.len()];
    for n in 0..seconds * 1000 {
        if let Some((user, bytes)) = air.schedule(n, |_| true) {
            shares[user].0 += 1;
            shares[user].1 += bytes;
        }
    }
    let mbps = |bytes: u64| bytes as f64 * 8.0 / 1e6 / seconds as f64;
    shares.iter().map(|s| (s.0, mbps(s.1))).collect()
}

/// With constant rates both give each user the same time, and so 1/N of his rate.
#[test]
fn constant_rates_share_the_time_equally() {
    for scheduler in [Scheduler::RoundRobin, FAIR] {
        let mut air = air(scheduler, constants(&[24.0, 6.0, 0.6]));
        shares(&mut air, 10);
        let mut air = self::air(scheduler, constants(&[24.0, 6.0, 0.6]));
        for ((ttis, mbps), rate) in shares(&mut air, 30).into_iter().zip([24.0, 6.0, 0.6]) {
            assert!(ttis.abs_diff(10_000) <= 20, "{scheduler:?}: {ttis}");
            assert!((mbps - rate / 3.0).abs() < 0.01 * rate, "{mbps}");
        }
    }
}

#[test]
fn round_robin_takes_turns() {
    let mut air = air(Scheduler::RoundRobin, constants(&[1.0, 9.0, 5.0]));
    let turns: Vec<_> = (0..6)
        .map(|n| air.schedule(n, |_| true).unwrap().0)
        .collect();
    assert_eq!(turns, [0, 1, 2, 0, 1, 2]);
    // A user who wants nothing is passed over.
    let turns: Vec<_> = (6..9)
        .map(|n| air.schedule(n, |u| u != 1).unwrap().0)
        .collect();
    assert_eq!(turns, [0, 2, 0]);
    assert_eq!(air.schedule(9, |_| false), None);
}

/// Two users alternate between 10 and 2 Mbit/s every 20 ms, in opposite phase: proportional fair serves each at his
/// best and gives 10/2 to both, round robin (10 + 2)/2/2.
#[test]
fn proportional_fair_rides_the_peaks() {
    let user = |phase| series((0..40).map(move |ms| if ms / 20 == phase { 10 } else { 2 }));
    for (scheduler, expected) in [(Scheduler::RoundRobin, 3.0), (FAIR, 5.0)] {
        let mut air = air(scheduler, vec![user(0), user(1)]);
        for (_, mbps) in shares(&mut air, 60) {
            assert!((mbps - expected).abs() < 0.05, "{scheduler:?}: {mbps}");
        }
    }
}

/// Two users whose rates are 1 or 3 Mbit/s, drawn anew in each TTI: the better of the two has 3 with
/// 3/4 and so 2.5 on average; each gets half of that. Round robin gives half of 2.
#[test]
fn proportional_fair_gains_from_diversity() {
    use rand::{RngExt, SeedableRng};
    let user = |seed| {
        let mut rng = rand_pcg::Pcg64Mcg::seed_from_u64(seed);
        series((0..20_000).map(move |_| 1 + 2 * u32::from(rng.random::<bool>())))
    };
    for (scheduler, expected) in [(Scheduler::RoundRobin, 1.0), (FAIR, 1.25)] {
        let mut air = air(scheduler, vec![user(1), user(2)]);
        for (_, mbps) in shares(&mut air, 20) {
            assert!((mbps - expected).abs() < 0.02, "{scheduler:?}: {mbps}");
        }
    }
}

/// An average is what a user was given, smoothed over the time constant: after n TTIs without service (1 − 1/t_c)ⁿ of
/// it is left, whether they were scheduled one by one or went by unused.
#[test]
fn averages_decay_with_the_time_constant() {
    let averages = |air: &Air| match &air.turns {
        Turns::ProportionalFair { averages, .. } => averages.clone(),
        Turns::RoundRobin { .. } => unreachable!(),
    };
    let run = |idle: &dyn Fn(&mut Air)| {
        let mut air = air(FAIR, constants(&[8.0, 8.0]));
        for n in 0..20_000 {
            air.schedule(n, |user| user == 0);
        }
        assert!((averages(&air)[0] - 1000.0).abs() < 0.01);
        idle(&mut air);
        air.schedule(20_835, |user| user == 1);
        averages(&air)[0]
    };
    let expected = 1000.0 * libm::exp(-836.0 / 1670.0);
    let at_once = run(&|_| {});
    let one_by_one = run(&|air| {
        (20_000..20_835).for_each(|n| {
            air.schedule(n, |_| false);
        });
    });
    assert!((at_once - expected).abs() < 0.5, "{at_once} {expected}");
    assert!((at_once - one_by_one).abs() < 1e-6);
}

/// A TTI's bytes are those between its ends, the last instant included; nothing is given twice.
#[test]
fn opportunities_belong_to_the_tti_that_they_end() {
    let trace = crate::Trace::parse("3\n3\n5\n").expect("valid");
    let mut air = air(Scheduler::RoundRobin, vec![Rate::from(trace)]);
    let given: Vec<_> = (0..10)
        .filter_map(|n| {
            air.schedule(n, |_| true)
                .map(|(_, bytes)| (air.end(n), bytes))
        })
        .collect();
    let ms = Instant::from_millis;
    assert_eq!(
        given,
        [(ms(3), 3000), (ms(5), 1500), (ms(8), 3000), (ms(10), 1500)]
    );
}
