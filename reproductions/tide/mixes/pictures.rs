//! The mixes at a glance.

use super::Judged;
use tidegate_report::plot;

/// All pictures.
pub fn all(_judged: &[Judged]) -> Vec<plot::Figure> {
    Vec::new()
}
