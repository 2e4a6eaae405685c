//! Nanoseconds that a law takes for a segment that arrives and the ACK that leaves, on the host.

use super::Row;
use std::hint::black_box;
use std::time::Instant;
use tidegate_laws::{Ack, Flow, Law, Params, Path, Segment};

const SEGMENTS: u32 = 2_000_000;
const MSS: u32 = 1448;

/// A second or so.
pub fn measure() -> Vec<Row> {
    let laws = [("drs", Law::Drs), ("drwa", Law::Drwa), ("tide", Law::Tide)];
    let none = nanoseconds(Law::None);
    let first = "laws: measuring alone";
    let rows = laws.map(|(name, law)| {
        let ns = nanoseconds(law);
        Row::new(format!("laws: {name}"), ns, "ns/packet").versus(first, ns / none)
    });
    std::iter::once(Row::new(first, none, "ns/packet"))
        .chain(rows)
        .collect()
}

/// A flow at 20 Mbit/s with a round trip of 50 ms, 5 ms of them in the queue.
fn nanoseconds(law: Law) -> f64 {
    let params = Params {
        law,
        ..Params::default()
    };
    let (mut flow, mut path) = (Flow::default(), Path::default());
    let started = Instant::now();
    for n in 0..SEGMENTS {
        let now_us = 1_000_000 + 580 * u64::from(n);
        // The first packets find no queue: without a floor below it, 5 ms would be none.
        let queue_us = if n < 100 { 0 } else { 5_000 };
        let stamp = |us: u64| (us / 1000) as u32;
        flow.arrives(
            &mut path,
            &params,
            &Segment {
                now_us,
                seq: n.wrapping_mul(MSS),
                len: MSS,
                mss: MSS,
                timestamps: Some((
                    stamp(now_us - 20_000 - queue_us),
                    stamp(now_us - 45_000 - queue_us),
                )),
            },
        );
        let ack = Ack {
            now_us,
            ack: (n + 1).wrapping_mul(MSS),
            raw: 32_000,
            scale: 10,
            bare: true,
            sack: false,
            tsval: Some(stamp(now_us)),
        };
        black_box(flow.leaves(&path, &ack));
    }
    started.elapsed().as_nanos() as f64 / f64::from(SEGMENTS)
}
