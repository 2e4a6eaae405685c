//! What quinn has promised the peer, and what to tell quinn so that it promises what is wanted.
//!
//! A read byte gives quinn's peer a byte of credit. A larger window gives the difference at once; a
//! smaller one is a debt, which what is read next pays before it gives credit again. But a window that
//! grows does not settle a debt: one that fell and rose again by turns would give credit every time,
//! without end. So the account is kept here as well, and quinn hears only of what brings the promise to
//! where it should be:
//!
//! ```text
//!   read          wanted window        (all counted from the connection's first byte)
//!   ───────┼──────────────────────▶│
//!          │   quinn's window │ debt │
//!          └──────────────────┴──────┴ promised: never falls
//! ```

/// One connection's account, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    read: u64,
    promised: u64,
    /// What quinn believes its window to be.
    window: u32,
}

impl Credit {
    /// A connection that began with `window`.
    pub fn new(window: u32) -> Self {
        Self {
            read: 0,
            promised: window.into(),
            window,
        }
    }

    /// The application has read: quinn pays its debt, and gives credit for the rest.
    pub fn read(&mut self, bytes: u64) {
        self.read += bytes;
        self.promised = self.promised.max(self.read + u64::from(self.window));
    }

    /// A window of `wanted` is wanted: what quinn's has to be set to, if it has to. Credit comes in
    /// eighths of the window, as quinn's own does: each costs a frame.
    pub fn want(&mut self, wanted: u32) -> Option<u32> {
        let edge = self.read + u64::from(wanted);
        if edge > self.promised {
            // At most what is wanted, since the promise covers quinn's window.
            let more = (edge - self.promised) as u32;
            if more < wanted / 8 {
                return None;
            }
            self.promised = edge;
            self.window += more;
        } else if wanted < self.window {
            self.window = wanted;
        } else {
            return None;
        }
        Some(self.window)
    }

    /// Promised and not yet read.
    pub fn outstanding(&self) -> u64 {
        self.promised - self.read
    }
}

#[cfg(test)]
mod tests;
