//! The timestamps option: our clock, and which of the peer's stamps is echoed (RFC 7323).

use crate::{Config, Timestamps};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// An echo older than this proves nothing about order (RFC 7323 §5.5; `TCP_PAWS_24DAYS`).
const PAWS_IDLE: Duration = Duration::from_secs(24 * 24 * 3600);

/// Both clocks of a connection. Ours ticks in milliseconds, as Linux's does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    offset: u32,
    offered: bool,
    agreed: bool,
    /// TS.Recent, and when it came.
    recent: u32,
    recent_at: Instant,
}

impl Clock {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            offset: config.timestamp_offset,
            offered: config.timestamps,
            agreed: false,
            recent: 0,
            recent_at: Instant::ZERO,
        }
    }

    /// The peer's SYN carries the option, or does not.
    pub(super) fn negotiate(&mut self, now: Instant, option: Option<Timestamps>) {
        self.agreed = self.offered && option.is_some();
        if let Some(option) = option {
            self.note(now, option);
        }
    }

    /// Whether every segment carries the option.
    pub(super) fn in_use(&self) -> bool {
        self.agreed
    }

    /// The option of a segment that leaves now; of a SYN if `offering`.
    pub(super) fn option(&self, now: Instant, offering: bool) -> Option<Timestamps> {
        let wanted = if offering { self.offered } else { self.agreed };
        wanted.then(|| Timestamps {
            val: self.tick(now),
            ecr: self.recent,
        })
    }

    /// How long ago the segment was sent that this one answers, in whole ticks and at least one (`tcp_rtt_tsopt_us`).
    pub(super) fn since_echoed(
        &self,
        now: Instant,
        option: Option<Timestamps>,
    ) -> Option<Duration> {
        let option = option.filter(|option| self.agreed && option.ecr != 0)?;
        let ticks = self.tick(now).wrapping_sub(option.ecr).max(1);
        Some(Duration::from_millis(ticks.into()))
    }

    /// Whether the segment answers one that was sent at `sent`.
    pub(super) fn is_echo_of(&self, sent: Instant, option: Option<Timestamps>) -> bool {
        self.agreed && option.is_some_and(|option| option.ecr == self.tick(sent))
    }

    /// Our clock, as segments carry it.
    fn tick(&self, at: Instant) -> u32 {
        Timestamps::tick(at).wrapping_add(self.offset)
    }

    /// Whether the segment is an old duplicate (PAWS, RFC 7323 §5.3).
    pub(super) fn is_old(&self, now: Instant, option: Option<Timestamps>) -> bool {
        let Some(option) = option.filter(|_| self.agreed) else {
            return false;
        };
        (option.val.wrapping_sub(self.recent) as i32) < 0 && now - self.recent_at < PAWS_IDLE
    }

    /// Notes which TSval to echo (RFC 7323 §4.3): that of a segment that begins no later than where the last ACK
    /// ended, so that a delayed ACK's round trip includes its delay. Linux takes the next byte expected for the last one
    /// acknowledged (`rcv_wup`), and so do we.
    pub(super) fn heard(
        &mut self,
        now: Instant,
        option: Option<Timestamps>,
        seq_offset: u64,
        last_ack_sent: u64,
    ) {
        if let Some(option) = option.filter(|_| self.agreed && seq_offset <= last_ack_sent) {
            self.note(now, option);
        }
    }

    /// Milliseconds since the segment left that the option answers.
    pub(super) fn echo_age(&self, now: Instant, option: Option<Timestamps>) -> Option<u32> {
        let option = option.filter(|_| self.agreed)?;
        let ours = Timestamps::tick(now).wrapping_add(self.offset);
        Some(ours.wrapping_sub(option.ecr))
    }

    fn note(&mut self, now: Instant, option: Timestamps) {
        self.recent = option.val;
        self.recent_at = now;
    }
}
