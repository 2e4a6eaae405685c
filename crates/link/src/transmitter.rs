//! The near end of the link: takes packets from the queue and says when they have left.

use crate::queue::{Queue, Queued};
use crate::rate::{Burst, Constant, Fluid, Granted, Opportunities, Service};
use crate::share::Contention;
use crate::{Config, Instant, Packet};
use std::sync::Arc;
use std::time::Duration;

/// A packet whose last byte has left the near end.
#[derive(Debug)]
pub(crate) struct Departure<P> {
    pub(crate) packet: P,
    /// From its arrival until it left the queue and its first byte left the link.
    pub(crate) queued: Duration,
    /// When its last byte left.
    pub(crate) at: Instant,
}

/// A transmitter of either kind of rate.
#[derive(Debug)]
pub(crate) enum Transmitter<P> {
    /// Serialises one packet after another.
    Fluid(Fluid),
    /// Sends at opportunities.
    Bursty(Bursty<P>),
}

impl<P: Packet> Transmitter<P> {
    pub(crate) fn new(config: &Config) -> Self {
        if let Some(sharing) = &config.sharing {
            let left = Contention::new(&config.rate, sharing);
            return Self::Bursty(Bursty::new(Box::new(left)));
        }
        match config.rate.service() {
            Service::Fluid(fluid) => Self::Fluid(fluid),
            Service::Opportunities(opportunities) => Self::Bursty(Bursty::new(opportunities)),
        }
    }

    /// A transmitter that sends only what [`Self::grant`] allows.
    pub(crate) fn granted() -> Self {
        Self::Bursty(Bursty::new(Box::new(Granted)))
    }

    /// Gives a [granted](Self::granted) transmitter its next opportunity.
    pub(crate) fn grant(&mut self, burst: Burst) {
        match self {
            Self::Bursty(bursty) => bursty.next = burst,
            Self::Fluid(_) => unreachable!("a fluid transmitter asks nobody"),
        }
    }

    /// From `now` on a fluid one has that rate in bit/s; another kind keeps its opportunities.
    pub(crate) fn set_rate(&mut self, now: Instant, bits_per_second: f64) {
        if let Self::Fluid(fluid) = self {
            fluid.follow(now, Arc::new(Constant::new(bits_per_second)));
        }
    }

    /// The next packet that has left the queue by `now`, that instant included. Once it is none,
    /// nothing more leaves the queue at or before `now`.
    ///
    /// A fluid transmitter knows a packet's end when it starts, since it knows the rate ahead: such
    /// a departure may lie in the future.
    #[inline]
    pub(crate) fn next_departure(
        &mut self,
        now: Instant,
        queue: &mut Queue<P>,
    ) -> Option<Departure<P>> {
        match self {
            Self::Fluid(fluid) => serialise(fluid, now, queue),
            Self::Bursty(bursty) => bursty.next_departure(now, queue),
        }
    }

    /// Whether there may be anything to do by `now`.
    #[inline]
    pub(crate) fn is_due(&self, now: Instant, queue: &Queue<P>) -> bool {
        match self {
            Self::Fluid(fluid) => fluid.free_at() <= now && queue.len() > 0,
            Self::Bursty(Bursty { next, .. }) => {
                next.at <= now || next.bytes == 0 && self.has_work(queue)
            }
        }
    }

    /// When something may leave `queue` or be sent further, if nothing more arrives.
    #[inline]
    pub(crate) fn next_event(&self, queue: &Queue<P>) -> Option<Instant> {
        match self {
            Self::Fluid(fluid) => Some(queue.ready()?.max(fluid.free_at())),
            Self::Bursty(bursty) => bursty.has_work(queue).then_some(bursty.next.at),
        }
    }

    /// How long the packet waited that has left the queue but not yet the near end, if there is one.
    #[cfg(debug_assertions)]
    pub(crate) fn waited(&self) -> Duration {
        match self {
            Self::Bursty(bursty) => bursty.sending.as_ref().map_or(Duration::ZERO, |s| s.queued),
            Self::Fluid(_) => Duration::ZERO,
        }
    }

    /// Whether there is something to send.
    pub(crate) fn has_work(&self, queue: &Queue<P>) -> bool {
        self.is_sending() || queue.len() > 0
    }

    /// Whether a packet has left the queue but not yet the near end.
    pub(crate) fn is_sending(&self) -> bool {
        matches!(self, Self::Bursty(bursty) if bursty.sending.is_some())
    }
}

/// Sends the oldest packet as soon as the one before it has been sent, if that is by `now`.
#[inline]
fn serialise<P: Packet>(
    fluid: &mut Fluid,
    now: Instant,
    queue: &mut Queue<P>,
) -> Option<Departure<P>> {
    let start = queue.ready()?.max(fluid.free_at());
    if start > now {
        return None;
    }
    let Queued { packet, arrival } = queue.pop(start)?;
    Some(Departure {
        at: fluid.send(start, packet.wire_bytes()),
        queued: start - arrival,
        packet,
    })
}

/// A transmitter that sends at opportunities, as Mahimahi's `mm-link` does.
#[derive(Debug)]
pub(crate) struct Bursty<P> {
    /// The opportunities to come.
    opportunities: Box<dyn Opportunities>,
    /// The first of them.
    next: Burst,
    /// The rest of the current opportunity.
    current: Burst,
    /// The packet that did not fit into the opportunities so far.
    sending: Option<Sending<P>>,
}

/// A packet under way to the link.
#[derive(Debug)]
struct Sending<P> {
    packet: P,
    queued: Duration,
    /// Bytes yet to be sent.
    bytes: u64,
}

impl<P: Packet> Bursty<P> {
    fn new(opportunities: Box<dyn Opportunities>) -> Self {
        Self {
            next: opportunities.peek(),
            opportunities,
            current: Burst::default(),
            sending: None,
        }
    }

    #[inline]
    fn next_departure(&mut self, now: Instant, queue: &mut Queue<P>) -> Option<Departure<P>> {
        while self.current.bytes > 0 || self.take_opportunity(now, queue) {
            let Some(mut sending) = self.sending.take().or_else(|| self.begin(queue)) else {
                // The queue is empty: the rest of the opportunity is lost.
                self.current.bytes = 0;
                continue;
            };
            let sent = sending.bytes.min(self.current.bytes);
            self.current.bytes -= sent;
            sending.bytes -= sent;
            if sending.bytes == 0 {
                return Some(Departure {
                    packet: sending.packet,
                    queued: sending.queued,
                    at: self.current.at,
                });
            }
            self.sending = Some(sending);
        }
        None
    }

    /// Goes on to the next opportunity, if there is one by `now` and a use for it.
    #[inline]
    fn take_opportunity(&mut self, now: Instant, queue: &Queue<P>) -> bool {
        if !self.has_work(queue) {
            if self.next.at <= now {
                self.next = self.opportunities.skip_past(now);
            }
            return false;
        }
        if self.next.bytes == 0 {
            self.next = self.opportunities.seek();
        }
        if self.next.at > now {
            return false;
        }
        self.current = self.next;
        self.next = self.opportunities.advance();
        true
    }

    fn has_work(&self, queue: &Queue<P>) -> bool {
        self.sending.is_some() || queue.len() > 0
    }

    /// Takes a packet from the queue for the opportunity at hand.
    #[inline]
    fn begin(&self, queue: &mut Queue<P>) -> Option<Sending<P>> {
        let Queued { packet, arrival } = queue.pop(self.current.at)?;
        Some(Sending {
            queued: self.current.at - arrival,
            bytes: packet.wire_bytes() as u64,
            packet,
        })
    }
}
