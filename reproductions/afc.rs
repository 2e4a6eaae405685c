//! "Rethinking TCP flow control for smartphones and tablets".

mod server;

use tidegate_reproduce::{Paper, Seeds, Selection};

/// The paper.
pub fn paper() -> Paper {
    Paper {
        id: "afc",
        title: "AFC, reproduced",
        introduction: "",
        seeds: Seeds::ONE,
        lab: Selection {
            figures: &[],
            method: "",
        },
        figures: |extent| Ok(vec![server::figure(extent)]),
    }
}
