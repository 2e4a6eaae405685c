//! What a law costs on the host for a segment that arrives and an acknowledgement that leaves.

use super::Row;
use tidegate_laws::Law;
use tidegate_laws::bench::nanoseconds_per_segment;

const SEGMENTS: u32 = 2_000_000;

/// Takes about a second.
pub fn measure() -> Vec<Row> {
    let none = nanoseconds_per_segment(Law::None, SEGMENTS);
    let first = "laws: measuring alone";
    let laws = Law::ALL.into_iter().filter(|law| !law.is_none());
    let rows = laws.map(|law| {
        let ns = nanoseconds_per_segment(law, SEGMENTS);
        Row::new(format!("laws: {law}"), ns, "ns/packet").versus(first, ns / none)
    });
    std::iter::once(Row::new(first, none, "ns/packet"))
        .chain(rows)
        .collect()
}
