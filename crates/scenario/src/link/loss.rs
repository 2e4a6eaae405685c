//! What makes no sense in a loss model.

use crate::complaints::Complaints;
use tidegate_link::Loss;

/// Complains if `loss` makes no sense.
pub(super) fn complain(loss: Loss, to: &mut Complaints) {
    let Loss::Bursty {
        probability,
        mean_length,
    } = loss
    else {
        return;
    };
    // Every run of losses is followed by at least one packet that arrives.
    let ok = probability <= mean_length / (mean_length + 1.0);
    to.expect(ok || !to.sound(["loss"]), "loss.bursty", || {
        format!(
            "loss.bursty, a probability of {probability} cannot be had in runs of mean_length = \
             {mean_length}, expected at most mean_length / (mean_length + 1)"
        )
    });
}
