//! Whether the agent's memory grows. While tables fill, so does what the agent makes of them once a second; from the second quarter
//! of the time on they are full, and the most that it takes must stay what it is.

use anyhow::{Result, ensure};
use std::time::Duration;

/// How much more the last quarter may need than the second, in bytes, and as a part of it: by how much two moments of a full table
/// differ, and that the allocator settles.
const SLACK: u64 = 1 << 20;
const SLACK_PART: u64 = 50;

/// The most resident memory of each quarter of the time.
pub struct Memory {
    period: Duration,
    most: [u64; 4],
}

impl Memory {
    pub fn over(period: Duration) -> Self {
        Self {
            period,
            most: [0; 4],
        }
    }

    /// After so much of the time it had so many bytes.
    pub fn note(&mut self, after: Duration, rss: u64) {
        let part = after.as_secs_f64() / self.period.as_secs_f64();
        let most = &mut self.most[((4.0 * part) as usize).min(3)];
        *most = rss.max(*most);
    }

    /// The most of the second quarter.
    pub fn warm(&self) -> u64 {
        self.most[1]
    }

    /// The most of the last.
    pub fn late(&self) -> u64 {
        self.most[3]
    }

    /// Fails if it grew.
    pub fn check(&self) -> Result<()> {
        let (warm, late) = (self.warm(), self.late());
        let most = warm + SLACK + warm / SLACK_PART;
        ensure!(
            late <= most,
            "the agent's memory grew from {warm} to {late} bytes"
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after_growing(kb: [u64; 4]) -> bool {
        let minute = |n: u64| Duration::from_secs(60 * n);
        let mut memory = Memory::over(minute(4));
        for (quarter, kb) in (0..).zip(kb) {
            memory.note(minute(quarter), kb << 10);
            memory.note(minute(quarter) + Duration::from_secs(30), kb << 9);
        }
        memory.check().is_ok()
    }

    #[test]
    fn tables_that_fill_are_no_growth_and_growth_is() {
        assert!(after_growing([8_000, 60_000, 60_500, 61_000]));
        assert!(!after_growing([8_000, 60_000, 61_500, 63_000]));
        assert!(!after_growing([8_000, 8_000, 8_500, 9_500]));
    }
}
