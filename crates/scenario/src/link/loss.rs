//! What makes no sense in a loss model.

use crate::complaints::Complaints;
use tidegate_link::Loss;

/// Complains if `loss` makes no sense.
pub(super) fn complain(loss: Loss, to: &mut Complaints) {
    match loss {
        Loss::Random(p) => to.expect(probability_ok(p), "loss.random", || {
            format!("loss.random is {p}, expected 0 to less than 1")
        }),
        Loss::Bursty {
            probability,
            mean_length,
        } if !probability_ok(probability) || mean_length.is_nan() || mean_length < 1.0 => {
            to.say(
                "loss.bursty",
                "loss.bursty, expected probability 0 to less than 1 and mean_length >= 1",
            );
        }
        // Every run of losses is followed by at least one packet that arrives.
        Loss::Bursty {
            probability,
            mean_length,
        } if probability > mean_length / (mean_length + 1.0) => to.say(
            "loss.bursty",
            format!(
                "loss.bursty, a probability of {probability} cannot be had in runs of mean_length = \
                 {mean_length}, expected at most mean_length / (mean_length + 1)"
            ),
        ),
        Loss::Bursty { .. } => {}
    }
}

fn probability_ok(p: f64) -> bool {
    (0.0..1.0).contains(&p)
}
