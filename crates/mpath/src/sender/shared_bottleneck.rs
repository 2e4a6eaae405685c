//! Load aggregation: what paths lose together with the direct one goes over to it (section 3.1.3).

use super::path::Path;
use crate::PathId;

/// Whether a path's last loss and the direct path's overlap in time, and nothing has come of it yet.
fn shares(direct: &Path, path: &Path) -> bool {
    let intervals = direct.loss.zip(path.loss);
    !path.aggregated && intervals.is_some_and(|(ours, its)| ours.overlaps(&its))
}

/// Moves min(α, w₀ ÷ Σwⱼ) of each path that shares the direct one's last loss over to the direct path,
/// which so at most doubles; all of them have been halved before. Returns those of which less than a
/// packet is left: they are to be dropped.
pub fn aggregate(alpha: f64, direct: &mut Path, proxied: &mut [Path]) -> Vec<PathId> {
    let mut sharing: Vec<&mut Path> = proxied.iter_mut().filter(|p| shares(direct, p)).collect();
    let sum: f64 = sharing.iter().map(|path| path.window).sum();
    let share = alpha.min(direct.window / sum);
    let mut emptied = Vec::new();
    for path in &mut sharing {
        let moved = path.window * share;
        path.window -= moved;
        direct.window += moved;
        path.aggregated = true;
        if path.window < 1.0 {
            emptied.push(path.id);
        }
    }
    emptied
}
