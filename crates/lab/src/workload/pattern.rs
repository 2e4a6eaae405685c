//! The data that workloads send: bytes that depend on their position in the stream, so that the receiver notices a byte
//! that is wrong, missing or duplicated, at the price of one multiplication for eight bytes.

use anyhow::{Result, bail};

const WORD: usize = 8;

/// An endless stream of bytes that depend only on its seed and their position.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    seed: u64,
}

impl Pattern {
    /// The stream of a seed; streams of different seeds differ.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Writes the bytes that begin at `position`.
    pub fn fill(&self, buffer: &mut [u8], position: u64) {
        let (head, body, tail) = words(buffer.len(), position);
        for (i, byte) in buffer[head.clone()].iter_mut().enumerate() {
            *byte = self.byte(position + i as u64);
        }
        let first = (position + body.start as u64) / WORD as u64;
        for (i, word) in buffer[body].chunks_exact_mut(WORD).enumerate() {
            word.copy_from_slice(&self.word(first + i as u64));
        }
        let after = position + tail.start as u64;
        for (i, byte) in buffer[tail].iter_mut().enumerate() {
            *byte = self.byte(after + i as u64);
        }
    }

    /// Checks bytes that are said to begin at `position`.
    ///
    /// # Errors
    /// Names the position of the first wrong byte.
    pub fn check(&self, received: &[u8], position: u64) -> Result<()> {
        let (head, body, tail) = words(received.len(), position);
        let first = (position + body.start as u64) / WORD as u64;
        let intact = received[body.clone()]
            .chunks_exact(WORD)
            .enumerate()
            .all(|(i, word)| word == self.word(first + i as u64));
        // Checks only the few bytes at the edges one by one, unless a word is wrong.
        let suspects = if intact {
            head.chain(tail)
        } else {
            (0..received.len()).chain(0..0)
        };
        for i in suspects {
            let at = position + i as u64;
            if received[i] != self.byte(at) {
                bail!(
                    "byte {at} of the stream is {:#04x}, expected {:#04x}: the file is not intact",
                    received[i],
                    self.byte(at)
                );
            }
        }
        Ok(())
    }

    /// Weyl's sequence, mixed once: neighbouring words share no bytes.
    fn word(&self, index: u64) -> [u8; WORD] {
        let x = (index ^ self.seed).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (x ^ (x >> 32)).to_le_bytes()
    }

    fn byte(&self, position: u64) -> u8 {
        self.word(position / WORD as u64)[(position % WORD as u64) as usize]
    }
}

type Range = std::ops::Range<usize>;

/// Splits a buffer that begins at `position` of the stream at the stream's word boundaries.
fn words(length: usize, position: u64) -> (Range, Range, Range) {
    let to_boundary = (position.next_multiple_of(WORD as u64) - position) as usize;
    let start = to_boundary.min(length);
    let end = length - (length - start) % WORD;
    (0..start, start..end, end..length)
}

#[cfg(test)]
mod tests;
