//! Tells the hold's programs and the gate whether the agent's process is alive: without it no packet may wait or be
//! signalled. A clsact filter outlives the process, and a process may hang.

use super::mapping::Mapping;
use crate::AgentError;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, Ordering};

/// The time when the lease ends: a word in memory that the kernel's programs read.
pub struct Lease(Mapping<AtomicU64>);

impl Lease {
    /// How long one lasts, in µs. A process that gets no processor for so long sends no echoes either.
    pub const LASTS_US: u64 = 1_000_000;

    /// Maps the descriptor's lease, for reading, or for writing, too.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn map(descriptor: BorrowedFd, writable: bool) -> Result<Self, AgentError> {
        Mapping::new(descriptor, 1, writable, "map the hold's lease").map(Self)
    }

    /// Begins anew at `now_us`, of CLOCK_MONOTONIC.
    pub fn renew(&self, now_us: u64) {
        assert!(self.0.is_writable(), "mapped to be written");
        self.until_us()
            .store(now_us + Self::LASTS_US, Ordering::Relaxed);
    }

    /// Whether it has not ended yet.
    pub fn holds(&self, now_us: u64) -> bool {
        now_us < self.until_us().load(Ordering::Relaxed)
    }

    fn until_us(&self) -> &AtomicU64 {
        // SAFETY: within the mapping; all readers and writers access its one word atomically.
        unsafe { &*self.0.at(0) }
    }
}
