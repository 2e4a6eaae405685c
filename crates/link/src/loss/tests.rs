use super::*;

const PACKETS: usize = 400_000;

fn fates(loss: impl Into<Option<Loss>>, seed: u64) -> Vec<bool> {
    let mut process = LossProcess::new(loss.into(), seed);
    (0..PACKETS).map(|_| process.strikes()).collect()
}

/// The share of packets lost, and the mean number lost in a row.
fn statistics(fates: &[bool]) -> (f64, f64) {
    let lost = fates.iter().filter(|&&lost| lost).count();
    let runs = fates.chunk_by(|a, b| a == b).filter(|run| run[0]).count();
    (lost as f64 / fates.len() as f64, lost as f64 / runs as f64)
}

fn assert_near(what: &str, value: f64, expected: f64, tolerance: f64) {
    let error = (value / expected - 1.0).abs();
    assert!(error < tolerance, "{what}: {value}, expected {expected}");
}

#[test]
fn no_loss_loses_nothing() {
    assert!(!fates(None, 1).contains(&true));
    assert!(!fates(Loss::Random(0.0), 1).contains(&true));
}

/// Independent losses come in runs of mean length 1/(1 − p).
#[test]
fn random_loss_is_independent() {
    let (share, run) = statistics(&fates(Loss::Random(0.2), 1));
    assert_near("share", share, 0.2, 0.02);
    assert_near("run", run, 1.25, 0.02);
}

#[test]
fn bursty_loss_has_its_share_and_its_run_length() {
    for (probability, mean_length) in [(0.02, 5.0), (0.3, 2.0), (0.001, 1.0)] {
        let loss = Loss::Bursty {
            probability,
            mean_length,
        };
        let (share, run) = statistics(&fates(loss, 7));
        assert_near("share", share, probability, 0.06);
        assert_near("run", run, mean_length, 0.04);
    }
}

/// The first packet is as likely to be lost as any other.
#[test]
fn bursty_loss_starts_anywhere() {
    let loss = Loss::Bursty {
        probability: 0.3,
        mean_length: 5.0,
    };
    let lost = (0..20_000).filter(|&seed| LossProcess::new(Some(loss), seed).strikes());
    assert_near("share", lost.count() as f64 / 20_000.0, 0.3, 0.03);
}

/// With runs of mean length 1 every second packet is the most.
#[test]
fn a_share_that_cannot_be_had_becomes_the_most_that_can() {
    let loss = Loss::Bursty {
        probability: 0.9,
        mean_length: 1.0,
    };
    let (share, run) = statistics(&fates(loss, 7));
    assert_near("share", share, 0.5, 0.001);
    assert_eq!(run, 1.0);
}

#[test]
fn the_seed_decides() {
    assert_eq!(fates(Loss::Random(0.5), 3), fates(Loss::Random(0.5), 3));
    assert_ne!(fates(Loss::Random(0.5), 3), fates(Loss::Random(0.5), 4));
}
