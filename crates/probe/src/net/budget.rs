//! What may be sent: bytes of a session and of all together, by UDP and TCP alike.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Of all sessions.
#[derive(Debug)]
pub struct Total {
    left: AtomicU64,
    sent: AtomicU64,
}

impl Total {
    /// So many bytes as long as the server runs.
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

/// Of one.
#[derive(Debug)]
pub struct Budget {
    left: AtomicU64,
    total: Arc<Total>,
}

impl Budget {
    /// So many bytes, if all sessions together may be sent as many.
    pub fn new(bytes: u64, total: &Arc<Total>) -> Self {
        Self {
            left: bytes.min(total.left()).into(),
            total: Arc::clone(total),
        }
    }

    /// Bytes that may be sent yet.
    pub fn left(&self) -> u64 {
        self.left.load(Relaxed)
    }

    /// Whether so many may be sent; then they count as sent. If not, nothing more may be.
    pub fn take(&self, bytes: u64) -> bool {
        let allowed = take(&self.left, bytes) && take(&self.total.left, bytes);
        match allowed {
            true => self.total.sent.fetch_add(bytes, Relaxed),
            false => self.left.swap(0, Relaxed),
        };
        allowed
    }
}

/// Takes so many from what is left, if there are as many.
pub fn take(left: &AtomicU64, bytes: u64) -> bool {
    left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes))
        .is_ok()
}
