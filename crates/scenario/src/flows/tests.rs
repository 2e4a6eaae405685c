use super::*;
use crate::{LoadError, Scenario};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::path::Path;
use tidegate_link::Reader;

/// Parses a scenario whose flows have those keys.
fn parse(keys: &str) -> Result<Scenario, String> {
    let text = format!(
        "name = 'x'
         duration_s = 10
         down = {{ rate = {{ constant_mbps = 8 }}, delay_ms = 1 }}
         up = {{ rate = {{ constant_mbps = 1 }}, delay_ms = 1 }}
         workload = [{{ name = 'w', does = {{ flows = {{ {keys} }} }} }}]
         run = [{{ name = 'r' }}]"
    );
    Scenario::parse(&text, Path::new("x.toml")).map_err(|e| e.to_string())
}

#[test]
fn flows_that_make_sense_are_taken() {
    for keys in [
        "arrivals = { poisson = { per_s = 10 } }, sizes = { constant = { bytes = 1 } }",
        "arrivals = { poisson = { load = 0.8 } }, sizes = { published = 'web_search' }, direction = 'up'",
        "arrivals = { pareto = { shape = 1.5, load = 0.5 } }, sizes = { exponential = { mean_bytes = 1e5 } }",
        "arrivals = { lognormal = { deviation = 2, per_s = 1 } }, sizes = { cdf = 'sizes.txt' }",
        "arrivals = { constant = { per_s = 1 } }, sizes = { lognormal = { median_bytes = 1e4, deviation = 1 } },
         class_bytes = []",
    ] {
        parse(&keys.replace('\n', " ")).unwrap();
    }
}

#[test]
fn flows_that_make_none_are_refused_by_name() {
    const SIZES: &str = "sizes = { constant = { bytes = 1000 } }";
    const ARRIVALS: &str = "arrivals = { poisson = { per_s = 10 } }";
    for (keys, complaint) in [
        (
            format!("{SIZES}, arrivals = {{ poisson = {{}} }}"),
            "flows.arrivals.poisson has neither per_s nor load",
        ),
        (
            format!("{SIZES}, arrivals = {{ constant = {{ per_s = 1, load = 1 }} }}"),
            "flows.arrivals.constant has both per_s and load",
        ),
        (
            format!("{SIZES}, arrivals = {{ pareto = {{ shape = 1, per_s = 1 }} }}"),
            "flows.arrivals.pareto.shape is 1, expected 1.01 to 100 exponent",
        ),
        (
            format!(
                "{ARRIVALS}, sizes = {{ pareto = {{ shape = 1, min_bytes = 9, max_bytes = 8 }} }}"
            ),
            "flows.sizes.pareto.max_bytes is 8, expected min_bytes = 9 or more",
        ),
        (
            format!("{ARRIVALS}, {SIZES}, class_bytes = [10, 10]"),
            "flows.class_bytes is [10, 10], expected each larger",
        ),
        (
            format!("{SIZES}, arrivals = {{ poisson = {{ per_s = 1e5 }} }}"),
            "1000000 connections",
        ),
        (
            // Ten times 8 Mbit/s of 500 bytes, for 10 s.
            "arrivals = { poisson = { load = 10 } }, sizes = { constant = { bytes = 500 } }".into(),
            "200000 connections",
        ),
    ] {
        let error = parse(&keys).unwrap_err();
        assert!(error.contains(complaint), "{error}");
    }
}

fn table(text: &str) -> Result<SizeTable, String> {
    let mut reader = Reader::<SizeTable>::default();
    let read = reader.take(text.as_bytes()).and_then(|()| reader.finish());
    read.map_err(|error| error.to_string())
}

#[test]
fn a_table_is_read_whatever_its_form() {
    let shares = table("# bytes share\n0 0\n100 0.5\n\n200\t1 # all\n").unwrap();
    let percent = table("0,0\r\n100, 50\r\n200;100").unwrap();
    assert_eq!(shares, percent);
    assert_eq!(shares.mean(), 100.0);
    for (share, bytes) in [
        (0.0, 0.0),
        (0.25, 50.0),
        (0.5, 100.0),
        (0.75, 150.0),
        (1.0, 200.0),
    ] {
        assert_eq!(shares.quantile(share), bytes);
    }
}

/// Half of all flows have one packet, as in data mining: no straight line from 0.
#[test]
fn the_first_points_share_is_of_that_size() {
    for text in ["1500 0.5\n3000 1", "1500 0\n1500 0.5\n3000 1"] {
        let table = table(text).unwrap();
        assert_eq!(table.quantile(0.0), 1500.0);
        assert_eq!(table.quantile(0.5), 1500.0);
        assert_eq!(table.quantile(0.75), 2250.0);
        assert_eq!(table.mean(), 0.5 * 1500.0 + 0.5 * 2250.0);
    }
}

#[test]
fn a_table_that_is_none_is_refused_by_line() {
    for (text, complaint) in [
        ("", "line 1: expected a point at least, found none"),
        (
            "185.0\n1 0.1\n",
            "line 1: expected two numbers, bytes (0 to 1e12) and the share of flows that have no more, found 1 numbers",
        ),
        ("0 0\nten 1\n", "line 2: "),
        ("0 0\n10 1 0.5\n", "found 3 numbers"),
        (
            "0 0\n20 0.5\n10 1\n",
            "line 3: 10 bytes and 1 come after 20 bytes and 0.5",
        ),
        (
            "0 0\n10 0.5\n20 0.4\n",
            "line 3: 20 bytes and 0.4 come after 10 bytes and 0.5",
        ),
        (
            "0 0\n10 0.9\n",
            "line 2: the last share is 0.9, expected 1 (shares from 0 to 1) or 100",
        ),
        ("0 -1\n10 1\n", "line 1: "),
        ("0 0\n1e13 1\n", "line 2: "),
        ("0 0\nnan 1\n", "line 2: "),
        ("0 0\n0 1\n", "line 2: the largest flow has 0 bytes"),
    ] {
        let error = table(text).unwrap_err();
        assert!(error.contains(complaint), "{text:?}: {error}");
    }
}

#[test]
fn a_file_is_found_beside_the_scenario_and_its_line_named() {
    let folder = tempfile::tempdir().unwrap();
    let (path, file) = (
        folder.path().join("x.toml"),
        folder.path().join("sizes.txt"),
    );
    let scenario = parse("arrivals = { poisson = { load = 0.5 } }, sizes = { cdf = 'sizes.txt' }");
    let scenario = scenario.unwrap();
    let missing = scenario.link_inputs(&path).unwrap_err();
    assert!(missing.to_string().contains("cannot read"), "{missing}");
    std::fs::write(&file, "0 0\n1000 2\n").unwrap();
    let LoadError::Syntax { path: of, line, .. } = scenario.link_inputs(&path).unwrap_err() else {
        panic!("no line");
    };
    assert_eq!((of, line), (file.clone(), 2));
    std::fs::write(&file, "0 0\n1000 1\n").unwrap();
    let inputs = scenario.link_inputs(&path).unwrap();
    assert_eq!(inputs.sizes[0].as_ref().unwrap().mean(), 500.0);
    // One byte a flow are five million flows of half of the link: known once the file is.
    std::fs::write(&file, "1 1\n").unwrap();
    let error = scenario.link_inputs(&path).unwrap_err().to_string();
    assert!(error.contains("5000000 connections"), "{error}");
}

/// As papers state them: 1138 and 5117 packets of 1460 bytes for the first two.
#[test]
fn published_sizes_have_their_means() {
    for (published, mean) in [
        (PublishedSizes::WebSearch, 1138.0 * 1460.0),
        (PublishedSizes::DataMining, 5117.0 * 1500.0),
        (PublishedSizes::Cache, 935_632.5),
    ] {
        let sizes = SizesSpec::Published(published).without_file().unwrap();
        let ours = sizes.mean();
        assert!(
            (ours - mean).abs() < 0.04 * mean,
            "{published:?}: {ours}, expected {mean}"
        );
    }
}

/// Where two halves of a distribution's draws lie, and their mean, is what it says.
fn follows(sizes: &SizeDistribution, seed: u64, tolerance: f64) {
    const DRAWS: usize = 40_000;
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let draws: Vec<f64> = (0..DRAWS).map(|_| sizes.draw(&mut rng) as f64).collect();
    let mean = draws.iter().sum::<f64>() / DRAWS as f64;
    let expected = sizes.mean();
    assert!(
        (mean - expected).abs() <= tolerance * expected,
        "seed {seed}: {sizes:?} has a mean of {mean}, expected {expected}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// No share of the draws is further from the table's than the Kolmogorov-Smirnov bound of one in a million.
    #[test]
    fn drawn_sizes_follow_the_table(
        seed: u64,
        steps in prop::collection::vec((1.0..1e6_f64, 0.01..1.0_f64), 1..12),
    ) {
        const DRAWS: usize = 20_000;
        let whole: f64 = steps.iter().map(|step| step.1).sum();
        let (mut bytes, mut share) = (0.0, 0.0);
        let mut points = vec![(0.0, 0.0)];
        for (more, of) in steps {
            bytes += more;
            share += of / whole;
            points.push((bytes, share.min(1.0)));
        }
        points.last_mut().unwrap().1 = 1.0;
        let table = SizeTable::of(points.clone());
        let sizes = SizeDistribution::Table(std::sync::Arc::new(table));
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let draws: Vec<f64> = (0..DRAWS).map(|_| sizes.draw(&mut rng) as f64).collect();
        let bound = libm::sqrt(libm::log(2e6) / (2.0 * DRAWS as f64));
        for (bytes, share) in points {
            let below = draws.iter().filter(|draw| **draw <= bytes.max(1.0) + 0.5).count() as f64 / DRAWS as f64;
            // Rounding moves a byte.
            let slack = bound + 1e-3;
            prop_assert!((below - share).abs() < slack, "seed {}: {} of {}, expected {}", seed, below, bytes, share);
        }
        follows(&sizes, seed, 0.05);
    }

    #[test]
    fn drawn_sizes_have_their_mean(seed: u64, shape in 1.6..4.0_f64, deviation in 0.0..1.0_f64) {
        follows(&SizeDistribution::Exponential(50_000.0), seed, 0.05);
        follows(&SizeDistribution::Pareto { shape, min: 1000.0, max: 1e7 }, seed, 0.1);
        follows(&SizeDistribution::Lognormal { median: 1e4, deviation }, seed, 0.05);
    }

    #[test]
    fn gaps_have_a_mean_of_one(seed: u64) {
        let pace = PaceSpec { per_s: Some(1.0), load: None };
        for arrivals in [
            ArrivalsSpec::Poisson(pace),
            ArrivalsSpec::Constant(pace),
            ArrivalsSpec::Pareto(ParetoGaps { shape: 2.5, per_s: None, load: None }),
            ArrivalsSpec::Lognormal(LognormalGaps { deviation: 1.0, per_s: None, load: None }),
        ] {
            let mut rng = Pcg64Mcg::seed_from_u64(seed);
            let sum: f64 = (0..40_000).map(|_| arrivals.gap(&mut rng)).sum();
            prop_assert!((sum / 40_000.0 - 1.0).abs() < 0.06, "seed {}: {:?}: {}", seed, arrivals, sum / 40_000.0);
        }
    }

    /// Numbers in a second have the mean and the variance of Poisson's distribution.
    #[test]
    fn poissons_arrivals_are_his(seed: u64, per_s in 1.0..30.0_f64) {
        const SECONDS: usize = 4000;
        let arrivals = ArrivalsSpec::Poisson(PaceSpec { per_s: Some(per_s), load: None });
        let mut rng = Pcg64Mcg::seed_from_u64(seed);
        let mut counts = vec![0.0; SECONDS];
        let mut at = 0.0;
        loop {
            at += arrivals.gap(&mut rng) / per_s;
            match counts.get_mut(at as usize) {
                Some(count) => *count += 1.0,
                None => break,
            }
        }
        let mean = counts.iter().sum::<f64>() / SECONDS as f64;
        let variance = counts.iter().map(|n| (n - mean) * (n - mean)).sum::<f64>() / SECONDS as f64;
        // Five standard errors of each.
        let error = libm::sqrt(per_s / SECONDS as f64);
        prop_assert!((mean - per_s).abs() < 5.0 * error, "seed {}: mean {}, expected {}", seed, mean, per_s);
        let spread = libm::sqrt((2.0 * per_s * per_s + per_s) / SECONDS as f64);
        prop_assert!((variance - per_s).abs() < 5.0 * spread, "seed {}: variance {}, expected {}", seed, variance, per_s);
    }
}
