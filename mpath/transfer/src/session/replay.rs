//! The numbers that have arrived (RFC 6479): a ring of blocks of bits, which the newest number moves around.

/// Bits of a block.
const BLOCK: u64 = 64;

/// Blocks; one more than [`ReplayWindow::SIZE`] needs, since the newest number clears the block that it enters.
const BLOCKS: usize = 1025;

/// The last [`Self::SIZE`] numbers, and which of them have arrived.
#[derive(Clone, Debug)]
pub struct ReplayWindow {
    blocks: Box<[u64; BLOCKS]>,
    /// One more than the newest number.
    next: u64,
}

impl Default for ReplayWindow {
    fn default() -> Self {
        Self {
            blocks: Box::new([0; BLOCKS]),
            next: 0,
        }
    }
}

impl ReplayWindow {
    /// Numbers this far below the newest are too old to tell. Packets take paths of different lengths: at 1 Gbit/s this
    /// is 0.7 s.
    pub const SIZE: u64 = (BLOCKS as u64 - 1) * BLOCK;

    /// The newest number.
    pub fn newest(&self) -> Option<u64> {
        self.next.checked_sub(1)
    }

    fn place(number: u64) -> (usize, u64) {
        let block = (number / BLOCK) % BLOCKS as u64;
        (block as usize, 1 << (number % BLOCK))
    }

    /// Whether `number` has not arrived, and is not too old to tell.
    pub fn is_new(&self, number: u64) -> bool {
        let (block, bit) = Self::place(number);
        match number {
            u64::MAX => false,
            _ if number >= self.next => true,
            _ if self.next - number > Self::SIZE => false,
            _ => self.blocks[block] & bit == 0,
        }
    }

    /// `number` arrives; returns whether it was new.
    pub fn insert(&mut self, number: u64) -> bool {
        if !self.is_new(number) {
            return false;
        }
        if number >= self.next {
            self.advance(number);
        }
        let (block, bit) = Self::place(number);
        self.blocks[block] |= bit;
        true
    }

    fn advance(&mut self, number: u64) {
        let entered = match self.newest() {
            Some(newest) => newest / BLOCK + 1,
            None => 0,
        };
        let last = number / BLOCK;
        let first = entered.max((last + 1).saturating_sub(BLOCKS as u64));
        for block in first..=last {
            self.blocks[(block % BLOCKS as u64) as usize] = 0;
        }
        self.next = number + 1;
    }
}

#[cfg(test)]
mod tests;
