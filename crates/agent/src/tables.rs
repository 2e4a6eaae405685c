//! How many connections the programs' tables hold.

use crate::skeleton::OpenAgentSkel;
use crate::skeleton::types::{tg_record, tg_upload_record};
use crate::{AgentError, Direction, Directions};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// Connections that the tables may be made for.
pub const CONNECTIONS: RangeInclusive<u32> = 256..=1_048_576;

/// By default the tables take this part of the machine's memory at most, between these numbers of connections.
const PART_OF_MEMORY: u64 = 64;
const DEFAULT_CONNECTIONS: RangeInclusive<u32> = 512..=16_384;

/// Connections whose scale is remembered, for each that has a record: a forwarded connection's scale cannot be asked
/// for again.
const SCALES: u32 = 4;

/// What the kernel adds to an entry of a table: its place in lists, its hash, the key.
const ENTRY_BYTES: u64 = 112;

/// A table's size, and how full it is.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct TableView {
    /// Of which way's data.
    pub direction: Direction,
    /// Flows that it holds at most.
    pub size: u32,
    /// Flows that it holds.
    pub used: u32,
    /// Flows that others have pushed out since the start.
    pub pushed_out: u64,
}

/// As many connections as are asked for, or as are good for this machine's memory.
pub fn connections(wanted: Option<u32>) -> Result<u32, AgentError> {
    match wanted {
        Some(wanted) if CONNECTIONS.contains(&wanted) => Ok(wanted),
        Some(wanted) => Err(AgentError::Connections(wanted)),
        None => Ok(by_memory(memory_bytes())),
    }
}

/// What the tables of so many connections take, in bytes, nearly.
pub fn table_bytes(connections: u32, directions: Directions) -> u64 {
    let record = |direction| match direction {
        Direction::Down => size_of::<tg_record>(),
        Direction::Up => size_of::<tg_upload_record>(),
    };
    let served = Direction::ALL
        .into_iter()
        .filter(|d| directions.include(*d));
    let records: u64 = served.map(|d| record(d) as u64 + ENTRY_BYTES).sum();
    // Scales, and a quarter, a quarter and a half of a small record.
    let beside = u64::from(SCALES) * (ENTRY_BYTES + 8) + ENTRY_BYTES * 2;
    u64::from(connections) * (records + beside)
}

fn by_memory(bytes: u64) -> u32 {
    let one = table_bytes(1, Directions::Both);
    let fit = bytes / PART_OF_MEMORY / one;
    (fit as u32).clamp(*DEFAULT_CONNECTIONS.start(), *DEFAULT_CONNECTIONS.end())
}

/// The machine's.
fn memory_bytes() -> u64 {
    // SAFETY: all zeroes are a valid record.
    let mut info: libc::sysinfo = unsafe { std::mem::zeroed() };
    // SAFETY: the record outlives the call, which fills it.
    unsafe { libc::sysinfo(&raw mut info) };
    info.totalram as u64 * u64::from(info.mem_unit)
}

/// Makes the tables of programs that are not loaded yet as large; the kernel sets their memory aside at once,
/// so those of a direction that is not served are nearly nothing.
pub fn resize(
    open: &mut OpenAgentSkel<'_>,
    connections: u32,
    directions: Directions,
) -> Result<(), libbpf_rs::Error> {
    let maps = &mut open.maps;
    let served = |direction| match directions.include(direction) {
        true => connections,
        false => 1,
    };
    maps.flows.set_max_entries(served(Direction::Down))?;
    maps.uploads.set_max_entries(served(Direction::Up))?;
    maps.offers
        .set_max_entries((served(Direction::Up) / 4).max(1))?;
    maps.scales.set_max_entries(SCALES * connections)?;
    maps.left.set_max_entries(connections / 4)?;
    // Of a router's connections each may be one of a device behind it.
    maps.translated.set_max_entries(connections)?;
    maps.windowless.set_max_entries(connections / 2)
}

/// Makes the tables of devices nearly empty if shares are not by device.
pub fn without_devices(open: &mut OpenAgentSkel<'_>) -> Result<(), libbpf_rs::Error> {
    let maps = &mut open.maps;
    maps.owners.set_max_entries(1)?;
    maps.translated.set_max_entries(1)?;
    maps.devices.set_max_entries(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1 << 20;

    #[test]
    fn a_small_machine_keeps_its_memory() {
        for (memory, part) in [
            (64 * MB, 20),
            (128 * MB, 40),
            (512 * MB, 60),
            (4096 * MB, 60),
        ] {
            let taken = table_bytes(by_memory(memory), Directions::Both);
            assert!(taken < memory / part, "{taken} of {memory}");
        }
        assert_eq!(by_memory(64 * MB), 512);
        assert_eq!(by_memory(1 << 40), 16_384);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert_eq!(connections(Some(100_000)).unwrap(), 100_000);
        for wrong in [0, 255, 1_048_577] {
            assert!(connections(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
