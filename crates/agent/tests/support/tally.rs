//! How much is behind a test: packets that it has sent, for the table of promises.

use std::fs::File;
use std::io::Write;

/// A file to which each test adds a line with its name and the packets behind it (`./dev promises`).
const TALLY: &str = "TIDEGATE_TALLY";

/// Notes so many packets of the test that runs in this thread.
pub fn note(packets: u64) {
    let Ok(path) = std::env::var(TALLY) else {
        return;
    };
    let thread = std::thread::current();
    let line = format!("{} {packets}\n", thread.name().unwrap_or("?"));
    let written = File::options()
        .append(true)
        .create(true)
        .open(&path)
        .and_then(|mut file| file.write_all(line.as_bytes()));
    written.unwrap_or_else(|e| panic!("cannot write to {path}: {e}"));
}
