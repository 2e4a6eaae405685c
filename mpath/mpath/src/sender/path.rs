//! One path: what is in flight on it, its window, and its last loss.

use super::queueing::Queueing;
use super::rtt::Rtt;
use super::shared_bottleneck::Evidence;
use crate::{Gap, PathId, PathReport};
use std::collections::VecDeque;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// From the transmission of the last lost packet to the detection of its loss (section 3.1.3, Fig. 3.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossInterval {
    /// When the packet was sent.
    pub sent: Instant,
    /// When its loss was seen.
    pub detected: Instant,
}

impl LossInterval {
    /// Whether both hold some instant.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.sent <= other.detected && other.sent <= self.detected
    }
}

/// A packet on its way.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Its number in the stream.
    pub stream: u64,
    /// When it was sent.
    pub at: Instant,
}

/// What a report shows for the first time.
#[derive(Clone, Copy, Debug, Default)]
pub struct News {
    /// Packets that have arrived.
    pub delivered: u64,
    /// Packets that have been lost.
    pub lost: u64,
    /// Whether the window has been halved for these losses.
    pub reduced: bool,
}

/// A halving of the window.
#[derive(Clone, Copy, Debug)]
struct Reduction {
    /// Losses of numbers below this one belong to it: one halving per round trip.
    until: u64,
    /// Losses known before, to which the count returns if all of them were a mistake; none: the loss was on another
    /// path.
    lost_before: Option<u64>,
    /// The window before the halving.
    window_before: f64,
}

/// A path.
#[derive(Debug)]
pub struct Path {
    /// Its number.
    pub id: PathId,
    /// The place of its proxy in the list; none: the direct path.
    pub proxy: Option<usize>,
    /// Congestion window in packets.
    pub window: f64,
    /// The threshold of slow start, in packets.
    pub threshold: f64,
    /// Its round trip.
    pub rtt: Rtt,
    /// How full its queues are, by its round trips.
    pub queueing: Queueing,
    /// Whether it shares a queue with the direct path.
    pub evidence: Evidence,
    /// Its last loss; none: it has never had one.
    pub loss: Option<LossInterval>,
    /// Whether load aggregation has been done for its last reduction.
    pub aggregated: bool,
    /// When a report about it last came.
    pub heard: Option<Instant>,
    /// Packets delivered in its lifetime.
    pub delivered: u64,
    /// Since when it exists.
    pub since: Instant,
    /// Packets in flight, by number from `first` on.
    flight: VecDeque<Sent>,
    /// The number of the oldest of `flight`.
    first: u64,
    /// The most packets in flight in this round trip, and in the one before.
    most: usize,
    most_before: usize,
    /// The round trip ends with the report of this number.
    round_until: u64,
    /// Losses so far, as the receiver counts them.
    lost: u64,
    /// Packets given up that the receiver's next count may report as lost.
    abandoned: u64,
    reduction: Option<Reduction>,
    /// When the timeout's clock started.
    waits_since: Instant,
    /// When the next packet is due by the pace.
    due: Instant,
}

/// Pace in slow start, in windows a round trip (Linux's `tcp_pacing_ss_ratio`).
const PACE_IN_SLOW_START: f64 = 2.0;

/// Pace after slow start: more than one, so that the window limits, not the pace (Linux: 1.2; RFC 9002 §7.7: 1.25). A
/// feedback releases ten packets, and two that come together twenty; no short queue survives such bursts from several
/// paths.
const PACE: f64 = 1.25;

/// A packet that is due within this time may leave at once: at high rates packets leave in batches.
const QUANTUM: Duration = Duration::from_millis(1);

/// How late a sender may be, by its timer or its machine, without losing its turn. More would be a burst.
const LATENESS: Duration = Duration::from_millis(2);

impl Path {
    /// A path with nothing in flight.
    pub fn new(id: PathId, proxy: Option<usize>, window: f64, now: Instant) -> Self {
        Self {
            id,
            proxy,
            window,
            threshold: 0.0,
            rtt: Rtt::default(),
            queueing: Queueing::default(),
            evidence: Evidence::default(),
            loss: None,
            aggregated: false,
            heard: None,
            delivered: 0,
            since: now,
            flight: VecDeque::new(),
            first: 0,
            most: 0,
            most_before: 0,
            round_until: 0,
            lost: 0,
            abandoned: 0,
            reduction: None,
            waits_since: now,
            due: now,
        }
    }

    /// Sends a packet of the stream; returns its number on the path.
    pub fn send(&mut self, now: Instant, stream: u64) -> u64 {
        if self.flight.is_empty() {
            self.waits_since = now;
        }
        self.flight.push_back(Sent { stream, at: now });
        self.most = self.most.max(self.flight.len());
        // Packets that were not sent in time are made up for, but no more than fit into that time.
        self.due = self.due.max(now - LATENESS) + self.interval();
        self.next() - 1
    }

    /// Time from packet to packet; none before the round trip is known.
    fn interval(&self) -> Duration {
        let pace = match self.in_slow_start() {
            true => PACE_IN_SLOW_START,
            false => PACE,
        };
        match self.rtt.smoothed() {
            Some(round_trip) => round_trip.div_f64(pace * self.window.max(1.0)),
            None => Duration::ZERO,
        }
    }

    /// When a packet may leave; none while the window is full.
    pub fn due(&self) -> Option<Instant> {
        self.has_room().then_some(self.due)
    }

    /// Whether window and pace let another packet leave.
    pub fn is_ready(&self, now: Instant) -> bool {
        self.has_room() && self.due <= now + QUANTUM
    }

    /// The number of the next packet.
    fn next(&self) -> u64 {
        self.first + self.flight.len() as u64
    }

    /// Packets on their way.
    pub fn in_flight(&self) -> usize {
        self.flight.len()
    }

    /// Whether the window lets another packet leave.
    fn has_room(&self) -> bool {
        self.flight.is_empty() || ((self.flight.len() + 1) as f64) <= self.window
    }

    /// Whether at least half of the window has been in flight in this round trip or the one before (RFC 7661 §4.1):
    /// where the sender's machine or the application is the limit, a larger window would only turn later packets into a
    /// burst.
    pub fn is_used(&self) -> bool {
        self.most.max(self.most_before) as f64 * 2.0 >= self.window
    }

    /// Whether packet `seq` is in flight.
    pub fn carries(&self, seq: u64) -> bool {
        (self.first..self.next()).contains(&seq)
    }

    /// Whether it is in slow start.
    pub fn in_slow_start(&self) -> bool {
        self.window < self.threshold
    }

    /// The packets in flight within a gap, with their numbers on the path.
    pub fn in_gap(&self, gap: &Gap) -> impl Iterator<Item = (u64, Sent)> {
        let from = gap.first.clamp(self.first, self.next());
        let to = gap.end().clamp(from, self.next());
        (from..to).map(|seq| (seq, self.flight[(seq - self.first) as usize]))
    }

    /// The receiver reports; `lost` is the last packet that it names as lost, if it names any.
    pub fn report(&mut self, now: Instant, report: &PathReport, lost: Option<(u64, Sent)>) -> News {
        let Some(largest) = report.largest.checked_sub(self.first) else {
            return self.recount(report.lost);
        };
        if largest >= self.flight.len() as u64 {
            // A report about packets that were never sent is ignored.
            return News::default();
        }
        let newest = self.flight[largest as usize];
        let round_trip = (now - newest.at).saturating_sub(report.delay);
        self.rtt.sample(round_trip);
        self.queueing.sample(round_trip);
        self.heard = Some(now);
        self.waits_since = now;
        // The consequences of packets that were given up have been drawn already.
        let abandoned = std::mem::take(&mut self.abandoned);
        self.lost += report.lost.saturating_sub(self.lost).min(abandoned);
        let reported = largest + 1;
        let more_lost = report.lost.saturating_sub(self.lost).min(reported - 1);
        // If a PNACK was lost, only the count shows the loss: then it is dated like the newest packet.
        let last = lost.unwrap_or((report.largest, newest));
        let mut news = self.recount(report.lost);
        self.lost += more_lost;
        self.flight.drain(..reported as usize);
        self.first += reported;
        self.note_round(report.largest);
        news.delivered += reported - more_lost;
        self.delivered += news.delivered;
        if more_lost > 0 {
            news.lost = more_lost;
            news.reduced = self.lose(now, last, more_lost);
        }
        news
    }

    /// The arrival of a packet that was sent in this round trip begins the next one.
    fn note_round(&mut self, largest: u64) {
        if largest >= self.round_until {
            self.round_until = self.next();
            self.queueing.end_round();
            self.most_before = std::mem::replace(&mut self.most, self.flight.len());
        }
    }

    /// Fewer losses than were known: some packets were only late.
    fn recount(&mut self, lost: u64) -> News {
        let returned = self.lost.saturating_sub(lost);
        self.lost -= returned;
        let is_mistake =
            |r: &Reduction| returned > 0 && r.lost_before.is_some_and(|before| lost <= before);
        if let Some(reduction) = self.reduction.take_if(|r| is_mistake(r)) {
            self.window = self.window.max(reduction.window_before);
            self.loss = None;
        }
        News {
            delivered: returned,
            ..News::default()
        }
    }

    /// Packets are lost, the last of them `last`; returns whether that halves the window.
    fn lose(&mut self, now: Instant, last: (u64, Sent), count: u64) -> bool {
        let (seq, sent) = last;
        self.loss = Some(LossInterval {
            sent: sent.at,
            detected: now,
        });
        if self
            .reduction
            .is_some_and(|reduction| seq < reduction.until)
        {
            return false;
        }
        self.halve(Some(self.lost.saturating_sub(count)));
        true
    }

    /// Another path has lost a packet in a queue that this path's packets share.
    pub fn lose_with(&mut self, other: &Self) {
        self.loss = other.loss;
        // Once a round trip.
        if self
            .reduction
            .is_none_or(|reduction| reduction.until <= self.first)
        {
            self.halve(None);
        }
    }

    fn halve(&mut self, lost_before: Option<u64>) {
        self.reduction = Some(Reduction {
            until: self.next(),
            lost_before,
            window_before: self.window,
        });
        self.aggregated = false;
        // Only load aggregation shrinks a path below one packet, and so removes it (section 3.1.3).
        self.window = (self.window / 2.0).max(1.0);
        self.threshold = self.window;
    }

    /// When the silence about packets in flight becomes too long.
    pub fn timeout(&self) -> Option<Instant> {
        (!self.flight.is_empty()).then(|| self.waits_since + self.rtt.timeout())
    }

    /// Gives up everything in flight; returns the numbers in the stream.
    pub fn abandon(&mut self) -> Vec<u64> {
        self.first = self.next();
        self.abandoned += self.flight.len() as u64;
        self.flight.drain(..).map(|sent| sent.stream).collect()
    }

    /// The timeout has passed: back to slow start (RFC 5681 §3.1 equation 4).
    pub fn time_out(&mut self, now: Instant) {
        let oldest = self.flight.front().map_or(now, |sent| sent.at);
        self.loss = Some(LossInterval {
            sent: oldest,
            detected: now,
        });
        self.threshold = (self.window / 2.0).max(2.0);
        self.window = 1.0;
        self.reduction = None;
        self.rtt.back_off();
        self.waits_since = now;
    }

    /// Packets delivered a second, over its lifetime.
    pub fn contribution(&self, now: Instant) -> f64 {
        let lived = (now - self.since).as_secs_f64();
        self.delivered as f64 / lived.max(1e-3)
    }
}

#[cfg(test)]
mod tests;
