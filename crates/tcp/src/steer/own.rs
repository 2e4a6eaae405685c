//! A law of the caller's own at a receiving host's edge, in place of one of this project's.

use super::{Edge, Paths, Shares};
use crate::{Connection, Segment};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tidegate_basics::time::Instant;
use tidegate_laws::sys::TG_DELAY_UNKNOWN;
use tidegate_laws::{Law, Params};

/// Measures without steering: for an [`Edge`] that gets its windows from elsewhere.
pub const NO_LAW: Params = Params {
    law: Law::None,
    lambda: 0.0,
    limit: None,
    keep_minima: false,
    stampless: false,
};

/// A law for one connection's data, at their receiver.
pub trait OwnLaw: fmt::Debug + Send {
    /// Data have arrived. Returns the window in bytes to advertise to their sender from the next acknowledgement on;
    /// none: the host's own.
    ///
    /// It is an upper bound. As with every law (`laws/window.h`), it only lowers what the host offers, never takes
    /// back what was promised, and leaves at least two segments.
    fn arrives(&mut self, arrival: &Arrival) -> Option<u32>;
}

/// Data that have arrived, with what the host knows then: the measurements of the laws in C, and the state of the
/// stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Time since the start of the run.
    pub now: Duration,
    /// Payload of this segment, in bytes, whether or not it came before.
    pub bytes: u32,
    /// Bytes that have arrived in order since the connection's start, these included.
    pub in_order_bytes: u64,
    /// Bytes that the application has read.
    pub read_bytes: u64,
    /// The round trip that this segment completes, if any: measured by timestamps, or without them by the promised
    /// window.
    pub rtt: Option<Duration>,
    /// The smallest round trip, corrected where the route became shorter; none before the first.
    pub rtt_min: Option<Duration>,
    /// How long the segment has waited in queues, by the sender's timestamps; none if unknown.
    pub queue_delay: Option<Duration>,
    /// Payload of a full segment in bytes, as far as is known.
    pub segment_bytes: u32,
    /// The window that the host has offered with its last acknowledgement, in bytes; 0 before the first.
    pub host_window: u64,
    /// The window that the sender was told with it.
    pub window: u64,
}

impl Arrival {
    /// What a law is told of `segment`, which has been measured at the `edge` and taken by the connection's `end`.
    /// `before` is the number of round trips that the edge had measured before ([`Edge::round_trips`]).
    pub fn of(now: Instant, segment: &Segment, end: &Connection, edge: &Edge, before: u32) -> Self {
        let measured = edge.flow().raw();
        let micros = |us: u32| Duration::from_micros(us.into());
        // Offset 0 is the SYN.
        let in_order_bytes = end.receiver().next().saturating_sub(1);
        Self {
            now: now - Instant::ZERO,
            bytes: segment.len,
            in_order_bytes,
            read_bytes: in_order_bytes.saturating_sub(end.readable()),
            rtt: (measured.samples != before).then(|| micros(measured.rtt_us)),
            rtt_min: (measured.rtt_min_us != 0).then(|| micros(measured.rtt_min_us)),
            queue_delay: (measured.queue_us != TG_DELAY_UNKNOWN).then(|| micros(measured.queue_us)),
            segment_bytes: measured.mss,
            host_window: measured.kernel_bytes.into(),
            window: measured.sent_bytes.into(),
        }
    }
}

/// Makes a law of the caller's own for each connection, for [`Stack::listen`](crate::Stack::listen) and
/// [`Stack::connect`](crate::Stack::connect).
#[derive(Clone)]
pub struct LawFactory {
    name: Arc<str>,
    build: Arc<dyn Fn() -> Box<dyn OwnLaw> + Send + Sync>,
}

impl LawFactory {
    /// The law of that name; `build` is called once for each connection.
    pub fn new(name: &str, build: impl Fn() -> Box<dyn OwnLaw> + Send + Sync + 'static) -> Self {
        Self {
            name: name.into(),
            build: Arc::new(build),
        }
    }

    /// The law's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One connection's edge, before the handshake.
    pub(crate) fn edge(&self) -> OwnEdge {
        OwnEdge {
            edge: Edge::new(NO_LAW, 1, false, Shares::ByFlow),
            law: (self.build)(),
        }
    }
}

impl fmt::Debug for LawFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LawFactory").field(&self.name).finish()
    }
}

impl Edge {
    /// The number of round trips that it has measured for arriving data.
    pub fn round_trips(&self) -> u32 {
        self.flow().raw().samples
    }
}

/// One connection's edge with a law of the caller's own.
#[derive(Debug)]
pub(crate) struct OwnEdge {
    edge: Edge,
    law: Box<dyn OwnLaw>,
}

impl OwnEdge {
    /// `segment` arrives: it is measured, then `take` gives it to the connection, and the law is asked about the
    /// connection that `take` returns.
    pub fn arrives<'a>(
        &mut self,
        paths: &mut Paths,
        now: Instant,
        segment: &Segment,
        take: impl FnOnce() -> &'a Connection,
    ) {
        let before = self.edge.round_trips();
        self.edge.arrives(paths, now, &mut segment.clone());
        let end = take();
        if segment.len > 0 {
            let arrival = Arrival::of(now, segment, end, &self.edge, before);
            self.edge.want(self.law.arrives(&arrival));
        }
    }

    /// A segment leaves: its window may be lowered.
    pub fn leaves(&mut self, now: Instant, segment: &mut Segment) {
        self.edge.leaves(now, segment);
    }
}
