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

/// The bytes of the first two.
fn honest(o: &Outcome) -> f64 {
    (o.bytes[0] + o.bytes[1]) as f64
}

/// Checks what a sender whose clock swings by `swings_ms` over `periods_ms` takes from two others. It gains by asking
/// for more than a fair share, as any bottlenecked sender may; the path stays full and its queue short.
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

/// A flow whose stamps hide the queue is found to share none, and lives on what the queue of others leaves it.
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

/// The sender's stamps show a queue that no silence makes fall, so that a question would hear "another's". But a delay
/// can be no longer than its round trip has become, and alone the sender gains little: its queue stays short.
#[test]
fn a_delay_that_no_silence_moves_takes_little_from_others() {
    let fair = beside(Source::bulk(2));
    let stands =
        [10, 30, 60, 100, 200, 500, 1_000, 3_000].map(|delay_ms| Lie::Stands(ms(delay_ms)));
    for lie in stands.into_iter().chain([Lie::Keeps]) {
        let source = Source {
            lie: Some(lie),
            ..Source::bulk(0)
        };
        let alone = Model::deep(Params::default(), vec![source], 60, 10).run();
        println!("{lie:?} alone: {:.0} ms", alone.mean_delay_ms);
        assert!(alone.mean_delay_ms < 50.0, "{lie:?}: {alone:?}");
        for start_s in [0, 2, 8] {
            let lying = beside(Source {
                lie: Some(lie),
                ..Source::bulk(start_s)
            });
            let kept = honest(&lying) / honest(&fair);
            let delay_ms = lying.mean_delay_ms;
            let told = format!("{lie:?} from {start_s} s: {kept:.2} kept, {delay_ms:.1} ms");
            println!("{told}, {:?}", lying.bytes);
            assert!(
                kept > 0.9 && lying.utilisation > 0.95 && delay_ms < 100.0,
                "{told}"
            );
        }
    }
}

/// The sender's own packets wait before they leave, so that all wait equally long in total, whatever the window is.
/// Every question gets the answer "another's", and the round trips agree. The queue is then what it would be without
/// us, but the others keep most of what they have.
#[test]
fn who_makes_its_own_packets_wait_takes_little_from_others() {
    let fair = beside(Source::bulk(2));
    for delay_ms in [10, 30, 60, 100, 200, 500, 1_000] {
        let lie = Some(Lie::Waits(ms(delay_ms)));
        for start_s in [0, 2, 8] {
            let lying = beside(Source {
                lie,
                ..Source::bulk(start_s)
            });
            let kept = honest(&lying) / honest(&fair);
            let taken = lying.bytes[2] as f64 / fair.bytes[2] as f64;
            let told = format!("{lie:?} from {start_s} s: {kept:.2} kept, {taken:.2} taken");
            println!("{told}, {:.0} ms, {:?}", lying.mean_delay_ms, lying.bytes);
            assert!(kept > 0.75 && taken < 1.4, "{told}");
        }
    }
}

/// Two downloads share a cell. The third has a link of its own, and shows the cell's delay as if it were its own. Such
/// a delay is not in its round trips, so the flow is not taken into the group, or is found out within seconds. Whatever
/// it brings or withholds meanwhile, the others fill their cell.
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
                assert!(kept > 0.8 && lying.mean_delay_ms < 500.0, "{told}");
            }
        }
    }
    println!("{joined_s:.0} s of 1200 joined with the first");
    assert!(joined_s < 60.0, "it is not found out: {joined_s} s");
}

/// A random link, some honest downloads and one whose clock drifts.
#[derive(Debug)]
struct Drift {
    mbps: f64,
    one_way_ms: u64,
    neighbours: usize,
    start_s: u64,
    from_ms: u64,
    ppm: i32,
    within_ms: u64,
    uploads: bool,
}

impl Drift {
    fn draw(seed: u64) -> Self {
        let mut draw = Draws(seed);
        let mbps = [5.0, 10.0, 20.0, 50.0][draw.below(4) as usize];
        let sign = if draw.below(2) == 0 { 1 } else { -1 };
        Self {
            mbps,
            one_way_ms: 5 + draw.below(60),
            neighbours: 1 + draw.below(4) as usize,
            start_s: draw.below(12),
            from_ms: draw.below(30_000),
            ppm: sign * draw.below(50_001) as i32,
            within_ms: draw.below(2) * draw.below(20_000),
            uploads: draw.below(2) == 1,
        }
    }

    fn run(&self, lies: bool) -> Outcome {
        let lie = Lie::Drifts(ms(self.from_ms), self.ppm, ms(self.within_ms));
        let third = Source {
            lie: lies.then_some(lie),
            ..Source::bulk(self.start_s)
        };
        let mut sources = vec![Source::bulk(0); self.neighbours];
        sources.push(third);
        let mut model = Model::deep(Params::default(), sources, 60, 10);
        model.uploads = self.uploads;
        model.links = vec![deep(Rate::constant(self.mbps * 1e6), ms(self.one_way_ms))];
        model.back = vec![(Duration::ZERO, ms(self.one_way_ms))];
        model.run()
    }
}

/// Draws that a seed repeats: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }
}

/// How many random drifts are tried, and from which seed on: `DRIFTS=1000 SEED=5000` tries others.
fn drawn() -> std::ops::Range<u64> {
    let told = |name| std::env::var(name).ok()?.parse().ok();
    let first: u64 = told("SEED").unwrap_or(0);
    first..first + told("DRIFTS").unwrap_or(40)
}

/// Runs random drifts, and checks what the neighbours keep of their share, and for how much longer they wait.
#[track_caller]
fn assert_drifts_take_little(uploads: bool) {
    let mut taken = Vec::new();
    for seed in drawn() {
        let drift = Drift {
            uploads,
            ..Drift::draw(seed)
        };
        let (fair, lying) = (drift.run(false), drift.run(true));
        let n = drift.neighbours;
        let theirs = |o: &Outcome| o.bytes[..n].iter().sum::<u64>() as f64;
        let even = fair.bytes.iter().sum::<u64>() as f64 * n as f64 / (n + 1) as f64;
        let kept = theirs(&lying) / theirs(&fair).min(even);
        let later_ms = lying.mean_delay_ms - fair.mean_delay_ms;
        let told = format!("seed {seed}: {kept:.2} kept, {later_ms:.0} ms more, {drift:?}");
        println!("{told}");
        if kept < 0.8 || lying.utilisation < 0.95 || later_ms > 200.0 {
            taken.push(told);
        }
    }
    assert!(taken.is_empty(), "{taken:#?}");
}

/// Clocks drift by hundreds of millionths. One that drifts by hundredths hides a queue, or shows one that does not
/// exist.
#[test]
fn a_clock_that_drifts_takes_little_from_others() {
    assert_drifts_take_little(false);
}

#[test]
#[ignore = "a group of uploads does not let its queue sink, so nothing shows what such a clock hides"]
fn a_clock_that_drifts_takes_little_from_other_uploads() {
    assert_drifts_take_little(true);
}

/// The same on one link, from 18 thousandths on, where such a clock once took up to 0.62 of the neighbours' share and
/// kept them waiting for a second.
#[test]
fn no_rate_of_a_clock_takes_much_from_others() {
    let fair = beside(Source::bulk(2));
    for ppm in [5_000, 10_000, 18_000, 25_000, 35_000, 50_000] {
        for (ppm, from_s) in [(ppm, 0), (ppm, 15), (-ppm, 0), (-ppm, 15)] {
            let lie = Some(Lie::Drifts(ms(from_s * 1_000), ppm, Duration::ZERO));
            let lying = beside(Source {
                lie,
                ..Source::bulk(2)
            });
            let kept = honest(&lying) / honest(&fair);
            let delay_ms = lying.mean_delay_ms;
            let told = format!("{ppm} ppm from {from_s} s: {kept:.2} kept, {delay_ms:.0} ms");
            println!("{told}");
            assert!(
                kept > 0.9 && lying.utilisation > 0.95 && delay_ms < 100.0,
                "{told}"
            );
        }
    }
}
