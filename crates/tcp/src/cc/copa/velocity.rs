//! How fast the window moves (§2.1): v.

/// Rounds that the direction has to have remained the same before v doubles: in equilibrium it does for two and a half,
/// and there v is to be 1.
const SAME_ROUNDS: u32 = 3;

/// Which way the window goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Up,
    Down,
}

/// v, once a round trip.
#[derive(Debug)]
pub struct Velocity {
    /// At least 1.
    pub v: u64,
    /// Which way the window went in the last round.
    direction: Option<Direction>,
    /// In how many rounds before that the way was the same.
    same: u32,
    /// The window at the beginning of this round, Q16.
    began_with: u64,
}

impl Velocity {
    /// A flow that begins with a window of `cwnd` (Q16).
    pub const fn new(cwnd: u64) -> Self {
        Self {
            v: 1,
            direction: None,
            same: 0,
            began_with: cwnd,
        }
    }

    /// A round is over, with a window of `cwnd` and 1/δ of `inverse_delta` (both Q16): v doubles while the window goes on in
    /// one direction, and is 1 again when it turns.
    pub fn round(&mut self, cwnd: u64, inverse_delta: u64) {
        let direction = if cwnd > self.began_with {
            Direction::Up
        } else {
            Direction::Down
        };
        self.began_with = cwnd;
        if self.direction == Some(direction) {
            self.same += 1;
        } else {
            self.turn(direction, cwnd);
        }
        if self.same >= SAME_ROUNDS {
            self.v = self.v.saturating_mul(2);
        }
        // In a round the window moves by v/δ: never by more than itself. The paper leaves that open; its authors' sender has it.
        self.v = self.v.min(cwnd / inverse_delta).max(1);
    }

    /// The window is about to move in `direction`: the velocity that it gained in the other one does not count.
    /// Otherwise a round that went up and at its end fast down would count as one up, and double v on the way down. The
    /// paper leaves that open, too; Meta's sender (mvfst) does it.
    pub fn heed(&mut self, direction: Direction, cwnd: u64) {
        if self.v > 1 && self.direction != Some(direction) {
            self.turn(direction, cwnd);
        }
    }

    fn turn(&mut self, direction: Direction, cwnd: u64) {
        *self = Self {
            direction: Some(direction),
            ..Self::new(cwnd)
        };
    }
}
