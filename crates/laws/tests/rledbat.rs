//! rLEDBAT in the packet model: that it does what it is for, and nothing else.

mod model;

use model::{Model, Outcome, Source};
use std::time::Duration;
use tidegate_laws::{Law, Params};
use tidegate_link::{DelayProfile, Instant};

fn seconds(s: u64) -> Duration {
    Duration::from_secs(s)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// 20 Mbit/s, 20 ms each way, no end of buffer.
fn link(secs: u64) -> Model {
    let rledbat = Params {
        law: Law::Rledbat,
        ..Params::default()
    };
    Model::deep(rledbat, vec![Source::bulk(0)], secs, 5)
}

/// Share of the capacity used in the second that begins at `s`.
fn used(o: &Outcome, s: usize) -> f64 {
    let bytes: u64 = o.bins[10 * s..10 * s + 10].iter().map(|b| b.1).sum();
    bytes as f64 * 1500.0 / 1448.0 / 2.5e6
}

/// Second by second: share of the capacity used, and queueing delay in ms. For messages.
fn course(o: &Outcome) -> String {
    let seconds = (0..o.bins.len() / 10).map(|s| {
        let delay_ms = o.bins[10 * s + 5].0;
        format!("{s}:{:.0}%/{delay_ms:.0}ms", 100.0 * used(o, s))
    });
    seconds.collect::<Vec<_>>().join(" ")
}

/// Slow-downs may take a tenth of the time; the target of 60 ms stands in the queue.
#[test]
fn alone_it_uses_nine_tenths_of_a_link_with_its_target_in_the_queue() {
    let o = link(120).run();
    assert!(o.utilisation > 0.9, "{} {}", o.utilisation, course(&o));
    assert!(
        o.mean_delay_ms > 35.0 && o.mean_delay_ms < 62.0,
        "{} {}",
        o.mean_delay_ms,
        course(&o)
    );
    assert!(o.peak_delay_ms < 75.0, "{}", course(&o));
}

/// A delay of 150 ms more, as another's queue makes it: the law leaves nearly all to the other, and is back soon.
#[test]
fn it_yields_to_the_queue_of_others() {
    let mut m = link(60);
    let queue_of_others = vec![
        (Instant::from_millis(20_000), ms(170)),
        (Instant::from_millis(40_000), ms(20)),
    ];
    m.links[0].delay = DelayProfile::new(ms(20), queue_of_others);
    let o = m.run();
    // Two segments in 190 ms are a hundredth of the rate.
    assert!((25..40).all(|s| used(&o, s) < 0.02), "{}", course(&o));
    assert!(used(&o, 15) > 0.9 && used(&o, 54) > 0.9, "{}", course(&o));
}

/// A late-comer sees the target in the queue and takes it for the path, until slow-downs empty it.
#[test]
fn slow_downs_show_a_late_comer_the_base() {
    let mut m = link(200);
    m.sources.push(Source::bulk(20));
    m.warmup = seconds(80);
    let o = m.run();
    let share = o.bytes[0] as f64 / (o.bytes[0] + o.bytes[1]) as f64;
    assert!((0.3..=0.7).contains(&share), "{share} {}", course(&o));
    assert!(o.mean_delay_ms < 75.0, "{} {}", o.mean_delay_ms, course(&o));
}
