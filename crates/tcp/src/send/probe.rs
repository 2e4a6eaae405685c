//! Probing a closed window (RFC 9293 §3.8.6.1, `tcp_send_probe0`): a segment without data, with the sequence number
//! before the next expected one, which the peer must answer. The same timer overrides the sender's silly-window
//! avoidance (RFC 9293 §3.8.6.2.1): only it sends into a window smaller than a segment.

use super::retries::RETRIES;
use super::rtt::{RTO_MAX, RTO_MIN};
use super::timer::Timer;
use super::{Sender, Transmission};

impl Sender {
    /// Nothing is in flight, and the written data do not fit into the window: the probes begin.
    pub(super) fn start_window_probes(&mut self) {
        if !self.timers.any() {
            self.set_timer_paced(Timer::WindowProbe, self.probe_base());
        }
    }

    /// Microseconds until the first probe.
    fn probe_base(&self) -> u64 {
        self.rtt.rto_us().max(RTO_MIN).into()
    }

    /// Microseconds until the next one (`tcp_probe0_when`).
    fn probe_interval(&self) -> u64 {
        let most = (RTO_MAX / RTO_MIN).ilog2() + 1;
        self.probe_base() << self.rtt.backoff().min(most)
    }

    /// The interval has passed (`tcp_probe_timer`).
    pub(super) fn probe_window(&mut self) {
        if !self.board.is_empty() || self.unsent() == 0 {
            return self.retries.end_probes();
        }
        if self.retries.judge_probes() {
            return;
        }
        let probe = self.window_probe();
        self.work.send(Some(probe));
        if !self.board.is_empty() {
            self.retries.end_probes();
            self.rtt.end_backoff();
            self.rearm();
            return;
        }
        self.retries.probed();
        self.rtt.back_off_probes(RETRIES);
        let interval = self.probe_interval();
        self.set_timer_paced(Timer::WindowProbe, interval);
    }

    /// As much as a small window takes, or else a probe of a closed window (`tcp_write_wakeup`).
    fn window_probe(&mut self) -> Transmission {
        let room = self.window_end().saturating_sub(self.board.end());
        let (len, fin) = self.next_segment();
        if room > 0 {
            let fits = room.min(len.into()) as u32;
            return Transmission {
                push: true,
                ..self.send(fits, fin && room > u64::from(len))
            };
        }
        self.bare_probe()
    }

    /// A segment without data, with the sequence number before the next expected one.
    pub(super) fn bare_probe(&mut self) -> Transmission {
        self.counters.sent();
        Transmission {
            offset: self.board.una() - 1,
            len: 0,
            fin: false,
            push: false,
            new: false,
        }
    }

    /// An ACK with nothing in flight: the window may have opened (`tcp_ack_probe`).
    pub(super) fn answer_to_probe(&mut self) {
        if self.unsent() == 0 {
            return;
        }
        if self.next_segment_fits() {
            self.rtt.end_backoff();
            self.timers.stop();
        } else {
            let interval = self.probe_interval();
            self.set_timer_paced(Timer::WindowProbe, interval);
        }
    }
}
