//! The interfaces that the programs are on: attaching to them, and what is kept for each.

use super::Agent;
use super::records::{bytes, value};
use super::settings::set_rules;
use crate::attach::{Place, Rank, Seat, Way};
use crate::skeleton::AgentSkel;
use crate::skeleton::types::{tg_path, tg_tally};
use crate::{AgentError, Hook, Interface, tally};
use libbpf_rs::{MapCore, MapFlags};
use std::os::fd::AsFd;

impl Agent {
    /// Attaches to one more interface of the calling thread's network namespace, pinned if the others are. Rules with
    /// its name match it from now on.
    ///
    /// # Errors
    /// If the kernel refuses; then call [`Self::release`].
    pub fn attach(&mut self, interface: &Interface) -> Result<(), AgentError> {
        begin_tally(&mut self.skeleton, interface.index)?;
        self.add_paths(interface)?;
        let [arrives, leaves] = self.programs(interface.link_layer);
        let mut attachments = Vec::new();
        for (program, way) in [(arrives, Way::Arrives), (leaves, Way::Leaves)] {
            let place = Place {
                index: interface.index,
                way,
            };
            let rank = Rank::Agent;
            let attachment = self
                .attacher
                .attach(program.as_fd(), Seat { place, rank }, None);
            let attachment = attachment.map_err(|source| AgentError::Attach {
                interface: interface.name.clone(),
                source,
            })?;
            attachments.push((place, attachment));
        }
        self.attachments.append(&mut attachments);
        self.interfaces.push(interface.clone());
        if self.rules.ask_interfaces() {
            set_rules(&mut self.skeleton, &self.rules, &self.interfaces)?;
        }
        if self.pins.is_some() {
            self.pin()?;
        }
        Ok(())
    }

    /// Forgets an interface, as when it is gone.
    pub fn release(&mut self, index: u32) {
        self.remove(&[index]);
    }

    /// Detaches them from interfaces, and forgets their queues.
    pub(super) fn remove(&mut self, interfaces: &[u32]) {
        self.attachments
            .retain(|(p, _)| !interfaces.contains(&p.index));
        self.interfaces.retain(|i| !interfaces.contains(&i.index));
        for index in interfaces {
            for paths in [&self.skeleton.maps.paths, &self.skeleton.maps.uplinks] {
                // There may be none, if it could not be attached to.
                let _ = paths.delete(&index.to_ne_bytes());
            }
            end_tally(&mut self.skeleton, *index);
        }
    }

    /// The interfaces that it is on.
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// By which hook the programs are attached; none if there is no interface.
    pub fn hook(&self) -> Option<Hook> {
        self.attachments.first().map(|(_, a)| a.hook())
    }

    /// Gives the programs a record of each of the interface's queues.
    fn add_paths(&self, interface: &Interface) -> Result<(), AgentError> {
        let path = tg_path::default();
        for paths in [&self.skeleton.maps.paths, &self.skeleton.maps.uplinks] {
            paths
                .update(&interface.index.to_ne_bytes(), bytes(&path), MapFlags::ANY)
                .map_err(AgentError::Map)?;
        }
        Ok(())
    }
}

/// Makes the programs count an interface's packets separately.
pub fn begin_tally(skeleton: &mut AgentSkel<'_>, ifindex: u32) -> Result<(), AgentError> {
    end_tally(skeleton, ifindex);
    let data = skeleton.maps.data_data.as_deref_mut();
    let places = &mut data.expect("the programs have globals").interfaces;
    let free = places.iter().position(|held| *held == 0);
    let place = free.ok_or(AgentError::TooManyInterfaces(places.len()))?;
    let (map, key) = (&skeleton.maps.tallies, (place as u32).to_ne_bytes());
    let cpus = map.lookup_percpu(&key, MapFlags::ANY);
    let cpus = cpus.map_err(AgentError::Map)?.unwrap_or_default();
    // The agent reports what became of packets on all interfaces together: these counts are kept.
    let blank = |cpu: &Vec<u8>| tg_tally {
        counts: tally::whole(value(cpu)).counts,
        ..tg_tally::default()
    };
    let blank: Vec<_> = cpus.iter().map(|cpu| bytes(&blank(cpu)).to_vec()).collect();
    map.update_percpu(&key, &blank, MapFlags::ANY)
        .map_err(AgentError::Map)?;
    places[place] = ifindex;
    Ok(())
}

/// Frees the interface's place.
fn end_tally(skeleton: &mut AgentSkel<'_>, ifindex: u32) {
    let data = skeleton.maps.data_data.as_deref_mut();
    let places = &mut data.expect("the programs have globals").interfaces;
    for held in places.iter_mut().filter(|held| **held == ifindex) {
        *held = 0;
    }
}
