//! The hazards of the design's list, each in the packet model: what `tide` must survive, and how.

mod model;

use model::{Model, Outcome, Source};
use std::time::Duration;
use tidegate_laws::{Law, Params};
use tidegate_link::{Config, DelayProfile, Instant, Loss, Policy, QueueConfig, Rate};



fn seconds(s: u64) -> Duration {
    Duration::from_secs(s * S)
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// 20 Mbit/s, 20 ms each way, no end of buffer, `tide`, 60 s.
fn base() -> Model {
    Model {
        down: Config {
            rate: Rate::Constant(20e6),
            delay: ms(20).into(),
            queue: QueueConfig { packets: None, bytes: None, policy: Policy::DropTail },
            loss: Loss::None,
        },
        back: vec![(Duration::ZERO, ms(20))],
        params: Params::default(),
        sources: vec![Source::bulk(0)],
        duration: seconds(60),
        warmup: seconds(5),
    }
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
    let squares: f64 = x.iter().map(|&v| (v as f64).powi(2)).sum();
    sum * sum / (x.len() as f64 * squares)
}

#[test]
fn a_steady_link_is_full_with_a_short_queue() {
    let o = base().run();
    println!("{o:.3?}", o = (o.utilisation, o.mean_delay_ms, o.peak_delay_ms));
    assert!(o.utilisation > 0.995, "{}", o.utilisation);
    assert!(o.mean_delay_ms < 10.0, "{}", o.mean_delay_ms);
}

#[test]
fn a_route_change_starves_drwa_and_not_tide() {
    let mut m = base();
    let steps = vec![(Instant::from_millis(20_000), ms(180)), (Instant::from_millis(40_000), ms(20))];
    m.down.delay = DelayProfile::new(ms(20), steps);
    let tide = m.run();
    let per_second: Vec<_> = (18..60).map(|s| format!("{s}:{:.2}/{:.0}", used(&tide, s), tide.bins[10 * s + 5].0)).collect();
    println!("{} drains {} {per_second:?}", tide.utilisation, tide.drains);
    let drwa = drwa(m);
    println!("drwa {}", drwa.utilisation);
    assert!(tide.utilisation > 0.9);
    assert!(used(&tide, 26) > 0.9 && used(&tide, 59) > 0.98);
    assert!(drwa.utilisation < 0.75);
}

#[test]
fn a_late_comer_gets_its_share_and_no_more() {
    let mut m = base();
    m.sources.push(Source::bulk(10));
    m.warmup = seconds(15);
    let tide = m.run();
    println!("{:?} {} {}", tide.bytes, tide.utilisation, tide.mean_delay_ms);
    assert!(jain(&tide.bytes) > 0.95);
    assert!(tide.utilisation > 0.97 && tide.mean_delay_ms < 20.0);
}

#[test]
fn eight_flows_share_one_forecast() {
    let mut m = base();
    m.sources = (0..8).map(|i| Source::bulk(2 * i)).collect();
    m.warmup = seconds(25);
    let tide = m.run();
    println!("{:?} {} {}", tide.bytes, tide.utilisation, tide.mean_delay_ms);
    assert!(jain(&tide.bytes) > 0.95);
    assert!(tide.utilisation > 0.97 && tide.mean_delay_ms < 40.0);
}

#[test]
fn an_upload_that_fills_the_way_back_is_not_taken_for_downlink_queue() {
    let mut m = base();
    // The upload's queue grows to 600 ms within 2 s and stands there from 10 to 40 s.
    m.back = vec![(Duration::ZERO, ms(20))];
    m.back.extend((1..=40).map(|i| (seconds(10) + ms(50 * i), ms(20 + 15 * i))));
    m.back.push((seconds(40), ms(20)));
    let tide = m.run();
    let drwa = drwa(m);
    let per_second: Vec<_> = (9..45).map(|s| format!("{s}:{:.2}/{:.0}", used(&tide, s), tide.bins[10 * s + 5].0)).collect();
    println!("{} drains {} {per_second:?} drwa {}", tide.utilisation, tide.drains, drwa.utilisation);
    assert!(tide.utilisation > 0.9);
    assert!(drwa.utilisation < 0.7);
}

#[test]
fn a_server_that_pauses_is_not_throttled_by_its_pauses() {
    let mut m = base();
    m.sources[0].chunks = Some((700 * u64::from(model::MSS), seconds(2)));
    let times = |o: &Outcome| -> Vec<f64> {
        o.chunk_s[0].iter().enumerate().map(|(i, t)| t - 1.0 - 2.0 * i as f64).collect()
    };
    let tide = times(&m.run());
    m.params.law = Law::None;
    let linux = times(&m.run());
    println!("{tide:.3?}\n{linux:.3?}");
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    assert!(mean(&tide[3..]) < 1.06 * mean(&linux[3..]));
}
