//! Bytes per round trip, and the two laws that live on them.

mod agrees;

/// Counts the bytes of a round trip and averages its RTT samples (DRWA report, Algorithms 1 and 3).
///
/// Readings: a round ends with the first packet after it has lasted RTTest, in whole microseconds;
/// before there is a round's average the first sample stands for it; a round without samples keeps
/// the average; a round without new data adjusts nothing.
#[derive(Default)]
pub struct Rounds {
    began_us: Option<u64>,
    data_rcvd: u64,
    samples_us: Vec<u64>,
    pub rtt_est_us: Option<f64>,
    pub rtt_min_us: Option<f64>,
}

impl Rounds {
    /// Returns the bytes of the round that this packet ends.
    pub fn arrived(&mut self, bytes: u64, sample_us: Option<u64>, now_us: u64) -> Option<u64> {
        let began_us = *self.began_us.get_or_insert(now_us);
        self.data_rcvd += bytes;
        if let Some(sample_us) = sample_us {
            self.samples_us.push(sample_us);
            self.rtt_est_us.get_or_insert(sample_us as f64);
        }
        let elapsed_us = now_us - began_us;
        if (elapsed_us as f64) < self.rtt_est_us?.floor() {
            return None;
        }
        if !self.samples_us.is_empty() {
            let sum: u64 = self.samples_us.iter().sum();
            self.rtt_est_us = Some(sum as f64 / self.samples_us.len() as f64);
        }
        self.rtt_min_us = match (self.rtt_min_us, self.rtt_est_us) {
            (Some(min), Some(est)) => Some(min.min(est)),
            (min, est) => min.or(est),
        };
        self.samples_us.clear();
        self.began_us = Some(now_us);
        let bytes = std::mem::take(&mut self.data_rcvd);
        (bytes > 0).then_some(bytes)
    }
}

/// Algorithms 1 and 2.
///
/// ```text
/// cwnd_est <- data_rcvd
/// rwnd <- max{2 * cwnd_est, rwnd}
/// rwnd <- min{tcp_rmem_max, rwnd}
/// ```
pub fn drs(rwnd: f64, data_rcvd: u64, tcp_rmem_max: f64) -> f64 {
    let cwnd_est = data_rcvd as f64;
    (2.0 * cwnd_est).max(rwnd).min(tcp_rmem_max)
}

/// Algorithm 3, with α = 7/8.
///
/// ```text
/// cwnd_est <- data_rcvd in the first RTT_est
/// cwnd_est <- α * cwnd_est + (1 − α) * data_rcvd
/// rwnd <- λ * RTT_min / RTT_est * cwnd_est
/// ```
pub struct Drwa {
    pub lambda: f64,
    cwnd_est: Option<f64>,
}

impl Drwa {
    pub fn new(lambda: f64) -> Self {
        Self {
            lambda,
            cwnd_est: None,
        }
    }

    pub fn adjust(&mut self, data_rcvd: u64, rtt_min_us: f64, rtt_est_us: f64) -> f64 {
        const ALPHA: f64 = 7.0 / 8.0;
        let data_rcvd = data_rcvd as f64;
        let cwnd_est = match self.cwnd_est {
            None => data_rcvd,
            Some(cwnd_est) => ALPHA * cwnd_est + (1.0 - ALPHA) * data_rcvd,
        };
        self.cwnd_est = Some(cwnd_est);
        self.lambda * rtt_min_us / rtt_est_us * cwnd_est
    }
}
