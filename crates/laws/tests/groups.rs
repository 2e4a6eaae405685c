//! Which flows share a queue: how soon that is found, how seldom it is found by mistake, and what becomes of groups.
//! `--nocapture` prints what was measured.

mod model;

use model::{Model, Outcome, Source, deep};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::time::Duration;
use tidegate_laws::Params;
use tidegate_link::{CellKind, CellModel, Rate};

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// The same draws every time.
fn drawn<S: Strategy>(strategy: &S, count: usize) -> Vec<S::Value> {
    let mut runner = TestRunner::new(Config {
        rng_seed: RngSeed::Fixed(0x7464),
        failure_persistence: None,
        ..Config::default()
    });
    let mut draw = || {
        strategy
            .new_tree(&mut runner)
            .expect("no rejects")
            .current()
    };
    (0..count).map(|_| draw()).collect()
}

/// The sources over the links, `delay_ms` each way.
fn model(
    rates: Vec<Rate>,
    delay_ms: u64,
    sources: Vec<Source>,
    seconds: u64,
    warmup: u64,
) -> Model {
    let delay = ms(delay_ms);
    Model {
        links: rates.into_iter().map(|rate| deep(rate, delay)).collect(),
        back: vec![(Duration::ZERO, delay)],
        ..Model::deep(Params::default(), sources, seconds, warmup)
    }
}

fn mbps(rates: &[u32]) -> Vec<Rate> {
    let constant = |&mbps: &u32| Rate::constant(f64::from(mbps) * 1e6);
    rates.iter().map(constant).collect()
}

fn cell(kind: CellKind, seed: u64) -> Rate {
    CellModel::new(kind, None, seed).into()
}

/// A bulk sender that starts `start_ms` late, and is `farther_ms` farther away than the model's path.
fn late(start_ms: u64, farther_ms: u64) -> Source {
    let mut source = Source::bulk(0).farther(farther_ms);
    source.start += ms(start_ms);
    source
}

fn jain(x: &[u64]) -> f64 {
    let sum: f64 = x.iter().map(|&v| v as f64).sum();
    let squares: f64 = x.iter().map(|&v| v as f64 * v as f64).sum();
    sum * sum / (x.len() as f64 * squares)
}

/// The value that a `share` of the values does not exceed.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}

/// How long it took, from when both had sent, until two flows on one link steered by one record: in round trips of the
/// farther one, the queue included, and in s.
fn proofs(rate: impl Fn(u64) -> Rate) -> (Vec<f64>, Vec<f64>) {
    let ways = (2u64..22, 0u64..150, 0u64..12_000);
    let cases = drawn(&ways, 40).into_iter().zip(0..);
    let proof = |((delay_ms, farther_ms, start_ms), seed)| {
        let sources = vec![late(0, 0), late(start_ms, farther_ms)];
        let o = model(vec![rate(seed)], delay_ms, sources, 60, 20).run();
        let both_s = (1_000 + start_ms + 2 * delay_ms + farther_ms) as f64 / 1e3;
        let found_s = o
            .together(0, 1)
            .first()
            .map_or(f64::INFINITY, |span| span.0);
        let rtt_s = ((2 * delay_ms + farther_ms) as f64 + o.queued_ms[1]) / 1e3;
        ((found_s - both_s) / rtt_s, found_s - both_s)
    };
    cases.map(proof).unzip()
}

/// Asserts how many round trips half of the proofs took, how many nine in ten took, and how many seconds all took.
#[track_caller]
fn assert_found(
    name: &str,
    (rounds, seconds): &(Vec<f64>, Vec<f64>),
    half: f64,
    most: f64,
    all_s: f64,
) {
    let at = |share| (quantile(rounds, share), quantile(seconds, share));
    let told = format!(
        "{name}: (round trips, s): half {:.1?}, nine in ten {:.1?}, all {:.1?}",
        at(0.5),
        at(0.9),
        at(1.0)
    );
    println!("{told}");
    assert!(
        at(0.5).0 <= half && at(0.9).0 <= most && at(1.0).1 <= all_s,
        "{told}"
    );
}

#[test]
fn flows_that_share_a_steady_link_are_found_within_round_trips() {
    let rates = drawn(&(3f64..200.0), 40);
    let found = proofs(|seed| Rate::constant(rates[seed as usize] * 1e6));
    assert_found("constant", &found, 10.0, 25.0, 5.0);
}

#[test]
fn flows_that_share_a_cell_are_found_within_seconds() {
    let lte = proofs(|seed| cell(CellKind::Lte, seed));
    assert_found("LTE", &lte, 10.0, 30.0, 10.0);
    let hspa = proofs(|seed| cell(CellKind::Hspa, seed));
    assert_found("HSPA", &hspa, 20.0, 60.0, 30.0);
}

/// Joins of flows that have nothing in common but the interface.
#[derive(Default)]
struct Chance {
    joins: Vec<f64>,
    flow_hours: f64,
}

impl Chance {
    fn count(&mut self, o: &Outcome) {
        let flows = o.groups.len();
        for one in 0..flows {
            let spans = (0..one).flat_map(|other| o.together(other, one));
            self.joins
                .extend(spans.map(|(from_s, until_s)| until_s - from_s));
        }
        self.flow_hours += flows as f64 * o.bins.len() as f64 / 36_000.0;
    }

    fn told(&self, name: &str) -> String {
        let total_s: f64 = self.joins.iter().sum();
        let longest_s = self.joins.iter().fold(0.0, |most: f64, &s| most.max(s));
        format!(
            "{name}: {} pairs joined by chance in {:.1} hours of flows; {:.1} s each, {longest_s:.1} s at most",
            self.joins.len(),
            self.flow_hours,
            total_s / self.joins.len().max(1) as f64
        )
    }
}

/// Each flow is behind a steady link of its own: even if two are joined for a moment, each fills its link.
#[test]
fn flows_behind_steady_links_of_their_own_are_not_joined_for_long() {
    let flow = (2u32..50, 0u64..8_000, 0u64..100);
    let cases = drawn(&(2u64..40, proptest::collection::vec(flow, 2..7)), 40);
    let mut chance = Chance::default();
    let mut wrong = Vec::new();
    for (delay_ms, flows) in cases {
        let rates: Vec<u32> = flows.iter().map(|flow| flow.0).collect();
        let way = |(link, flow): (usize, &(u32, u64, u64))| late(flow.1, flow.2).over(&[link]);
        let sources = flows.iter().enumerate().map(way).collect();
        let o = model(mbps(&rates), delay_ms, sources, 60, 20).run();
        chance.count(&o);
        for link in 0..rates.len() {
            let (used, queued_ms) = (o.used(link, &[link]), o.queued_ms[link]);
            if used < 0.96 || queued_ms > 100.0 {
                let case = format!("{link} of {flows:?}, {delay_ms} ms");
                wrong.push(format!("{used:.2} used, {queued_ms:.0} ms: {case}"));
            }
        }
    }
    let told = chance.told("constant");
    println!("{told}");
    assert!(wrong.is_empty(), "{told}; {wrong:#?}");
    assert!(chance.joins.iter().all(|&s| s < 15.0), "{told}");
}

/// Four flows, each behind a cell of its own, for hours.
#[test]
fn flows_behind_cells_of_their_own_are_seldom_joined() {
    let mut all = Chance::default();
    for (name, kind) in [("LTE", CellKind::Lte), ("HSPA", CellKind::Hspa)] {
        let mut chance = Chance::default();
        for run in 0..6 {
            let rates = (0..4).map(|i| cell(kind, 100 * run + i)).collect();
            let sources = (0..4)
                .map(|i| late(2_300 * i, 15 * i).over(&[i as usize]))
                .collect();
            let o = model(rates, 10 + 5 * run, sources, 600, 20).run();
            chance.count(&o);
            all.count(&o);
        }
        println!("{}", chance.told(name));
    }
    let told = all.told("cells");
    assert!((all.joins.len() as f64) < all.flow_hours, "{told}");
    assert!(all.joins.iter().all(|&s| s < 30.0), "{told}");
}

/// Two bottlenecks with two flows each: two groups, each fair, each link full.
#[test]
fn two_groups_stand_beside_each_other() {
    let sources = vec![
        late(0, 0),
        late(700, 30).over(&[1]),
        late(2_000, 60),
        late(3_100, 0).over(&[1]),
    ];
    let o = model(mbps(&[20, 8]), 10, sources, 60, 20).run();
    let group = |flow| o.group(flow, 30.0);
    let told = format!("{:?} {:?}", o.bytes, o.groups);
    assert!(
        group(0).is_some() && group(1).is_some() && group(0) != group(1),
        "{told}"
    );
    assert!(group(0) == group(2) && group(1) == group(3), "{told}");
    for (link, pair) in [(0, [0, 2]), (1, [1, 3])] {
        assert!(o.used(link, &pair) > 0.98, "{told}");
        assert!(jain(&pair.map(|flow| o.bytes[flow])) > 0.98, "{told}");
        assert!(
            pair.iter().all(|&flow| o.queued_ms[flow] < 50.0),
            "{told} {:?}",
            o.queued_ms
        );
    }
}

/// A near flow needs a small window for its rate. While it has less than a quarter of that it asks for no share, and
/// the bytes that it takes all the same are not given to the far one.
#[test]
fn a_near_download_has_its_share_beside_a_far_one() {
    for (mbit, far_ms) in [(55, 288), (31, 248), (49, 128)] {
        for [near_s, far_s] in [[0, 3_000], [3_000, 0]] {
            let sources = vec![late(near_s, 0), late(far_s, far_ms)];
            let o = model(mbps(&[mbit]), 4, sources, 160, 80).run();
            let told = format!(
                "{mbit} Mbit/s, {far_ms} ms: {:?} {:.0?}",
                o.bytes, o.queued_ms
            );
            println!("{told}");
            assert!(jain(&o.bytes) > 0.95 && o.utilisation > 0.97, "{told}");
        }
    }
}

/// Many flows that come one after another end up in one group, where the link has room for two segments of each. Chance
/// decides which flows find each other, so links and starts differ.
#[test]
fn fifty_that_come_one_after_another_share() {
    for (mbit, delay_ms) in [(170, 5), (100, 20)] {
        let run = |n: u64| {
            let sources = (0..50)
                .map(|i| late((30 + 3 * n) * i, n % 3 * 7 * i % 90))
                .collect();
            model(mbps(&[mbit]), delay_ms, sources, 30, 15).run()
        };
        let all: Vec<_> = (0..12).map(run).collect();
        let shared =
            |o: &&Outcome| jain(&o.bytes) > 0.85 && o.utilisation > 0.97 && o.mean_delay_ms < 60.0;
        let told: Vec<_> = all
            .iter()
            .map(|o| {
                format!(
                    "{:.3} {:.3} {:.0} ms",
                    jain(&o.bytes),
                    o.utilisation,
                    o.mean_delay_ms
                )
            })
            .collect();
        println!("{mbit} Mbit/s: {told:?}");
        assert!(
            all.iter().filter(shared).count() >= 9,
            "{mbit} Mbit/s: {told:?}"
        );
    }
}

/// A slow link elsewhere, then the access link that another flow fills: the flow that is bottlenecked elsewhere keeps
/// that link full, the other takes the rest.
#[test]
fn a_flow_with_a_bottleneck_elsewhere_leaves_the_rest_to_others() {
    for near in [false, true] {
        let far = if near { 0 } else { 90 };
        let sources = vec![late(0, 40), late(1_500, far).over(&[1, 0])];
        let o = model(mbps(&[50, 10]), 8, sources, 60, 20).run();
        let told = format!("{:?} {:.0?} {:?}", o.bytes, o.queued_ms, o.groups);
        // A near one stands in the other's queue, too short to ask about, and gets the margin's part of its rate.
        let least = if near { 0.68 } else { 0.85 };
        assert!(o.used(1, &[1]) > least, "{near}: {told}");
        assert!(o.utilisation > 0.97, "{told}");
        assert!(o.queued_ms[0] < 30.0 && o.queued_ms[1] < 60.0, "{told}");
    }
}

/// Two buffers in a row that both fill now and then.
#[test]
fn a_flow_with_two_cells_in_a_row_keeps_both_short() {
    for seed in 0..4 {
        let rates = vec![cell(CellKind::Lte, seed), cell(CellKind::Lte, 50 + seed)];
        let o = model(
            rates,
            10,
            vec![late(0, 20).over(&[0, 1]), late(3_000, 0)],
            120,
            20,
        )
        .run();
        let told = format!("{seed}: {:?} {:.0?} {:?}", o.bytes, o.queued_ms, o.groups);
        assert!(o.utilisation > 0.9, "{:.3} {told}", o.utilisation);
        assert!(o.queued_ms.iter().all(|&ms| ms < 400.0), "{told}");
    }
}

/// Twenty flows alone take turns in eight places; two that share a queue are found all the same.
#[test]
fn more_flows_alone_than_places_are_no_hindrance() {
    let rates: Vec<u32> = (2..22).collect();
    let alone = |i: u64| late(137 * i, 7 * i).over(&[i as usize]);
    let twin = late(9_000, 15).over(&[15]);
    let sources = (0..20).map(alone).chain([twin]).collect();
    let o = model(mbps(&rates), 10, sources, 60, 30).run();
    for link in 0..20 {
        let flows = if link == 15 { vec![15, 20] } else { vec![link] };
        assert!(
            o.used(link, &flows) > 0.95,
            "{link}: {:.3} {:?}",
            o.used(link, &flows),
            o.groups
        );
    }
    let found_s = o
        .together(15, 20)
        .first()
        .map_or(f64::INFINITY, |span| span.0);
    println!("found after {:.1} s", found_s - 10.0);
    assert!(found_s < 40.0, "{:?} {:?}", o.groups[15], o.groups[20]);
    let lost_s: Vec<_> = o.together(15, 20).iter().skip(1).copied().collect();
    assert!(lost_s.len() < 3, "{lost_s:?}");
    assert!(
        jain(&[o.bytes[15], o.bytes[20]]) > 0.95,
        "{} {}",
        o.bytes[15],
        o.bytes[20]
    );
}

/// The flow that founded a group ends. The others are still a group, and share what it had.
#[test]
fn a_group_outlives_its_founder() {
    let mut sources = vec![late(0, 0), late(3_000, 40), late(4_000, 20)];
    sources[0].end = Some(Duration::from_secs(25));
    let o = model(mbps(&[20]), 10, sources, 60, 30).run();
    let told = format!("{:?} {:?}", o.bytes, o.groups);
    assert!(o.group(0, 24.0).is_some(), "{told}");
    assert!(
        o.together(1, 2)
            .iter()
            .any(|span| span.0 < 24.0 && span.1 > 59.0),
        "{told}"
    );
    assert!(o.utilisation > 0.98 && o.mean_delay_ms < 20.0, "{told}");
    assert!(jain(&o.bytes[1..]) > 0.98, "{told}");
}

/// A group falls silent for longer than its place is kept, and others take all places. When it comes back, it is in
/// none of their groups.
#[test]
fn a_place_is_taken_again() {
    let pair = |start_ms, link: usize| {
        [(0, 0), (1_000, 30)].map(|(after, farther)| late(start_ms + after, farther).over(&[link]))
    };
    let mut first = pair(0, 0);
    for source in &mut first {
        // 20 s of data, silence until 100 s, and data again.
        source.chunks = Some((25_000_000, Duration::from_secs(100)));
    }
    let others = (1..9).flat_map(|link| pair(38_000 + 2_000 * link as u64, link));
    let sources = first.into_iter().chain(others).collect();
    let rates: Vec<u32> = [20].into_iter().chain(15..23).collect();
    let o = model(mbps(&rates), 10, sources, 130, 75).run();
    let told = format!("{:?}", o.groups);
    let name = o.group(0, 20.0);
    assert!(name.is_some() && name == o.group(1, 20.0), "{told}");
    // Nine pairs and eight places: one pair may find none that is free.
    let paired = |link: usize| !o.together(2 * link, 2 * link + 1).is_empty();
    assert!((1..9).filter(|&link| paired(link)).count() >= 7, "{told}");
    for link in 1..9 {
        let (one, other) = (2 * link, 2 * link + 1);
        assert!(o.used(link, &[one, other]) > 0.97, "{link}: {told}");
    }
    for flow in 0..2 {
        assert!(o.group(flow, 120.0) != name, "{told}");
        let strangers = (2..18).flat_map(|other| o.together(flow, other));
        let joined_s: f64 = strangers.map(|(from_s, until_s)| until_s - from_s).sum();
        assert!(joined_s < 2.0, "{joined_s} s with strangers: {told}");
    }
}

/// Two flows that share a slow link, where a segment takes milliseconds, stay together.
#[test]
#[ignore = "the law parts them: by a segment and a tick their movements differ, and that counts as apart"]
fn flows_that_share_a_slow_link_stay_together() {
    let mut apart = Vec::new();
    for mbps_all in [1, 2, 3, 5, 8, 12] {
        for farther_ms in [0, 30, 90] {
            let sources = vec![late(0, 0), late(2_000, farther_ms)];
            let o = model(mbps(&[mbps_all]), 10, sources, 120, 30).run();
            let spans = o.together(0, 1);
            let together_s: f64 = spans
                .iter()
                .map(|(from_s, until_s)| until_s - from_s.max(30.0).min(*until_s))
                .sum();
            println!(
                "{mbps_all} Mbit/s, {farther_ms} ms: {together_s:.0} s of 90, {:.0?} ms, {:?}",
                o.queued_ms, o.bytes
            );
            if together_s < 85.0 || jain(&o.bytes) < 0.95 {
                apart.push((mbps_all, farther_ms));
            }
        }
    }
    assert!(apart.is_empty(), "{apart:?}");
}

/// Two flows that start at once have the same slow start, and are joined by mistake. When one of them has found that
/// out, the other stays alone. It gets its link as if it had never been in a group.
#[test]
fn who_is_left_alone_in_a_group_has_its_link() {
    let cases = [
        ([3, 19], 12, [41, 36], 51),
        ([3, 7], 16, [88, 12], 523),
        ([11, 18], 19, [76, 32], 450),
        ([5, 20], 7, [49, 18], 262),
        ([4, 14], 34, [67, 79], 80),
        ([10, 10], 18, [56, 66], 247),
    ];
    let mut wrong = Vec::new();
    for (rates, delay_ms, farther_ms, late_ms) in cases {
        let sources = vec![
            late(0, farther_ms[0]),
            late(late_ms, farther_ms[1]).over(&[1]),
        ];
        let o = model(mbps(&rates), delay_ms, sources, 40, 20).run();
        for link in 0..2 {
            let used = o.used(link, &[link]);
            if used < 0.96 || o.queued_ms[link] > 50.0 {
                wrong.push(format!(
                    "{rates:?}: {used:.2} used, {:.0} ms, {:?}",
                    o.queued_ms[link], o.groups
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
