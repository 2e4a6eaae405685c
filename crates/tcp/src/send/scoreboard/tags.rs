//! The state of a segment. The tags are those of Linux (the comment above `tcp_sacktag_one`):
//!
//! | tags | in flight | |
//! | --- | --- | --- |
//! | – | 1 | the original is on its way |
//! | S | 0 | the original has arrived |
//! | L | 0 | the original is lost |
//! | R | 2 | both are on their way |
//! | L R | 1 | the original is lost, the retransmission is on its way |
//! | S R | 1 | the original has arrived, the retransmission is on its way |

/// A set of the constants below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::send) struct Tags(u16);

impl Tags {
    /// The peer has reported it with SACK.
    pub(in crate::send) const SACKED: Self = Self(0x01);
    /// A retransmission is in flight.
    pub(in crate::send) const RETRANS: Self = Self(0x02);
    /// Every transmission before a retransmission in flight is lost.
    pub(in crate::send) const LOST: Self = Self(0x04);
    /// Sent more than once.
    pub(in crate::send) const EVER_RETRANS: Self = Self(0x08);
    /// In the order by time.
    pub(super) const LINKED: Self = Self(0x10);
    /// Taken from the order by time because of a timeout, not because RACK judged it.
    pub(super) const PARKED: Self = Self(0x20);
    /// Has given its delivery-rate sample.
    pub(in crate::send) const RATED: Self = Self(0x40);
    /// Lost, because the peer had no room, as it has reported.
    pub(in crate::send) const REFUSED: Self = Self(0x80);
    /// The peer may refuse it: when this was sent last, the peer had not said that it had room for it.
    pub(in crate::send) const ON_CREDIT: Self = Self(0x100);

    /// Its place in the order by time.
    const PLACE: Self = Self::LINKED.with(Self::PARKED);

    /// Whether any of `other` is set.
    pub(in crate::send) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(in crate::send) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(in crate::send) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// These tags, at the place in the order by time that `other` has.
    pub(super) const fn placed_as(self, other: Self) -> Self {
        self.without(Self::PLACE)
            .with(Self(other.0 & Self::PLACE.0))
    }

    /// Lost, and not sent again since.
    pub(super) const fn is_hole(self) -> bool {
        self.has(Self::LOST) && !self.has(Self::RETRANS.with(Self::SACKED))
    }
}
