//! How much of a paper is done.

use std::path::PathBuf;

/// How much of a paper is done, and over what.
#[derive(Clone, Debug, Default)]
pub struct Extent {
    /// A sample only, to be done within two minutes.
    pub quick: bool,
    /// A folder of recorded links, for figures that run over every link there is.
    pub traces: Option<PathBuf>,
    /// Whether to run on the real kernel too: in real time, hence fewer cases, and shorter ones.
    pub lab: bool,
}

/// Number of seeds of every run, unless another number is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Seeds {
    /// In full.
    pub full: u32,
    /// As a quick sample.
    pub quick: u32,
}

impl Seeds {
    /// A single seed: nothing in the runs is random, or there are many cases.
    pub const ONE: Self = Self { full: 1, quick: 1 };

    /// The number for `extent`: one in real time.
    pub const fn of(self, extent: &Extent) -> u32 {
        match extent {
            Extent { lab: true, .. } => 1,
            Extent { quick: true, .. } => self.quick,
            _ => self.full,
        }
    }
}
