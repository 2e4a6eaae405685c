//! Reading what the programs have counted of all packets.

use super::Agent;
use super::records::value;
use crate::skeleton::types::tg_tally;
use crate::{AgentError, Carried, Count, Direction, tally};
use libbpf_rs::{MapCore, MapFlags};

impl Agent {
    /// Everything that an interface carried in `direction`.
    pub fn traffic(&self, direction: Direction, ifindex: u32) -> Vec<Carried> {
        tally::carried(direction, &self.tallies_of(ifindex))
    }

    /// The packets of an interface, by CPU; none where it has no place.
    pub(super) fn tallies_of(&self, ifindex: u32) -> Vec<tg_tally> {
        let data = self.skeleton.maps.data_data.as_deref();
        let mut places = data.expect("the programs have globals").interfaces.iter();
        let place = places.position(|held| *held == ifindex);
        let tallies = place.and_then(|place| self.tallies(place as u32).ok());
        tallies.unwrap_or_default()
    }

    /// What became of every packet, by direction and reason.
    pub fn counts(&self) -> Result<Vec<Count>, AgentError> {
        let places = 0..self.skeleton.maps.tallies.max_entries();
        let tallies = places.map(|place| self.tallies(place));
        let tallies = tallies.collect::<Result<Vec<_>, _>>()?.concat();
        Ok(tally::counts(&tallies))
    }

    /// The packets of the interface at that place, by CPU.
    fn tallies(&self, place: u32) -> Result<Vec<tg_tally>, AgentError> {
        let map = &self.skeleton.maps.tallies;
        let cpus = map.lookup_percpu(&place.to_ne_bytes(), MapFlags::ANY);
        let cpus = cpus.map_err(AgentError::Map)?;
        let whole = |cpu: &Vec<u8>| tally::whole(value(cpu));
        Ok(cpus.iter().flatten().map(whole).collect())
    }
}
