//! The papers' figures and tables, and what our own law has to show, a file for each: what it claims,
//! what is run for it, and how ours is read from the runs.

pub mod drwa;
pub mod tide;

use tidegate_reproduce::Paper;

/// Everything that can be reproduced.
pub fn papers() -> Vec<Paper> {
    vec![drwa::paper(), tide::paper()]
}
