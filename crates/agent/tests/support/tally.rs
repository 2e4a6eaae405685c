//! Counts what a test has done, for the table of promises: packets sent, and files that arrived intact.

use std::fs::File;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

/// A file to which each test adds a line with its name, the packets and the files behind it (`./dev
/// promises`).
const TALLY: &str = "TIDEGATE_TALLY";

/// Files that have arrived since the last note. Tests that send files take turns.
static FILES: AtomicU64 = AtomicU64::new(0);

/// Notes a file whose every byte was right.
#[allow(dead_code, reason = "not every suite sends files")]
pub fn file() {
    FILES.fetch_add(1, Ordering::Relaxed);
}

/// Notes packets of the test that runs in this thread.
pub fn note(packets: u64) {
    let Ok(path) = std::env::var(TALLY) else {
        return;
    };
    let thread = std::thread::current();
    let files = FILES.swap(0, Ordering::Relaxed);
    let line = format!("{} {packets} {files}\n", thread.name().unwrap_or("?"));
    let written = File::options()
        .append(true)
        .create(true)
        .open(&path)
        .and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|e| panic!("cannot write to {path}: {e}"));
}
