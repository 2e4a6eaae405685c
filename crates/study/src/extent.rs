//! How much of a paper is done.

use std::path::PathBuf;

/// How much of a paper is done, and over what.
#[derive(Clone, Debug, Default)]
pub struct Extent {
    /// A sample only, to be done within two minutes.
    pub quick: bool,
    /// A folder of recorded links, for figures that run over every link there is.
    pub traces: Option<PathBuf>,
    /// On the real kernel too, which takes as long as it takes: less of it, and shorter.
    pub lab: bool,
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

    /// As many as `extent` asks for: in real time, one.
    pub const fn of(self, extent: &Extent) -> u32 {
        match extent {
            Extent { lab: true, .. } => 1,
            Extent { quick: true, .. } => self.quick,
            _ => self.full,
        }
    }
}
