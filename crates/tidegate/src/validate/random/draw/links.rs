//! Draws random links.

use super::{perhaps, single, whole};
use std::collections::BTreeMap;
use tidegate_basics::random::{Draw, two_digits};
use toml::{Table, Value};

/// Bytes of a full-sized packet.
const PACKET: f64 = 1500.0;

/// The most packets of a burst, unless a millisecond of the rate is more: the laboratory sends one packet after
/// another, and would send the last ones of a larger burst late.
const MOST_AT_ONCE: f64 = 100.0;

/// File names of the recordings beside the scenario.
const DOWN: &str = "bursts.down";
const UP: &str = "bursts.up";

/// The two links: a downlink of about this mean rate, and an uplink of a twentieth to twice that rate.
pub fn access(
    draw: &mut Draw,
    mbps: f64,
    rtt_ms: f64,
    traces: &mut BTreeMap<&'static str, String>,
) -> [Table; 2] {
    let rate = rate(draw, mbps, DOWN, traces);
    let down = link(draw, rate, mbps, rtt_ms);
    let up_mbps = draw.between(0.05 * mbps, 2.0 * mbps).clamp(0.05, 1000.0);
    let rate = match draw.chance(0.7) {
        true => constant(up_mbps),
        false => self::rate(draw, up_mbps, UP, traces),
    };
    let up = link(draw, rate, up_mbps, rtt_ms);
    [down, up]
}

/// Sometimes another link at the server's side, faster than the downlink: a longer path for some workloads.
pub fn hop(draw: &mut Draw, mbps: f64) -> Option<Table> {
    if !draw.chance(0.2) {
        return None;
    }
    let rtt_ms = draw.between(2.0, 200.0);
    let mbps = two_digits(draw.between(1.0, 3.0) * mbps);
    let mut hop = single("name", "far");
    hop.insert(
        "link".into(),
        link(draw, constant(mbps), mbps, rtt_ms).into(),
    );
    Some(hop)
}

fn constant(mbps: f64) -> Table {
    single("constant_mbps", mbps)
}

/// A rate of about this mean.
fn rate(
    draw: &mut Draw,
    mbps: f64,
    trace: &'static str,
    traces: &mut BTreeMap<&'static str, String>,
) -> Table {
    match draw.count(0..=9) {
        0..=3 => constant(mbps),
        4 => {
            let at_s = draw.between(3.0, 9.0);
            let then = draw.between(mbps / 10.0, 3.0 * mbps);
            let steps = [[0.0, mbps], [at_s, then]].map(|step| Value::from(step.to_vec()));
            single("steps", steps.to_vec())
        }
        5 => {
            let mut slots = single("slot_s", draw.between(0.02, 3.0));
            let rates = [mbps * 1.5, draw.between(mbps / 10.0, mbps)];
            slots.insert("mbps".into(), rates.map(two_digits).to_vec().into());
            single("slots", slots)
        }
        6..=7 => {
            let mut cell = single("kind", draw.one_of(&["lte", "hspa", "evdo"]));
            cell.insert("mean_mbps".into(), mbps.min(100.0).into());
            // Fix the seed, so that all runs have the same link.
            cell.insert("seed".into(), (draw.seed() as i64).into());
            single("generate", cell)
        }
        _ => {
            let packets_a_ms = mbps * 1e3 / (8.0 * PACKET);
            let longest_ms = (MOST_AT_ONCE / packets_a_ms).clamp(2.0, 500.0);
            let burst_ms = draw.between(1.0, longest_ms).round();
            let packets = (packets_a_ms * burst_ms).round().max(1.0);
            // The trace repeats: a burst after each such time.
            let line = format!("{burst_ms}\n");
            traces.insert(trace, line.repeat(packets as usize));
            single("trace", trace)
        }
    }
}

/// A link of this rate; its delay is half of the round trip.
fn link(draw: &mut Draw, rate: Table, mbps: f64, rtt_ms: f64) -> Table {
    let mut link = single("rate", rate);
    link.insert("delay_ms".into(), (rtt_ms / 2.0).into());
    link.insert("queue".into(), queue(draw, mbps, rtt_ms).into());
    let link_ = &mut link;
    perhaps(draw, 0.2, link_, "loss", loss);
    perhaps(draw, 0.1, link_, "disorder", |draw| {
        let mut disorder = single("reorder", draw.between(1e-4, 0.02));
        disorder.insert("late_ms".into(), draw.between(1.0, 30.0).into());
        disorder.insert("duplicate".into(), draw.between(1e-5, 0.01).into());
        disorder
    });
    perhaps(draw, 0.1, link_, "arq", |draw| {
        let mut arq = single("error", draw.between(0.001, 0.2));
        arq.insert("retry_ms".into(), draw.between(1.0, 20.0).into());
        arq
    });
    perhaps(draw, 0.05, link_, "middlebox", |draw| {
        single("patience_ms", draw.between(20.0, 1000.0))
    });
    perhaps(draw, 0.1, link_, "delay_steps", |draw| {
        let mut step = single("at_s", draw.between(3.0, 9.0));
        step.insert("ms".into(), draw.between(1.0, 200.0).into());
        Value::Array(vec![step.into()])
    });
    perhaps(draw, 0.1, link_, "shaper", |draw| {
        let mut shaper = single("mbps", two_digits(mbps * draw.between(0.3, 1.5)));
        shaper.insert("burst_bytes".into(), whole(draw, 1500.0, 200_000.0).into());
        shaper.insert("queue_packets".into(), whole(draw, 10.0, 5000.0).into());
        shaper
    });
    link
}

fn loss(draw: &mut Draw) -> Table {
    if draw.chance(0.5) {
        return single("random", draw.between(1e-5, 0.03));
    }
    let mut bursty = single("probability", draw.between(1e-4, 0.02));
    bursty.insert("mean_length".into(), draw.between(1.0, 8.0).into());
    single("bursty", bursty)
}

/// A buffer of a fifth of the bandwidth-delay product up to ten seconds.
fn queue(draw: &mut Draw, mbps: f64, rtt_ms: f64) -> Table {
    let packets = |ms: f64| (mbps * 1e3 * ms / (8.0 * PACKET)).clamp(4.0, 20_000.0);
    let (least, most) = (packets(rtt_ms / 5.0), packets(10_000.0));
    let limit = draw.between(least, most.max(least * 1.01)).round() as i64;
    let mut queue = match draw.chance(0.9) {
        true => single("packets", limit),
        false => single("bytes", limit * PACKET as i64),
    };
    if draw.chance(0.4) {
        let policy = draw.one_of(&["drop-head", "codel", "red", "pie", "fq-codel", "dualpi2"]);
        queue.insert("policy".into(), policy.into());
        if !["drop-head", "dualpi2"].contains(&policy) {
            perhaps(draw, 0.5, &mut queue, "ecn", |_| true);
        }
    }
    queue
}
