use super::*;

#[test]
fn the_largest_answer_counts_and_the_search_ends() {
    let mut mtu = Mtu::new(ETHERNET);
    assert_eq!(mtu.probes(Instant::ZERO), [1372, 1452]);
    assert_eq!(mtu.probes(Instant::ZERO), [0; 0]);
    mtu.answered(1372);
    mtu.answered(9000);
    assert_eq!(mtu.size(), 1372);
    let mut now = Instant::ZERO;
    let mut probes = 1;
    while let Some(at) = mtu.timeout() {
        now = now.max(at);
        assert_eq!(mtu.probes(now), [1452]);
        probes += 1;
    }
    assert_eq!((probes, mtu.size()), (TRIES, 1372));
}

#[test]
fn nothing_larger_than_allowed_is_tried() {
    let mut mtu = Mtu::new(1400);
    assert_eq!(mtu.probes(Instant::ZERO), [1372]);
    mtu.answered(1452);
    assert_eq!(mtu.size(), BASE);
}

#[test]
fn a_path_that_carries_nothing_is_no_black_hole() {
    let mut detector = BlackHoleDetector::default();
    for timeouts in 1..10 {
        assert_eq!(detector.check(timeouts), PathCheck::Probe);
        assert_eq!(detector.check(timeouts), PathCheck::Unchanged);
    }
    detector.answered();
    assert_eq!(detector.check(10), PathCheck::BlackHole);
    detector.note(1, 10);
    detector.answered();
    assert_eq!(detector.check(11), PathCheck::Probe);
}
