//! How many connections the programs' tables hold.

use crate::skeleton::OpenAgentSkel;
use crate::skeleton::types::{
    tg_device, tg_fast_path_set, tg_path, tg_record, tg_tally, tg_upload_record,
};
use crate::{AgentError, Direction, Directions};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// How many connections the tables may be made for.
pub const CONNECTIONS: RangeInclusive<u32> = 256..=1_048_576;

/// By default connections take at most a 64th of the machine's memory; their number stays within these bounds.
const PART_OF_MEMORY: u64 = 64;
const DEFAULT_CONNECTIONS: RangeInclusive<u32> = 512..=16_384;

/// Remembered scales for each connection with a record: a forwarded connection has no socket here that would tell its
/// scale again.
const SCALES: u32 = 4;

/// What the kernel adds to an entry of a table: its place in lists, its hash, the key.
const ENTRY_BYTES: u64 = 112;

/// Room for interfaces and for the fast path, independent of the number of connections (`TG_INTERFACES` and
/// `TG_FAST_PATH_SETS` of the programs).
const INTERFACES: u64 = 64;
const FAST_PATH_SETS: u64 = 4_096;

/// Addresses whose device is known, and devices with flows, where shares are by device (`owners` and `devices` of the
/// programs).
const OWNERS: u64 = 16_384;
const DEVICES: u64 = 4_096;

/// A table's size, and how full it is.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct TableView {
    /// The direction of its flows' data.
    pub direction: Direction,
    /// Flows that it holds at most.
    pub size: u32,
    /// Flows that it holds.
    pub used: u32,
    /// Flows that others have pushed out since the start.
    pub pushed_out: u64,
}

/// The wanted number of connections, or one that suits this machine's memory.
pub fn connections(wanted: Option<u32>) -> Result<u32, AgentError> {
    match wanted {
        Some(wanted) if CONNECTIONS.contains(&wanted) => Ok(wanted),
        Some(wanted) => Err(AgentError::Connections(wanted)),
        None => Ok(by_memory(memory_bytes())),
    }
}

/// About how many bytes the tables for that number of connections take: within 15 % of the kernel's own count.
pub fn table_bytes(connections: u32, directions: Directions, by_device: bool) -> u64 {
    let devices = match by_device {
        true => device_bytes(connections),
        false => 0,
    };
    standing_bytes() + u64::from(connections) * connection_bytes(directions) + devices
}

/// Bytes for each connection.
fn connection_bytes(directions: Directions) -> u64 {
    let record = |direction| match direction {
        Direction::Down => size_of::<tg_record>(),
        Direction::Up => size_of::<tg_upload_record>(),
    };
    let served = Direction::ALL
        .into_iter()
        .filter(|d| directions.include(*d));
    let records: u64 = served.map(|d| record(d) as u64 + ENTRY_BYTES).sum();
    // Scales, and a quarter, a quarter and a half of a small record.
    records + u64::from(SCALES) * (ENTRY_BYTES + 8) + ENTRY_BYTES * 2
}

/// Bytes that do not depend on connections: each interface's paths and its per-CPU sums, and the fast path.
fn standing_bytes() -> u64 {
    let processors = libbpf_rs::num_possible_cpus().unwrap_or(1) as u64;
    let paths = 2 * INTERFACES * size_of::<tg_path>() as u64;
    let tallies = (INTERFACES + 1) * processors * size_of::<tg_tally>() as u64;
    paths + tallies + FAST_PATH_SETS * size_of::<tg_fast_path_set>() as u64
}

/// Bytes for devices, and for their connections behind NAT.
fn device_bytes(connections: u32) -> u64 {
    let devices = DEVICES * (ENTRY_BYTES + size_of::<tg_device>() as u64);
    devices + (OWNERS + u64::from(connections)) * ENTRY_BYTES
}

fn by_memory(bytes: u64) -> u32 {
    let fit = bytes / PART_OF_MEMORY / connection_bytes(Directions::Both);
    (fit as u32).clamp(*DEFAULT_CONNECTIONS.start(), *DEFAULT_CONNECTIONS.end())
}

/// Memory of the machine.
fn memory_bytes() -> u64 {
    // SAFETY: all zeroes are a valid record.
    let mut info: libc::sysinfo = unsafe { std::mem::zeroed() };
    // SAFETY: the record outlives the call, which fills it.
    unsafe { libc::sysinfo(&raw mut info) };
    info.totalram as u64 * u64::from(info.mem_unit)
}

/// Sets the sizes of tables before the programs are loaded. The kernel allocates their memory at once, so the tables of
/// a direction that is not served are nearly empty.
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
    // Each of a router's connections may belong to a device behind it.
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
            (64 * MB, 8),
            (128 * MB, 16),
            (512 * MB, 32),
            (4096 * MB, 50),
        ] {
            let taken = table_bytes(by_memory(memory), Directions::Both, false);
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
