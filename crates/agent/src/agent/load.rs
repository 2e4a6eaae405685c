//! Loading the programs.

use super::Config;
use crate::skeleton::{AgentSkel, AgentSkelBuilder};
use crate::support::sees_cgroups;
use crate::{AgentError, Direction, tables};
use libbpf_rs::ErrorKind;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use std::mem::MaybeUninit;

/// Loads them, with tables for that number of connections.
pub fn load(config: &Config, connections: u32) -> Result<AgentSkel<'static>, AgentError> {
    let directions = config.directions;
    // libbpf's messages are in the error that it returns.
    libbpf_rs::set_print(None);
    // The skeleton borrows this word for as long as it lives; one word for each start is the price
    // of an agent that can be moved.
    let object = Box::leak(Box::new(MaybeUninit::uninit()));
    let mut open = AgentSkelBuilder::default()
        .open(object)
        .map_err(AgentError::Load)?;
    tables::resize(&mut open, connections, directions).map_err(AgentError::Load)?;
    if !config.by_device {
        tables::without_devices(&mut open).map_err(AgentError::Load)?;
    }
    let rodata = open.maps.rodata_data.as_deref_mut();
    let rodata = rodata.expect("the programs have constants");
    rodata.sees_cgroups = sees_cgroups();
    rodata.serves = Direction::ALL.map(|direction| directions.include(direction));
    rodata.by_device = config.by_device;
    open.load().map_err(|error| match error.kind() {
        ErrorKind::OutOfMemory => AgentError::NoMemory {
            connections,
            megabytes: tables::table_bytes(connections, directions, config.by_device)
                .div_ceil(1_000_000),
        },
        _ => AgentError::Load(error),
    })
}
