//! Buffer-based adaptation: BBA-0 of Huang et al., "A buffer-based approach to rate adaptation", SIGCOMM 2014, Algorithm 1.
//!
//! ```text
//!  f(buffer)
//!  highest ─              ╭────────
//!                      ╱
//!                  ╱
//!  lowest  ─ ──────╯
//!            reservoir │ cushion │
//! ```
//!
//! The step stays until f has reached the next one up or down, so that it does not change with every segment.

/// Where the buffer's map rises.
#[derive(Clone, Copy, Debug)]
pub struct Bba {
    /// Below that many seconds of buffer the player requests the lowest step.
    pub reservoir_s: f64,
    /// With that many seconds more it requests the highest step.
    pub cushion_s: f64,
}

impl Bba {
    /// The next step after `last`.
    pub fn choose(&self, ladder: &[f64], buffered_s: f64, last: usize) -> usize {
        let highest = ladder.len() - 1;
        if buffered_s <= self.reservoir_s {
            return 0;
        }
        if buffered_s >= self.reservoir_s + self.cushion_s {
            return highest;
        }
        let rise = (buffered_s - self.reservoir_s) / self.cushion_s;
        let wanted = ladder[0] + (ladder[highest] - ladder[0]) * rise;
        let (up, down) = ((last + 1).min(highest), last.saturating_sub(1));
        if wanted >= ladder[up] {
            // The highest step below the map's rate.
            ladder
                .partition_point(|step| *step < wanted)
                .saturating_sub(1)
        } else if wanted <= ladder[down] {
            // The lowest step above it.
            ladder.partition_point(|step| *step <= wanted).min(highest)
        } else {
            last
        }
    }
}
