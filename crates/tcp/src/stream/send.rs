//! Bytes that were written and are not yet acknowledged.

use super::{FIRST, pieces};
use std::collections::VecDeque;

/// Bytes to be sent, perhaps again.
///
/// ```text
///        acknowledged      │ held                       │
///  ────────────────────────┼────────────────────────────┼────▶ offset
///                        start                         end
/// ```
#[derive(Clone, Debug)]
pub struct SendStream {
    start: u64,
    held: VecDeque<u8>,
}

impl Default for SendStream {
    fn default() -> Self {
        Self {
            start: FIRST,
            held: VecDeque::new(),
        }
    }
}

impl SendStream {
    /// Offset of the first byte that is held.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Offset after the last byte that was written.
    pub fn end(&self) -> u64 {
        self.start + self.held.len() as u64
    }

    /// Appends `bytes`: all of them, since the connection bounds what is written.
    pub fn write(&mut self, bytes: &[u8]) {
        self.held.extend(bytes);
    }

    /// Everything before `offset` has arrived and is dropped.
    pub fn acknowledge(&mut self, offset: u64) {
        let offset = offset.clamp(self.start, self.end());
        self.held.drain(..(offset - self.start) as usize);
        self.start = offset;
    }

    /// `len` bytes from `offset` on; the second piece begins at the ring's seam.
    ///
    /// # Panics
    ///
    /// If they are not all held.
    pub fn slices(&self, offset: u64, len: usize) -> [&[u8]; 2] {
        let at = offset
            .checked_sub(self.start)
            .expect("not yet acknowledged");
        pieces(&self.held, at as usize, len)
    }
}
