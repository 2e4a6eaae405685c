//! What all commands have around their work: values of their arguments, the examples at the end of their help, the
//! message and exit status of an error, interrupts, and results as JSON.
//!
//! Exit status: 0 done, 1 failed on the way, 2 what was asked for cannot be done as asked (bad input, no such
//! interface, no privilege).

// All output for people goes through `tidegate_terminal`.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod examples;
pub mod exit;
pub mod json;
pub mod signals;
pub mod values;
