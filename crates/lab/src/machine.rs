//! How busy the whole machine is: `/proc/stat`.
//!
//! Processes with a low priority (nice(1)) do not count, since they give way to the laboratory, unless that has a low
//! priority itself. If they do not give way, the late packets show it.

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
        Self::parse(&text, has_low_priority())
            .context("/proc/stat does not begin with the sum of all processors")
    }

    /// Reads the first line, proc_stat(5): user nice system idle iowait irq softirq steal; guest time is in user time
    /// already. `nice` counts as idle unless we have a low priority ourselves.
    fn parse(text: &str, low: bool) -> Option<Self> {
        let fields = text.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> = fields
            .split_whitespace()
            .take(8)
            .map_while(|f| f.parse().ok())
            .collect();
        let total = ticks.iter().sum();
        let gives_way = if low { 0 } else { *ticks.get(1)? };
        let free = gives_way + ticks.get(3)? + ticks.get(4)?;
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

/// Whether this process has a low priority. The value of an error, -1, would be a high one.
fn has_low_priority() -> bool {
    // SAFETY: reads a number of this process, and no memory of ours.
    unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) > 0 }
}

#[cfg(test)]
mod tests;
