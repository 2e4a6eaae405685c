//! Accounts for the credit that quinn has promised the peer, and says which window to set so that it promises as much
//! as the law wants.
//!
//! A byte that the application reads gives the peer a byte of credit. A larger window gives the difference at once. A
//! smaller window is a debt: the next bytes read pay it before they give credit again. But in quinn a growing window
//! does not settle a debt: a window that falls and rises again and again would give credit every time, without end. So
//! the account is kept here as well, and quinn is told only of windows that bring the promise to where it should be:
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
    /// The window as quinn knows it.
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

    /// The law wants a window of `wanted`: returns the window to set in quinn, if it must change. Credit is given in
    /// eighths of the window, as quinn itself does, since each update costs a frame.
    pub fn want(&mut self, wanted: u32) -> Option<u32> {
        let edge = self.read + u64::from(wanted);
        if edge > self.promised {
            // At most `wanted`, since the promise covers quinn's window.
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
