use super::*;

fn ms(ms: u64) -> Instant {
    Instant::from_millis(ms)
}

#[test]
fn an_idle_peer_is_pinged_and_then_timed_out() {
    let config = Config::default();
    let mut liveness = Liveness::new(ms(0), &config);
    assert_eq!(liveness.check(ms(7999)), Idle::Shortly);
    assert_eq!(liveness.check(ms(8000)), Idle::KeepAlive);
    assert_eq!(liveness.check(ms(8001)), Idle::Shortly);
    liveness.receive(ms(9000));
    assert_eq!(liveness.check(ms(17_000)), Idle::KeepAlive);
    assert_eq!(liveness.check(ms(39_000)), Idle::TimedOut);
}
