//! The body of the target, which the ordinary tests run.

#[path = "../../tests/fuzz/target.rs"]
pub mod target;
