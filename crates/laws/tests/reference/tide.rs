//! The forecast of what the link will carry, its error, and the window that follows.

mod agrees;
mod forecast;
mod probe;
mod recheck;
mod share;

use std::ops::Range;

/// Longer silences begin anew.
const IDLE_US: u64 = 10_000_000;
/// Of one silence at most so many empty buckets count.
const CATCH_UP: usize = 32;

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
        self.turn_epoch(a.now_us);
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
        let fell = self.floor_fell(s, a.now_us);
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
}
