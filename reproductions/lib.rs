//! Figures and tables of papers, and the goals of our own law, a file for each: the claims, the runs, and how our
//! numbers are read from them.

pub mod abc;
pub mod afc;
pub mod copa;
pub mod drwa;
pub mod judge;
pub mod l4s;
mod means;
pub mod measurements;
pub mod mpath;
mod pictures;
mod radio;
pub mod rivals;
pub mod rsfc;
mod spans;
pub mod sprout;
pub mod tide;
mod workloads;

use tidegate_study::Paper;

/// Everything that can be reproduced.
pub fn papers() -> Vec<Paper> {
    vec![
        drwa::paper(),
        tide::paper(),
        rivals::paper(),
        l4s::paper(),
        copa::paper(),
        sprout::paper(),
        abc::paper(),
        rsfc::paper(),
        afc::paper(),
        mpath::paper(),
        measurements::paper(),
    ]
}

#[cfg(test)]
mod tests;
