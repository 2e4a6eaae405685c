//! Randomness: a separate stream for each purpose, all from the scenario's seed.

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

/// The stream with that name.
pub fn stream(seed: u64, name: &str) -> Pcg64Mcg {
    Pcg64Mcg::seed_from_u64(self::seed(seed, name))
}

/// The seed of the stream with that name: FNV-1a over the name, starting from `seed`.
pub fn seed(seed: u64, name: &str) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    name.bytes().fold(OFFSET ^ seed, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(PRIME)
    })
}
