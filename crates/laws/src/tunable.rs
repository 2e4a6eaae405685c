//! The laws' constants that rest on a sweep, as variables of the process (feature `tunable`).
//!
//! They are read without any synchronisation: set them while no law runs.

use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constant {
    /// The header in `laws/` that has it.
    pub header: &'static str,
    /// Its name there.
    pub name: &'static str,
    /// Its comment.
    pub says: &'static str,
}

/// The number of constants.
const COUNT: usize = CONSTANTS.len();

/// All constants, in the order of the array.
const CONSTANTS: &[Constant] = &include!(concat!(env!("OUT_DIR"), "/tunable.rs"));

unsafe extern "C" {
    /// The values that the laws use.
    safe static tg_tunable: [AtomicI64; COUNT];
    /// The values without the feature.
    safe static tg_tunable_in_use: [i64; COUNT];
}

/// All constants.
pub fn constants() -> &'static [Constant] {
    CONSTANTS
}

impl Constant {
    /// Its value without the feature.
    pub fn in_use(&self) -> i64 {
        tg_tunable_in_use[self.place()]
    }

    /// Gives it another value. Arrays whose length is this constant have room for twice its value in use.
    pub fn set(&self, value: i64) {
        tg_tunable[self.place()].store(value, Relaxed);
    }

    fn place(&self) -> usize {
        let place = CONSTANTS.iter().position(|constant| constant == self);
        place.expect("one of all of them")
    }
}
