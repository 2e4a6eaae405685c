//! The papers' figures and tables, and what our own law has to show, a file for each: what it claims,
//! what is run for it, and how ours is read from the runs.

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
