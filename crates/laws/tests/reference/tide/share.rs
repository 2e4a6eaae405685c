//! The path's window, and what a flow gets of it.

use super::{Share, State, Tide};

const MARGIN_LEAST_US: u64 = 10_000;
/// After idleness the window may be so many times what has come in a lag.
const GROWTH: u64 = 4;

impl Tide {
    /// A round trip with its queue is over: who was hungry in it shares in the next.
    pub(super) fn turn_epoch(&mut self, now_us: u64) {
        if now_us < self.epoch_end_us {
            return;
        }
        self.epoch += 1;
        self.span += u64::from(self.state != State::Rechecking);
        self.sated = std::mem::take(&mut self.sated_now);
        self.sated_us = self.epoch_us + now_us - self.epoch_end_us;
        self.epoch_us = self.h() + self.last_queue_us;
        self.epoch_end_us = now_us + self.epoch_us;
        self.hungry = std::mem::take(&mut self.hungry_now);
        self.active = std::mem::take(&mut self.active_now);
    }

    /// In this round trip or the one before.
    pub(super) fn is_hungry(&self, s: &Share) -> bool {
        s.hungry.is_some_and(|epoch| epoch + 1 >= self.epoch)
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

    /// Hungry: at least a quarter of its share, by weight, of what the link carries in a round trip. While none
    /// is, those that have data share.
    pub(super) fn count_hungry(&mut self, s: &mut Share, len: u64) {
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
    pub(super) fn share(&self, s: &Share) -> Option<f64> {
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
pub fn whole(window: f64, mss: u64) -> f64 {
    let mss = mss as f64;
    let window = if window < 16.0 * mss {
        (window / mss).ceil() * mss
    } else {
        window
    };
    window.max(2.0 * mss)
}
