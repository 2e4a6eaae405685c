//! When to acknowledge.

use crate::ticks::{Ticks, run_out};
use std::time::Duration;
use tidegate_basics::time::{Instant, earlier};

/// Shortest and longest delay of an ACK (`TCP_ATO_MIN`, `TCP_DELACK_MIN`; `TCP_DELACK_MAX`).
const ATO_MIN: Duration = Duration::from_millis(40);
const DELAY_MAX: Duration = Duration::from_millis(200);

/// ACKs in a row that are not delayed, at most (`TCP_MAX_QUICKACKS`).
const QUICK_MAX: u64 = 16;

/// The size of a full segment before one has come (`TCP_MSS_DEFAULT`, `TCP_MIN_MSS`).
const MSS_DEFAULT: u32 = 536;
const MSS_MIN: u32 = 88;

/// RTO before a round trip is known, and the least that it adds to one (`TCP_TIMEOUT_INIT`,
/// `TCP_RTO_MIN`).
const RTO_INITIAL: Duration = Duration::from_secs(1);
const RTO_MIN: Duration = Duration::from_millis(200);

/// The least time between two answers to segments outside the window (`tcp_invalid_ratelimit`).
const REFUSAL_INTERVAL: Duration = Duration::from_millis(500);

/// ACKs of out-of-order segments that are put together into one, and for how long
/// (`tcp_comp_sack_nr`, `tcp_comp_sack_delay_ns`).
const COMPRESSED_MAX: u32 = 44;
const COMPRESSED_DELAY: Duration = Duration::from_millis(1);

/// Duplicate ACKs that the sender needs for its fast retransmit (`TCP_FASTRETRANS_THRESH`).
const DUPLICATES_NEEDED: u8 = 3;

/// A data segment, as the rules for ACKs see it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    pub(super) len: u32,
    pub(super) push: bool,
    pub(super) fin: bool,
}

/// The ACKs that we owe the peer. Linux's `icsk_ack`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acks {
    /// Payload of the peer's full segments, as guessed (`rcv_mss`), and at most (`advmss`).
    mss: u32,
    mss_max: u32,
    /// Payload of the last segment, if it was smaller but perhaps full (`last_seg_size`).
    last_len: u32,
    /// Bytes of a data segment's TCP header.
    header: u32,
    /// ACKs that are still to be sent without delay.
    quick: u64,
    /// We answer data with data, so that ACKs travel with them (`pingpong`).
    interactive: bool,
    /// The delay, which follows the gaps between segments; zero before the first.
    ato: Duration,
    last_data: Instant,
    /// An ACK is owed (`ICSK_ACK_SCHED`),
    owed: bool,
    /// without delay (`ICSK_ACK_NOW`),
    urgent: bool,
    /// or as soon as everything is read: segments with PSH or smaller than full so far, up to two.
    pushed: u8,
    /// An ACK is to be sent now.
    due: bool,
    /// The delayed ACK's time.
    delayed: Option<Instant>,
    compressed: Compressed,
    last_refusal: Option<Instant>,
    /// Our own round trip, if one was measured, and the timeout that follows from it.
    srtt: Option<Duration>,
    rto: Duration,
    ticks: Option<Ticks>,
}

/// ACKs of out-of-order segments that wait to be put together.
#[derive(Clone, Copy, Debug, Default)]
struct Compressed {
    count: u32,
    until: Option<Instant>,
    /// Duplicate ACKs sent for this offset.
    duplicates: u8,
    next: u64,
}

impl Acks {
    /// `mss_max`: payload of a full segment by our own MSS; `rtt`: the handshake's.
    pub(super) fn new(
        now: Instant,
        mss_max: u32,
        timestamps: bool,
        window: u64,
        rtt: Option<Duration>,
    ) -> Self {
        let half = u32::try_from(window / 2).unwrap_or(u32::MAX);
        Self {
            mss: mss_max.min(half).clamp(MSS_MIN, MSS_DEFAULT),
            mss_max,
            last_len: 0,
            header: if timestamps { 32 } else { 20 },
            quick: 0,
            interactive: false,
            ato: Duration::ZERO,
            last_data: now,
            owed: false,
            urgent: false,
            pushed: 0,
            due: false,
            delayed: None,
            compressed: Compressed::default(),
            last_refusal: None,
            srtt: rtt,
            rto: rtt.map_or(RTO_INITIAL, |rtt| rtt + (2 * rtt).max(RTO_MIN)),
            ticks: None,
        }
    }

    /// The same with a timer that runs out at ticks.
    pub(super) fn with_ticks(self, ticks: Option<Ticks>) -> Self {
        Self { ticks, ..self }
    }

    /// Payload of the peer's full segments, as guessed.
    pub(super) fn mss(&self) -> u32 {
        self.mss
    }

    /// Whether an ACK is to be sent now.
    pub(super) fn due(&self) -> bool {
        self.due
    }

    pub(super) fn owed(&self) -> bool {
        self.owed
    }

    /// Whether an ACK waits for its time (`ICSK_ACK_TIMER`).
    pub(super) fn is_delayed(&self) -> bool {
        self.delayed.is_some()
    }

    /// An ACK is owed, sooner or later.
    pub(super) fn owe(&mut self) {
        self.owed = true;
    }

    /// An ACK is to be sent now, whatever the rules.
    pub(super) fn send(&mut self) {
        self.due = true;
    }

    /// The segment in hand is to be acknowledged without delay.
    pub(super) fn urge(&mut self) {
        self.owed = true;
        self.urgent = true;
    }

    /// A segment outside the window needs an answer; those without data get one only now and then.
    pub(super) fn refuse(&mut self, now: Instant, len: u32) {
        let recent = |last: Instant| now - last < REFUSAL_INTERVAL;
        if len == 0 {
            if self.last_refusal.is_some_and(recent) {
                return;
            }
            self.last_refusal = Some(now);
        }
        self.due = true;
    }

    /// New data arrive in order (`tcp_event_data_recv`). Returns whether the guess of the peer's
    /// segment size was revised by a full segment.
    pub(super) fn data(&mut self, now: Instant, data: Data, window: u64) -> bool {
        self.owed = true;
        let revised = self.measure(data);
        let gap = now - self.last_data;
        if self.ato.is_zero() {
            self.hurry(window);
            self.ato = ATO_MIN;
        } else if gap <= ATO_MIN / 2 {
            self.ato = self.ato / 2 + ATO_MIN / 2;
        } else if gap < self.ato {
            self.ato = (self.ato / 2 + gap).min(self.rto);
        } else if gap > self.rto {
            // The sender may be in slow start again.
            self.hurry(window);
        }
        self.last_data = now;
        revised
    }

    /// Guesses what a full segment is (`tcp_measure_rcv_mss`).
    fn measure(&mut self, data: Data) -> bool {
        let last = std::mem::take(&mut self.last_len);
        if data.len >= self.mss {
            let revised = data.len != self.mss;
            self.mss = data.len.min(self.mss_max);
            self.pushed = self.pushed.max(data.push.into());
            return revised;
        }
        let with_header = data.len + self.header;
        let remnant = data.push || data.fin;
        if with_header >= MSS_DEFAULT + 20 || (with_header >= MSS_MIN + 20 && !remnant) {
            self.last_len = data.len;
            // Two of a size: the peer's segments are smaller than was thought.
            if data.len == last {
                self.mss = data.len;
                return false;
            }
        }
        self.pushed = (self.pushed + 1).min(2);
        false
    }

    /// The next ACKs are not delayed (`tcp_incr_quickack`), up to half the window's segments.
    fn hurry(&mut self, window: u64) {
        let segments = match window / (2 * u64::from(self.mss)) {
            0 => 2,
            segments => segments.min(QUICK_MAX),
        };
        self.quick = self.quick.max(segments);
    }

    /// Something is wrong: the sender is to be told of everything (`tcp_enter_quickack_mode`).
    pub(super) fn enter_quick_mode(&mut self, window: u64) {
        self.hurry(window);
        self.interactive = false;
        self.ato = ATO_MIN;
    }

    /// The same for two ACKs: marks show congestion (`tcp_data_ecn_check`).
    pub(super) fn quicken(&mut self, window: u64) {
        let before = self.quick;
        self.enter_quick_mode(window);
        self.quick = self.quick.min(before.max(2));
    }

    /// The ACK that the segment in hand causes is not delayed.
    pub(super) fn hasten(&mut self) {
        self.urgent = true;
    }

    /// The window has grown: one more ACK is not delayed, so that the sender hears of it.
    pub(super) fn window_grew(&mut self) {
        self.quick |= 1;
    }

    /// There is little room: no ACK is hurried.
    pub(super) fn calm(&mut self) {
        self.quick = 0;
    }

    /// The peer has closed: the last ACK goes with our own FIN.
    pub(super) fn fin(&mut self) {
        self.owed = true;
        self.interactive = true;
    }

    /// Whether the segment just received is acknowledged without waiting for more.
    pub(super) fn is_hurried(&self) -> bool {
        self.urgent || (self.quick > 0 && !self.interactive)
    }

    /// A second segment, or the timer, may come first (`tcp_send_delayed_ack`).
    pub(super) fn delay(&mut self, now: Instant) {
        let ato = self.delay_allowed();
        let mut at = run_out(self.ticks, now, now + ato);
        if let Some(earlier) = self.delayed {
            if earlier <= now + ato / 4 {
                self.due = true;
                return;
            }
            at = at.min(earlier);
        }
        self.delayed = Some(at);
    }

    fn delay_allowed(&self) -> Duration {
        if self.ato <= ATO_MIN {
            return self.ato;
        }
        let longest = self.srtt.map_or(DELAY_MAX, |rtt| rtt.max(ATO_MIN));
        self.ato.min(longest).min(DELAY_MAX)
    }

    /// A segment came out of order and `next` is still missing: duplicate ACKs at once until the
    /// sender has what it needs, then at most one each 1/20 of a round trip (`rtt`: the receiver's).
    pub(super) fn compress(&mut self, now: Instant, next: u64, rtt: Option<Duration>) {
        let c = &mut self.compressed;
        if c.count >= COMPRESSED_MAX {
            self.due = true;
            return;
        }
        if c.next != next {
            c.next = next;
            c.duplicates = 0;
        }
        if c.duplicates < DUPLICATES_NEEDED {
            c.duplicates += 1;
            self.due = true;
            return;
        }
        c.count += 1;
        let rtt = rtt.unwrap_or_default();
        let rtt = self.srtt.map_or(rtt, |srtt| srtt.min(rtt));
        c.until.get_or_insert(now + COMPRESSED_DELAY.min(rtt / 20));
    }

    /// SACK blocks would be lost: the collected ACKs leave now.
    pub(super) fn flush(&mut self) {
        if self.compressed.count > 0 {
            self.due = true;
        }
    }

    /// The application has read, and nothing is left (`empty`), or a segment's worth is not yet
    /// acknowledged (`behind`): whether that is the moment for the ACK that is owed
    /// (`tcp_cleanup_rbuf`).
    pub(super) fn read(&self, empty: bool, behind: bool) -> bool {
        let pushed = self.pushed == 2 || (self.pushed == 1 && !self.interactive);
        self.owed && (behind || (pushed && empty))
    }

    /// A segment leaves that acknowledges everything (`tcp_event_ack_sent`,
    /// `tcp_event_data_sent`).
    pub(super) fn sent(&mut self, now: Instant, data: bool) {
        self.compressed.count = 0;
        self.compressed.until = None;
        if self.quick > 0 && self.owed {
            self.quick -= 1;
            if self.quick == 0 {
                self.ato = ATO_MIN;
            }
        }
        self.owed = false;
        self.urgent = false;
        self.pushed = 0;
        self.due = false;
        self.delayed = None;
        if data && now - self.last_data < self.ato {
            self.interactive = true;
        }
    }

    pub(super) fn timeout(&self) -> Option<Instant> {
        earlier(self.delayed, self.compressed.until)
    }

    pub(super) fn expire(&mut self, now: Instant) {
        let expired = |at: &mut Instant| *at <= now;
        if self.compressed.until.take_if(expired).is_some() {
            self.due = true;
        }
        if self.delayed.take_if(expired).is_some() {
            self.delay_missed();
        }
    }

    /// The delayed ACK's time has come (`tcp_delack_timer_handler`): no segment came to carry it, so the delay was too
    /// short, or we are not as interactive as we seemed.
    fn delay_missed(&mut self) {
        if !self.owed {
            return;
        }
        self.due = true;
        if self.interactive {
            self.interactive = false;
            self.ato = ATO_MIN;
        } else {
            self.ato = (self.ato * 2).min(self.rto);
        }
    }
}

#[cfg(test)]
mod tests;
