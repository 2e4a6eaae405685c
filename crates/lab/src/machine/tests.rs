use super::CpuTicks;

/// The busy share between two readings.
fn busy(low: bool) -> f64 {
    let before = "cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 2 3\n";
    let after = "cpu  120 5 60 840 60 3 1 1 77 0\n";
    let at = |text| CpuTicks::parse(text, low).unwrap();
    at(after).busy_share_since(&at(before))
}

#[test]
fn what_is_idle_waits_or_gives_way_is_not_busy() {
    // 20 user + 10 system + 3 irq + 1 softirq + 1 steal of 90 ticks; guest is in user.
    assert_eq!(busy(false), 35.0 / 90.0);
}

#[test]
fn to_a_process_of_low_priority_nothing_gives_way() {
    // The same and 5 nice.
    assert_eq!(busy(true), 40.0 / 90.0);
}

#[test]
fn no_time_is_no_load() {
    let now = CpuTicks::parse("cpu  1 2 3 4 5 6 7 8 9 10\n", false).unwrap();
    assert_eq!(now.busy_share_since(&now), 0.0);
}

#[test]
fn another_format_is_refused() {
    assert_eq!(CpuTicks::parse("cpu0 1 2 3 4 5 6 7 8\n", false), None);
    assert_eq!(CpuTicks::parse("cpu  1 2\n", false), None);
}
