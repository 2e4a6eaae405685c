//! The hazards of the design's list, each in the packet model: what `tide` must survive, and how.

mod model;

use model::{Lie, Model, Outcome, Source};
use std::time::Duration;
use tidegate_laws::{Law, Params};
use tidegate_link::{CellKind, CellModel, DelayProfile, Instant, Rate};

fn seconds(s: u64) -> Duration {
    Duration::from_secs(s)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// 20 Mbit/s, 20 ms each way, no end of buffer, `tide`, 60 s.
fn base() -> Model {
    Model::deep(Params::default(), vec![Source::bulk(0)], 60, 5)
}

fn drwa(mut m: Model) -> Outcome {
    m.params.law = Law::Drwa;
    m.run()
}

/// Share of the capacity used in the second that begins at `s`.
fn used(o: &Outcome, s: usize) -> f64 {
    let bytes: u64 = o.bins[10 * s..10 * s + 10].iter().map(|b| b.1).sum();
    bytes as f64 * 1500.0 / 1448.0 / 2.5e6
}

fn jain(x: &[u64]) -> f64 {
    let sum: f64 = x.iter().map(|&v| v as f64).sum();
    let squares: f64 = x.iter().map(|&v| v as f64 * v as f64).sum();
    sum * sum / (x.len() as f64 * squares)
}

/// Second by second: share of the capacity used, and queueing delay in ms. For messages.
fn course(o: &Outcome) -> String {
    let seconds = (0..o.bins.len() / 10).map(|s| {
        format!(
            "{s}:{:.0}%/{:.0}ms",
            100.0 * used(o, s),
            o.bins[10 * s + 5].0
        )
    });
    seconds.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_steady_link_is_full_with_a_short_queue() {
    let o = base().run();
    assert!(o.utilisation > 0.995, "{}", course(&o));
    assert!(o.mean_delay_ms < 8.0, "{}", course(&o));
    assert!(o.peak_delay_ms < 250.0, "{}", course(&o));
}

#[test]
fn a_route_change_starves_drwa_and_not_tide() {
    let mut m = base();
    let there_and_back = vec![
        (Instant::from_millis(20_000), ms(180)),
        (Instant::from_millis(40_000), ms(20)),
    ];
    m.links[0].delay = DelayProfile::new(ms(20), there_and_back);
    let tide = m.run();
    // All of it in the data's direction, five times the lag, within 5 s: the remaining window comes in bursts, and no
    // level stands for 12 buckets until one of them is long enough. Then the risen floors are checked against RTTmin,
    // which takes a third of a second each.
    assert!(tide.utilisation > 0.9, "{}", course(&tide));
    assert!(
        used(&tide, 26) > 0.98 && used(&tide, 50) > 0.98,
        "{}",
        course(&tide)
    );
    let drwa = drwa(m);
    assert!(used(&drwa, 35) < 0.3, "{}", course(&drwa));
}

#[test]
fn a_route_that_becomes_shorter_leaves_no_queue_behind() {
    let mut m = base();
    let shorter = vec![(Instant::from_millis(20_000), ms(20))];
    m.links[0].delay = DelayProfile::new(ms(120), shorter);
    let tide = m.run();
    assert!(tide.utilisation > 0.98, "{}", course(&tide));
    assert!(
        used(&tide, 22) > 0.98 && used(&tide, 50) > 0.98,
        "{}",
        course(&tide)
    );
    // The bytes in flight on the longer path stand in the queue for a moment.
    let after: Vec<f64> = tide.bins[220..].iter().map(|b| b.0).collect();
    let mean_ms = after.iter().sum::<f64>() / after.len() as f64;
    // A margin of 8 ms.
    assert!(mean_ms < 12.0, "{mean_ms} {}", course(&tide));
}

#[test]
fn a_late_comer_gets_its_share_and_no_more() {
    let mut m = base();
    m.sources.push(Source::bulk(10));
    m.warmup = seconds(15);
    let tide = m.run();
    assert!(jain(&tide.bytes) > 0.99, "{:?}", tide.bytes);
    assert!(
        tide.utilisation > 0.99 && tide.mean_delay_ms < 12.0,
        "{}",
        course(&tide)
    );
}

#[test]
fn eight_flows_share_one_forecast() {
    let mut m = base();
    m.sources = (0..8).map(|i| Source::bulk(2 * i)).collect();
    m.warmup = seconds(25);
    let tide = m.run();
    assert!(jain(&tide.bytes) > 0.99, "{:?}", tide.bytes);
    assert!(
        tide.utilisation > 0.99 && tide.mean_delay_ms < 25.0,
        "{}",
        course(&tide)
    );
}

#[test]
fn eight_flows_share_a_link_that_varies() {
    for seed in 1..=3 {
        let mut m = base();
        m.links[0].rate = Rate::from(CellModel::new(CellKind::Lte, None, seed));
        m.sources = (0..8).map(|i| Source::bulk(2 * i)).collect();
        m.duration = seconds(120);
        m.warmup = seconds(25);
        let tide = m.run();
        assert!(jain(&tide.bytes) >= 0.9, "seed {seed}: {:?}", tide.bytes);
        // Eight windows of DRWA never let the queue run empty, at seconds of delay.
        let drwa = drwa(m);
        assert!(
            tide.utilisation > 0.95 && tide.mean_delay_ms < 0.25 * drwa.mean_delay_ms,
            "seed {seed}: {:.3} at {:.1} ms, DRWA {:.1} ms",
            tide.utilisation,
            tide.mean_delay_ms,
            drwa.mean_delay_ms
        );
    }
}

#[test]
fn an_upload_that_fills_the_way_back_is_not_taken_for_downlink_queue() {
    let mut m = base();
    // The upload's queue grows to 600 ms within 2 s, and is gone at 40 s.
    m.back
        .extend((1..=40).map(|i| (seconds(10) + ms(50 * i), ms(20 + 15 * i))));
    m.back.push((seconds(40), ms(20)));
    let tide = m.run();
    assert!(tide.utilisation > 0.95, "{}", course(&tide));
    let drwa = drwa(m);
    assert!(used(&drwa, 30) < 0.3, "{}", course(&drwa));
}

#[test]
fn a_server_that_pauses_is_not_throttled_by_its_pauses() {
    let mut m = base();
    m.sources[0].chunks = Some((700 * u64::from(model::MSS), seconds(2)));
    let times = |o: &Outcome| -> Vec<f64> {
        o.chunk_s[0]
            .iter()
            .enumerate()
            .map(|(i, t)| t - 1.0 - 2.0 * i as f64)
            .collect()
    };
    let tide = times(&m.run());
    m.params.law = Law::None;
    let linux = times(&m.run());
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    assert!(
        tide.len() >= 29 && mean(&tide) < 1.05 * mean(&linux),
        "{tide:.3?} {linux:.3?}"
    );
}

#[test]
fn clocks_that_drift_do_not_look_like_a_queue() {
    for ppm in [-100, 100] {
        let mut m = base();
        m.sender_ppm = ppm;
        m.duration = seconds(600);
        let o = m.run();
        assert!(o.utilisation > 0.98, "{ppm} ppm: {}", course(&o));
        assert!(o.mean_delay_ms < 15.0, "{ppm} ppm: {}", course(&o));
    }
}

/// The same under another law, with the first sender's clock as it lies and with an honest one.
fn with_and_without(m: &mut Model, law: Law) -> [Outcome; 2] {
    m.params.law = law;
    let set = m.run();
    let lie = m.sources[0].lie.take();
    let steady = m.run();
    m.sources[0].lie = lie;
    [set, steady]
}

/// A machine sleeps for seconds to days, and a connection survives: our clock or the sender's has stopped meanwhile, or
/// was set.
#[test]
fn a_sleep_leaves_nothing_behind() {
    const HOUR: i32 = 3_600_000;
    for by_ms in [
        1000,
        -1000,
        60_000,
        -60_000,
        HOUR,
        -HOUR,
        10 * HOUR,
        -10 * HOUR,
        72 * HOUR,
        -72 * HOUR,
    ] {
        for other in [false, true] {
            let mut m = base();
            m.sources[0].lie = Some(Lie::Set(seconds(60), by_ms));
            if other {
                m.sources.push(Source::bulk(5));
            }
            m.warmup = seconds(62);
            m.duration = seconds(260);
            let o = m.run();
            let which = format!("{by_ms} ms, {} flows: {}", m.sources.len(), course(&o));
            assert!(o.utilisation > 0.97, "{which}");
            assert!(o.mean_delay_ms < 20.0, "{which}");
            // These laws read only the echoes of our own stamps: the sender's clock does not matter to them.
            for law in [Law::Drwa, Law::Rledbat] {
                let [set, steady] = with_and_without(&mut m, law);
                assert_eq!(set.bins, steady.bins, "{law:?}, {which}");
                assert_eq!(set.bytes, steady.bytes, "{law:?}, {which}");
                if law == Law::Rledbat {
                    assert!(set.utilisation > 0.9, "{}", course(&set));
                    assert!(set.mean_delay_ms < 62.0, "{}", course(&set));
                }
            }
        }
    }
}

#[test]
fn a_way_back_that_breathes_does_not_rock_the_queue() {
    let mut m = base();
    // An uplink queue of 100 to 300 ms, up and down every 2 s, as an upload's saw-tooth makes it.
    let saw = |i: u64| {
        if i % 40 < 20 {
            100 + 10 * (i % 20)
        } else {
            300 - 10 * (i % 20)
        }
    };
    m.back
        .extend((0..1000).map(|i| (seconds(10) + ms(50 * i), ms(20 + saw(i)))));
    m.warmup = seconds(12);
    let tide = m.run();
    assert!(tide.utilisation > 0.97, "{}", course(&tide));
    assert!(tide.mean_delay_ms < 115.0, "{}", course(&tide));
}

#[test]
fn a_short_fast_way_is_not_throttled_by_ticks_of_a_millisecond() {
    let mut m = base();
    m.links[0].rate = Rate::constant(500e6);
    m.links[0].delay = Duration::from_micros(100).into();
    m.back = vec![(Duration::ZERO, Duration::from_micros(100))];
    m.duration = seconds(10);
    m.warmup = seconds(2);
    let o = m.run();
    assert!(o.utilisation > 0.98, "{} {}", o.utilisation, course(&o));
    assert!(o.mean_delay_ms < 20.0, "{}", course(&o));
}
