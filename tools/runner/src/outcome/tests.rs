use super::{ProgramRun, Sum};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

fn outcome(status: i32, printed: &str) -> ProgramRun {
    let status = ExitStatus::from_raw(status);
    ProgramRun::new("a/b".into(), status, Duration::ZERO, printed.into())
}

const GOOD: &str = "\nrunning 3 tests\ntest a ... ok\n\n\
    test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
const BAD: &str = "\nrunning 2 tests\nSKIPPED b: needs root\n\nfailures:\n\n---- a stdout ----\nwhy\n\n\
    \nfailures:\n    a\n    b::c\n\n\
    test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";

#[test]
fn sums_are_added() {
    let outcomes = [outcome(0, GOOD), outcome(101 << 8, BAD)];
    let sum: Sum = outcomes.iter().map(|o| o.sum).sum();
    assert_eq!(sum.to_string(), "3 passed, 1 failed, 1 skipped");
    assert_eq!(outcomes.map(|o| o.passed()), [true, false]);
}

#[test]
fn what_failed_and_what_was_left_out_is_found() {
    let bad = outcome(101 << 8, BAD);
    assert!(bad.failures().starts_with("failures:\n\n---- a stdout"));
    assert!(bad.failures().contains("why"));
    assert_eq!(bad.failed_tests(), ["a", "b::c"]);
    assert!(outcome(0, GOOD).failed_tests().is_empty());
    assert_eq!(bad.skipped().collect::<Vec<_>>(), ["SKIPPED b: needs root"]);
}

/// A death by a signal, an exit in mid-test and a harness without a report are failures.
#[test]
fn a_program_that_ends_otherwise_has_failed() {
    for (status, printed) in [(9, GOOD), (1 << 8, GOOD), (9, ""), (0, "test a ... ")] {
        let outcome = outcome(status, printed);
        assert_eq!(outcome.sum.failed, 1, "{status} {printed}");
        assert!(!outcome.passed());
    }
}

#[test]
fn a_program_without_tests_passes() {
    let none = "\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; \
        0 filtered out; finished in 0.00s\n";
    assert!(outcome(0, none).passed());
}
