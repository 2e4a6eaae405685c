//! A sender that lies with its timestamps, beside others on the same path: what it can take from them.

mod model;

use model::{Lie, Model, Outcome, Source, deep};
use std::time::Duration;
use tidegate_laws::Params;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Two honest downloads and a third, on 20 Mbit/s and 40 ms under `tide`.
fn beside(third: Source) -> Outcome {
    let sources = vec![Source::bulk(0), Source::bulk(0), third];
    Model::deep(Params::default(), sources, 60, 10).run()
}

/// What it gains it takes by asking for more than a fair part, as any sender may that stays hungry; the
/// path stays full and its queue short.
#[test]
fn a_clock_that_swings_takes_little_from_others() {
    let fair = beside(Source::bulk(2));
    for by in [12, 30, 100, 300, 1_000] {
        for period in [50, 100, 500, 3_000] {
            let lying = beside(Source {
                lie: Some(Lie::Swings(ms(by), ms(period))),
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

#[test]
fn show() {
    use tidegate_link::Rate;
    let fair = beside(Source::bulk(2));
    for law in [tidegate_laws::Law::None, tidegate_laws::Law::Tide] {
        let sources = vec![Source::bulk(0), Source::bulk(0), Source { lie: Some(Lie::Hides), ..Source::bulk(2) }];
        let o = Model::deep(Params{law, ..Params::default()}, sources, 60, 10).run();
        println!("show hides {law:?} {:?} vs {:?} q {:.0?} use {:.3} {:?}", o.bytes, fair.bytes, o.queued_ms, o.utilisation, o.groups);
    }
    for mbps in [1., 3., 10., 20., 100., 500.] {
      for second in [0, 1] {
       for lie in [None, Some(Lie::Imitates(0))] {
        let sources = vec![Source::bulk(0), Source::bulk(0).over(&[second]), Source { lie, ..Source::bulk(2) }.over(&[2])];
        let mut m = Model::deep(Params::default(), sources, 60, 10);
        m.links.push(deep(Rate::constant(20e6), ms(20)));
        m.links.push(deep(Rate::constant(mbps * 1e6), ms(20)));
        let o = m.run();
        println!("show imitates {} {mbps} second over {second} {:?} q {:.0?} {:?}", lie.is_some(), o.bytes, o.queued_ms, o.groups);
      }}
    }
}
