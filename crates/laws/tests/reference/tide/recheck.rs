//! Floors that hide a queue: after they have risen, and when one has fallen.

use super::{Arrival, Share, State, Tide};

/// Raised floors are held against RTTmin after so long, then half as often, down to this.
pub const RECHECK_US: u64 = 4_000_000;
const RECHECK_MAX_US: u64 = 16_000_000;
/// Floors that fall by more in a round trip, and by an eighth of the lag, hid a queue.
const FALL_US: u64 = 8_000;
/// A sixteenth of the time, in the long run, is for rechecks after falls; eight may come at once.
const RECHECK_PART: u64 = 16;
const RECHECKS: u64 = 8;

impl Tide {
    /// Falls of the flow's floor are summed over a round trip, or a recheck.
    pub(super) fn note_fall(&self, s: &mut Share, fell_us: u64) {
        if s.fallen.0 != self.span {
            s.fallen = (self.span, 0);
        }
        s.fallen.1 += fell_us;
    }

    /// Whether the flow's floor fell by much, and a recheck is affordable.
    pub(super) fn floor_fell(&self, s: &Share, now_us: u64) -> bool {
        let credit_us = RECHECKS * RECHECK_PART * 2 * self.h();
        s.fallen.1 > (self.h() / 8).max(FALL_US) && self.paid_until_us < now_us + credit_us
    }

    /// The window that a lag of `tried_us` asks for, over two round trips.
    fn begin_recheck(&mut self, a: &Arrival, tried_us: u64) {
        self.state = State::Rechecking;
        self.probe = None;
        self.span += 1;
        self.tried_us = tried_us;
        self.rechecks_until_us = a.now_us + 2 * (self.h() + a.queue_us);
    }

    pub(super) fn recheck_fallen(&mut self, a: &Arrival) {
        self.begin_recheck(a, self.h() / 2);
        let takes_us = self.rechecks_until_us - a.now_us;
        self.paid_until_us = self.paid_until_us.max(a.now_us) + RECHECK_PART * takes_us;
    }

    /// Two round trips of the lag as it is by now.
    pub(super) fn end_recheck(&mut self, a: &Arrival) {
        let end_us = a.now_us + 2 * (self.h() + a.queue_us);
        self.rechecks_until_us = self.rechecks_until_us.min(end_us);
        if a.now_us >= self.rechecks_until_us {
            self.state = State::Running;
        }
    }

    /// Now and then, after floors have risen: RTTmin, as far as the path's lag goes with the flow's.
    pub(super) fn recheck_raised(&mut self, s: &Share, a: &Arrival) {
        let own_us = s.h_us.unwrap_or(0);
        if own_us <= a.rtt_min_us + 2 * self.empty_us() {
            self.recheck = None;
            return;
        }
        self.begin_recheck(a, self.h() * a.rtt_min_us / own_us);
        if let Some(recheck) = &mut self.recheck {
            recheck.wait_us = (2 * recheck.wait_us).min(RECHECK_MAX_US);
            recheck.due_us = self.rechecks_until_us + recheck.wait_us;
        }
    }
}
