//! The papers' figures and tables, a file for each: what it claims, what is run for it, and how ours
//! is read from the runs.

pub mod drwa;

use tidegate_reproduce::Paper;

/// Everything that can be reproduced.
pub fn papers() -> Vec<Paper> {
    vec![drwa::paper()]
}
