//! How much of a paper is done.

use std::path::PathBuf;

/// How much of a paper is done, and over what.
#[derive(Clone, Debug, Default)]
pub struct Extent {
    /// A sample only, to be done within two minutes.
    pub quick: bool,
    /// A folder of recorded links, for figures that run over every link there is.
    pub traces: Option<PathBuf>,
}

/// How often every run is repeated, unless somebody asks for another number.
#[derive(Clone, Copy, Debug)]
pub struct Seeds {
    /// In full.
    pub full: u32,
    /// As a quick sample.
    pub quick: u32,
}

impl Seeds {
    /// A single seed: nothing in the runs is random, or the cases are many enough.
    pub const ONE: Self = Self { full: 1, quick: 1 };

    /// As many as `extent` asks for.
    pub const fn of(self, extent: &Extent) -> u32 {
        if extent.quick { self.quick } else { self.full }
    }
}
