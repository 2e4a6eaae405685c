//! How busy the whole machine is: `/proc/stat`.
//!
//! What runs at a low priority (nice(1)) is not counted: it gives way to the laboratory at once. If it should not, the
//! packets that are late tell.

use anyhow::{Context, Result};

/// Ticks of all processors together since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTicks {
    busy: u64,
    total: u64,
}

impl CpuTicks {
    /// Reads the kernel's counters.
    ///
    /// # Errors
    /// Where `/proc` is not mounted.
    pub fn now() -> Result<Self> {
        let text = std::fs::read_to_string("/proc/stat").context("cannot read /proc/stat")?;
        Self::parse(&text).context("/proc/stat does not begin with the sum of all processors")
    }

    /// Reads the first line, proc_stat(5): user nice system idle iowait irq softirq steal; guest time
    /// is in user time already.
    fn parse(text: &str) -> Option<Self> {
        let fields = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = fields
            .split_whitespace()
            .take(8)
            .map_while(|f| f.parse().ok())
            .collect();
        let total = ticks.iter().sum();
        let free = ticks.get(1)? + ticks.get(3)? + ticks.get(4)?;
        Some(Self {
            busy: total - free,
            total,
        })
    }

    /// Share of the machine that was busy from `earlier` until now, 0 to 1.
    pub fn busy_share_since(&self, earlier: &Self) -> f64 {
        let total = self.total.saturating_sub(earlier.total);
        let busy = self.busy.saturating_sub(earlier.busy);
        if total == 0 {
            0.0
        } else {
            busy as f64 / total as f64
        }
    }
}

#[cfg(test)]
mod tests;
