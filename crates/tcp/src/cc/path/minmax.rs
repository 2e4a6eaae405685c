//! The largest value of a sliding window in constant time and space: Kathleen Nichols' algorithm, as
//! in Linux's `lib/win_minmax.c`.
//!
//! It keeps the best value, the best since then, and the best since that one, none earlier than the
//! one before. A new best makes all older values worthless. When the best leaves the window the
//! others move up; to have one to move up, a second choice is taken after a quarter of the window
//! without a new best, and a third after half of it. So the result is always a value of the window,
//! almost always its largest.

/// A value and when it was measured, in whatever the window is counted in (rounds, mostly).
#[derive(Clone, Copy, Debug, Default)]
struct Sample<T> {
    at: u32,
    value: T,
}

/// The largest of the values of late. Time is 32 bits that wrap.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::cc) struct WindowedMax<T> {
    /// First, second and third choice.
    choice: [Sample<T>; 3],
}

impl<T: Copy + Ord> WindowedMax<T> {
    /// The largest value.
    pub fn get(&self) -> T {
        self.choice[0].value
    }

    /// Forgets everything but `value`, measured `at`.
    pub fn reset(&mut self, at: u32, value: T) {
        self.choice = [Sample { at, value }; 3];
    }

    /// Adds a `value` measured `at`; a value counts until it is more than `window` old.
    pub fn update(&mut self, window: u32, at: u32, value: T) {
        let age = |s: &Sample<T>| at.wrapping_sub(s.at);
        if value >= self.choice[0].value || age(&self.choice[2]) > window {
            return self.reset(at, value);
        }
        let new = Sample { at, value };
        if value >= self.choice[1].value {
            self.choice[1] = new;
            self.choice[2] = new;
        } else if value >= self.choice[2].value {
            self.choice[2] = new;
        }
        if age(&self.choice[0]) > window {
            self.promote(new);
            // The second may have been too old as well; the third was not.
            if age(&self.choice[0]) > window {
                self.promote(new);
            }
        } else if self.choice[1].at == self.choice[0].at && age(&self.choice[0]) > window / 4 {
            self.choice[1] = new;
            self.choice[2] = new;
        } else if self.choice[2].at == self.choice[1].at && age(&self.choice[0]) > window / 2 {
            self.choice[2] = new;
        }
    }

    fn promote(&mut self, new: Sample<T>) {
        self.choice = [self.choice[1], self.choice[2], new];
    }
}

#[cfg(test)]
mod tests;
