//! Packets between the near end of the link and the far one.

mod disorder;
mod middlebox;

pub use disorder::Disorder;
pub use middlebox::Middlebox;

use crate::link::Delivery;
use crate::{Instant, Packet};
use disorder::Jumble;
use middlebox::Boxed;
use std::collections::VecDeque;
use std::time::Duration;

/// Packets on their way.
#[derive(Debug)]
pub(crate) enum Flight<P> {
    /// In order of `due`, which nothing overtakes.
    Straight(VecDeque<Delivery<P>>),
    /// Reordered, duplicated or held on the way.
    Bent(Box<Bent<P>>),
}

impl<P: Packet> Flight<P> {
    pub(crate) fn new(disorder: Option<Disorder>, middlebox: Option<Middlebox>, seed: u64) -> Self {
        if disorder.is_none() && middlebox.is_none() {
            return Self::Straight(VecDeque::new());
        }
        Self::Bent(Box::new(Bent {
            jumble: Jumble::new(disorder.unwrap_or_default(), seed),
            middlebox: middlebox.map(Boxed::new),
            arrived: VecDeque::new(),
        }))
    }

    /// A packet sets out; `due` never decreases. Returns the number of copies that this adds.
    #[inline]
    pub(crate) fn push(&mut self, packet: P, due: Instant, queued: Duration) -> u64 {
        // Built where it is needed, which is faster than to move it there.
        match self {
            Self::Straight(packets) => {
                packets.push_back(Delivery {
                    packet,
                    due,
                    queued,
                });
                0
            }
            Self::Bent(bent) => bent.push(Delivery {
                packet,
                due,
                queued,
            }),
        }
    }

    /// The next packet that has arrived by `now`. Everything that is due until then has set out.
    #[inline]
    pub(crate) fn pop(&mut self, now: Instant) -> Option<Delivery<P>> {
        match self {
            Self::Straight(packets) => packets.pop_front_if(|d| d.due <= now),
            Self::Bent(bent) => bent.pop(now),
        }
    }

    /// When something may arrive or happen to those on their way.
    #[inline]
    pub(crate) fn next_event(&self) -> Option<Instant> {
        match self {
            Self::Straight(packets) => packets.front().map(|d| d.due),
            Self::Bent(bent) => bent.next_event(),
        }
    }

    /// Whether a packet that sets out later may arrive before those under way.
    #[inline]
    pub(crate) fn may_be_overtaken(&self) -> bool {
        match self {
            Self::Straight(packets) => packets.is_empty(),
            Self::Bent(_) => true,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Straight(packets) => packets.len(),
            Self::Bent(bent) => bent.len(),
        }
    }
}

/// A way that is not straight: disorder, then a middlebox at its end.
#[derive(Debug)]
pub(crate) struct Bent<P> {
    jumble: Jumble<P>,
    middlebox: Option<Boxed<P>>,
    /// Packets that the middlebox has released, in order of `due`.
    arrived: VecDeque<Delivery<P>>,
}

impl<P: Packet> Bent<P> {
    #[inline(never)]
    fn push(&mut self, delivery: Delivery<P>) -> u64 {
        self.jumble.push(delivery)
    }

    #[inline(never)]
    fn pop(&mut self, now: Instant) -> Option<Delivery<P>> {
        let Some(middlebox) = &mut self.middlebox else {
            return self.jumble.pop(now);
        };
        // In order of time. An arrival at the instant when another packet's patience ends is handled first.
        while self.arrived.is_empty() {
            let patience = middlebox.next_event().filter(|&at| at <= now);
            let bound = patience.unwrap_or(now);
            match (self.jumble.pop(bound), patience) {
                (Some(delivery), _) => middlebox.take(delivery, &mut self.arrived),
                (None, Some(at)) => middlebox.give_up(at, &mut self.arrived),
                (None, None) => return None,
            }
        }
        self.arrived.pop_front()
    }

    #[inline(never)]
    fn next_event(&self) -> Option<Instant> {
        let arrived = self.arrived.front().map(|d| d.due);
        let patience = self.middlebox.as_ref().and_then(Boxed::next_event);
        [arrived, self.jumble.next_event(), patience]
            .into_iter()
            .flatten()
            .min()
    }

    fn len(&self) -> usize {
        self.jumble.len() + self.arrived.len() + self.middlebox.as_ref().map_or(0, Boxed::len)
    }
}
