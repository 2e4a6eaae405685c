//! The version of the simulator itself, on which a result depends beside its scenario and run.

/// Counts the changes that alter some scenario's result: of a law, a link, TCP, an application, a measurement, the
/// form of a result. If you make such a change, raise it and regenerate `tests/golden/hashes.txt`; results of
/// different versions do not belong to one sweep.
pub const BEHAVIOUR_VERSION: u32 = 27;
