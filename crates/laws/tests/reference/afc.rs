//! The application's read rate and the sender's window.

mod agrees;
mod hostile;

/// Algorithm 2 of the AFC paper, in bytes a second.
///
/// ```text
/// smooth_rx <- history_factor * smooth_rx + (1 - history_factor) * num_bytes / t_elapsed
/// ```
///
/// Readings: a sample spans a round trip, and a millisecond at least; bytes that are read before then count for it.
pub struct ReadRate {
    pub smooth_rx: f64,
    num_bytes: f64,
    last_read_us: u64,
}

impl ReadRate {
    pub fn new(now_us: u64) -> Self {
        Self {
            smooth_rx: 0.0,
            num_bytes: 0.0,
            last_read_us: now_us,
        }
    }

    pub fn read(&mut self, bytes: u64, now_us: u64, rtt_us: u32) {
        self.num_bytes += bytes as f64;
        self.ar_update(now_us, rtt_us);
    }

    pub fn ar_update(&mut self, now_us: u64, rtt_us: u32) {
        const HISTORY_FACTOR: f64 = 0.5;
        let t_elapsed = now_us - self.last_read_us;
        if t_elapsed < u64::from(rtt_us.max(1_000)) {
            return;
        }
        let sample = self.num_bytes / (t_elapsed as f64 / 1e6);
        self.smooth_rx = HISTORY_FACTOR * self.smooth_rx + (1.0 - HISTORY_FACTOR) * sample;
        self.num_bytes = 0.0;
        self.last_read_us = now_us;
    }
}

/// The part of a rate that is left after `elapsed_us`, if it is forgotten over two round trips.
pub fn held(kbps: u32, elapsed_us: u32, rtt_us: u32) -> f64 {
    let share = 1.0 - f64::from(elapsed_us) / (2.0 * f64::from(rtt_us));
    f64::from(kbps) * share.max(0.0)
}

/// Equation 36: W = B + AR × RTT, in bytes.
pub fn window(free: u64, kbps: u32, rtt_us: u32) -> f64 {
    free as f64 + f64::from(kbps) * 1000.0 / 8.0 * f64::from(rtt_us) / 1e6
}
