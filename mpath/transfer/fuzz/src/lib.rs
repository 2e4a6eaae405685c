//! The bodies of the targets, which the ordinary tests replay.

#[path = "../../tests/fuzz/targets/mod.rs"]
pub mod targets;
