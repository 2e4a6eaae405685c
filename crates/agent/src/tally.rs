//! The sums of all packets: what became of them, and of what kind they were.

use crate::skeleton::types::{tg_counter, tg_pass, tg_tally};
use crate::words::{Ecn, Kind, Reason};
use serde::{Deserialize, Serialize};
use tidegate_laws::Direction;

/// How many packets count under one reason.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Count {
    /// Direction of the data that the packets carry or acknowledge; each packet counts in both directions.
    pub direction: Direction,
    /// What became of them.
    pub reason: Reason,
    /// Packets, after merging by GRO and before segmentation.
    pub packets: u64,
    /// Their bytes from the IP header on.
    pub bytes: u64,
}

/// What an interface has carried of one kind, with one codepoint.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Carried {
    /// Kind of the packets.
    pub kind: Kind,
    /// ECN codepoint of their IP headers; packets that are not IP count as Not-ECT.
    pub ecn: Ecn,
    /// Packets on the wire, as far as the kernel knows how many it has merged.
    pub packets: u64,
    /// Their bytes from the IP header on, headers that merging has taken away left out.
    pub bytes: u64,
}

/// What one CPU has counted, with the packets on the fast path (`bpf/tcp/fast_path.h`) added to reasons and kinds.
pub(crate) fn whole(counted: tg_tally) -> tg_tally {
    let mut whole = counted;
    for way in Direction::ALL {
        for (denied, uploads) in [(false, false), (false, true), (true, false), (true, true)] {
            for ecn in Ecn::ALL {
                let passed = &counted.passed[way as usize][usize::from(denied)];
                let pass = passed[usize::from(uploads)][ecn as usize];
                let (reason, kind) = passes_as(way, denied);
                let counts = &mut whole.counts;
                add(
                    &mut counts[Direction::Down as usize][reason as usize],
                    pass.packets,
                    pass,
                );
                if uploads {
                    let none = &mut counts[Direction::Up as usize][Reason::NoData as usize];
                    add(none, pass.packets, pass);
                }
                let traffic = &mut whole.traffic[way as usize][kind as usize];
                add(&mut traffic[ecn as usize], pass.wire, pass);
            }
        }
    }
    whole
}

/// What a download's packet that went `way` counts as; `denied`: a rule leaves the flow alone.
fn passes_as(way: Direction, denied: bool) -> (Reason, Kind) {
    match (denied, way) {
        (true, _) => (Reason::Denied, Kind::TcpLeft),
        (false, Direction::Down) => (Reason::Measured, Kind::Tcp),
        (false, Direction::Up) => (Reason::Unchanged, Kind::Tcp),
    }
}

fn add(sum: &mut tg_counter, packets: u64, pass: tg_pass) {
    sum.packets += packets;
    sum.bytes += pass.bytes;
}

/// By reason, from the [`whole`] of each CPU's counts.
pub(crate) fn counts(tallies: &[tg_tally]) -> Vec<Count> {
    let fates = Direction::ALL.into_iter();
    let fates = fates.flat_map(|direction| Reason::ALL.map(|reason| (direction, reason)));
    let count = |(direction, reason): (Direction, Reason)| {
        let (packets, bytes) = sum(tallies, |t| t.counts[direction as usize][reason as usize]);
        Count {
            direction,
            reason,
            packets,
            bytes,
        }
    };
    fates.map(count).collect()
}

/// By kind, what went `direction`; kinds that were never seen are left out.
pub(crate) fn carried(direction: Direction, tallies: &[tg_tally]) -> Vec<Carried> {
    let kinds = Kind::ALL.into_iter();
    let kinds = kinds.flat_map(|kind| Ecn::ALL.map(|ecn| (kind, ecn)));
    let carried = |(kind, ecn): (Kind, Ecn)| {
        let of = |t: &tg_tally| t.traffic[direction as usize][kind as usize][ecn as usize];
        let (packets, bytes) = sum(tallies, of);
        Carried {
            kind,
            ecn,
            packets,
            bytes,
        }
    };
    kinds.map(carried).filter(|c| c.packets > 0).collect()
}

/// Payload of TCP that passed on the fast path (`bpf/tcp/fast_path.h`) but counts as measured: of downloads only.
pub(crate) fn passed(direction: Direction, tallies: &[tg_tally]) -> u64 {
    match direction {
        Direction::Down => tallies
            .iter()
            .flat_map(|t| t.passed[direction as usize][0].concat())
            .map(|p| p.payload)
            .sum(),
        Direction::Up => 0,
    }
}

/// Packets and bytes.
fn sum(tallies: &[tg_tally], of: impl Fn(&tg_tally) -> tg_counter) -> (u64, u64) {
    let counters = tallies.iter().map(of);
    counters.fold((0, 0), |sum, c| (sum.0 + c.packets, sum.1 + c.bytes))
}
