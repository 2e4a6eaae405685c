//! A sender that lies with its timestamps, beside others on the same interface: what it can take from them.

mod model;

use model::{Lie, Model, Outcome, Source, deep};
use std::time::Duration;
use tidegate_laws::Params;
use tidegate_link::{CellKind, CellModel, Rate};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Two honest downloads and a third, on 20 Mbit/s and 40 ms under `tide`.
fn beside(third: Source) -> Outcome {
    let sources = vec![Source::bulk(0), Source::bulk(0), third];
    Model::deep(Params::default(), sources, 60, 10).run()
}

/// What the first two got.
fn honest(o: &Outcome) -> f64 {
    (o.bytes[0] + o.bytes[1]) as f64
}

/// Holds what a sender whose clock swings by so much over such periods takes from two others. What it gains it
/// takes by asking for more than a fair part, as any sender may that stays hungry; the path stays full and its
/// queue short.
#[track_caller]
fn assert_swings_take_little(swings_ms: &[u64], periods_ms: &[u64]) {
    let fair = beside(Source::bulk(2));
    let mut taken = Vec::new();
    for &by_ms in swings_ms {
        for &period_ms in periods_ms {
            let lie = Some(Lie::Swings(ms(by_ms), ms(period_ms)));
            let lying = beside(Source {
                lie,
                ..Source::bulk(2)
            });
            let kept = honest(&lying) / honest(&fair);
            let delay_ms = lying.mean_delay_ms;
            if kept < 0.8 || lying.utilisation < 0.95 || delay_ms > 130.0 {
                let case =
                    format!("{by_ms} ms every {period_ms} ms: {kept:.2} kept, {delay_ms:.0} ms");
                taken.push(format!("{case}, {:?}", lying.bytes));
            }
        }
    }
    assert!(taken.is_empty(), "{taken:#?}");
}

#[test]
fn a_clock_that_swings_slowly_takes_little_from_others() {
    assert_swings_take_little(&[12, 30, 100, 300, 1_000], &[3_000, 10_000]);
}

#[test]
#[ignore = "such a clock is never found to share, or not understood: it takes what a sender without timestamps does"]
fn a_clock_that_swings_fast_takes_little_from_others() {
    assert_swings_take_little(&[12, 30, 100, 300, 1_000], &[50, 100, 500]);
}

/// Whose stamps hide the queue is found to share none, and lives on what the queue of others leaves it.
#[test]
fn a_clock_that_hides_the_queue_takes_little_from_others() {
    let fair = beside(Source::bulk(2));
    let lie = Some(Lie::Hides);
    for start_s in [0, 2, 8] {
        let lying = beside(Source {
            lie,
            ..Source::bulk(start_s)
        });
        let kept = honest(&lying) / honest(&fair);
        let told = format!(
            "{start_s}: {kept:.2} kept, {:.1} ms, {:?}",
            lying.mean_delay_ms, lying.bytes
        );
        assert!(
            kept > 0.8 && lying.utilisation > 0.95 && lying.mean_delay_ms < 400.0,
            "{told}"
        );
    }
}

/// Two downloads share a cell, the third has a link of its own and shows the cell's delay as if it were
/// its own. It is joined, for as long as that goes well; whatever it then brings or withholds, the others have
/// their cell. Their queue becomes several times as long, of a liar with ten times their rate as long as untouched: a group's
/// margin is for what comes, theirs or not.
#[test]
fn who_imitates_another_s_delay_takes_little_from_it() {
    let mut joined_s = 0.0;
    for kind in [CellKind::Lte, CellKind::Hspa] {
        for mbps in [1, 3, 10, 30, 100] {
            for chunks in [None, Some((300_000, ms(300)))] {
                let run = |lie| {
                    let third = Source {
                        lie,
                        chunks,
                        ..Source::bulk(2)
                    };
                    let mut m = Model::deep(
                        Params::default(),
                        vec![Source::bulk(0), Source::bulk(0), third.over(&[1])],
                        60,
                        10,
                    );
                    m.links[0].rate = CellModel::new(kind, None, 2).into();
                    m.links
                        .push(deep(Rate::constant(f64::from(mbps) * 1e6), ms(1)));
                    m.run()
                };
                let (fair, lying) = (run(None), run(Some(Lie::Imitates(0))));
                let spans = lying.together(0, 2);
                joined_s += spans.iter().map(|span| span.1 - span.0).sum::<f64>();
                let kept = honest(&lying) / honest(&fair);
                let told = format!(
                    "{kind:?}, {mbps} Mbit/s, {chunks:?}: {kept:.2} kept, {:?}, {:.0?} ms",
                    lying.bytes, lying.queued_ms
                );
                println!("{told}");
                assert!(kept > 0.8 && lying.mean_delay_ms < 2_500.0, "{told}");
            }
        }
    }
    println!("{joined_s:.0} s of 1200 joined with the first");
    assert!(
        joined_s > 60.0,
        "it did not imitate well enough: {joined_s} s"
    );
}

#[test]
fn trace() {
    for (ppm, from) in [(50_000, 0), (25_000, 0)] {
    let lie = Some(Lie::Drifts(ms(from * 1000), ppm, ms(0)));
    let o = beside(Source { lie, ..Source::bulk(2) });
    println!("{:?}", o.bytes);
    println!("{:?}", o.groups);
    println!("{:?}", o.bins.iter().step_by(5).map(|b| b.0 as u32).collect::<Vec<_>>());
    println!("probes {}", o.probes);
    }
}

#[test]
fn explore() {
    let fair = beside(Source::bulk(2));
    println!("fair {:?} {:.1} ms", fair.bytes, fair.mean_delay_ms);
    for ppm in [
        500, 1000, 2000, 5000, 10_000, 18_000, 25_000, 35_000, 50_000,
    ] {
        for sign in [1, -1] {
            for from in [0, 15] {
                let lie = Some(Lie::Drifts(ms(from * 1000), sign * ppm, ms(0)));
                let o = beside(Source {
                    lie,
                    ..Source::bulk(2)
                });
                println!(
                    "{:>7} from {from:>2}: kept {:.2} util {:.3} {:.0} ms p95 {:.0} {:?}",
                    sign * ppm,
                    honest(&o) / honest(&fair),
                    o.utilisation,
                    o.mean_delay_ms,
                    o.p95_delay_ms,
                    o.bytes
                );
            }
        }
    }
}
