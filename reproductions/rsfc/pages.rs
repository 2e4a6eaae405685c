//! A hundred pages, from public statistics of the thesis's time.
//!
//! **How many objects and bytes.** The world's top 100 pages had 90 requests and 1612 kB each on average in
//! July 2014 (HTTP Archive, in websiteoptimization.com, "Average Web Page Breaks 1600K"). How pages differ:
//! the quantiles of the HTTP Archive that EcoIndex publishes (`cnumr/ecoindex_reference`), scaled to
//! these means. The 5 % at either end are left out: of millions of pages they are not what a hundred
//! much-visited ones have. The page with more objects is taken to have more bytes.
//!
//! **Sizes of objects.** A log-normal distribution with a median of 4.5 kB and a mean of 10.5 kB (Web Polygraph's
//! PolyMix, The Measurement Factory), scaled to the page's bytes.
//!
//! **Connections.** 25 a page (25.2 on average of the top 500 pages; Charzinski, "Traffic properties, client
//! side cachability and CDN usage of popular web sites", 2010), all kept until the page is there. No name is
//! looked up, and nothing waits for a script.
//!
//! **Requests.** 750 bytes: "typical header sizes of 700-800 bytes" (SPDY whitepaper, 2009).

use rand::SeedableRng;
use rand_pcg::Pcg64;
use tidegate_basics::random::log_normal;
use tidegate_scenario::WorkloadKind;

/// Means of the top 100 pages.
const REQUESTS: f64 = 90.0;
const BYTES: f64 = 1612e3;

/// EcoIndex's quantiles of requests and of kB, from 5 % to 95 % in steps of 5.
const REQUEST_QUANTILES: [f64; 19] = [
    2.0, 15.0, 25.0, 34.0, 42.0, 49.0, 56.0, 63.0, 70.0, 78.0, 86.0, 95.0, 105.0, 117.0, 130.0,
    147.0, 170.0, 205.0, 281.0,
];
const KILOBYTE_QUANTILES: [f64; 19] = [
    1.37, 144.7, 319.53, 479.46, 631.97, 783.38, 937.91, 1098.62, 1265.47, 1448.32, 1648.27,
    1876.08, 2142.06, 2465.37, 2866.31, 3401.59, 4155.73, 5400.08, 8037.54,
];

/// Median and mean of an object, in kB.
const OBJECT: (f64, f64) = (4.5, 10.5);

const CONNECTIONS: u64 = 25;
const REQUEST_BYTES: u64 = 750;

/// A pause so long that no run loads a page twice, in seconds.
const NEVER_AGAIN_S: f64 = 3600.0;

/// `count` pages, from the smallest to the largest.
pub fn pages(count: usize) -> Vec<WorkloadKind> {
    let spread = |quantiles, mean| scaled(&spread(quantiles, count), mean);
    let requests = spread(&REQUEST_QUANTILES, REQUESTS);
    let bytes = spread(&KILOBYTE_QUANTILES, BYTES);
    let pages = (0..).zip(requests.into_iter().zip(bytes));
    pages
        .map(|(seed, (requests, bytes))| page(seed, requests.round().max(1.0) as usize, bytes))
        .collect()
}

fn page(seed: u64, requests: usize, bytes: f64) -> WorkloadKind {
    let (median, mean) = OBJECT;
    // The mean of a log-normal distribution is its median times exp(σ²/2).
    let sigma = (2.0 * libm::log(mean / median)).sqrt();
    let mut random = Pcg64::seed_from_u64(seed);
    let drawn: Vec<f64> = (0..requests)
        .map(|_| log_normal(&mut random, sigma))
        .collect();
    let objects = scaled(&drawn, bytes / requests as f64);
    WorkloadKind::Page {
        object_bytes: objects.iter().map(|b| (*b as u64).max(1)).collect(),
        connections: CONNECTIONS,
        request_bytes: REQUEST_BYTES,
        pause_s: NEVER_AGAIN_S,
    }
}

/// `count` values at even shares between those quantiles.
fn spread(quantiles: &[f64], count: usize) -> Vec<f64> {
    let at = |nth| {
        let place = (nth as f64 + 0.5) / count as f64 * (quantiles.len() - 1) as f64;
        let (low, high) = (quantiles[place as usize], quantiles[place as usize + 1]);
        low + (high - low) * place.fract()
    };
    (0..count).map(at).collect()
}

/// `values`, scaled to that mean.
fn scaled(values: &[f64], mean: f64) -> Vec<f64> {
    let factor = mean * values.len() as f64 / values.iter().sum::<f64>();
    values.iter().map(|value| value * factor).collect()
}
