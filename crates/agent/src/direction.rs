//! Which data are steered.

use serde::{Deserialize, Serialize};

/// Which way data go, seen from this machine and those that it forwards for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// They arrive: a download.
    Down,
    /// They leave: an upload.
    Up,
}

impl Direction {
    /// Both, in the order of `enum tg_direction` (`bpf/shared.h`).
    pub const ALL: [Self; 2] = [Self::Down, Self::Up];

    /// As reports spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Down => "down",
            Self::Up => "up",
        }
    }
}

/// What the agent steers. Uploads only under a law that can
/// ([`tidegate_laws::Params::steers_uploads`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Directions {
    /// Downloads and uploads.
    #[default]
    Both,
    /// Downloads alone.
    Downloads,
    /// Uploads alone.
    Uploads,
}

impl Directions {
    /// As a sentence names them.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Both => "downloads and uploads",
            Self::Downloads => "downloads",
            Self::Uploads => "uploads",
        }
    }

    /// Whether it is among them.
    pub fn include(self, direction: Direction) -> bool {
        match direction {
            Direction::Down => self != Self::Uploads,
            Direction::Up => self != Self::Downloads,
        }
    }
}
