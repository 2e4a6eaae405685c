//! Delivery-rate samples (draft-cheng-iccrg-delivery-rate-estimation; Linux's `tcp_rate.c`, and
//! for the fields about loss and flight that of BBRv3).
//!
//! On its way out a segment notes how much had been delivered by then; its acknowledgement shows how much more was
//! delivered since, and in which time. The send phase and the ACK phase are measured separately and the longer one
//! counts, so that compressed ACKs do not pretend to a higher rate.

use super::clock::{self, micros};
use super::scoreboard::{Sent, Tags};
use crate::cc::{LostSegment, RateSample};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// What a segment noted when it was sent last. Low halves of counters, and times relative to that, keep an entry small.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Snapshot {
    delivered: u32,
    lost: u32,
    /// Segments in flight, itself included.
    in_flight: u32,
    /// Microseconds since the last delivery.
    since_delivery: u32,
    /// Microseconds since the sending of the segment that was delivered last.
    send_phase: u32,
    app_limited: bool,
}

/// What the connection has delivered so far (`tp->delivered` and its companions).
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    /// Segments delivered; the SYN is the first.
    delivered: u64,
    /// Segments marked lost.
    lost: u64,
    delivered_at: Instant,
    /// When the segment that was delivered last was sent.
    first_sent: Instant,
    /// The application limits the rate until this many segments are delivered; 0: it does not.
    app_limited: u64,
}

/// A sample that is being gathered while an ACK is taken in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Gathering(Option<Latest>);

/// The segment that was sent last of those acknowledged.
#[derive(Clone, Copy, Debug)]
struct Latest {
    prior_delivered: u64,
    prior_lost: u64,
    delivered_at: Instant,
    send_phase: u32,
    in_flight: u32,
    app_limited: bool,
    end: u64,
}

impl Gathering {
    /// `delivered` when that segment was sent; 0 if there is none.
    pub(super) fn prior_delivered(&self) -> u64 {
        self.0.map_or(0, |latest| latest.prior_delivered)
    }
}

/// The effect of an ACK, as a sample reports it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckEffect {
    pub(super) acked_sacked: u32,
    pub(super) marked: u32,
    pub(super) losses: u32,
    pub(super) prior_in_flight: u32,
    pub(super) rtt: Option<Duration>,
    pub(super) ack_delayed: bool,
    /// The peer has gone back on its SACKs: no sample can be trusted.
    pub(super) reneging: bool,
}

impl Rate {
    /// Nothing but the SYN has been delivered.
    pub(super) fn new(now: Instant) -> Self {
        Self {
            delivered: 1,
            lost: 0,
            delivered_at: now,
            first_sent: now,
            app_limited: 0,
        }
    }

    /// Segments delivered; the SYN is the first.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// `segments` more are delivered.
    pub(super) fn count_delivered(&mut self, segments: u32) {
        self.delivered += u64::from(segments);
    }

    /// Segments marked lost.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// A segment leaves at `at` (`tcp_rate_skb_sent`). `outstanding` does not count it yet,
    /// `in_flight` does.
    pub(super) fn sent(&mut self, at: Instant, outstanding: u32, in_flight: u32) -> Snapshot {
        if outstanding == 0 {
            self.first_sent = at;
            self.delivered_at = at;
        }
        Snapshot {
            delivered: self.delivered as u32,
            lost: self.lost as u32,
            in_flight,
            since_delivery: micros(self.delivered_at, at),
            send_phase: micros(self.first_sent, at),
            app_limited: self.app_limited != 0,
        }
    }

    /// A segment that ends at `end` is acknowledged (`tcp_rate_skb_delivered`): the segment that was sent last counts.
    pub(super) fn deliver(&mut self, gathering: &mut Gathering, sent: &Sent, end: u64) {
        if sent.tags.has(Tags::RATED) {
            return;
        }
        let later = gathering
            .0
            .is_none_or(|latest| (sent.at, end) > (self.first_sent, latest.end));
        if !later {
            return;
        }
        let s = &sent.snapshot;
        gathering.0 = Some(Latest {
            prior_delivered: earlier(self.delivered, s.delivered),
            prior_lost: earlier(self.lost, s.lost),
            delivered_at: clock::earlier(sent.at, s.since_delivery),
            send_phase: s.send_phase,
            in_flight: s.in_flight,
            app_limited: s.app_limited,
            end,
        });
        self.first_sent = sent.at;
    }

    /// A segment is marked lost: returns its state when it was sent.
    pub(super) fn lose(&mut self, sent: &Sent) -> LostSegment {
        self.lost += 1;
        let s = &sent.snapshot;
        LostSegment {
            tx_in_flight: s.in_flight,
            lost: self.lost - earlier(self.lost, s.lost),
            app_limited: s.app_limited,
        }
    }

    /// The sample of an ACK that has been taken in (`tcp_rate_gen`).
    pub(super) fn sample(
        &mut self,
        now: Instant,
        gathering: &Gathering,
        outcome: &AckEffect,
        min_rtt: Option<u32>,
    ) -> RateSample {
        if self.app_limited != 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        if outcome.acked_sacked > 0 {
            self.delivered_at = now;
        }
        let latest = gathering.0;
        RateSample {
            prior_delivered: gathering.prior_delivered(),
            delivered: latest
                .filter(|_| !outcome.reneging)
                .and_then(|latest| self.interval(now, &latest, min_rtt)),
            lost: latest.map_or(0, |latest| self.lost - latest.prior_lost),
            acked_sacked: outcome.acked_sacked,
            marked: outcome.marked,
            losses: outcome.losses,
            prior_in_flight: outcome.prior_in_flight,
            tx_in_flight: latest.map_or(0, |latest| latest.in_flight),
            rtt: outcome.rtt,
            app_limited: latest.is_some_and(|latest| latest.app_limited),
            ack_delayed: outcome.ack_delayed,
        }
    }

    /// None if the interval is shorter than any round trip can be: then a retransmission was sent for nothing, and its
    /// original was acknowledged.
    fn interval(
        &self,
        now: Instant,
        latest: &Latest,
        min_rtt: Option<u32>,
    ) -> Option<(u64, Duration)> {
        let interval = latest.send_phase.max(micros(latest.delivered_at, now));
        let shortest = min_rtt.unwrap_or(u32::MAX);
        (interval >= shortest).then(|| {
            (
                self.delivered - latest.prior_delivered,
                Duration::from_micros(interval.into()),
            )
        })
    }

    /// The application is about to write and had left nothing to send
    /// (`tcp_rate_check_app_limited`).
    pub(super) fn limited_by_application(&mut self, in_flight: u32) {
        self.app_limited = (self.delivered + u64::from(in_flight)).max(1);
    }

    pub(super) fn is_app_limited(&self) -> bool {
        self.app_limited != 0
    }
}

/// The value of a counter when its low half was `low`; now it is `count`.
fn earlier(count: u64, low: u32) -> u64 {
    count - u64::from((count as u32).wrapping_sub(low))
}
