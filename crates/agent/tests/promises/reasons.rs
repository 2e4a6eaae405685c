//! The names under which user space shows the program's counters.

use tidegate_agent::REASONS;

#[test]
fn every_reason_has_the_name_that_the_program_gives_it() {
    let source = include_str!("../../src/bpf/shared.h");
    let names: Vec<String> = source
        .lines()
        .filter_map(|line| line.strip_prefix("\tTG_COUNT_")?.split(',').next())
        .map(str::to_lowercase)
        .collect();
    assert_eq!(names, REASONS);
}
