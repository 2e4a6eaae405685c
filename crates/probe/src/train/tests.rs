use super::alarm::Alarm;

#[test]
fn losses_by_chance_raise_no_alarm_and_an_overflow_does() {
    let mut alarm = Alarm::default();
    for _ in 0..1000 {
        assert!(!alarm.note(999, 1));
    }
    assert!(!alarm.note(100, 2));
    assert!(alarm.note(20, 10));
}
