use super::*;

fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

#[test]
fn farewell_is_said_so_often_and_no_more() {
    let mut parting = Parting::going(ms(0));
    let said: Vec<u64> = (0..5000).filter(|&t| parting.says(ms(t))).collect();
    assert_eq!(said, [0, 50, 150, 350, 750]);
    assert!(!parting.is_over(ms(1549)) && parting.is_over(ms(1550)));
}

/// The peer may have forgotten the connection by the time at which this end would have said farewell.
#[test]
fn who_hears_farewell_says_none() {
    let mut parting = Parting::going(ms(0));
    parting.hear(ms(0));
    assert!(!parting.says(ms(0)));
    assert!(!parting.is_over(ms(2999)) && parting.is_over(ms(3000)));
}

#[test]
fn silence_is_asked_about_and_then_is_too_long() {
    let config = Config::default();
    let mut liveness = Liveness::new(ms(0), &config);
    assert_eq!(liveness.look(ms(7999)), Silence::Short);
    assert_eq!(liveness.look(ms(8000)), Silence::Long);
    assert_eq!(liveness.look(ms(8001)), Silence::Short);
    liveness.hear(ms(9000));
    assert_eq!(liveness.look(ms(17_000)), Silence::Long);
    assert_eq!(liveness.look(ms(39_000)), Silence::TooLong);
}
