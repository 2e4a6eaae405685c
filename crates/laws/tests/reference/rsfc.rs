//! Receiver-side flow control (RSFC, thesis section 5.1).

mod agrees;

const SECOND_US: f64 = 1e6;

/// Sections 5.1.1 and 5.1.3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    #[default]
    Slow,
    Fast,
    Monitor,
}

/// A segment. Nothing wraps here.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    pub now_us: u64,
    pub bytes: u64,
    pub mss: u64,
    pub rd_us: i64,
    pub rtt_us: Option<u64>,
    /// Unit of the sender's timestamps; `None` where it is not understood.
    pub tick_us: Option<u64>,
    /// Nothing was lost or overtaken.
    pub sound: bool,
    /// The sender's window is above W still.
    pub held: bool,
    /// The minima are never raised, as in Fig. 5.9.
    pub keep: bool,
}

/// A measurement of ρ, and the part of it that one arrival makes, in whole bytes a second.
#[derive(Clone, Copy, Debug)]
struct Rho {
    rate: f64,
    grain: f64,
}

/// The flow. Everything seen in a cycle is kept.
#[derive(Clone, Debug, Default)]
pub struct Rsfc {
    pub state: State,
    pub rd_min_us: Option<i64>,
    pub rtt_min_us: Option<u64>,
    /// W; None: the kernel's.
    pub window: Option<f64>,
    /// ρ in whole bytes a second.
    rho: Option<f64>,
    tick_us: Option<u64>,
    since_us: u64,
    /// RD and RTT of this cycle, or of the monitor state, and every ρ measured in it.
    seen: Vec<(i64, Option<u64>)>,
    rhos: Vec<Rho>,
    queued: bool,
    /// Since when ρ is measured, and the arrivals after that, in bytes.
    mark_us: u64,
    arrivals: Vec<u64>,
    arrived_us: u64,
    rtt_us: Option<u64>,
}

impl Rsfc {
    fn rtt_min(&self) -> f64 {
        self.rtt_min_us.expect("known") as f64
    }

    /// "We set T = RTTmin"; two ticks at least.
    fn threshold_us(&self) -> f64 {
        self.rtt_min()
            .max(2.0 * self.tick_us.expect("known") as f64)
    }

    /// "⌈(ρ × RTTmin)/MSS⌉ × MSS", and one segment that waits for its ACK.
    fn bdp(&self, mss: u64) -> f64 {
        let bytes = (self.rho.unwrap() * self.rtt_min() / SECOND_US).floor();
        ((bytes / mss as f64).ceil() + 1.0) * mss as f64
    }

    /// From arrival to arrival over a round trip, but not over a silence.
    fn measure(&mut self, a: &Arrival) -> bool {
        let silent_us = a.now_us - self.arrived_us;
        self.arrived_us = a.now_us;
        let Some(rtt_us) = self.rtt_us.filter(|rtt| silent_us / 2 <= *rtt) else {
            self.measure_anew(a.now_us);
            return false;
        };
        self.arrivals.push(a.bytes);
        let bytes: u64 = self.arrivals.iter().sum();
        let elapsed_us = a.now_us - self.mark_us;
        if elapsed_us < rtt_us || bytes == 0 {
            return false;
        }
        let over = |bytes: u64| (bytes as f64 * SECOND_US / elapsed_us as f64).floor();
        let rate = over(bytes).max(1.0);
        let grain = over(*self.arrivals.iter().max().unwrap());
        self.rho = Some(rate);
        self.rhos.push(Rho { rate, grain });
        self.measure_anew(a.now_us);
        true
    }

    fn measure_anew(&mut self, now_us: u64) {
        self.mark_us = now_us;
        self.arrivals.clear();
    }

    /// Whether some ρ is an eighth, and one arrival, above one before it.
    fn rho_rose(&self) -> bool {
        let later = |i: usize| &self.rhos[i..];
        let rose = |(i, before): (usize, &Rho)| {
            let bound = before.rate + (before.rate / 8.0).floor();
            later(i).iter().any(|rho| rho.rate > bound + rho.grain)
        };
        self.rhos.iter().enumerate().any(rose)
    }

    fn enter(&mut self, state: State, now_us: u64) {
        self.state = state;
        self.since_us = now_us;
        self.measure_anew(now_us);
    }

    fn enter_anew(&mut self, state: State, a: &Arrival) {
        self.enter(state, a.now_us);
        self.rhos.clear();
        self.queued = false;
        self.seen.clear();
        self.seen.extend(a.sound.then_some((a.rd_us, a.rtt_us)));
    }

    fn lowest_rd(&self) -> i64 {
        self.seen.iter().map(|s| s.0).min().unwrap()
    }

    /// "Updated to the minimum RD and RTT observed".
    fn adopt(&mut self) {
        self.rd_min_us = Some(self.lowest_rd());
        let rtts = self.seen.iter().filter_map(|s| s.1);
        self.rtt_min_us = rtts.min().or(self.rtt_min_us);
    }

    fn sound(&mut self, a: &Arrival, measured: bool) {
        self.rd_min_us = Some(self.rd_min_us.map_or(a.rd_us, |rd| rd.min(a.rd_us)));
        self.rtt_min_us = [self.rtt_min_us, a.rtt_us].into_iter().flatten().min();
        self.seen.push((a.rd_us, a.rtt_us));
        if self.rtt_min_us.is_none() {
            return;
        }
        let t_buff_us = (a.rd_us - self.rd_min_us.unwrap()) as f64;
        let threshold_us = self.threshold_us();
        match self.state {
            State::Slow if t_buff_us > threshold_us && self.rho.is_some() => {
                self.enter(State::Fast, a.now_us);
            }
            State::Slow => {}
            State::Fast => self.fast(a, t_buff_us),
            State::Monitor if self.rho_rose() => {
                self.adopt();
                self.window = Some(self.bdp(a.mss));
                self.enter_anew(State::Slow, a);
            }
            State::Monitor if self.queued && measured && self.rhos.len() > 1 => {
                let half_us = self.rtt_min_us.unwrap() / 2;
                self.rtt_min_us = Some(self.rtt_min_us.unwrap() - half_us);
                self.rd_min_us = Some(self.rd_min_us.unwrap() - half_us as i64);
                self.enter_anew(State::Fast, a);
            }
            State::Monitor => {
                self.queued |= (a.rd_us - self.lowest_rd()) as f64 > threshold_us;
            }
        }
    }

    fn fast(&mut self, a: &Arrival, t_buff_us: f64) {
        let threshold_us = self.threshold_us();
        let mut elapsed_us = (a.now_us - self.since_us) as f64;
        // At least 2 RTTmin are left until W is in force.
        if a.held {
            elapsed_us = elapsed_us.min(2.0 * threshold_us + self.rtt_min());
            self.since_us = a.now_us - elapsed_us as u64;
        }
        if t_buff_us <= threshold_us {
            if self.rho_rose() && !a.keep {
                self.adopt();
            }
            self.enter_anew(State::Slow, a);
        } else if !a.keep && elapsed_us > 2.0 * threshold_us + 3.0 * self.rtt_min() {
            self.enter_anew(State::Monitor, a);
        }
    }

    /// Returns W.
    pub fn arrived(&mut self, a: &Arrival) -> Option<f64> {
        let measured = self.measure(a);
        self.rtt_us = a.rtt_us.filter(|_| a.sound).or(self.rtt_us);
        if a.tick_us != self.tick_us {
            self.tick_us = a.tick_us;
            // The round trip's excess over its smallest is taken for a buffer.
            let longer_us = |min: u64| self.rtt_us.unwrap().saturating_sub(min) as i64;
            self.rd_min_us = self.rtt_min_us.map(|min| a.rd_us - longer_us(min));
            self.window = None;
            self.enter_anew(State::Slow, a);
            self.seen.clear();
        }
        self.tick_us?;
        if a.sound {
            self.sound(a, measured);
        } else {
            self.since_us = a.now_us;
        }
        match self.state {
            State::Fast => self.window = Some(self.bdp(a.mss)),
            State::Slow | State::Monitor => {
                let segments = a.bytes.div_ceil(a.mss) as f64;
                self.window = self.window.map(|w| w + segments * a.mss as f64);
            }
        }
        self.window
    }
}
