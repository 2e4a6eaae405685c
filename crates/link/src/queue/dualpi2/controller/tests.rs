use super::*;

const MS: Duration = Duration::from_millis(1);

fn percent(controller: &Controller) -> f64 {
    100.0 * f64::from(controller.probability()) / PROBABILITY_ONE as f64
}

/// By hand: the first update, at 16 ms with a packet that came at 0, is 0.16 × 1 ms + 3.2 × 16 ms = 5.136 %; the
/// second, 0.16 × 17 ms + 3.2 × 16 ms more. Linux's whole numbers are a thousandth less.
#[test]
fn the_probability_follows_the_delay_and_its_trend() {
    let mut controller = Controller::new(15 * MS);
    let oldest = Some(Instant::ZERO);
    controller.catch_up(Instant::from_millis(15), oldest);
    assert_eq!(controller.probability(), 0);
    controller.catch_up(Instant::from_millis(16), oldest);
    assert!((percent(&controller) - 5.136).abs() < 0.01);
    controller.catch_up(Instant::from_millis(32), oldest);
    assert!((percent(&controller) - 10.528).abs() < 0.02);
}

#[test]
fn it_stays_between_nothing_and_all() {
    let mut controller = Controller::new(15 * MS);
    controller.catch_up(Instant::from_millis(100_000), Some(Instant::ZERO));
    assert_eq!(controller.probability(), u32::MAX);
    controller.catch_up(Instant::from_millis(200_000), None);
    assert_eq!(controller.probability(), 0);
}

/// How often the controller is asked changes nothing.
#[test]
fn updates_come_every_16_ms_however_often_it_is_asked() {
    let [mut often, mut seldom] = [Controller::new(15 * MS); 2];
    let oldest = Some(Instant::from_millis(40));
    for ms in 41..300 {
        often.catch_up(Instant::from_millis(ms), oldest);
    }
    seldom.catch_up(Instant::from_millis(299), oldest);
    assert_eq!(often.probability(), seldom.probability());
    assert!(often.probability() > 0);
    for at in [400, 10_000, 20_000] {
        often.catch_up(Instant::from_millis(at), None);
    }
    seldom.catch_up(Instant::from_millis(20_000), None);
    assert_eq!(often.next_update, seldom.next_update);
}
