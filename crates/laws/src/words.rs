//! The words that C and Rust share, generated from `laws/`.

use crate::sys;

include!(concat!(env!("OUT_DIR"), "/words.rs"));

impl Default for Law {
    /// The kernel alone.
    fn default() -> Self {
        Self::None
    }
}

impl Law {
    /// Whether this is no law: the kernel's window alone.
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }

    /// Whether it steers by the record of a path, the queue that flows share; other laws steer by the flow's own.
    pub fn is_on_path(self) -> bool {
        self.says(sys::TG_LAW_ON_PATH)
    }

    /// Whether it needs the timestamps of the data's sender, and leaves a flow alone without them.
    pub fn needs_timestamps(self) -> bool {
        self.says(sys::TG_LAW_STAMPS)
    }

    /// Whether it needs one-way delays, and leaves a flow alone whose peer's clock is not understood.
    pub fn needs_clock(self) -> bool {
        self.says(sys::TG_LAW_CLOCK)
    }

    /// Whether it also steers uploads, from where their data are sent; other laws steer downloads alone.
    pub fn steers_uploads(self) -> bool {
        self.says(sys::TG_LAW_UPLOADS)
    }

    /// The names of the laws for which `holds` is true.
    pub fn names(holds: impl Fn(&Self) -> bool) -> Vec<&'static str> {
        let laws = Self::ALL.into_iter().filter(holds);
        laws.map(Self::name).collect()
    }

    fn says(self, traits: u32) -> bool {
        // SAFETY: a function of a number alone.
        unsafe { sys::tg_law_traits(self as u32) & traits != 0 }
    }
}

impl Default for Direction {
    /// Downloads.
    fn default() -> Self {
        Self::Down
    }
}

impl PathState {
    /// The state of a path's record, from its number in C.
    pub fn of(state: u32) -> Self {
        // A record holds no other number, unless another version of the law wrote it.
        Self::from_raw(state).unwrap_or(Self::Running)
    }
}
