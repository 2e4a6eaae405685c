//! What tests of the kernel need, and how they say that they are skipped.
//!
//! A test depends on as little of the machine as possible: it makes its own network namespaces
//! (`tidegate_lab::Namespace`) and its own mounts (here). This crate also checks for root and drivers, which only the
//! machine can provide. A test without them says past its harness that it is skipped.

mod browser;
mod machine;
mod mounts;
mod spoil;
mod stranger;
mod tcx;

pub use browser::{Browser, Screen};
pub use machine::{has_program, has_tun, is_root};
pub use mounts::{hide, own_bpf_file_system, own_cgroups, own_run};
pub use spoil::Spoiler;
pub use stranger::Stranger;
pub use tcx::without_tcx;

use std::fmt::Display;
use std::io::Write;

/// Says on standard error which test, or which part of it, is left out, and why: a line that begins with
/// `SKIPPED`, which `./dev test` repeats at its end.
pub fn skipped(why: impl Display) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a part of a test");
    // The harness would capture the output of macros, and show it only for failed tests.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why}");
}
