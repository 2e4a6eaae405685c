use super::*;

fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

#[test]
fn what_is_read_in_time_has_come_now() {
    assert_eq!(spread(ms(20), ms(10), 5), (ms(10), Duration::ZERO));
    assert_eq!(spread(ms(10), ms(11), 5), (ms(11), Duration::ZERO));
}

#[test]
fn what_is_read_late_has_come_meanwhile() {
    assert_eq!(
        spread(ms(10), ms(30), 5),
        (ms(10), Duration::from_millis(4))
    );
    assert_eq!(spread(ms(10), ms(30), 0).0, ms(10));
}
