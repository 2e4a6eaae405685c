//! Spoils good packets, as strangers, cables and bugs do: from a seed, so that a failure can be reproduced.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::{Rng, SeedableRng};

/// The most changes of a packet.
const CHANGES: usize = 6;

/// Spoils packets.
#[derive(Debug)]
pub struct Spoiler(Pcg64Mcg);

impl Spoiler {
    /// The seed determines everything that it does.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// A number below `bound`.
    ///
    /// # Panics
    /// If there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        assert!(bound > 0, "a number below nothing");
        ((u64::from(self.0.next_u32()) * bound as u64) >> 32) as usize
    }

    /// Whether an event happens that happens once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of several.
    ///
    /// # Panics
    /// If there is none.
    pub fn one_of<'a, T>(&mut self, several: &'a [T]) -> &'a T {
        &several[self.below(several.len())]
    }

    /// A number: any, a small one, one around a power of two, or one of the largest.
    pub fn number(&mut self) -> u64 {
        let any = self.0.next_u64();
        let power = 1u64 << self.below(64);
        match self.below(6) {
            0 => any % 16,
            1 => power,
            2 => power.wrapping_sub(any % 3),
            3 => u64::MAX - any % 3,
            4 => any >> self.below(64),
            _ => any,
        }
    }

    /// Random bytes of that length.
    pub fn noise(&mut self, length: usize) -> Vec<u8> {
        let mut noise = vec![0; length];
        self.0.fill_bytes(&mut noise);
        noise
    }

    /// Changes bytes and whole numbers, cuts the end off or adds to it; leaves some packets unchanged.
    pub fn spoil(&mut self, packet: &mut Vec<u8>) {
        for _ in 0..self.below(CHANGES + 1) {
            self.change(packet);
        }
        match self.below(8) {
            0 => packet.truncate(self.below(packet.len() + 1)),
            1 => {
                let more = self.below(40);
                let more = self.noise(more);
                packet.extend(more);
            }
            _ => {}
        }
    }

    fn change(&mut self, packet: &mut [u8]) {
        if packet.is_empty() {
            return;
        }
        let at = self.below(packet.len());
        let number = self.number().to_be_bytes();
        match self.below(3) {
            0 => packet[at] ^= 1 << self.below(8),
            1 => packet[at] = number[7],
            _ => {
                let width = *self.one_of(&[2, 4, 8]);
                let there = packet[at..].iter_mut();
                there
                    .zip(&number[8 - width..])
                    .for_each(|(byte, new)| *byte = *new);
            }
        }
    }
}
