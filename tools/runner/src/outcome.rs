//! The outcome of a test program: the last lines of its harness, and its output before them.

use std::fmt;
use std::iter;
use std::mem;
use std::process::ExitStatus;
use std::time::Duration;

/// How many tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    passed: u64,
    failed: u64,
    ignored: u64,
}

impl Sum {
    /// Reads the last line of `cargo test`: `test result: ok. 3 passed; 0 failed; 1 ignored; …`. None for other lines.
    fn of(line: &str) -> Option<Self> {
        let counts = line.strip_prefix("test result: ")?.split_once(". ")?.1;
        let count = |word: &str| {
            let mut counts = counts.split("; ");
            counts.find_map(|count| count.strip_suffix(word)?.trim().parse().ok())
        };
        Some(Self {
            passed: count("passed")?,
            failed: count("failed")?,
            ignored: count("ignored")?,
        })
    }
}

impl iter::Sum for Sum {
    fn sum<I: Iterator<Item = Self>>(sums: I) -> Self {
        sums.fold(Self::default(), |one, other| Self {
            passed: one.passed + other.passed,
            failed: one.failed + other.failed,
            ignored: one.ignored + other.ignored,
        })
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            passed,
            failed,
            ignored,
        } = self;
        write!(to, "{passed} passed, {failed} failed, {ignored} skipped")
    }
}

/// The outcome of a program.
#[derive(Debug)]
pub struct ProgramRun {
    /// The program's name.
    pub name: String,
    /// How it ended.
    pub status: ExitStatus,
    /// How long it took.
    pub took: Duration,
    /// Everything that it printed.
    pub printed: String,
    /// Its tests.
    pub sum: Sum,
}

impl ProgramRun {
    /// Reads the sum from its output. A program that reports no failed test but ends badly, by a signal or without a
    /// report, counts as one failure.
    pub fn new(name: String, status: ExitStatus, took: Duration, printed: String) -> Self {
        let mut sum: Sum = printed.lines().filter_map(Sum::of).sum();
        let silent = sum == Sum::default() && !printed.contains("\ntest result: ok.");
        if sum.failed == 0 && (silent || !status.success()) {
            sum.failed = 1;
        }
        Self {
            name,
            status,
            took,
            printed,
            sum,
        }
    }

    /// Whether all its tests passed.
    pub fn passed(&self) -> bool {
        self.sum.failed == 0
    }

    /// The output from the harness's list of failures on; all of it if there is no list.
    pub fn failures(&self) -> &str {
        let from = self.printed.find("\nfailures:\n").unwrap_or(0);
        self.printed[from..].trim_matches('\n')
    }

    /// The tests that failed, as the harness lists them at its end; none if it does not.
    pub fn failed_tests(&self) -> Vec<&str> {
        let listed = self.printed.rsplit_once("\nfailures:\n");
        let lines = listed.map_or("", |(_, list)| list).lines();
        lines.map_while(|l| l.strip_prefix("    ")).collect()
    }

    /// Counts its failed tests as passed, since they passed when run once more.
    pub fn make_good(&mut self) {
        self.sum.passed += mem::take(&mut self.sum.failed);
    }

    /// The lines in which tests say that they are skipped.
    pub fn skipped(&self) -> impl Iterator<Item = &str> {
        self.printed.lines().filter(|l| l.starts_with("SKIPPED"))
    }
}

#[cfg(test)]
mod tests;
