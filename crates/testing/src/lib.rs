//! What tests of the kernel bring along, and how they say what they have to do without.
//!
//! A test finds as little as it can: its network namespaces are its own (`tidegate_lab::Namespace`), and
//! so are the mounts that it needs, which come from here. What only the machine can have, root and
//! drivers, is asked for here, and a test that has to go without says so past its harness.

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
    // What macros print the harness captures, and shows of failed tests only.
    let _ = writeln!(std::io::stderr(), "SKIPPED {test}: {why}");
}
