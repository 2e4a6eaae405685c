//! A link with one queue, a sender that the law steers, and another that it does not steer. A constant congestion
//! window bounds each one's packets in flight, and the law's window bounds ours as well. All of the base round trip
//! comes after the queue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tidegate_laws::sys;

pub const MSS: u32 = 1448;
const NS: u64 = 1_000;
/// How long our host takes to acknowledge.
const HOST_NS: u64 = 3_000;

/// What is heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Ours,
    Others,
    /// Nothing that decides.
    Nothing,
    /// The queue ran empty meanwhile, or something else ended the question.
    Ended,
}

/// What our sender takes for its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obeys {
    /// The law's window and this many bytes: the queue is that many bytes.
    More(u64),
    /// Its congestion window alone.
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Arrives { waited_us: u32 },
    Acknowledged { window: u64 },
    OthersAcknowledged,
}

/// One of the two senders.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sender {
    /// Its congestion window in bytes.
    pub cwnd: u64,
    window: u64,
    in_flight: u64,
}

impl Sender {
    fn new() -> Self {
        Self {
            cwnd: 0,
            window: u64::MAX,
            in_flight: 0,
        }
    }

    fn may_send(&self) -> bool {
        self.in_flight + u64::from(MSS) <= self.cwnd.min(self.window)
    }
}

pub struct Fifo {
    pub path: sys::tg_tide,
    share: sys::tg_share,
    /// By how much the flow's floor has risen.
    risen_us: u32,
    /// A segment's time on the link.
    segment_ns: u64,
    /// The base round trip, and by how much it is longer now.
    rtt_us: u32,
    pub longer_us: u32,
    pub ours: Sender,
    pub others: Sender,
    pub obeys: Obeys,
    /// How long another flow of ours, with another record, has waited, in percent of a packet's wait.
    pub beside: u32,
    /// The unit of delays.
    pub tick_us: u32,
    now_ns: u64,
    /// When the link has emptied its queue.
    free_ns: u64,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    scheduled: u64,
    pub answers: Vec<Answer>,
    /// The window that the law last asked for, and how long our last packet waited.
    pub window: u64,
    pub waited_us: u32,
    /// Bytes of ours that have arrived.
    received: u64,
}

impl Fifo {
    /// A link of `mbit` Mbit/s that carries nothing yet. Time begins at 100 s.
    pub fn new(mbit: f64, rtt_us: u32) -> Self {
        Self {
            path: sys::tg_tide::default(),
            share: sys::tg_share::default(),
            risen_us: 0,
            segment_ns: (f64::from(MSS) * 8e3 / mbit) as u64,
            rtt_us,
            longer_us: 0,
            ours: Sender::new(),
            others: Sender::new(),
            obeys: Obeys::More(0),
            beside: 0,
            tick_us: 1,
            now_ns: 100_000_000 * NS,
            free_ns: 0,
            events: BinaryHeap::new(),
            scheduled: 0,
            answers: Vec::new(),
            window: 0,
            waited_us: 0,
            received: 0,
        }
    }

    /// Bytes that the link carries in a round trip plus `queue_us`.
    pub fn carries(&self, queue_us: u64) -> u64 {
        (u64::from(self.rtt_us) + queue_us) * NS * u64::from(MSS) / self.segment_ns
    }

    pub fn is(&self, state: sys::tg_tide_state) -> bool {
        self.path.state == state
    }

    /// Whether the window is for a link with a queue of ours, or with none.
    pub fn is_steered(&self) -> bool {
        !self.is(sys::TG_TIDE_COMPETING)
    }

    /// Lets `us` pass.
    pub fn pass(&mut self, us: u64) {
        self.until(us, |_| false);
    }

    /// Lets `us` pass. Returns the part of the link that our packets used.
    pub fn used_in(&mut self, us: u64) -> f64 {
        let before = self.received;
        self.pass(us);
        let could = us * NS / self.segment_ns * u64::from(MSS);
        (self.received - before) as f64 / could as f64
    }

    /// Our part of what both congestion windows allow.
    pub fn share(&self) -> f64 {
        let ours = self.ours.cwnd as f64;
        ours / (ours + self.others.cwnd as f64)
    }

    /// Lets `us` pass, or less if `done`; returns whether it is.
    pub fn until(&mut self, us: u64, done: impl Fn(&Self) -> bool) -> bool {
        let end_ns = self.now_ns + us * NS;
        self.send();
        while self.now_ns < end_ns && !done(self) {
            let Some(Reverse((at_ns, _, event))) = self.events.pop() else {
                break;
            };
            self.now_ns = at_ns;
            self.happens(event);
            self.send();
        }
        done(self)
    }

    fn happens(&mut self, event: Event) {
        match event {
            Event::Arrives { waited_us } => self.arrives(waited_us),
            Event::Acknowledged { window } => {
                self.ours.in_flight -= u64::from(MSS);
                self.ours.window = window;
            }
            Event::OthersAcknowledged => self.others.in_flight -= u64::from(MSS),
        }
    }

    /// Both send what they may, by turns.
    fn send(&mut self) {
        while self.ours.may_send() || self.others.may_send() {
            if self.ours.may_send() {
                self.ours.in_flight += u64::from(MSS);
                let waited_us = (self.free_ns.saturating_sub(self.now_ns) / NS) as u32;
                let left_ns = self.enter();
                let way_us = u64::from(self.rtt_us / 2 + self.longer_us);
                self.schedule(left_ns + way_us * NS, Event::Arrives { waited_us });
            }
            if self.others.may_send() {
                self.others.in_flight += u64::from(MSS);
                let left_ns = self.enter();
                let back_ns = left_ns + u64::from(self.rtt_us) * NS;
                self.schedule(back_ns, Event::OthersAcknowledged);
            }
        }
    }

    /// A segment enters the queue. Returns when it leaves the link.
    fn enter(&mut self) -> u64 {
        self.free_ns = self.free_ns.max(self.now_ns) + self.segment_ns;
        self.free_ns
    }

    fn schedule(&mut self, at_ns: u64, event: Event) {
        self.scheduled += 1;
        self.events.push(Reverse((at_ns, self.scheduled, event)));
    }

    /// A segment of ours arrives, and is acknowledged.
    fn arrives(&mut self, waited_us: u32) {
        self.received += u64::from(MSS);
        self.waited_us = waited_us;
        let delay_us = (waited_us + self.longer_us) / self.tick_us * self.tick_us;
        let asked = self.path.question.begun_us;
        let window = self.measured(delay_us);
        if asked > 0 && self.path.question.begun_us == 0 {
            self.answers.push(self.answer());
        }
        self.window = window.into();
        let window = match self.obeys {
            Obeys::More(bytes) => self.window + bytes,
            Obeys::Not => u64::MAX,
        };
        let back_ns = u64::from(self.rtt_us / 2) * NS + HOST_NS;
        self.schedule(self.now_ns + back_ns, Event::Acknowledged { window });
    }

    /// The law sees the segment, `delay_us` above the first floor. Returns its window.
    fn measured(&mut self, delay_us: u32) -> u32 {
        // SAFETY: the records are exclusively ours.
        unsafe {
            self.risen_us += sys::tg_tide_rise(&raw const self.path, &raw mut self.share);
            let arrival = self.arrival(delay_us);
            sys::tg_tide_arrived(&raw mut self.path, &raw mut self.share, &raw const arrival)
        }
    }

    fn arrival(&self, delay_us: u32) -> sys::tg_arrival {
        let queue_us = delay_us.saturating_sub(self.risen_us);
        let sample_us = self.rtt_us + delay_us;
        sys::tg_arrival {
            now_us: self.now_ns / NS,
            len: MSS,
            mss: MSS,
            sample_us,
            echo_us: sample_us,
            rtt_min_us: self.rtt_us,
            queue_us,
            lag_us: sample_us - queue_us,
            beside_us: queue_us * self.beside / 100,
            fresh: 1,
            ..Default::default()
        }
    }

    /// The answer that has just ended the question.
    fn answer(&self) -> Answer {
        let waits_us = self.path.ask_us.saturating_sub(self.now_ns / NS);
        // SAFETY: the record is only read.
        let empty_us = unsafe { sys::tg_tide_empty_us(&raw const self.path) };
        match self.path.state {
            sys::TG_TIDE_COMPETING => Answer::Others,
            sys::TG_TIDE_RECHECKING => Answer::Ours,
            _ if self.path.queue_us <= empty_us => Answer::Ended,
            _ if waits_us == 0 => Answer::Nothing,
            _ => Answer::Ours,
        }
    }
}
