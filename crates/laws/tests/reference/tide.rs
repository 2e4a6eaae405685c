//! The law as its lecture tells it (`docs/internals/law.md`), for all flows of one queue: a forecast of what the link
//! carries in a lag, and a margin for the forecast's error. Floors are given and correct. How wrong floors are found,
//! how flows are found to share a queue, and whose queue it is are no part of it; but the bytes by which a question
//! lowers the window are.
//!
//! Rates are bytes a microsecond; every count and every forecast is kept.

mod agrees;

/// Buckets in a lag.
const BUCKETS: usize = 8;

/// A measured packet of one of the flows.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    pub flow: usize,
    pub now_us: u64,
    pub len: u64,
    /// How long it stood in the queue.
    pub queue_us: u64,
    /// The round trip less the queueing delay, where there is a sample.
    pub lag_us: Option<u64>,
}

/// A flow that shares the queue.
#[derive(Clone, Debug, Default)]
pub struct Flow {
    /// The flow gets this many parts where another gets one.
    pub weight: u64,
    /// Its own lag.
    lag_us: Option<u64>,
    /// Its bytes in this round trip.
    bytes: u64,
    /// The last round trip in which it had data, and the last in which it was bottlenecked.
    active: Option<u64>,
    bottlenecked: Option<u64>,
}

/// A question that is being asked: for packets that meet the queue from `begun_us` on, the window is lower by `less`
/// for `half_us`, then as it would be for as long, over and over.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    pub begun_us: u64,
    pub half_us: u64,
    pub less: u64,
}

/// The counts of a round trip, queue included: weights of the flows that had data and of those that are bottlenecked,
/// and the bytes of all others.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    active: u64,
    bottlenecked: u64,
    limited_bytes: u64,
    us: u64,
}

/// The law's state for one queue.
#[derive(Clone, Debug, Default)]
pub struct Law {
    pub flows: Vec<Flow>,
    pub mss: u64,
    /// H; none before the first sample.
    pub lag_us: Option<u64>,
    lag_moved_us: u64,
    /// The forecast, and its error over 8 lags and over 64.
    pub m: f64,
    d1: f64,
    d2: f64,
    errors: u64,
    /// Whether it knows its link: a queue has stood for a lag.
    pub knows_link: bool,
    /// Bytes and duration of each closed bucket, the forecasts made with them, and the open bucket.
    buckets: Vec<(u64, u64)>,
    forecasts: Vec<f64>,
    open: (u64, u64),
    open_end_us: u64,
    /// The smallest delay in the open bucket, and whether the link was idle in it.
    least_us: Option<u64>,
    idle: bool,
    /// Buckets in a row without an empty queue, and with data and a queue.
    pub since_empty: usize,
    stood: usize,
    /// When data last came, and how long they had waited.
    arrived_us: Option<u64>,
    queue_us: u64,
    /// The number of this round trip and when it ends, and the counts of the last one and of this one so far.
    round: u64,
    round_end_us: u64,
    last: Round,
    now: Round,
    /// Whose queue is it?
    pub question: Option<Question>,
}

impl Question {
    /// By how much the window is lower for packets that meet the queue at `at_us`.
    fn takes(&self, at_us: u64) -> f64 {
        let since_us = at_us.checked_sub(self.begun_us);
        let is_lower = since_us.is_some_and(|us| (us / self.half_us).is_multiple_of(2));
        if is_lower { self.less as f64 } else { 0.0 }
    }
}

impl Law {
    /// A packet arrives. Returns its flow's window in bytes; none: the kernel's.
    pub fn arrives(&mut self, p: &Packet) -> Option<f64> {
        self.learn_lag(p);
        self.lag_us?;
        self.advance(p);
        self.open.0 += p.len;
        self.least_us = Some(self.least_us.map_or(p.queue_us, |q| q.min(p.queue_us)));
        self.queue_us = p.queue_us;
        self.count_flow(p);
        self.window(p.flow)
    }

    fn lag(&self) -> u64 {
        self.lag_us.expect("known since the first sample")
    }

    /// "Below 2 ms, or a thirty-second of the lag, the queue is empty"; a segment that is being sent is no queue.
    pub fn empty_us(&self) -> u64 {
        let segment_us = match self.m > 0.0 {
            true => (self.mss as f64 / self.m).min((self.lag() / 2) as f64) as u64,
            false => 0,
        };
        (self.lag() / 32).max(2_000).max(segment_us)
    }

    /// H follows the lags of bottlenecked flows by time, half of a change in two thirds of H. If one flow is alone, H
    /// follows a longer lag at once, except for what may be noise. A flow's own lag follows by count.
    fn learn_lag(&mut self, p: &Packet) {
        let Some(lag_us) = p.lag_us.map(|us| us.max(5_000)) else {
            return;
        };
        let flow = &mut self.flows[p.flow];
        flow.lag_us = Some(
            flow.lag_us
                .map_or(lag_us, |us| moved(us, lag_us, 1.0 / 16.0)),
        );
        if self.lag_us.is_some() && self.last.bottlenecked > 0 && !self.is_bottlenecked(p.flow) {
            return;
        }
        self.lag_us = Some(match self.lag_us {
            None => lag_us,
            Some(us) => {
                let elapsed = (p.now_us - self.lag_moved_us).min(us) as f64;
                moved(us, lag_us, elapsed / (us as f64 + elapsed)).max(1)
            }
        });
        self.lag_moved_us = p.now_us;
        if self.last.bottlenecked <= self.flows[p.flow].weight.max(1) {
            let least_us = lag_us.saturating_sub((lag_us / 32).max(2_000));
            self.lag_us = self.lag_us.max(Some(least_us));
        }
    }

    /// "The part of the gap that the packet spent in the queue was an outage, and counts as zero bytes; the rest was idle,
    /// and does not count as time."
    fn advance(&mut self, p: &Packet) {
        let gap_us = p.now_us - self.arrived_us.unwrap_or(0);
        let idle_us = gap_us.saturating_sub(p.queue_us);
        if self.arrived_us.is_none() || idle_us > 10_000_000 {
            self.start(p.now_us);
        } else if idle_us > self.lag() {
            self.open_end_us += idle_us;
        }
        if idle_us > self.empty_us() {
            self.idle = true;
        }
        self.arrived_us = Some(p.now_us);
        // At most 32 empty buckets of one silence count.
        for _ in 0..32 {
            if p.now_us < self.open_end_us {
                break;
            }
            self.close();
            self.open(self.open_end_us);
        }
        if p.now_us >= self.open_end_us {
            self.open(p.now_us);
        }
        if p.now_us >= self.round_end_us {
            self.next_round(p.now_us);
        }
    }

    fn start(&mut self, now_us: u64) {
        let (flows, known) = (std::mem::take(&mut self.flows), self.clone());
        *self = Self {
            flows,
            buckets: Vec::new(),
            open: (0, 0),
            knows_link: false,
            least_us: None,
            idle: false,
            since_empty: 0,
            stood: 0,
            ..known
        };
        self.open(now_us);
    }

    fn open(&mut self, from_us: u64) {
        self.open = (0, (self.lag() / BUCKETS as u64).max(1_000));
        self.open_end_us = from_us + self.open.1;
    }

    fn close(&mut self) {
        self.buckets.push(self.open);
        let least_us = self.least_us.take();
        let empty = least_us.is_some_and(|q| q <= self.empty_us());
        self.since_empty = match std::mem::take(&mut self.idle) || empty {
            true => 0,
            false => self.since_empty + 1,
        };
        // A bucket without data says nothing about the queue.
        if least_us.is_some() {
            self.stood = if empty { 0 } else { self.stood + 1 };
        }
        let x = self.x();
        if self.knows_link {
            self.learn(x);
            self.forecasts.push(self.m);
        } else if self.stood >= 2 && self.since_empty >= BUCKETS {
            self.knows_link = true;
            (self.m, self.d1, self.d2, self.errors) = (x, x / 2.0, x / 2.0, 16);
            self.forecasts = vec![x; BUCKETS];
        }
    }

    /// "x = what arrived in the last H, as a rate".
    fn x(&self) -> f64 {
        let last = &self.buckets[self.buckets.len().saturating_sub(BUCKETS)..];
        let [bytes, us] = [
            last.iter().map(|b| b.0).sum::<u64>(),
            last.iter().map(|b| b.1).sum::<u64>(),
        ];
        bytes as f64 / us as f64
    }

    /// The forecast and its error; "where the queue ran empty, x counts half as much again", and a fall counts once the
    /// queue has stood through two buckets.
    fn learn(&mut self, x: f64) {
        let x = if self.since_empty == 0 { 1.5 * x } else { x };
        if x < self.m && self.since_empty < 2 {
            return;
        }
        let e = (x - self.forecasts[self.forecasts.len() - BUCKETS]).abs();
        self.errors = (self.errors + 1).min(512);
        self.m += (x - self.m) / 8.0;
        self.d1 += (e - self.d1) / 64.0;
        self.d2 += (e - self.d2) / self.errors as f64;
    }

    fn next_round(&mut self, now_us: u64) {
        self.last = std::mem::take(&mut self.now);
        // It lasted until now.
        self.last.us += now_us - self.round_end_us;
        self.now.us = self.lag() + self.queue_us;
        self.round += 1;
        self.round_end_us = now_us + self.now.us;
    }

    /// "A flow is bottlenecked if it took at least a quarter of an even share": in this round trip, or in the last.
    fn is_bottlenecked(&self, flow: usize) -> bool {
        let last = self.flows[flow].bottlenecked;
        last.is_some_and(|round| round + 1 >= self.round)
    }

    fn count_flow(&mut self, p: &Packet) {
        let weight = self.flows[p.flow].weight.max(1);
        let flow = &mut self.flows[p.flow];
        if flow.active != Some(self.round) {
            flow.active = Some(self.round);
            flow.bytes = 0;
            self.now.active += weight;
        }
        flow.bytes += p.len;
        if flow.bottlenecked == Some(self.round) {
            return;
        }
        self.now.limited_bytes += p.len;
        // While none is bottlenecked, all that have data share.
        let sharing = match self.last.bottlenecked {
            0 => self.last.active.max(1),
            weights => weights,
        };
        let even = self.m * self.now.us as f64 * weight as f64 / sharing as f64;
        if flow.bytes as f64 >= even / 4.0 {
            flow.bottlenecked = Some(self.round);
            self.now.bottlenecked += weight;
            self.now.limited_bytes -= flow.bytes;
        }
    }

    /// "The group's window, less what the limited flows took, is divided among the bottlenecked ones by weight: a part of
    /// the rate, times its own lag, and a part of the margin." In bytes, before it is [`whole`].
    fn window(&self, flow: usize) -> Option<f64> {
        if !self.knows_link && self.m == 0.0 {
            return None;
        }
        let flow_weight = self.flows[flow].weight.max(1);
        let limited = self.last.limited_bytes as f64 / self.last.us.max(1) as f64;
        let (parts, rate) = match self.is_bottlenecked(flow) {
            true if self.last.bottlenecked > 0 && limited < self.m => {
                (self.last.bottlenecked.max(flow_weight), self.m - limited)
            }
            true => (self.last.bottlenecked.max(flow_weight), self.m),
            // A limited flow may grow into one more such part.
            false => (self.last.bottlenecked + flow_weight, self.m),
        };
        // A flow alone has the path's lag.
        let own = self.flows[flow].lag_us.filter(|_| parts > flow_weight);
        let lag_us = own.unwrap_or(self.lag()) as f64;
        let margin = 11.0 / 8.0 * (self.d1 + self.d2) * self.lag().max(10_000) as f64;
        let mut bytes = rate * lag_us + margin + self.mss as f64;
        if !self.knows_link {
            let last = &self.buckets[self.buckets.len().saturating_sub(BUCKETS)..];
            let lately = last.iter().map(|b| b.0).sum::<u64>() + self.open.0;
            bytes = bytes.max(4.0 * lately as f64);
        }
        let meets_us = self.arrived_us.unwrap_or(0) + own.unwrap_or(self.lag());
        bytes -= self.question.map_or(0.0, |q| q.takes(meets_us));
        Some(bytes.max(5.0 * self.mss as f64) * flow_weight as f64 / parts as f64)
    }
}

/// `from` moved by `part` of the way to `to`, to whole microseconds, rounded towards `from`.
fn moved(from: u64, to: u64, part: f64) -> u64 {
    let step = (to as f64 - from as f64) * part;
    // A product that is whole except for the last bit of its binary fraction is whole.
    from.wrapping_add_signed((step + step.signum() * 1e-9).trunc() as i64)
}

/// The window that is given: a small one is whole segments, rounded up, and at least two.
pub fn whole(window: f64, mss: u64) -> f64 {
    let mss = mss as f64;
    let window = match window < 16.0 * mss {
        true => (window / mss).ceil() * mss,
        false => window,
    };
    window.max(2.0 * mss)
}
