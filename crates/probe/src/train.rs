//! A train of packets that fills the queue in front of a link, and lets it empty again.
//!
//! ```text
//!              reports: overflow            queue empty, or none left
//!   Quiet ──▶ Fill ─────────────▶ (hold) ──▶ Drain ─────────▶ done
//!   50 ms apart   2 × what arrives            0.3 × what arrives
//! ```

mod alarm;
mod progress;
#[cfg(test)]
mod tests;

use crate::{Data, Report, Stage};
use alarm::Alarm;
use progress::Progress;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// Twice the arriving rate: filling a buffer of B bytes with k times the rate takes B·k/(k − 1) bytes, and until its
/// overflow is seen, which is B later, k·B more; k = 2 makes the sum least, 4·B.
const OVERLOAD: f64 = 2.0;

/// Low enough for the queue to empty soon, high enough to see an AQM that drops meanwhile.
const UNDERLOAD: f64 = 0.3;

/// This many packets should meet the emptying queue: a short one is drained more slowly, with at most this share of the
/// arriving rate. The bound of an AQM is where packets are no longer lost.
const WITNESSES: u32 = 200;
const SLOWEST: f64 = 0.75;

/// Packets that meet an empty queue, and the time between them: the larger ones of the thesis, at 227 kbit/s, do not
/// load a link of 0.5 Mbit/s.
const QUIET_PACKETS: u32 = 8;
const QUIET_GAP: Duration = Duration::from_millis(50);

/// From the detected overflow until the queue is drained: some more losses to judge by.
const HOLD: Duration = Duration::from_millis(300);
const HOLD_PACKETS: u32 = 100;

/// The longest time between two packets.
const LONGEST_GAP: Duration = Duration::from_millis(200);

/// A queue below this share of the longest, or below this many microseconds, is empty.
const EMPTY_SHARE: f64 = 0.03;
const EMPTY_US: u32 = 3000;

/// Without a report for this long the far end has gone.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Rates, sizes and bounds of a train.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrainConfig {
    /// Its number.
    pub flow: u8,
    /// Length of its IP packets, headers included.
    pub bytes: u16,
    /// How its rate is chosen.
    pub pace: Pace,
    /// Its initial rate, in bit/s.
    pub start_bps: f64,
    /// Its largest rate, in bit/s.
    pub max_bps: f64,
    /// The most bytes that it may cost.
    pub max_bytes: u64,
    /// How long it may take.
    pub max_time: Duration,
}

/// How a train's rate is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// As in the picture: fills, overflows and drains.
    Overflow,
    /// This many bytes in flight, as the thesis kept the link busy (Figs. 4.6 and 4.13).
    Window(u64),
    /// A constant rate in bit/s, as its delay-sensitive flow has (Fig. 4.12).
    Constant(f64),
    /// The arriving rate and a quarter more: always busy, and soon full.
    Busy,
}

/// A running train.
#[derive(Debug)]
pub struct Train {
    config: TrainConfig,
    stage: Stage,
    started: Instant,
    /// When the next packet is due.
    next_at: Instant,
    sequence: u32,
    sent_bytes: u64,
    rate_bps: f64,
    progress: Progress,
    alarm: Alarm,
    /// When the overflow was detected, and how many packets had been sent.
    overflow: Option<(Instant, u32)>,
    /// Packets sent before the drain, and those in flight then.
    drain: (u32, f64),
    /// Reports in a row with an empty queue, in the drain.
    empty: u32,
    longest_us: u32,
    heard: Instant,
    done: bool,
}

impl Train {
    /// A train that starts at `now`.
    pub fn new(config: TrainConfig, now: Instant) -> Self {
        Self {
            config,
            stage: Stage::Quiet,
            started: now,
            next_at: now,
            sequence: 0,
            sent_bytes: 0,
            rate_bps: config.start_bps,
            progress: Progress::default(),
            alarm: Alarm::default(),
            overflow: None,
            drain: (0, 0.0),
            empty: 0,
            longest_us: 0,
            heard: now,
            done: false,
        }
    }

    /// When the next packet is due; none once it is over or waits for a report.
    pub fn next_event(&self) -> Option<Instant> {
        match self.config.pace {
            _ if self.done => None,
            Pace::Window(window) if self.stage != Stage::Quiet && self.on_the_way() >= window => {
                Some(self.heard + TIMEOUT)
            }
            _ => Some(self.next_at),
        }
    }

    /// The next packet due by `now`; `clock` is the sender's clock.
    pub fn poll(&mut self, now: Instant, clock: Instant) -> Option<Data> {
        self.next_event().filter(|&at| at <= now)?;
        self.advance(now);
        if self.done {
            return None;
        }
        let data = Data {
            flow: self.config.flow,
            stage: self.stage,
            sequence: self.sequence,
            sent: clock,
            bytes: self.config.bytes,
        };
        self.sequence += 1;
        self.sent_bytes += u64::from(self.config.bytes);
        // A sender that woke late catches up, but no more than a report's worth.
        self.next_at = (self.next_at + self.gap()).max(now - Duration::from_millis(20));
        Some(data)
    }

    /// A report came at `now`.
    pub fn report(&mut self, now: Instant, report: &Report) {
        if report.flow != self.config.flow || !self.progress.note(report) {
            return;
        }
        self.heard = now;
        self.longest_us = self.longest_us.max(report.queued_us);
        let (arrived, lost) = self.progress.latest();
        if self.stage == Stage::Fill && self.alarm.note(arrived, lost) && self.overflow.is_none() {
            self.overflow = Some((now, self.sequence));
        }
        self.choose_rate();
        self.watch_drain(report);
    }

    /// Whether nothing more will be sent.
    pub fn is_done(&self) -> bool {
        self.done
    }

    /// Whether an overflow was detected.
    pub fn overflowed(&self) -> bool {
        self.overflow.is_some()
    }

    /// The arriving rate, in bit/s, by the latest reports.
    pub fn delivered_bps(&self) -> Option<f64> {
        self.progress.delivered_bps()
    }

    /// Packets that have arrived, as of the latest report.
    pub fn received(&self) -> u32 {
        self.progress.received()
    }

    /// Bytes sent so far.
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// Reports that are kept.
    #[cfg(test)]
    pub fn remembered(&self) -> usize {
        self.progress.kept()
    }

    /// The stage and the end follow from the time and the packets sent.
    fn advance(&mut self, now: Instant) {
        let spent = self.sent_bytes + u64::from(self.config.bytes) > self.config.max_bytes;
        let late = now - self.started > self.config.max_time;
        self.done |= spent || now - self.heard >= TIMEOUT;
        match (self.stage, self.config.pace) {
            (Stage::Quiet, Pace::Constant(_)) => self.stage = Stage::Fill,
            (Stage::Quiet, _) if self.sequence == QUIET_PACKETS => self.stage = Stage::Fill,
            (Stage::Fill, Pace::Overflow) => {
                let held = self.overflow.is_some_and(|(at, sent)| {
                    now - at > HOLD && self.sequence - sent > HOLD_PACKETS
                });
                if held || late || self.is_half_spent() {
                    self.stage = Stage::Drain;
                    let on_the_way = self.on_the_way() / u64::from(self.config.bytes);
                    self.drain = (self.sequence, on_the_way as f64);
                    self.choose_rate();
                }
            }
            (Stage::Fill, _) => self.done |= late,
            _ => {}
        }
        // A queue takes as long to empty as it took to fill, unless the link has become slow.
        self.done |= now - self.started > self.config.max_time * 3;
    }

    /// The other half is kept for the drain.
    fn is_half_spent(&self) -> bool {
        self.sent_bytes > self.config.max_bytes / 4 * 3
    }

    fn choose_rate(&mut self) {
        let Some(delivered) = self.progress.delivered_bps() else {
            return;
        };
        let rate = match (self.config.pace, self.stage) {
            (_, Stage::Quiet) => return,
            (Pace::Constant(_) | Pace::Window(_), _) => return,
            (Pace::Busy, _) => 1.25 * delivered,
            // A link that pauses has not become slower: its earlier rate will soon return.
            (Pace::Overflow, Stage::Fill) => (OVERLOAD * delivered)
                .max(self.rate_bps / 2.0)
                .max(self.config.start_bps),
            (Pace::Overflow, Stage::Drain) => self.underload() * delivered,
        };
        self.rate_bps = rate.min(self.config.max_bps);
    }

    /// Q packets leave while n·Q come, if n = r/(1 − r).
    fn underload(&self) -> f64 {
        let (from, queue) = self.drain;
        let left = self.config.max_bytes.saturating_sub(self.sent_bytes);
        let dear = left < 2 * u64::from(WITNESSES) * u64::from(self.config.bytes);
        if dear || self.sequence - from > WITNESSES {
            return UNDERLOAD;
        }
        let wanted = f64::from(WITNESSES);
        (wanted / (wanted + queue)).clamp(UNDERLOAD, SLOWEST)
    }

    fn watch_drain(&mut self, report: &Report) {
        if self.stage != Stage::Drain {
            return;
        }
        let bound = EMPTY_US.max((EMPTY_SHARE * f64::from(self.longest_us)) as u32);
        self.empty = if report.queued_us < bound {
            self.empty + 1
        } else {
            0
        };
        self.done |= self.empty >= 2;
    }

    fn on_the_way(&self) -> u64 {
        let size = u64::from(self.config.bytes);
        (self.sent_bytes).saturating_sub(u64::from(self.progress.next_sequence()) * size)
    }

    fn gap(&self) -> Duration {
        if self.stage == Stage::Quiet {
            return QUIET_GAP;
        }
        let bits = f64::from(self.config.bytes) * 8.0;
        let seconds = match self.config.pace {
            Pace::Window(_) => 0.0,
            Pace::Constant(bps) => bits / bps,
            _ => bits / self.rate_bps.max(1.0),
        };
        Duration::from_secs_f64(seconds.min(LONGEST_GAP.as_secs_f64()))
    }
}
