//! No congestion control of its own: the caller sets window and rate.

use super::{CongestionControl, Window};
use crate::cc::{Flight, RateSample};

/// The caller's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Manual {
    /// Congestion window in segments, at least 1; none: as large as can be.
    pub cwnd: Option<u32>,
    /// Bytes a second at which to send, more than 0; none: as fast as the window allows.
    pub pacing_rate: Option<u64>,
}

impl Manual {
    /// The largest window: the receiver's is the limit, long before it.
    const OPEN: u32 = 1 << 20;

    pub(crate) fn apply(self, w: &mut Window) {
        w.cwnd = self.cwnd.unwrap_or(Self::OPEN).clamp(1, w.clamp);
        w.pacing_rate = self.pacing_rate;
    }
}

/// Does what the settings say, whatever is lost: losses are repaired, and change no window.
impl CongestionControl for Manual {
    fn ssthresh(&mut self, w: &Window, _f: &Flight) -> u32 {
        w.cwnd.max(2)
    }

    fn cong_avoid(&mut self, w: &mut Window, _f: &Flight, _acked: u32) {
        self.apply(w);
    }

    fn controls_rate(&self) -> bool {
        true
    }

    fn control(&mut self, w: &mut Window, _f: &Flight, _sample: &RateSample) {
        self.apply(w);
    }
}
