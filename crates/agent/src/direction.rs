//! Which data are steered.

use tidegate_laws::Direction;

/// What the agent steers. Uploads are steered only by laws that can
/// ([`tidegate_laws::Law::steers_uploads`]).
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
