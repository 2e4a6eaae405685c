//! What the sockets of a control group carry.

use crate::AgentError;
use crate::meter_skeleton::{MeterSkel, MeterSkelBuilder};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Link, MapCore, MapFlags};
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::path::Path;
use tidegate_laws::Direction;

/// Counts until it is dropped. If the process dies, the kernel detaches it.
pub struct Meter {
    // Before the programs that they attach.
    _links: [Link; 2],
    skeleton: MeterSkel<'static>,
}

impl Meter {
    /// Counts what the sockets of the group with that folder receive and send, and those of the groups below it.
    ///
    /// # Errors
    /// If there is no such group, or the kernel refuses.
    pub fn attach(group: &Path) -> Result<Self, AgentError> {
        let group = File::open(group).map_err(|source| AgentError::System {
            what: "open the control group",
            source,
        })?;
        // Few are made in the life of a process: one for each trial.
        let object = Box::leak(Box::new(MaybeUninit::uninit()));
        let open = MeterSkelBuilder::default()
            .open(object)
            .map_err(AgentError::Load)?;
        let mut skeleton = open.load().map_err(AgentError::Load)?;
        let group = group.as_raw_fd();
        let progs = &mut skeleton.progs;
        let arrives = progs
            .arrives
            .attach_cgroup(group)
            .map_err(AgentError::Load)?;
        let leaves = progs
            .leaves
            .attach_cgroup(group)
            .map_err(AgentError::Load)?;
        Ok(Self {
            _links: [arrives, leaves],
            skeleton,
        })
    }

    /// Bytes so far, from the IP header on, by [`Direction::ALL`].
    pub fn bytes(&self) -> [u64; 2] {
        Direction::ALL.map(|direction| {
            let key = (direction as u32).to_ne_bytes();
            let found = self.skeleton.maps.bytes.lookup(&key, MapFlags::ANY);
            let word = found.ok().flatten().and_then(|bytes| bytes.try_into().ok());
            word.map_or(0, u64::from_ne_bytes)
        })
    }
}
