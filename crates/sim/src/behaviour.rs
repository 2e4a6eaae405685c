//! What a result depends on beside what is asked for: the simulator itself.

/// Counts the changes after which some scenario has another result: of a law, a link, TCP, an
/// application, a measurement, the form of a result. Whoever makes one raises it, and has
/// `tests/golden/hashes.txt` written anew; results of different versions are not of one sweep.
pub const BEHAVIOUR_VERSION: u32 = 26;
