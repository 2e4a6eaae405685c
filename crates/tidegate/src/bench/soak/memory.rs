//! Checks that the agent's memory does not grow. While its tables fill, so do the copies that the agent makes of them
//! once a second. From the second quarter of the time on they are full, and peak memory must stay constant.

use anyhow::{Result, ensure};
use std::time::Duration;

/// How much more the last quarter may need than the second, in bytes, and as a part (1 in this many): two looks at full
/// tables differ, and the allocator takes time to settle.
const SLACK: u64 = 1 << 20;
const SLACK_PART: u64 = 50;

/// Peak resident memory in each quarter of the time.
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

    /// Notes the memory after this time.
    pub fn note(&mut self, after: Duration, rss: u64) {
        let part = after.as_secs_f64() / self.period.as_secs_f64();
        let most = &mut self.most[((4.0 * part) as usize).min(3)];
        *most = rss.max(*most);
    }

    /// Peak in the second quarter.
    pub fn warm(&self) -> u64 {
        self.most[1]
    }

    /// Peak in the last quarter.
    pub fn late(&self) -> u64 {
        self.most[3]
    }

    /// An error if memory grew.
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
