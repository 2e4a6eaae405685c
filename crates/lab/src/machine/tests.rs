use super::CpuTicks;

#[test]
fn what_is_idle_waits_or_gives_way_is_not_busy() {
    let before = CpuTicks::parse("cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 2 3\n").unwrap();
    let after = CpuTicks::parse("cpu  120 5 60 840 60 3 1 1 77 0\n").unwrap();
    // 20 user + 10 system + 3 irq + 1 softirq + 1 steal of 90 ticks; guest is in user.
    assert_eq!(after.busy_share_since(&before), 35.0 / 90.0);
}

#[test]
fn no_time_is_no_load() {
    let now = CpuTicks::parse("cpu  1 2 3 4 5 6 7 8 9 10\n").unwrap();
    assert_eq!(now.busy_share_since(&now), 0.0);
}

#[test]
fn another_format_is_refused() {
    assert_eq!(CpuTicks::parse("cpu0 1 2 3 4 5 6 7 8\n"), None);
    assert_eq!(CpuTicks::parse("cpu  1 2\n"), None);
}
