//! The agent's capabilities: few to start with, and fewer once it runs.

use crate::AgentError;
use caps::{CapSet, Capability, CapsHashSet};
use std::io;

/// Capabilities for loading and attaching: maps and programs need CAP_BPF; programs that see packets, and hooks of
/// interfaces, CAP_NET_ADMIN; programs that read the kernel's own structures, from Linux 5.18 on, for a socket's window
/// scale, CAP_PERFMON.
const TO_START: [Capability; 3] = [
    Capability::CAP_BPF,
    Capability::CAP_NET_ADMIN,
    Capability::CAP_PERFMON,
];

/// Capabilities to keep: before Linux 5.19 a process without CAP_BPF cannot use maps if unprivileged BPF is off;
/// attaching and detaching needs CAP_NET_ADMIN.
const TO_STAY: [Capability; 2] = [Capability::CAP_BPF, Capability::CAP_NET_ADMIN];

/// Checks that the agent may start.
pub(crate) fn require() -> Result<(), AgentError> {
    let effective = caps::read(None, CapSet::Effective).map_err(failed)?;
    let missing = missing(&effective);
    if missing.is_empty() {
        return Ok(());
    }
    Err(AgentError::NotPrivileged(missing.join(", ")))
}

/// Names of missing capabilities. CAP_SYS_ADMIN includes those that were split off it.
fn missing(effective: &CapsHashSet) -> Vec<String> {
    let admin = effective.contains(&Capability::CAP_SYS_ADMIN);
    let has = |c: &Capability| effective.contains(c) || (admin && *c != Capability::CAP_NET_ADMIN);
    let missing = TO_START.into_iter().filter(|c| !has(c));
    missing.map(|c| c.to_string()).collect()
}

/// Gives up, for good and in the calling thread and those that it starts from now on, all
/// capabilities but those that a running agent needs.
///
/// An agent that was started before stays able to read its state, to attach to further interfaces
/// of its network namespace, and to detach.
pub fn drop_capabilities() -> Result<(), AgentError> {
    forbid_new_privileges()?;
    drop_bounding().map_err(failed)?;
    let permitted = caps::read(None, CapSet::Permitted).map_err(failed)?;
    let kept: CapsHashSet = TO_STAY
        .into_iter()
        .filter(|c| permitted.contains(c))
        .collect();
    // Clearing the inheritable ones clears the ambient ones, too. Permitted ones go as well, or could be raised again.
    caps::clear(None, CapSet::Inheritable)
        .and_then(|()| caps::set(None, CapSet::Effective, &kept))
        .and_then(|()| caps::set(None, CapSet::Permitted, &kept))
        .map_err(failed)
}

/// Drops the bounding set: no program that this process starts can gain these capabilities. Without CAP_SETPCAP this is
/// not allowed, and the set stays as the service manager left it.
fn drop_bounding() -> Result<(), caps::errors::CapsError> {
    if !caps::has_cap(None, CapSet::Effective, Capability::CAP_SETPCAP)? {
        return Ok(());
    }
    let unneeded = caps::runtime::thread_all_supported()
        .into_iter()
        .filter(|c| !TO_STAY.contains(c));
    for capability in unneeded {
        caps::drop(None, CapSet::Bounding, capability)?;
    }
    Ok(())
}

/// No program that this process starts gains anything by its file's owner or capabilities.
fn forbid_new_privileges() -> Result<(), AgentError> {
    // SAFETY: plain numbers.
    let status = unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) };
    if status == 0 {
        return Ok(());
    }
    Err(AgentError::System {
        what: "give up new privileges",
        source: io::Error::last_os_error(),
    })
}

fn failed(error: caps::errors::CapsError) -> AgentError {
    AgentError::System {
        what: "read or give up capabilities",
        source: io::Error::other(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_missing_ones_are_named() {
        let set = |all: &[Capability]| all.iter().copied().collect::<CapsHashSet>();
        let none: [String; 0] = [];
        assert_eq!(missing(&set(&TO_START)), none);
        assert_eq!(
            missing(&set(&TO_STAY)),
            [Capability::CAP_PERFMON.to_string()]
        );
        assert_eq!(
            missing(&set(&[Capability::CAP_SYS_ADMIN])),
            [Capability::CAP_NET_ADMIN.to_string()]
        );
    }
}
