//! The forecast of what the link will carry, its error, and the window that follows.

mod agrees;

use std::ops::Range;

/// Buckets over which the rate is taken, and for which the forecast is made.
const BUCKETS: usize = 8;
/// Longer silences begin anew.
const IDLE_US: u64 = 10_000_000;
/// Of one silence at most so many empty buckets count.
const CATCH_UP: usize = 32;
const LAG_LEAST_US: u64 = 5_000;
/// The least H is taken over one to two spans of so long.
const LEAST_US: u64 = 4_000_000;
const MARGIN_LEAST_US: u64 = 10_000;
/// Buckets at one level before it is doubted, and how long without an empty queue does the same.
const STEADY: u32 = 12;
const UNTOUCHED_US: u64 = 10_000_000;
const PATIENCE_MAX_US: u64 = 160_000_000;
/// Raised floors are held against RTTmin after so long, then half as often, down to this.
const RECHECK_US: u64 = 4_000_000;
const RECHECK_MAX_US: u64 = 16_000_000;
/// A lag that has grown by a sixteenth, and two ticks, since the queue was last empty is longer. Then levels may
/// differ by so much more, a probe is watched for so many lags at most, and a queue that it meets is believed for as many
/// but one.
const LONGER_PART: u64 = 16;
const TREMBLE_US: u64 = 2_000;
const WATCHES: u32 = 9;
const LONGER_PATIENCE: u64 = 8;
/// After idleness the window may be so many times what has come in a lag.
const GROWTH: u64 = 4;
/// Floors that fall by more in a round trip, and by an eighth of the lag, hid a queue.
const FALL_US: u64 = 8_000;
/// A sixteenth of the time, in the long run, is for rechecks after falls; eight may come at once.
const RECHECK_PART: u64 = 16;
const RECHECKS: u64 = 8;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Starting,
    Running,
    Probing,
    Rechecking,
}

/// A measured packet.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub now_us: u64,
    pub len: u64,
    pub mss: u64,
    pub sample_us: Option<u64>,
    pub rtt_min_us: u64,
    pub queue_us: u64,
    /// By how much it lowered its flow's floor or RTTmin.
    pub fell_us: u64,
    /// The way back carries uploads that are steered.
    pub uploading: bool,
}

/// A flow's part in the path.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    /// Its own lag, and what that was when it last saw an empty queue.
    pub h_us: Option<u64>,
    touched_h_us: u64,
    /// Its parts where another has one.
    pub weight: u64,
    /// Its bytes in an epoch, and the last one in which it was hungry.
    bytes: (u64, u64),
    hungry: Option<u64>,
    /// By how much the record's floors had risen when its own last did.
    risen_us: u64,
    /// By how much its floor fell in a span.
    fallen: (u64, u64),
}

/// Bytes and duration of a bucket.
type Bucket = (u64, u64);

/// The window is open wider than the forecast, to see whether delay follows.
#[derive(Clone, Debug)]
struct Probe {
    /// Rate and level before it.
    before: f64,
    level_us: u64,
    /// The rate that it makes room for.
    aim: f64,
    window: f64,
    /// When what it let in arrives.
    watch_us: Range<u64>,
    /// The smallest delay of that.
    watched_us: Option<u64>,
    /// For how many lags.
    watches: u32,
}

/// Floors that have risen are doubted until RTTmin's window has shown no smaller delay.
#[derive(Clone, Debug)]
struct Recheck {
    /// How long they are trusted, and until when.
    wait_us: u64,
    due_us: u64,
}

/// The path. Rates are bytes a microsecond; every count and every forecast is kept.
#[derive(Clone, Debug, Default)]
pub struct Tide {
    pub state: State,
    /// H, in whole microseconds as every time.
    pub h_us: Option<u64>,
    h_moved_us: u64,
    uploading: bool,
    /// When each span of four seconds began, and the least H in it.
    leasts: Vec<(u64, u64)>,
    /// The forecast and its errors over 8 and 64 round trips.
    pub m: f64,
    pub d1: f64,
    pub d2: f64,
    errors: u64,
    closed: Vec<Bucket>,
    forecasts: Vec<f64>,
    open: Bucket,
    open_end_us: u64,
    least_queue_us: Option<u64>,
    /// Whether the link was idle in the open bucket.
    idle: bool,
    /// Buckets in a row: with data and a queue that stood through, without an empty queue, with
    /// data and at the level.
    pub standing_buckets: u32,
    pub backlogged: u32,
    pub steady: u32,
    pub level_us: u64,
    arrived_us: Option<u64>,
    last_queue_us: u64,
    /// Epochs are round trips; flows that were hungry in the last, and in this one.
    epoch: u64,
    epoch_us: u64,
    epoch_end_us: u64,
    pub hungry: u64,
    hungry_now: u64,
    /// Bytes of the others, and how long the last epoch lasted.
    sated: u64,
    sated_now: u64,
    sated_us: u64,
    /// Those that had data, likewise.
    active: u64,
    active_now: u64,
    /// When the queue was last empty, and m then.
    pub touched: (u64, f64),
    /// Whether the last packet's flow has a longer lag since.
    longer: bool,
    probe: Option<Probe>,
    pub probes: u64,
    probed_us: u64,
    pub patience_us: u64,
    recheck: Option<Recheck>,
    /// The lag that a recheck tries, and until when.
    tried_us: u64,
    rechecks_until_us: u64,
    /// Until when the rechecks after falls have used up their part of the time.
    paid_until_us: u64,
    /// Counts round trips and rechecks.
    span: u64,
    /// By how much the floors have risen in all, and how often.
    pub risen_us: u64,
    pub rises: u64,
    mss: u64,
}

/// `from` moved by `part` of the way to `to`, to whole microseconds, rounded towards `from`.
fn moved(from: u64, to: u64, part: f64) -> u64 {
    let step = (to as f64 - from as f64) * part;
    // A product that is whole but for the last bit of its binary fraction is whole.
    from.wrapping_add_signed((step + step.signum() * 1e-9).trunc() as i64)
}

impl Tide {
    /// A measured packet of the flow `s` arrives. The flow's window in bytes; none: the kernel's.
    pub fn arrived(&mut self, s: &mut Share, a: &Arrival) -> Option<f64> {
        self.mss = a.mss;
        self.learn_lag(s, a);
        self.h_us?;
        self.advance(a);
        self.open.0 += a.len;
        self.least_queue_us = Some(
            self.least_queue_us
                .map_or(a.queue_us, |q| q.min(a.queue_us)),
        );
        self.last_queue_us = a.queue_us;
        self.count_hungry(s, a.len);
        self.age_floors(s, a);
        self.share(s)
    }

    /// H follows RTT − forward queueing delay of the hungry, while there are any: half of a change in about
    /// two thirds of H. What a flow follows for itself it follows by count.
    fn learn_lag(&mut self, s: &mut Share, a: &Arrival) {
        let Some(sample_us) = a.sample_us else { return };
        let lag_us = sample_us
            .saturating_sub(a.queue_us)
            .max(a.rtt_min_us)
            .max(LAG_LEAST_US);
        s.h_us = Some(
            s.h_us
                .map_or(lag_us, |h_us| moved(h_us, lag_us, 1.0 / 16.0)),
        );
        if self.h_us.is_some() && self.hungry > 0 && !self.is_hungry(s) {
            return;
        }
        self.h_us = Some(match self.h_us {
            None => lag_us,
            Some(h_us) => {
                let elapsed_us = (a.now_us - self.h_moved_us).min(h_us) as f64;
                let part = elapsed_us / (h_us as f64 + elapsed_us);
                moved(h_us, lag_us, part).max(1)
            }
        });
        self.h_moved_us = a.now_us;
        self.uploading = a.uploading;
        self.note_least(a.now_us);
    }

    /// In this round trip or the one before.
    fn is_hungry(&self, s: &Share) -> bool {
        s.hungry.is_some_and(|epoch| epoch + 1 >= self.epoch)
    }

    fn note_least(&mut self, now_us: u64) {
        let h_us = self.h();
        match self.leasts.last_mut() {
            Some((since_us, least_us)) if now_us - *since_us < LEAST_US => {
                *least_us = h_us.min(*least_us);
            }
            _ => self.leasts.push((now_us, h_us)),
        }
    }

    /// What the margin is for: H, or beside uploads the least of it in this span and the one before; 10 ms at least.
    fn margin_us(&self) -> u64 {
        let late = self.leasts.iter().rev().take(2);
        let least_us = late.map(|(_, h_us)| *h_us).filter(|_| self.uploading).min();
        let h_us = least_us.map_or(self.h(), |least_us| least_us.min(self.h()));
        h_us.max(MARGIN_LEAST_US)
    }

    /// What of the forecast the hungry share: others took the rest.
    fn left(&self) -> f64 {
        let sated = self.sated as f64 / self.sated_us.max(1) as f64;
        if self.hungry > 0 && sated < self.m {
            self.m - sated
        } else {
            self.m
        }
    }

    fn h(&self) -> u64 {
        self.h_us.expect("known since the first sample")
    }

    /// Below this delay the queue is empty: a 32nd of the lag, two ticks, or the time that the
    /// forecast takes over one segment, of which at most half a lag.
    fn empty_us(&self) -> u64 {
        let segment_us = if self.m > 0.0 {
            (self.mss as f64 / self.m).min((self.h() / 2) as f64)
        } else {
            0.0
        };
        (self.h() / 32).max(2_000).max(segment_us as u64)
    }

    fn alike(&self, one_us: u64, other_us: u64) -> bool {
        let trembles_us = if self.longer { TREMBLE_US } else { 0 };
        one_us.abs_diff(other_us) <= self.empty_us() + trembles_us
    }

    /// A gap is an outage if the packet that ends it queued for as long, else idleness.
    fn advance(&mut self, a: &Arrival) {
        let silent_us = a.now_us - self.arrived_us.unwrap_or(0);
        let idle_us = silent_us.saturating_sub(a.queue_us);
        if self.arrived_us.is_none() || idle_us > IDLE_US {
            self.start(a.now_us);
        } else if idle_us > self.h() {
            self.open_end_us += idle_us;
        }
        self.idle |= idle_us > self.empty_us();
        self.arrived_us = Some(a.now_us);
        for _ in 0..CATCH_UP {
            if a.now_us < self.open_end_us {
                break;
            }
            self.close();
            self.open_bucket(self.open_end_us);
        }
        if a.now_us >= self.open_end_us {
            self.open_bucket(a.now_us);
        }
        if a.now_us >= self.epoch_end_us {
            self.epoch += 1;
            self.span += u64::from(self.state != State::Rechecking);
            self.sated = std::mem::take(&mut self.sated_now);
            self.sated_us = self.epoch_us + a.now_us - self.epoch_end_us;
            self.epoch_us = self.h() + self.last_queue_us;
            self.epoch_end_us = a.now_us + self.epoch_us;
            self.hungry = std::mem::take(&mut self.hungry_now);
            self.active = std::mem::take(&mut self.active_now);
        }
    }

    fn start(&mut self, now_us: u64) {
        self.state = State::Starting;
        self.probe = None;
        (self.standing_buckets, self.backlogged, self.steady) = (0, 0, 0);
        self.closed.clear();
        self.open.0 = 0;
        self.least_queue_us = None;
        self.idle = false;
        self.open_bucket(now_us);
        self.touched.0 = now_us;
        self.patience_us = 0;
    }

    fn open_bucket(&mut self, from_us: u64) {
        self.open.1 = (self.h() / BUCKETS as u64).max(1_000);
        self.open_end_us = from_us + self.open.1;
    }

    /// Bytes in the last 8 buckets and the open one.
    fn lately(&self) -> u64 {
        let last = &self.closed[self.closed.len().saturating_sub(BUCKETS)..];
        last.iter().map(|b| b.0).sum::<u64>() + self.open.0
    }

    /// Rate over the last 8 buckets.
    fn x(&self) -> f64 {
        let last = &self.closed[self.closed.len().saturating_sub(BUCKETS)..];
        let bytes: u64 = last.iter().map(|b| b.0).sum();
        let us: u64 = last.iter().map(|b| b.1).sum();
        bytes as f64 / us as f64
    }

    fn close(&mut self) {
        self.closed.push(self.open);
        self.open.0 = 0;
        let least_us = self.least_queue_us.take();
        let idle = std::mem::take(&mut self.idle);
        let empty = idle || least_us.is_some_and(|q| q <= self.empty_us());
        self.backlogged = if empty { 0 } else { self.backlogged + 1 };
        // A bucket without data says nothing of the queue.
        if let Some(least_us) = least_us {
            self.note_level(least_us);
        }
        let x = self.x();
        if self.state != State::Starting {
            self.learn(x, empty);
            self.forecasts.push(self.m);
        } else if self.standing_buckets >= 2 && self.backlogged as usize >= BUCKETS {
            self.run(x);
        }
    }

    fn note_level(&mut self, least_us: u64) {
        self.standing_buckets = if least_us <= self.empty_us() {
            0
        } else {
            self.standing_buckets + 1
        };
        if !self.alike(least_us, self.level_us) {
            self.level_us = least_us;
            self.steady = 0;
        }
        self.steady += 1;
    }

    /// The link is full: its count is the forecast.
    fn run(&mut self, x: f64) {
        self.state = State::Running;
        self.m = x;
        (self.d1, self.d2) = (x / 2.0, x / 2.0);
        self.errors = 16;
        self.touched.1 = x;
        self.forecasts = vec![x; BUCKETS];
    }

    fn learn(&mut self, x: f64, empty: bool) {
        let x = if empty { 1.5 * x } else { x };
        // A fall counts once the queue has stood through two buckets.
        if x < self.m && self.backlogged < 2 {
            return;
        }
        let e = (x - self.forecasts[self.forecasts.len() - BUCKETS]).abs();
        self.errors = (self.errors + 1).min(512);
        self.d1 += (e - self.d1) / 64.0;
        self.d2 += (e - self.d2) / self.errors as f64;
        self.m += (x - self.m) / 8.0;
    }

    /// Hungry: at least a quarter of its share, by weight, of what the link carries in a round trip. While none
    /// is, those that have data share.
    fn count_hungry(&mut self, s: &mut Share, len: u64) {
        if s.bytes.0 != self.epoch {
            s.bytes = (self.epoch, 0);
            self.active_now += s.weight.max(1);
        }
        s.bytes.1 += len;
        let weight = s.weight.max(1);
        let sharing = if self.hungry > 0 {
            self.hungry
        } else {
            self.active.max(1)
        };
        let part = weight as f64 / sharing as f64;
        let even = self.m * self.epoch_us as f64 * part;
        if s.hungry == Some(self.epoch) {
            return;
        }
        self.sated_now += len;
        if s.bytes.1 as f64 >= even / 4.0 {
            s.hungry = Some(self.epoch);
            self.hungry_now += weight;
            self.sated_now -= s.bytes.1;
        }
    }

    fn age_floors(&mut self, s: &mut Share, a: &Arrival) {
        if a.queue_us <= self.empty_us() {
            self.touched = (a.now_us, self.m);
            self.patience_us = 0;
        }
        self.compare_lag(s, a.queue_us);
        self.note_fall(s, a.fell_us);
        if self.state == State::Rechecking {
            self.end_recheck(a);
        }
        let credit_us = RECHECKS * RECHECK_PART * 2 * self.h();
        let fell =
            s.fallen.1 > (self.h() / 8).max(FALL_US) && self.paid_until_us < a.now_us + credit_us;
        let raised =
            s.h_us.is_some() && self.recheck.as_ref().is_some_and(|r| a.now_us >= r.due_us);
        match self.state {
            State::Running | State::Probing if fell => self.recheck_fallen(a),
            State::Running if self.floor_is_doubtful(a.now_us) => self.begin_probe(a.now_us),
            State::Running if raised => self.recheck_raised(s, a),
            _ => {}
        }
        let Some(mut probe) = self.probe.take() else {
            return;
        };
        if a.now_us >= probe.watch_us.start {
            let watched_us = probe.watched_us.unwrap_or(a.queue_us);
            probe.watched_us = Some(watched_us.min(a.queue_us));
        }
        if a.now_us >= probe.watch_us.end {
            self.end_probe(probe, a.now_us);
        } else {
            self.probe = Some(probe);
        }
    }

    /// A queue on the data's way does not lengthen the way back; another route does.
    fn compare_lag(&mut self, s: &mut Share, queue_us: u64) {
        let h_us = s.h_us.unwrap_or(0);
        let slack_us = (s.touched_h_us / LONGER_PART).max(2_000);
        if queue_us <= self.empty_us() || self.state == State::Starting {
            s.touched_h_us = h_us;
        }
        self.longer = h_us > s.touched_h_us + slack_us;
    }

    /// Falls of the flow's floor are summed over a round trip, or a recheck.
    fn note_fall(&self, s: &mut Share, fell_us: u64) {
        if s.fallen.0 != self.span {
            s.fallen = (self.span, 0);
        }
        s.fallen.1 += fell_us;
    }

    /// The window that a lag of `tried_us` asks for, over two round trips.
    fn begin_recheck(&mut self, a: &Arrival, tried_us: u64) {
        self.state = State::Rechecking;
        self.probe = None;
        self.span += 1;
        self.tried_us = tried_us;
        self.rechecks_until_us = a.now_us + 2 * (self.h() + a.queue_us);
    }

    fn recheck_fallen(&mut self, a: &Arrival) {
        self.begin_recheck(a, self.h() / 2);
        let takes_us = self.rechecks_until_us - a.now_us;
        self.paid_until_us = self.paid_until_us.max(a.now_us) + RECHECK_PART * takes_us;
    }

    /// Two round trips of the lag as it is by now.
    fn end_recheck(&mut self, a: &Arrival) {
        let end_us = a.now_us + 2 * (self.h() + a.queue_us);
        self.rechecks_until_us = self.rechecks_until_us.min(end_us);
        if a.now_us >= self.rechecks_until_us {
            self.state = State::Running;
        }
    }

    /// Now and then, after floors have risen: RTTmin, as far as the path's lag goes with the flow's.
    fn recheck_raised(&mut self, s: &Share, a: &Arrival) {
        let own_us = s.h_us.unwrap_or(0);
        if own_us <= a.rtt_min_us + 2 * self.empty_us() {
            self.recheck = None;
            return;
        }
        self.begin_recheck(a, self.h() * a.rtt_min_us / own_us);
        if let Some(recheck) = &mut self.recheck {
            recheck.wait_us = (2 * recheck.wait_us).min(RECHECK_MAX_US);
            recheck.due_us = self.rechecks_until_us + recheck.wait_us;
        }
    }

    /// Delay stands still above the empty queue's, the count is not falling just now, and the
    /// forecast sank by a quarter since the queue was empty, or that is long ago, or the lag is longer.
    fn floor_is_doubtful(&self, now_us: u64) -> bool {
        let stands = self.steady >= STEADY && self.level_us > self.empty_us();
        let patient = now_us - self.probed_us < self.patience_us;
        let falling = self.x() < 0.75 * self.m;
        let sunk = self.m < 0.75 * self.touched.1;
        let untouched_us = now_us - self.touched.0.max(self.probed_us);
        stands && !patient && !falling && (self.longer || sunk || untouched_us >= UNTOUCHED_US)
    }

    /// Makes room for what came when the queue was last empty, m being half as much again: a
    /// quarter more than now at least, half at most.
    fn begin_probe(&mut self, now_us: u64) {
        self.state = State::Probing;
        self.probes += 1;
        let x = self.x();
        let aim = (0.75 * self.touched.1).clamp(1.25 * x, 1.5 * x);
        let round_us = self.h() + self.level_us;
        let arrives_us = now_us + round_us;
        self.probe = Some(Probe {
            before: x,
            level_us: self.level_us,
            aim,
            window: aim * round_us as f64 + self.mss as f64,
            watch_us: arrives_us..arrives_us + self.h(),
            watched_us: None,
            watches: 1,
        });
    }

    /// What was probed is path if most of what there was room for came, and delay is what it was. Where the lag
    /// is longer it is watched on until that comes.
    fn end_probe(&mut self, probe: Probe, now_us: u64) {
        let came = self.x() >= probe.aim - (probe.aim - probe.before) / 8.0;
        let unmoved = probe
            .watched_us
            .is_some_and(|q| self.alike(q, probe.level_us));
        if unmoved && !came && self.longer && probe.watches < WATCHES {
            self.probe = Some(Probe {
                watch_us: probe.watch_us.start..now_us + self.h(),
                watched_us: None,
                watches: probe.watches + 1,
                ..probe
            });
            return;
        }
        self.state = State::Running;
        self.probed_us = now_us;
        if came && unmoved {
            self.raise_floors(probe.level_us, now_us);
        } else {
            let most_us = if self.longer {
                LONGER_PATIENCE * self.h()
            } else {
                PATIENCE_MAX_US
            };
            self.patience_us = (2 * self.patience_us).max(4 * self.h()).min(most_us);
        }
    }

    /// The level is path: it belongs to the lag, and the forecast is what it was.
    fn raise_floors(&mut self, rise_us: u64, now_us: u64) {
        self.risen_us += rise_us;
        self.rises += 1;
        self.h_us = Some(self.h() + rise_us);
        for (_, least_us) in &mut self.leasts {
            *least_us += rise_us;
        }
        (self.level_us, self.steady) = (0, 0);
        self.m = self.m.max(self.touched.1);
        self.touched = (now_us, self.m);
        self.patience_us = 0;
        self.recheck = Some(Recheck {
            wait_us: RECHECK_US,
            due_us: now_us + RECHECK_US,
        });
    }

    /// By how much the flow's floor is to rise before this packet's delay is taken: by what the
    /// record's rose by since its last.
    pub fn floor_rise(&self, s: &mut Share) -> u64 {
        let rise_us = self.risen_us - std::mem::replace(&mut s.risen_us, self.risen_us);
        s.h_us = s.h_us.map(|h_us| h_us + rise_us);
        if rise_us > 0 {
            s.touched_h_us = s.h_us.unwrap_or(0);
        }
        rise_us
    }

    /// The window that all flows would have together if each had the lag `h_us` and they shared `m`: the forecast is for that
    /// lag, the margin for the path's.
    fn window(&self, h_us: u64, m: f64) -> Option<f64> {
        if self.state == State::Starting && self.m == 0.0 {
            return None;
        }
        let mss = self.mss as f64;
        let margin = 11.0 / 8.0 * (self.d1 + self.d2);
        let forecast = m * h_us as f64 + margin * self.margin_us() as f64 + mss;
        let longer = h_us as f64 / self.h() as f64;
        let probed = self.probe.as_ref().map_or(0.0, |probe| probe.window);
        let wanted = if self.state == State::Rechecking {
            m * self.tried_us.min(self.h()) as f64 * longer
        } else {
            forecast.max(probed * longer)
        };
        let wanted = if self.state == State::Starting {
            wanted.max((GROWTH * self.lately()) as f64)
        } else {
            wanted
        };
        Some(wanted.max(5.0 * mss))
    }

    /// The hungry share by weight, others may grow into one more part; a longer way takes more bytes. One who
    /// is alone has the path's lag. In bytes, before it is [`whole`].
    fn share(&self, s: &Share) -> Option<f64> {
        let weight = s.weight.max(1);
        let (parts, m) = if self.is_hungry(s) {
            (self.hungry.max(weight), self.left())
        } else {
            (self.hungry + weight, self.m)
        };
        let own_us = s.h_us.filter(|_| parts > weight);
        let window = self.window(own_us.unwrap_or(self.h()), m)?;
        Some(window * weight as f64 / parts as f64)
    }
}

/// What is given of a window: of a small one whole segments, rounded up, and two at least.
fn whole(window: f64, mss: u64) -> f64 {
    let mss = mss as f64;
    let window = if window < 16.0 * mss {
        (window / mss).ceil() * mss
    } else {
        window
    };
    window.max(2.0 * mss)
}
