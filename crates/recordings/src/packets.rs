//! Packets, or bytes that arrived together, with their times.

use crate::Refused;

/// Bytes that arrived at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When, in nanoseconds since the recording began.
    pub at_ns: u64,
    /// How much.
    pub bytes: u64,
}

/// How late a packet may stand in the file and still be sorted: captures of several queues are not quite in order.
const DISORDER_NS: i128 = 1_000_000_000;

/// A packet as in a file: its time in nanoseconds since any start, and its position.
#[derive(Clone, Copy, Debug)]
pub struct Found<P> {
    pub at_ns: i128,
    pub bytes: u64,
    pub place: P,
}

/// The packets in order of time, counted from the first one, and how many were out of order.
pub fn in_order<P: Copy>(
    mut found: Vec<Found<P>>,
    refuse: impl Fn(P, String) -> Refused,
) -> Result<(Vec<Packet>, usize), Refused> {
    let mut latest = i128::MIN;
    let mut late = 0;
    for packet in &found {
        let back = latest.saturating_sub(packet.at_ns);
        if back > DISORDER_NS {
            let message = format!(
                "its time is {} s before that of an earlier one, expected 1 s at most; \
                 was the clock set, or are these several recordings in one file?",
                back as f64 / 1e9
            );
            return Err(refuse(packet.place, message));
        }
        late += usize::from(back > 0);
        latest = latest.max(packet.at_ns);
    }
    found.sort_by_key(|packet| packet.at_ns);
    let first = found.first().map_or(0, |packet| packet.at_ns);
    let packets = found.iter().map(|packet| {
        let at_ns = u64::try_from(packet.at_ns - first);
        let at_ns = at_ns.map_err(|_| refuse(packet.place, "its time is centuries off".into()))?;
        let bytes = packet.bytes;
        Ok(Packet { at_ns, bytes })
    });
    Ok((packets.collect::<Result<_, Refused>>()?, late))
}
