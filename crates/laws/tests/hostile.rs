//! A sender that lies with its timestamps, beside others on the same path: what it can take from them.

mod model;

use model::{Model, Outcome, Source};
use std::time::Duration;
use tidegate_laws::Params;
use tidegate_link::{Config, Policy, QueueConfig, Rate};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Two honest downloads and a third, on 20 Mbit/s and 40 ms under `tide`.
fn beside(third: Source) -> Outcome {
    Model {
        down: Config {
            rate: Rate::Constant(20e6),
            delay: ms(20).into(),
            queue: QueueConfig {
                packets: None,
                bytes: None,
                policy: Policy::DropTail,
            },
            ..Config::default()
        },
        back: vec![(Duration::ZERO, ms(20))],
        params: Params::default(),
        sources: vec![Source::bulk(0), Source::bulk(0), third],
        duration: Duration::from_secs(60),
        warmup: Duration::from_secs(10),
        sender_ppm: 0,
    }
    .run()
}

/// What it gains it takes by asking for more than a fair part, as any sender may that stays hungry; the
/// path stays full and its queue short.
#[test]
fn a_clock_that_swings_takes_little_from_others() {
    let fair = beside(Source::bulk(2));
    for by in [12, 30, 100, 300, 1_000] {
        for period in [50, 100, 500, 3_000] {
            let lying = beside(Source {
                swings: Some((ms(by), ms(period))),
                ..Source::bulk(2)
            });
            let honest = |o: &Outcome| (o.bytes[0] + o.bytes[1]) as f64;
            let kept = honest(&lying) / honest(&fair);
            let case = format!(
                "{by} ms every {period} ms: {kept:.2} kept, {:?}",
                lying.bytes
            );
            assert!(kept > 0.8, "{case}");
            assert!(lying.utilisation > 0.95, "{case}, {}", lying.utilisation);
            assert!(
                lying.mean_delay_ms < 60.0,
                "{case}, {} ms",
                lying.mean_delay_ms
            );
        }
    }
}
