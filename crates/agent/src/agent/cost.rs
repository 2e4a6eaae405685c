//! The cost of the programs: their run time, and the memory of their tables.

use super::Agent;
use crate::{AgentError, LinkLayer};
use libbpf_rs::ProgramMut;
use libbpf_rs::skel::Skel;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

/// The cost of a program so far, as the kernel counts it. Zero unless statistics are on
/// ([`Agent::count_cost`]).
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Times that it ran.
    pub runs: u64,
    /// Time that it took, in ns.
    pub nanoseconds: u64,
}

impl Agent {
    /// Memory of the programs' tables in the kernel, as it counts that, in bytes.
    pub fn table_bytes(&self) -> Result<u64, AgentError> {
        let bytes = |map: libbpf_rs::Map<'_>| {
            let path = format!("/proc/self/fdinfo/{}", map.as_fd().as_raw_fd());
            let info = std::fs::read_to_string(&path).map_err(|source| AgentError::System {
                what: "read how much memory a map has",
                source,
            })?;
            let memory = info.lines().find_map(|line| line.strip_prefix("memlock:"));
            Ok(memory
                .and_then(|m| m.trim().parse::<u64>().ok())
                .unwrap_or(0))
        };
        self.skeleton.object().maps().map(bytes).sum()
    }

    /// [`count_program_time`], until the agent is dropped.
    pub fn count_cost(&mut self) -> Result<(), AgentError> {
        self._statistics = Some(count_program_time()?);
        Ok(())
    }

    /// The cost of the programs that see arriving and leaving packets, since they were loaded.
    pub fn cost(&self) -> Result<[Cost; 2], AgentError> {
        let both = |a: &ProgramMut<'_>, b: &ProgramMut<'_>| {
            let (a, b) = (cost(a)?, cost(b)?);
            Ok(Cost {
                runs: a.runs + b.runs,
                nanoseconds: a.nanoseconds + b.nanoseconds,
            })
        };
        let ethernet = self.programs(LinkLayer::Ethernet);
        let ip = self.programs(LinkLayer::PlainIp);
        Ok([both(ethernet[0], ip[0])?, both(ethernet[1], ip[1])?])
    }
}

/// Makes the kernel measure how long all BPF programs of this machine run, until the returned descriptor is closed.
/// This itself costs some 20 to 50 ns a packet.
///
/// # Errors
/// Without `CAP_SYS_ADMIN`.
pub fn count_program_time() -> Result<OwnedFd, AgentError> {
    // SAFETY: an enumerator as argument; the descriptor returned is owned right away.
    let fd = unsafe { libbpf_sys::bpf_enable_stats(libbpf_sys::BPF_STATS_RUN_TIME) };
    if fd < 0 {
        let source = std::io::Error::from_raw_os_error(-fd);
        return Err(AgentError::System {
            what: "switch on the kernel's BPF statistics",
            source,
        });
    }
    // SAFETY: a new descriptor that nobody else owns.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn cost(program: &ProgramMut<'_>) -> Result<Cost, AgentError> {
    let mut info = libbpf_sys::bpf_prog_info::default();
    let mut size = size_of_val(&info) as u32;
    // SAFETY: the kernel writes at most `size` bytes of the record.
    let status = unsafe {
        libbpf_sys::bpf_obj_get_info_by_fd(
            program.as_fd().as_raw_fd(),
            (&raw mut info).cast(),
            &mut size,
        )
    };
    if status != 0 {
        let source = std::io::Error::from_raw_os_error(-status);
        return Err(AgentError::System {
            what: "ask for a program's statistics",
            source,
        });
    }
    Ok(Cost {
        runs: info.run_cnt,
        nanoseconds: info.run_time_ns,
    })
}
