use super::*;

/// A path of 100 packets and 100 ms, which sends a packet each 0.8 ms.
fn path() -> Path {
    let mut path = Path::new(PathId(1), Some(0), 100.0, Instant::from_millis(0));
    path.rtt.sample(Duration::from_millis(100));
    path
}

/// How many packets leave at that time.
fn burst(path: &mut Path, ms: u64) -> usize {
    let now = Instant::from_millis(ms);
    let before = path.in_flight();
    while path.is_ready(now) {
        path.send(now, 0);
    }
    path.in_flight() - before
}

#[test]
fn packets_leave_at_the_pace_of_one_and_a_quarter_windows_a_round_trip() {
    let mut path = path();
    let bursts: Vec<usize> = (1000..1080).map(|ms| burst(&mut path, ms)).collect();
    assert!(
        bursts[1..].iter().all(|&packets| packets <= 2),
        "{bursts:?}"
    );
    assert_eq!(path.in_flight(), 100, "the window is what limits");
    assert!((75..80).contains(&bursts.iter().rposition(|&n| n > 0).unwrap()));
}

#[test]
fn a_timer_that_is_late_costs_nothing_and_a_pause_makes_no_burst() {
    let mut path = path();
    burst(&mut path, 1000);
    let late: usize = (1..=10).map(|n| burst(&mut path, 1000 + 3 * n)).sum();
    assert!((36..=39).contains(&late), "30 ms at 0.8 ms each: {late}");
    assert!(burst(&mut path, 5000) <= 5);
}

#[test]
fn a_loss_with_another_path_halves_once_a_round_trip() {
    let (mut path, mut other) = (path(), path());
    burst(&mut path, 1000);
    other.loss = Some(LossInterval {
        sent: Instant::from_millis(900),
        detected: Instant::from_millis(1001),
    });
    path.lose_with(&other);
    path.lose_with(&other);
    assert_eq!((path.window, path.loss), (50.0, other.loss));
}
