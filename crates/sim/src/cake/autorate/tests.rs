//! Expected numbers are computed by the script's own arithmetic.

use super::*;

const STEERED: Bounds = Bounds {
    least: 5_000,
    base: 20_000,
    most: 80_000,
};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn at(ms: u64) -> Instant {
    Instant::from_nanos(ms * 1_000_000)
}

/// Answers with that round trip, one in 50 ms, beginning at `from`. Returns when the next one is due.
fn answers(autorate: &mut Autorate, from: u64, rtt: u64, number: u64) -> u64 {
    for n in 0..number {
        let pinger = (from / 50 + n) % 6;
        autorate.answered(at(from + 50 * n), pinger as usize, ms(rtt));
    }
    from + 50 * number
}

/// With baselines of 25 ms.
fn settled() -> (Autorate, u64) {
    let mut autorate = Autorate::new([STEERED; 2]);
    let next = answers(&mut autorate, 0, 50, 60);
    assert_eq!(autorate.baselines_us, [25_000; PINGERS]);
    assert_eq!(autorate.rates(), [20_000; 2]);
    (autorate, next)
}

#[test]
fn a_baseline_falls_fast_and_rises_slowly() {
    let mut autorate = Autorate::new([STEERED; 2]);
    autorate.answered(at(1), 2, ms(50));
    assert_eq!(autorate.baselines_us[2], 32_500);
    autorate.answered(at(2), 2, ms(50));
    assert_eq!(autorate.baselines_us[2], 25_750);
    autorate.answered(at(3), 2, ms(1_000));
    assert_eq!(autorate.baselines_us[2], 26_224);
}

#[test]
fn three_late_answers_of_six_lower_both_rates() {
    let (mut autorate, next) = settled();
    let next = answers(&mut autorate, next, 250, 2);
    assert_eq!(autorate.rates(), [20_000; 2]);
    // Three deltas of 99.9 ms have a mean of 49.95 ms: 19.35 of the 30 ms between 30.6 and 60.6.
    let next = answers(&mut autorate, next, 250, 1);
    assert_eq!(autorate.rates(), [16_704; 2]);
    // Then no fall for 300 ms, and one by a quarter once the mean is above 60 ms.
    let next = answers(&mut autorate, next, 250, 6);
    assert_eq!(autorate.rates(), [16_704; 2]);
    answers(&mut autorate, next, 250, 1);
    assert_eq!(autorate.rates(), [12_528; 2]);
}

#[test]
fn under_high_load_a_rate_rises_once_a_look() {
    let (mut autorate, next) = settled();
    // 16 Mbit/s down, 1 Mbit/s up.
    autorate.achieved([400_000, 25_000]);
    let next = answers(&mut autorate, next, 50, 3);
    assert_eq!(autorate.rates(), [20_800, 20_000]);
    autorate.achieved([400_000, 25_000]);
    answers(&mut autorate, next, 50, 1);
    assert_eq!(autorate.rates(), [21_632, 20_000]);
}

#[test]
fn without_load_it_returns_to_the_base_rate() {
    let (mut autorate, next) = settled();
    let next = answers(&mut autorate, next, 250, 3);
    let next = answers(&mut autorate, next, 50, 60);
    let [down, _] = autorate.rates();
    assert!((16_704 + 167..16_704 * 104 / 100).contains(&down), "{down}");
    answers(&mut autorate, next, 50, 20 * 30);
    assert_eq!(autorate.rates(), [20_000; 2]);
}

#[test]
fn it_stays_within_its_bounds() {
    let fixed = Bounds {
        least: 10_000,
        base: 10_000,
        most: 10_000,
    };
    let mut autorate = Autorate::new([STEERED, fixed]);
    let mut next = answers(&mut autorate, 0, 50, 60);
    next = answers(&mut autorate, next, 2_000, 600);
    assert_eq!(autorate.rates(), [5_000, 10_000]);
    // Baselines have risen meanwhile.
    for _ in 0..600 {
        autorate.achieved([100_000_000; 2]);
        next = answers(&mut autorate, next, 50, 4);
    }
    assert_eq!(autorate.rates(), [80_000, 10_000]);
}

/// Steered around that rate in both directions.
fn around(kbps: i64) -> Autorate {
    let bounds = Bounds {
        least: kbps / 2,
        base: kbps,
        most: kbps * 2,
    };
    Autorate::new([bounds; 2])
}

/// The script sleeps for half a second in place of 480 ms, but divides by 480 ms: 30 000 bytes are 500 kbit/s.
#[test]
fn slow_rates_are_allowed_a_packet_and_looked_at_less_often() {
    let mut autorate = around(500);
    assert_eq!(autorate.directions[0].largest_packet_us(), 24_000);
    assert_eq!(autorate.monitor_interval(), ms(500));
    autorate.achieved([30_000, 15_000]);
    assert_eq!(autorate.directions.map(|shaped| shaped.load), [100, 50]);
}

/// Ten times 12 000 bit at 1 Mbit/s and 960 kbit/s: 240 and 250 ms. It sleeps 200 ms for either.
#[test]
fn looks_are_tenths_of_a_second_apart() {
    assert_eq!(around(1_000).monitor_interval(), ms(200));
    assert_eq!(around(960).monitor_interval(), ms(200));
    assert_eq!(around(950).monitor_interval(), ms(300));
    assert_eq!(around(20_000).monitor_interval(), ms(200));
}

/// The measuring process was started with the base rates.
#[test]
fn looks_stay_as_far_apart_when_rates_change() {
    let mut autorate = around(500);
    let next = answers(&mut autorate, 0, 50, 60);
    answers(&mut autorate, next, 2_000, 600);
    assert_eq!(autorate.rates(), [250; 2]);
    assert_eq!(autorate.monitor_interval(), ms(500));
}
