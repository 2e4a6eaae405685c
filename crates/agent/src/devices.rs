//! Tells the programs which device a connection belongs to, of those that this machine forwards for.

use crate::AgentError;
use crate::agent::bytes;
use crate::rules::words;
use crate::skeleton::AgentSkel;
use crate::skeleton::types::{tg_address, tg_ends, tg_owner};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::net::{IpAddr, SocketAddr};

/// A device's place among those that shares are divided among.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    /// From 1.
    pub number: u32,
    /// Its share, in multiples of a device with weight 1.
    pub weight: u32,
}

/// Tells the programs which device a connection belongs to. It may outlive the agent, and then has no effect.
pub struct Owners {
    owners: MapHandle,
    translated: MapHandle,
    told: MapHandle,
    times: u32,
}

impl Owners {
    pub(crate) fn new(skeleton: &AgentSkel<'_>) -> Result<Self, AgentError> {
        let maps = &skeleton.maps;
        let handle = |map| MapHandle::try_from(map).map_err(AgentError::Map);
        Ok(Self {
            owners: handle(&maps.owners)?,
            translated: handle(&maps.translated)?,
            told: handle(&maps.owners_known)?,
            times: 0,
        })
    }

    /// Says that the address belongs to that device.
    ///
    /// # Errors
    /// This call and the others fail if the kernel refuses.
    pub fn set_address(&self, address: IpAddr, device: Device) -> Result<(), AgentError> {
        let owner = tg_owner {
            device: device.number,
            weight: device.weight,
        };
        let map = &self.owners;
        map.update(bytes(&key(address)), bytes(&owner), MapFlags::ANY)
            .map_err(AgentError::Map)
    }

    /// Says that the connection between `local` and `remote`, as seen outside NAT, has the inner address `inside`.
    pub fn set_connection(
        &self,
        local: SocketAddr,
        remote: SocketAddr,
        inside: IpAddr,
    ) -> Result<(), AgentError> {
        let (family, local_words) = words(local.ip());
        let (_, remote_words) = words(remote.ip());
        let ends = tg_ends {
            local: local_words,
            remote: remote_words,
            local_port: local.port().to_be(),
            remote_port: remote.port().to_be(),
            family,
        };
        let map = &self.translated;
        map.update(bytes(&ends), bytes(&key(inside)), MapFlags::ANY)
            .map_err(AgentError::Map)
    }

    /// Makes flows look up their device again, after the calls above.
    pub fn tell(&mut self) -> Result<(), AgentError> {
        self.times = self.times.wrapping_add(1);
        let zero = 0u32.to_ne_bytes();
        self.told
            .update(&zero, &self.times.to_ne_bytes(), MapFlags::ANY)
            .map_err(AgentError::Map)
    }
}

fn key(address: IpAddr) -> tg_address {
    let (family, words) = words(address);
    tg_address { words, family }
}
