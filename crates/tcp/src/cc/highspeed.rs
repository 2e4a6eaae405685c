//! HighSpeed TCP (RFC 3649) as Linux has it (`tcp_highspeed.c`).
//!
//! A round trip adds a(w) segments, a loss takes b(w) of the window, both looked up: Reno's 1 and
//! 1/2 up to 38 segments, 72 and 1/10 at 89 053. Linux counts ACKs where the RFC counts round trips:
//! a receiver that delays them halves the growth.

#[cfg(test)]
mod tests;

use super::{CongestionControl, Window};
use crate::cc::Flight;

/// RFC 3649 appendix B: up to window w, in segments, a(w) is the row's number, counted from 1, and
/// b(w) the second column, in 1/256 rounded down.
#[rustfmt::skip]
const TABLE: [(u32, u32); 72] = [
    (38, 128),
    (118, 112),
    (221, 104),
    (347, 98),
    (495, 93),
    (663, 89),
    (851, 86),
    (1058, 83),
    (1284, 81),
    (1529, 78),
    (1793, 76),
    (2076, 74),
    (2378, 72),
    (2699, 71),
    (3039, 69),
    (3399, 68),
    (3778, 66),
    (4177, 65),
    (4596, 64),
    (5036, 62),
    (5497, 61),
    (5979, 60),
    (6483, 59),
    (7009, 58),
    (7558, 57),
    (8130, 56),
    (8726, 55),
    (9346, 54),
    (9991, 53),
    (10661, 52),
    (11358, 52),
    (12082, 51),
    (12834, 50),
    (13614, 49),
    (14424, 48),
    (15265, 48),
    (16137, 47),
    (17042, 46),
    (17981, 45),
    (18955, 45),
    (19965, 44),
    (21013, 43),
    (22101, 43),
    (23230, 42),
    (24402, 41),
    (25618, 41),
    (26881, 40),
    (28193, 39),
    (29557, 39),
    (30975, 38),
    (32450, 38),
    (33986, 37),
    (35586, 36),
    (37253, 36),
    (38992, 35),
    (40808, 35),
    (42707, 34),
    (44694, 33),
    (46776, 33),
    (48961, 32),
    (51258, 32),
    (53677, 31),
    (56230, 30),
    (58932, 30),
    (61799, 29),
    (64851, 28),
    (68113, 28),
    (71617, 27),
    (75401, 26),
    (79517, 26),
    (84035, 25),
    (89053, 24),
];

/// HighSpeed TCP's state (`struct hstcp`).
#[derive(Debug, Default)]
pub(super) struct HighSpeed {
    /// The window's row.
    row: usize,
}

impl HighSpeed {
    /// The first row whose window is not less than `cwnd`. Found from the last one, as windows
    /// change slowly.
    fn look_up(&mut self, cwnd: u32) {
        while cwnd > TABLE[self.row].0 && self.row < TABLE.len() - 1 {
            self.row += 1;
        }
        while self.row > 0 && cwnd <= TABLE[self.row - 1].0 {
            self.row -= 1;
        }
    }
}

impl CongestionControl for HighSpeed {
    /// Keeps cwnd·b within 32 bits.
    fn init(&mut self, w: &mut Window, _f: &Flight) {
        w.clamp = w.clamp.min(u32::MAX / 128);
    }

    fn ssthresh(&mut self, w: &Window, _f: &Flight) -> u32 {
        (w.cwnd - ((w.cwnd * TABLE[self.row].1) >> 8)).max(2)
    }

    fn cong_avoid(&mut self, w: &mut Window, f: &Flight, acked: u32) {
        if !f.cwnd_limited {
            return;
        }
        if w.in_slow_start() {
            w.slow_start(acked);
            return;
        }
        self.look_up(w.cwnd);
        if w.cwnd < w.clamp {
            w.count += self.row as u32 + 1;
            if w.count >= w.cwnd {
                w.count -= w.cwnd;
                w.cwnd += 1;
            }
        }
    }
}
