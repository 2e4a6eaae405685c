//! The limits on sending: bytes of a session and of all together, and the rate, for UDP and TCP alike.

use super::socket::now;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tidegate_basics::time::Instant;

/// The part of a session's budget that is reserved for answers, at most an eighth: a client that has used up the rest
/// still gets answers that say so.
const ANSWERS: u64 = 64 << 10;

/// How much time a session may catch up on that was sent less than its rate.
const CREDIT: Duration = Duration::from_millis(250);

/// Answers need not wait behind a train that takes the whole rate: they may be ahead of the rate by this much.
const AHEAD: Duration = Duration::from_millis(20);

/// The budget of all sessions.
#[derive(Debug)]
pub struct Total {
    left: AtomicU64,
    sent: AtomicU64,
}

impl Total {
    /// `bytes` for as long as the server runs.
    pub fn new(bytes: u64) -> Self {
        Self {
            left: bytes.into(),
            sent: 0.into(),
        }
    }

    /// Bytes that may be sent yet.
    pub fn left(&self) -> u64 {
        self.left.load(Relaxed)
    }

    /// Bytes that were sent.
    pub fn sent(&self) -> u64 {
        self.sent.load(Relaxed)
    }
}

/// The budget of one session.
#[derive(Debug)]
pub struct Budget {
    /// Bytes for trains and load.
    left: AtomicU64,
    /// Bytes for answers alone; they are already taken from the total.
    answers: AtomicU64,
    total: Arc<Total>,
    max_bps: f64,
    /// When everything sent so far has left, at that rate.
    free_at: Mutex<Instant>,
}

impl Budget {
    /// `bytes` at `max_bps`, if the total allows as many.
    pub fn new(bytes: u64, max_bps: f64, total: &Arc<Total>) -> Self {
        let bytes = bytes.min(total.left());
        let answers = ANSWERS.min(bytes / 8);
        let answers = if take(&total.left, answers) {
            answers
        } else {
            0
        };
        Self {
            left: (bytes - answers).into(),
            answers: answers.into(),
            total: Arc::clone(total),
            max_bps,
            free_at: Mutex::new(now()),
        }
    }

    /// Bytes of trains and load that may still be sent.
    pub fn left(&self) -> u64 {
        self.left.load(Relaxed)
    }

    /// Whether `bytes` of a train or a load may be sent; then they count as sent. If not, no more of them may be sent.
    pub fn take(&self, bytes: u64) -> bool {
        let allowed = take(&self.left, bytes) && take(&self.total.left, bytes);
        match allowed {
            true => self.total.sent.fetch_add(bytes, Relaxed),
            false => self.left.swap(0, Relaxed),
        };
        allowed
    }

    /// Whether an answer of `bytes` bytes may be sent at once; then they count as sent. They are taken from what is
    /// left for trains, or from the part for answers.
    pub fn take_answer(&self, bytes: u64) -> bool {
        let in_time = self.free_at() <= now() + AHEAD;
        let allowed = in_time && (self.take_of_trains(bytes) || take(&self.answers, bytes));
        if allowed {
            self.total.sent.fetch_add(bytes, Relaxed);
            self.reserve(bytes);
        }
        allowed
    }

    fn take_of_trains(&self, bytes: u64) -> bool {
        if !take(&self.left, bytes) {
            return false;
        }
        let allowed = take(&self.total.left, bytes);
        if !allowed {
            self.left.swap(0, Relaxed);
        }
        allowed
    }

    /// When the next packet may leave.
    pub fn free_at(&self) -> Instant {
        *self.free_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the time that `bytes` need at the session's rate; returns how long to wait for it to begin.
    pub fn reserve(&self, bytes: u64) -> Duration {
        let lasts = Duration::from_secs_f64(bytes as f64 * 8.0 / self.max_bps);
        let at = now();
        let mut free_at = self.free_at.lock().unwrap_or_else(PoisonError::into_inner);
        let begins = (*free_at).max(at - CREDIT);
        *free_at = begins + lasts;
        begins - at
    }
}

/// Returns the part for answers to the total.
impl Drop for Budget {
    fn drop(&mut self) {
        let unused = self.answers.swap(0, Relaxed);
        self.total.left.fetch_add(unused, Relaxed);
    }
}

/// Takes `bytes` from what is left, if there are as many.
pub fn take(left: &AtomicU64, bytes: u64) -> bool {
    left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes))
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_count_and_are_still_given_when_the_rest_is_spent() {
        let total = Arc::new(Total::new(1000));
        let budget = Budget::new(800, 1e9, &total);
        assert_eq!(budget.left(), 700);
        assert!(budget.take_answer(100) && budget.take(600) && !budget.take(1));
        assert!(budget.take_answer(100) && !budget.take_answer(1));
        assert_eq!((total.sent(), total.left()), (800, 200));
        drop(budget);
        let kept = Budget::new(160, 1e9, &total);
        assert_eq!(total.left(), 180);
        drop(kept);
        assert_eq!(total.left(), 200);
    }

    #[test]
    fn answers_wait_for_nobody_but_are_no_faster_than_the_rate() {
        let total = Arc::new(Total::new(u64::MAX));
        // 1000 bytes last 8 ms.
        let budget = Budget::new(10_000_000, 1e6, &total);
        let given = (0..1000).filter(|_| budget.take_answer(1000)).count();
        // What the rate allows ahead of time, with the credit of a session that was sent nothing.
        assert!((3..=40).contains(&given), "{given}");
        assert!(!budget.reserve(1000).is_zero());
    }
}
