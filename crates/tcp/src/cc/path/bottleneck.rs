//! A sender over one bottleneck, for tests: paced segments, a queue that drops what does not fit,
//! a round trip, an ACK for every segment. Loss is found by three later deliveries, as by SACK, and
//! a lost segment's data are sent again as any other. All of it in virtual time.

use crate::cc::{CongestionControl, Event, LostSegment, Recovery, Window};
use crate::cc::{Flight, RateSample};
use std::collections::VecDeque;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// Payload of a segment, in bytes.
pub(in crate::cc) const MSS: u32 = 1000;

/// Deliveries of later segments after which a segment is lost.
const REORDERING: u64 = 3;

/// The path; its properties may change at any time.
#[derive(Clone, Copy, Debug)]
pub(in crate::cc) struct Link {
    /// Segments a second.
    pub rate: u64,
    /// Without queue.
    pub rtt: Duration,
    /// Segments that the queue holds.
    pub buffer: u64,
    /// Segments from one loss on the way to the next; 0: none.
    pub loss_every: u64,
    /// A token bucket before the queue: segments a second, and tokens at most.
    pub policer: Option<(u64, u64)>,
    /// ACKs wait for the next multiple of this; zero: they do not.
    pub ack_slot: Duration,
    /// Segments a second that the application writes; None: as many as can be sent.
    pub offered: Option<u64>,
}

impl Link {
    /// A plain queue.
    pub fn new(rate: u64, rtt_ms: u64, buffer: u64) -> Self {
        Self {
            rate,
            rtt: Duration::from_millis(rtt_ms),
            buffer,
            loss_every: 0,
            policer: None,
            ack_slot: Duration::ZERO,
            offered: None,
        }
    }

    /// Bandwidth times round trip, in segments.
    pub fn bdp(&self) -> u64 {
        self.rate * self.rtt.as_millis() as u64 / 1000
    }
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    id: u64,
    at: Instant,
    /// When its ACK is back; None: it was dropped.
    acked_at: Option<Instant>,
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    lost: u64,
    in_flight: u32,
    app_limited: bool,
}

/// Sender and path.
#[derive(Debug)]
pub(in crate::cc) struct Bottleneck<A> {
    pub control: A,
    pub window: Window,
    pub link: Link,
    pub now: Instant,
    pub delivered: u64,
    pub lost: u64,
    pub in_flight: u32,
    pub recovery: Recovery,
    /// The last round trip.
    pub rtt: Duration,
    /// Calls of `control`.
    pub acks: u64,
    outstanding: VecDeque<Sent>,
    next_id: u64,
    next_send: Instant,
    idle_until: Instant,
    delivered_at: Instant,
    first_sent_at: Instant,
    min_rtt: Option<Duration>,
    app_limited_until: u64,
    limited_until: u64,
    recovery_point: u64,
    tokens: f64,
    tokens_at: Instant,
    written: f64,
    written_at: Instant,
}

impl<A: CongestionControl> Bottleneck<A> {
    /// A connection that has just been established.
    pub fn new(control: A, link: Link) -> Self {
        let mut b = Self {
            control,
            window: Window {
                cwnd: 10,
                ssthresh: Window::NO_SSTHRESH,
                count: 0,
                clamp: u32::MAX,
                prior_cwnd: 0,
                pacing_rate: None,
            },
            link,
            now: Instant::from_millis(1000),
            delivered: 0,
            lost: 0,
            in_flight: 0,
            recovery: Recovery::Open,
            rtt: link.rtt,
            acks: 0,
            outstanding: VecDeque::new(),
            next_id: 0,
            next_send: Instant::ZERO,
            idle_until: Instant::ZERO,
            delivered_at: Instant::from_millis(1000),
            first_sent_at: Instant::from_millis(1000),
            min_rtt: Some(link.rtt),
            app_limited_until: 0,
            limited_until: 0,
            recovery_point: 0,
            tokens: link.policer.map_or(0.0, |(_, depth)| depth as f64),
            tokens_at: Instant::from_millis(1000),
            written: 0.0,
            written_at: Instant::from_millis(1000),
        };
        let flight = b.flight();
        b.control.init(&mut b.window, &flight);
        b
    }

    /// The sender as the algorithm sees it.
    pub fn flight(&self) -> Flight {
        Flight {
            now: self.now,
            mss: MSS,
            in_flight: self.in_flight,
            outstanding: self.outstanding.len() as u32,
            snd_una: 0,
            snd_nxt: 0,
            delivered: self.delivered,
            delivered_ce: 0,
            lost: self.lost,
            srtt: Some(self.rtt),
            min_rtt: self.min_rtt,
            recovery: self.recovery,
            last_sent: self.now,
            cwnd_limited: self.delivered < self.limited_until,
            app_limited: self.app_limited_until > 0,
        }
    }

    /// Segments that wait in the queue.
    pub fn queue(&self) -> u64 {
        let busy = self.idle_until - self.now;
        busy.as_nanos() as u64 * self.link.rate / 1_000_000_000
    }

    /// The bandwidth that the algorithm paces at, in segments a second.
    pub fn paced(&self) -> u64 {
        self.window.pacing_rate.unwrap_or(u64::MAX) / u64::from(MSS)
    }

    /// Runs for `time`; calls `each` after every ACK.
    pub fn run(&mut self, time: Duration, mut each: impl FnMut(&Self)) {
        let until = self.now + time;
        while self.step(until) {
            each(self);
        }
    }

    /// Runs until `done` says so after an ACK; false if `limit` comes first.
    pub fn run_until(&mut self, limit: Duration, mut done: impl FnMut(&Self) -> bool) -> bool {
        let until = self.now + limit;
        while self.step(until) {
            if done(self) {
                return true;
            }
        }
        false
    }

    /// The next ACK; false if there is none before `until`.
    fn step(&mut self, until: Instant) -> bool {
        loop {
            let ack = self.outstanding.iter().find_map(|s| s.acked_at);
            let send = (self.in_flight < self.window.cwnd).then(|| self.can_send_at());
            // Never while an ACK is on its way: timeouts are not spurious.
            let newest = self.outstanding.back().filter(|_| ack.is_none());
            let timeout = newest.map(|s| s.at + Duration::from_secs(1));
            let next = [ack, send, timeout].into_iter().flatten().min();
            let Some(at) = next.filter(|at| *at <= until) else {
                self.now = until;
                return false;
            };
            self.now = self.now.max(at);
            if ack == Some(at) {
                self.acked();
                return true;
            }
            if send == Some(at) {
                self.send();
            } else {
                self.timed_out();
            }
        }
    }

    /// When pacing and the application allow the next segment.
    fn can_send_at(&self) -> Instant {
        let paced = self.next_send.max(self.now);
        let Some(rate) = self.link.offered else {
            return paced;
        };
        let missing = (1.0 - self.written).max(0.0) / rate as f64;
        paced.max(self.written_at + Duration::from_secs_f64(missing) + Duration::from_nanos(1))
    }

    fn write(&mut self) {
        if let Some(rate) = self.link.offered {
            let waited = self.now > self.next_send.max(self.delivered_at);
            self.written += (self.now - self.written_at).as_secs_f64() * rate as f64;
            self.written_at = self.now;
            if waited {
                self.app_limited_until = (self.delivered + u64::from(self.in_flight)).max(1);
            }
            self.written -= 1.0;
        }
    }

    fn send(&mut self) {
        self.write();
        if self.in_flight == 0 {
            self.first_sent_at = self.now;
            self.delivered_at = self.now;
            let flight = self.flight();
            self.control
                .event(&mut self.window, &flight, Event::TransmitStart);
        }
        self.in_flight += 1;
        let sent = Sent {
            id: self.next_id,
            at: self.now,
            acked_at: self.cross(),
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            lost: self.lost,
            in_flight: self.in_flight,
            app_limited: self.app_limited_until > 0,
        };
        self.outstanding.push_back(sent);
        self.next_id += 1;
        if self.in_flight >= self.window.cwnd {
            self.limited_until = self.delivered + u64::from(self.in_flight);
        }
        let rate = self.window.pacing_rate.unwrap_or(u64::MAX);
        let gap = Duration::from_nanos(u64::from(MSS) * 1_000_000_000 / rate);
        self.next_send = self.next_send.max(self.now) + gap;
    }

    /// The segment that leaves now through policer and queue: when its ACK is back.
    fn cross(&mut self) -> Option<Instant> {
        let nth = self.next_id + 1;
        if self.link.loss_every > 0 && nth.is_multiple_of(self.link.loss_every) {
            return None;
        }
        if let Some((rate, depth)) = self.link.policer {
            let earned = (self.now - self.tokens_at).as_secs_f64() * rate as f64;
            self.tokens = (self.tokens + earned).min(depth as f64);
            self.tokens_at = self.now;
            if self.tokens < 1.0 {
                return None;
            }
            self.tokens -= 1.0;
        }
        if self.queue() >= self.link.buffer {
            return None;
        }
        let service = Duration::from_nanos(1_000_000_000 / self.link.rate);
        self.idle_until = self.idle_until.max(self.now) + service;
        let arrives = self.idle_until + self.link.rtt;
        let slot = self.link.ack_slot.as_nanos() as u64;
        if slot == 0 {
            return Some(arrives);
        }
        Some(Instant::from_nanos(
            arrives.as_nanos().next_multiple_of(slot),
        ))
    }

    fn acked(&mut self) {
        let prior_in_flight = self.in_flight;
        let index = self.outstanding.iter().position(|s| s.acked_at.is_some());
        let sent = self.outstanding.remove(index.unwrap()).unwrap();
        self.in_flight -= 1;
        self.delivered += 1;
        self.delivered_at = self.now;
        self.first_sent_at = sent.at;
        self.rtt = self.now - sent.at;
        self.min_rtt = self.min_rtt.map(|min| min.min(self.rtt));
        if self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let losses = self.mark_lost((sent.id + 1).saturating_sub(REORDERING), |s| {
            s.acked_at.is_none()
        });
        self.recover(sent.id, losses);
        let interval = (sent.at - sent.first_sent_at).max(self.now - sent.delivered_at);
        let sample = RateSample {
            prior_delivered: sent.delivered,
            delivered: Some((self.delivered - sent.delivered, interval))
                .filter(|_| self.min_rtt.is_none_or(|min| interval >= min)),
            lost: self.lost - sent.lost,
            acked_sacked: 1,
            marked: 0,
            losses,
            prior_in_flight,
            tx_in_flight: sent.in_flight,
            rtt: Some(self.rtt),
            app_limited: sent.app_limited,
            ack_delayed: false,
        };
        let flight = self.flight();
        self.control.control(&mut self.window, &flight, &sample);
        self.acks += 1;
    }

    /// Marks what `is_lost` of the segments before the one with the number `end`; returns how many.
    fn mark_lost(&mut self, end: u64, is_lost: impl Fn(&Sent) -> bool) -> u32 {
        let mut losses = 0;
        loop {
            let mut old = self.outstanding.iter().take_while(|s| s.id < end);
            let Some(index) = old.position(&is_lost) else {
                return losses;
            };
            let sent = self.outstanding.remove(index).unwrap();
            losses += 1;
            self.lost += 1;
            self.in_flight -= 1;
            let flight = self.flight();
            let lost = LostSegment {
                tx_in_flight: sent.in_flight,
                lost: self.lost - sent.lost,
                app_limited: sent.app_limited,
            };
            self.control.segment_lost(&mut self.window, &flight, &lost);
        }
    }

    /// Recovery lasts until what was lost in it has been sent again and delivered; Linux may leave
    /// it and enter it anew within one ACK, which an algorithm does not see.
    fn recover(&mut self, acked: u64, losses: u32) {
        if losses > 0 {
            if self.recovery == Recovery::Open {
                self.enter(Recovery::Recovery);
            }
            self.recovery_point = self.next_id;
        } else if self.recovery >= Recovery::Recovery && acked >= self.recovery_point {
            let flight = self.flight();
            self.control
                .set_state(&mut self.window, &flight, Recovery::Open);
            self.recovery = Recovery::Open;
            let flight = self.flight();
            self.control
                .event(&mut self.window, &flight, Event::CompleteRecovery);
        }
    }

    fn enter(&mut self, state: Recovery) {
        let flight = self.flight();
        self.window.prior_cwnd = self.window.cwnd;
        self.window.ssthresh = self.control.ssthresh(&self.window, &flight);
        self.control.set_state(&mut self.window, &flight, state);
        self.recovery = state;
        self.recovery_point = self.next_id;
    }

    /// Nothing has come back for a second: all is lost (`tcp_enter_loss`).
    pub fn timed_out(&mut self) {
        self.mark_lost(u64::MAX, |_| true);
        self.enter(Recovery::Loss);
        self.window.cwnd = self.in_flight + 1;
    }
}
