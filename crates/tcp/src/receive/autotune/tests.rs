use super::*;

const MS: u64 = 1_000_000;

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * MS)
}

fn rtt_ms(tuning: &Autotune) -> f64 {
    tuning.rtt().map_or(0.0, |rtt| rtt.as_secs_f64() * 1e3)
}

#[test]
fn the_round_trip_follows_fresh_echoes() {
    let mut tuning = Autotune::new(at(0), 14_480);
    tuning.echoed(at(100), 40, true, true);
    assert_eq!(rtt_ms(&tuning), 40.0);
    // The same echo, and one on a short segment.
    tuning.echoed(at(110), 50, true, true);
    tuning.echoed(at(120), 50, false, true);
    assert_eq!(rtt_ms(&tuning), 40.0);
    // Larger: an eighth. Not while something waits to be read.
    tuning.echoed(at(130), 48, true, true);
    assert_eq!(rtt_ms(&tuning), 41.0);
    tuning.echoed(at(140), 48, true, false);
    assert_eq!(rtt_ms(&tuning), 41.0);
    // Smaller: at once.
    tuning.echoed(at(150), 30, true, false);
    assert_eq!(rtt_ms(&tuning), 30.0);
    // An echo of the same tick takes a millisecond at least.
    tuning.echoed(at(160), 0, true, true);
    assert_eq!(rtt_ms(&tuning), 1.0);
}

#[test]
fn a_windows_worth_bounds_the_round_trip() {
    let mut tuning = Autotune::new(at(0), 14_480);
    tuning.arrived(at(10), 1000, 50_000);
    tuning.arrived(at(40), 50_999, 50_000);
    assert_eq!(tuning.rtt(), None);
    tuning.arrived(at(60), 51_000, 50_000);
    assert_eq!(rtt_ms(&tuning), 50.0);
    tuning.arrived(at(260), 101_000, 50_000);
    assert_eq!(
        rtt_ms(&tuning),
        50.0,
        "a longer one may be the sender's pause"
    );
    tuning.arrived(at(300), 151_000, 50_000);
    assert_eq!(rtt_ms(&tuning), 40.0);
}

#[test]
fn a_round_trip_counts_what_was_read_less_what_waits() {
    let mut tuning = Autotune::new(at(0), 14_480);
    assert!(!tuning.is_over(at(500)), "no round trip is known");
    tuning.echoed(at(500), 40, true, true);
    assert!(tuning.is_over(at(501)));
    assert_eq!(tuning.read(at(501), 20_001, 20_001), Some(20_000));
    assert!(!tuning.is_over(at(540)));
    assert!(tuning.is_over(at(541)));
    assert_eq!(tuning.read(at(541), 90_001, 140_001), Some(20_000));
    // Not more than the window's worth of the beginning.
    assert_eq!(tuning.read(at(581), 104_481, 104_481), None);
    assert_eq!(tuning.read(at(621), 118_962, 118_962), Some(14_481));
}

/// Two steps of a download as `ss` showed them: `rb405440 rcv_space:50680`, then `rb758982
/// rcv_space:91224`; by hand, 2·50680·(1 + 2·(50680 − 28960)/28960) / 0.625, and the same for the second.
#[test]
fn the_buffer_grows_as_linux_showed() {
    let mut memory = Memory::autotuned(131_072, 33_554_432);
    memory.learn(1448);
    let mut window = Window::new(&memory, 64_240, 10, 1448);
    let mut tuning = Autotune::new(at(0), 28_960);
    tuning.grow(&mut memory, &mut window, 50_680, 0);
    assert_eq!(memory.limit(), 405_440);
    tuning.grow(&mut memory, &mut window, 91_224, 0);
    assert_eq!(memory.limit(), 758_982);
    assert_eq!(window.clamp(), 758_982 * 160 / 256);
    // A steady rate fits; what is out of order comes on top.
    tuning.grow(&mut memory, &mut window, 91_224, 0);
    assert_eq!(memory.limit(), 758_982);
    tuning.provide(&mut memory, &mut window, 400_000);
    assert_eq!(memory.limit(), (2 * 91_224 + 400_000) * 256 / 160);
}
