//! Drivers for the algorithms' tests: ACKs by hand, or a path with one queue.

use super::super::{AckSample, CongestionControl, Event, Recovery, Window};
use crate::Timestamps;
use crate::cc::Flight;
use std::collections::VecDeque;
use std::time::Duration;
use tidegate_basics::time::Instant;

pub const MSS: u32 = 1448;

pub const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

pub fn window(cwnd: u32, ssthresh: u32) -> Window {
    Window {
        cwnd,
        ssthresh,
        count: 0,
        clamp: u32::MAX,
        prior_cwnd: 0,
        pacing_rate: None,
    }
}

pub fn flight() -> Flight {
    Flight {
        now: Instant::from_millis(1000),
        mss: MSS,
        in_flight: 0,
        outstanding: 0,
        snd_una: 1,
        snd_nxt: 1,
        delivered: 0,
        delivered_ce: 0,
        lost: 0,
        srtt: None,
        min_rtt: None,
        recovery: Recovery::Open,
        last_sent: Instant::from_millis(1000),
        cwnd_limited: true,
        app_limited: false,
    }
}

/// An algorithm and a sender that always fills its window.
#[derive(Debug)]
pub struct Driver<C> {
    pub cc: C,
    pub w: Window,
    pub f: Flight,
}

impl<C: CongestionControl> Driver<C> {
    /// A fresh connection with a window of `cwnd`.
    pub fn new(cc: C, cwnd: u32) -> Self {
        let mut driver = Self {
            cc,
            w: window(cwnd, Window::NO_SSTHRESH),
            f: flight(),
        };
        driver.cc.init(&mut driver.w, &driver.f);
        driver.send();
        driver
    }

    /// One that has just had a loss at `cwnd`, a second ago by its clock.
    pub fn after_loss(cc: C, cwnd: u32) -> Self {
        let mut driver = Self::new(cc, cwnd);
        driver.lose();
        driver.f.now += ms(1000);
        driver
    }

    fn send(&mut self) {
        let f = &mut self.f;
        f.in_flight = f.in_flight.max(self.w.cwnd);
        f.outstanding = f.in_flight;
        f.snd_nxt = f.snd_una + u64::from(f.in_flight * MSS);
        f.last_sent = f.now;
    }

    /// `after` later an ACK of `acked` segments arrives, the last of them sent `rtt` ago.
    pub fn ack(&mut self, after: Duration, acked: u32, rtt: Duration) {
        self.f.now += after;
        self.acknowledge(acked, Some(rtt), None);
        self.f.in_flight = 0;
        self.send();
    }

    fn acknowledge(&mut self, acked: u32, rtt: Option<Duration>, stamps: Option<Timestamps>) {
        let f = &mut self.f;
        f.in_flight = f.in_flight.saturating_sub(acked);
        f.snd_una += u64::from(acked * MSS);
        f.delivered += u64::from(acked);
        f.srtt = rtt.or(f.srtt);
        f.min_rtt = f.min_rtt.into_iter().chain(rtt).min();
        let sample = AckSample {
            acked,
            rtt,
            in_flight: f.in_flight,
            timestamps: stamps,
        };
        self.cc.pkts_acked(&mut self.w, f, &sample);
        if f.recovery != Recovery::Recovery {
            self.cc.cong_avoid(&mut self.w, f, acked);
        }
    }

    /// A round trip: an ACK for each segment of the window, evenly spaced.
    pub fn round(&mut self, rtt: Duration) {
        let segments = self.w.cwnd;
        for _ in 0..segments {
            self.ack(rtt / segments, 1, rtt);
        }
    }

    /// A loss, and at once its recovery.
    pub fn lose(&mut self) {
        self.enter_recovery();
        self.leave_recovery();
    }

    pub fn enter_recovery(&mut self) {
        self.w.prior_cwnd = self.w.cwnd;
        self.w.ssthresh = self.cc.ssthresh(&self.w, &self.f);
        self.set_state(Recovery::Recovery);
        self.w.cwnd = self.w.ssthresh;
        self.w.count = 0;
    }

    pub fn leave_recovery(&mut self) {
        self.cc.event(&mut self.w, &self.f, Event::CompleteRecovery);
        self.set_state(Recovery::Open);
    }

    /// A retransmission timeout, up to the first ACK.
    pub fn time_out(&mut self) {
        self.w.prior_cwnd = self.w.cwnd;
        self.w.ssthresh = self.cc.ssthresh(&self.w, &self.f);
        self.cc.event(&mut self.w, &self.f, Event::Timeout);
        self.w.cwnd = 1;
        self.set_state(Recovery::Loss);
    }

    pub fn set_state(&mut self, state: Recovery) {
        self.cc.set_state(&mut self.w, &self.f, state);
        self.f.recovery = state;
    }
}

/// A sender behind a queue: one FIFO before a bottleneck, then a constant delay, an ACK for each
/// segment. What the queue drops is found out when its ACK is missed, and then arrives.
#[derive(Debug)]
pub struct Path<C> {
    pub driver: Driver<C>,
    /// Round trip without queueing, less `service`.
    pub delay: Duration,
    /// Time of a segment at the bottleneck.
    pub service: Duration,
    /// Segments that may wait.
    pub buffer: u32,
    /// Segments dropped.
    pub drops: u64,
    /// Segments delivered when the last recovery began, and between the last two.
    pub recovery_at: u64,
    pub cycle: u64,
    segments: VecDeque<Segment>,
    idle_at: Instant,
    recover: u64,
}

#[derive(Debug)]
struct Segment {
    sent: Instant,
    arrived: Instant,
    acked: Instant,
    lost: bool,
}

impl<C: CongestionControl> Path<C> {
    pub fn new(cc: C, delay: Duration, service: Duration, buffer: u32) -> Self {
        let driver = Driver::new(cc, 10);
        Self {
            idle_at: driver.f.now,
            driver,
            delay,
            service,
            buffer,
            drops: 0,
            recovery_at: 0,
            cycle: 0,
            segments: VecDeque::new(),
            recover: 0,
        }
    }

    /// Segments that wait or are served now.
    pub fn queue(&self) -> f64 {
        let now = self.driver.f.now;
        (self.idle_at - now).as_secs_f64() / self.service.as_secs_f64()
    }

    fn send(&mut self) {
        let now = self.driver.f.now;
        while self.segments.len() < self.driver.w.cwnd as usize {
            let lost = self.queue() > f64::from(self.buffer);
            if lost {
                self.drops += 1;
            } else {
                self.idle_at = self.idle_at.max(now) + self.service;
            }
            self.segments.push_back(Segment {
                sent: now,
                arrived: self.idle_at + self.delay / 2,
                acked: self.idle_at + self.delay,
                lost,
            });
        }
        let f = &mut self.driver.f;
        f.last_sent = now;
        f.in_flight = self.segments.len() as u32;
        f.outstanding = f.in_flight;
        f.snd_nxt = f.snd_una + u64::from(f.in_flight * MSS);
    }

    /// Until the next ACK has been dealt with.
    pub fn step(&mut self) {
        self.send();
        let segment = self.segments.pop_front().expect("the window is at least 1");
        let driver = &mut self.driver;
        driver.f.now = segment.acked;
        let delivered = driver.f.delivered;
        if segment.lost && driver.f.recovery == Recovery::Open {
            self.cycle = delivered - self.recovery_at;
            self.recovery_at = delivered;
            self.recover = driver.f.snd_nxt;
            driver.enter_recovery();
        }
        let stamps = Timestamps {
            // The peer's clock is not ours.
            val: millis(segment.arrived).wrapping_add(0xffff_f000),
            ecr: millis(segment.sent),
        };
        let rtt = (!segment.lost).then(|| segment.acked - segment.sent);
        driver.acknowledge(1, rtt, Some(stamps));
        if driver.f.recovery == Recovery::Recovery && driver.f.snd_una >= self.recover {
            driver.leave_recovery();
        }
    }

    pub fn run(&mut self, time: Duration) {
        let end = self.driver.f.now + time;
        while self.driver.f.now < end {
            self.step();
        }
    }
}

fn millis(at: Instant) -> u32 {
    (at.as_nanos() / 1_000_000) as u32
}
