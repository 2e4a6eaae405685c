//! Trains: segments that Linux passes down together, for the device or the lower layers to cut apart (TSO, GSO). On the
//! wire they follow each other without a gap, so our sender, which has no offload, uses trains as well: for how long
//! they are (`tcp_tso_autosize`, `tcp_cwnd_test`), for filling the peer's window to the last byte
//! (`tcp_mss_split_point`), and for waiting until a longer one may leave (`tcp_tso_should_defer`). RFC 9293 has nothing
//! of all this.

use super::Sender;
use std::time::Duration;
use tidegate_basics::time::Instant;

/// A train is what the pacing rate carries in 2⁻¹⁰ s (`sk_pacing_shift`) …
const SHARE_SHIFT: u32 = 10;

/// … and on short paths more: [`LARGEST`], halved for every 2⁹ µs of round trip (`tcp_tso_rtt_log`).
const HALVING_US_SHIFT: u32 = 9;

/// The most bytes of a train (`sk_gso_max_size`).
const LARGEST: u64 = 65_536;

/// The least segments of a train (`tcp_min_tso_segs`, `bbr_min_tso_segs`), and of one on a path so slow that it is
/// paced at less than [`SLOW`].
const LEAST: u64 = 2;
const LEAST_WHEN_SLOW: u64 = 1;

/// Bytes a second (`bbr_min_tso_rate`).
const SLOW: u64 = 1_200_000 / 8;

/// A train does not wait if the last segment left longer ago than this, or if the next ACK is not expected within this
/// time.
const SOON: Duration = Duration::from_millis(1);

/// A share of the window that is worth a train (`tcp_tso_win_divisor`).
const WINDOW_SHARE: u64 = 3;

/// A train that is leaving.
#[derive(Clone, Copy, Debug)]
pub(super) struct Train {
    /// Sequence numbers that have not left yet.
    left: u64,
    /// When all of it leaves, by the pacing.
    at: Instant,
    /// It is of more than one segment.
    long: bool,
}

impl Train {
    /// `left` sequence numbers leave at `at`, in segments of `mss` bytes.
    pub(super) fn new(left: u64, at: Instant, mss: u32) -> Self {
        Self {
            left,
            at,
            long: left > mss.into(),
        }
    }

    /// Sequence numbers that have not left yet.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// When all of it leaves.
    pub(super) fn at(&self) -> Instant {
        self.at
    }

    /// `seq_len` sequence numbers have left: returns the rest, if any.
    pub(super) fn after(self, seq_len: u64) -> Option<Self> {
        let left = self.left.saturating_sub(seq_len);
        (left > 0).then_some(Self { left, ..self })
    }

    /// Whether it is of more than one segment.
    pub(super) fn is_long(&self) -> bool {
        self.long
    }
}

/// What may leave now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A train of this many sequence numbers.
    Train(u64),
    /// A train could leave, but a little later it will be longer.
    Later {
        /// The congestion window will grow, not the peer's.
        cwnd_limited: bool,
    },
}

impl Sender {
    /// The next train, when the windows have room for a segment: in sequence numbers, a FIN's included. `nagle` holds
    /// its last segment back if that is small and another small one is on its way.
    pub(super) fn next_train(&self, nagle: bool) -> Next {
        let mss = u64::from(self.mss.current());
        let unsent = self.unsent();
        if unsent <= mss {
            return Next::Train(unsent);
        }
        let longest = self.train_segments();
        let room = self.window_end() - self.board.end();
        let free = u64::from(self.congestion.cwnd() - self.board.in_flight());
        if self.worth_waiting(longest * mss, room, free * mss) {
            return Next::Later {
                cwnd_limited: free * mss < room,
            };
        }
        let segments = free
            .min((u64::from(self.congestion.cwnd()) / 2).max(1))
            .min(longest);
        let full = segments * mss;
        let most = unsent.min(room);
        Next::Train(match most {
            most if most >= full => full,
            most if nagle && self.is_small_one_out() => most - most % mss,
            most => most,
        })
    }

    /// Whether a small segment is on its way (`tcp_minshall_check`).
    pub(super) fn is_small_one_out(&self) -> bool {
        !self.board.is_empty() && self.outbox.is_small_one_out(self.board.una())
    }

    /// Segments of a train at most (`tcp_tso_autosize`).
    pub(super) fn train_segments(&self) -> u64 {
        if let Some(segments) = self.congestion.train_segments() {
            return segments.max(1).into();
        }
        let rate = self.congestion.pacing_rate().or_else(|| self.usual_rate());
        let min_rtt = self.rtt.min_us().unwrap_or(u32::MAX);
        let more = LARGEST
            .checked_shr(min_rtt >> HALVING_US_SHIFT)
            .unwrap_or(0);
        let bytes = rate.map_or(LARGEST, |rate| (rate >> SHARE_SHIFT) + more);
        let least = match self.congestion.pacing_rate() {
            Some(rate) if rate < SLOW => LEAST_WHEN_SLOW,
            _ => LEAST,
        };
        (bytes.min(LARGEST) / u64::from(self.mss.full())).max(least)
    }

    /// The rate that Linux keeps for senders that are not paced (`tcp_update_pacing_rate`): the window in a smoothed
    /// round trip, twice as much while slow start has far to go, and a fifth more afterwards.
    fn usual_rate(&self) -> Option<u64> {
        let srtt = u64::from(self.rtt.srtt_us());
        let window =
            u64::from(self.congestion.cwnd().max(self.board.len())) * u64::from(self.mss.full());
        let percent = match self.congestion.cwnd() < self.congestion.ssthresh() / 2 {
            true => 200,
            false => 120,
        };
        (srtt > 0).then(|| window * percent * 10_000 / srtt)
    }

    /// `tcp_tso_should_defer`: the windows have room for less than a full train and a good part of
    /// themselves, segments leave all the time, and the next ACK is near (since 6.18 the time until
    /// it is due; before, the age of what it will answer).
    fn worth_waiting(&self, full: u64, room: u64, free: u64) -> bool {
        let limit = room.min(free);
        let window = self
            .peer
            .size()
            .min(u64::from(self.congestion.cwnd()) * u64::from(self.mss.full()));
        let Some(oldest) = self.board.head() else {
            return false;
        };
        let srtt = Duration::from_micros(self.rtt.srtt_us().into());
        let next_ack = (oldest.at + srtt) - self.now;
        self.episode.is_before_recovery()
            && self.now - self.usage.sent_at() <= SOON
            && limit < full
            && limit < window / WINDOW_SHARE
            && next_ack <= SOON.min(srtt / 2)
    }
}
