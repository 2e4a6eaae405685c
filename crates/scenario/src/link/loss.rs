//! What makes no sense in a loss model.

use tidegate_link::Loss;

/// The first thing about `loss` that makes no sense.
pub(super) fn complaint(loss: Loss) -> Option<String> {
    match loss {
        Loss::Random(p) => {
            (!probability_ok(p)).then(|| format!("loss.random is {p}, expected 0 to less than 1"))
        }
        Loss::Bursty {
            probability,
            mean_length,
        } if !probability_ok(probability) || mean_length.is_nan() || mean_length < 1.0 => {
            Some("loss.bursty, expected probability 0 to less than 1 and mean_length >= 1".into())
        }
        // Every run of losses is followed by at least one packet that arrives.
        Loss::Bursty {
            probability,
            mean_length,
        } if probability > mean_length / (mean_length + 1.0) => Some(format!(
            "loss.bursty, a probability of {probability} cannot be had in runs of mean_length = \
             {mean_length}, expected at most mean_length / (mean_length + 1)"
        )),
        Loss::Bursty { .. } => None,
    }
}

fn probability_ok(p: f64) -> bool {
    (0.0..1.0).contains(&p)
}
