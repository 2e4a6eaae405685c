//! Every packet of a train, lost ones included, and the queue that it met.
//!
//! The two clocks need not agree: a packet *left the queue* at its arrival less the train's least delay, which is that
//! of an empty queue; this is a time by the sender's clock. We count the queue that a packet met instead of computing
//! it from a rate: the packets sent before it that left the queue after it was sent. So neither a changing rate nor the
//! bandwidth-delay product matters.

use crate::{Arrival, Stage};

/// A packet of a train. Times are seconds by the sender's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Flight {
    /// The stage of the train that it belongs to.
    pub stage: Stage,
    /// When it was sent; for a lost packet, interpolated between its neighbours.
    pub sent_s: f64,
    /// When it left the queue; none: it was lost.
    pub left_s: Option<f64>,
    /// Packets that stood in the queue at that time and arrived later.
    pub ahead: u32,
    /// Packets that were sent after it until it left; for a lost one, until the next packet left that was not lost.
    pub behind: u32,
    /// How long it waited; for a lost one, how long it would have waited until the next packet left that was not lost.
    pub waited_s: f64,
}

/// The packets of a train, in the order in which they were sent, up to the last one that arrived.
#[derive(Clone, Debug, Default)]
pub struct Flights {
    /// The packets.
    pub packets: Vec<Flight>,
    /// Length of each.
    pub bytes: f64,
}

impl Flights {
    /// The packets of a train, from its arrivals.
    pub fn of(arrivals: &[Arrival]) -> Self {
        let mut known = arrivals.to_vec();
        known.sort_by_key(|arrival| arrival.sequence);
        known.dedup_by_key(|arrival| arrival.sequence);
        let Some(base) = known.iter().map(Arrival::one_way_ns).min() else {
            return Self::default();
        };
        let mut packets: Vec<Flight> = Vec::with_capacity(known.len());
        for arrival in &known {
            let flight = delivered(arrival, base);
            let (after, last) = (packets.len(), packets.last().copied());
            // Packets between two arrivals were sent at even distances.
            let missing = (arrival.sequence as usize).saturating_sub(after);
            let from_s = last.map_or(flight.sent_s, |last| last.sent_s);
            for n in 1..=missing {
                let share = n as f64 / (missing + 1) as f64;
                let later_s = (1.0 - share) * (flight.sent_s - from_s);
                packets.push(Flight {
                    stage: last.map_or(flight.stage, |last| last.stage),
                    sent_s: flight.sent_s - later_s,
                    left_s: None,
                    waited_s: flight.waited_s + later_s,
                    ..flight
                });
            }
            packets.push(flight);
        }
        count_ahead(&mut packets);
        count_behind(&mut packets);
        Self {
            packets,
            bytes: known[0].bytes.into(),
        }
    }

    /// The packets after the quiet ones.
    pub fn busy(&self) -> Vec<&Flight> {
        let busy = self.packets.iter().filter(|p| p.stage != Stage::Quiet);
        busy.collect()
    }
}

fn delivered(arrival: &Arrival, base_ns: i64) -> Flight {
    let waited_s = arrival.one_way_ns().saturating_sub(base_ns) as f64 / 1e9;
    let sent_s = arrival.sent.as_secs_f64();
    Flight {
        stage: arrival.stage,
        sent_s,
        left_s: Some(sent_s + waited_s),
        ahead: 0,
        behind: 0,
        waited_s,
    }
}

/// Two walks at once: through the packets sent, and through those that left.
fn count_ahead(packets: &mut [Flight]) {
    let mut leaves: Vec<f64> = packets.iter().filter_map(|p| p.left_s).collect();
    leaves.sort_by(f64::total_cmp);
    let (mut arrived_before, mut left) = (0u32, 0);
    for packet in packets {
        while left < leaves.len() && leaves[left] <= packet.sent_s {
            left += 1;
        }
        packet.ahead = arrived_before.saturating_sub(left as u32);
        arrived_before += u32::from(packet.left_s.is_some());
    }
}

/// From the last packet to the first; they leave in the order in which they were sent.
fn count_behind(packets: &mut [Flight]) {
    let sent_s: Vec<f64> = packets.iter().map(|p| p.sent_s).collect();
    let mut leaves_s = f64::INFINITY;
    for (index, packet) in packets.iter_mut().enumerate().rev() {
        leaves_s = packet.left_s.unwrap_or(leaves_s);
        let sent = sent_s[index + 1..].partition_point(|&at| at <= leaves_s);
        packet.behind = sent as u32;
    }
}
