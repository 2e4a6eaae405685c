//! What came of a test program: the closing lines of its harness, and what it said before.

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
    /// As `cargo test` ends: `test result: ok. 3 passed; 0 failed; 1 ignored; …`. None of another line.
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

/// What came of a program.
#[derive(Debug)]
pub struct ProgramRun {
    /// Which one.
    pub name: String,
    /// How it ended.
    pub status: ExitStatus,
    /// How long it took.
    pub took: Duration,
    /// All that it printed.
    pub printed: String,
    /// Its tests.
    pub sum: Sum,
}

impl ProgramRun {
    /// Reads the sum from what it printed. A program that has not failed a test and ended badly all the
    /// same, by a signal or before it could say anything, has failed one.
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

    /// Whether all its tests did.
    pub fn passed(&self) -> bool {
        self.sum.failed == 0
    }

    /// From where the harness begins to list what failed; all if it does not.
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

    /// Counts as passed what has failed here and passed when it was run once more.
    pub fn make_good(&mut self) {
        self.sum.passed += mem::take(&mut self.sum.failed);
    }

    /// What tests have said that they go without.
    pub fn skipped(&self) -> impl Iterator<Item = &str> {
        self.printed.lines().filter(|l| l.starts_with("SKIPPED"))
    }
}

#[cfg(test)]
mod tests;
