//! Loading, attaching, steering and reading the kernel program.

use crate::attach::{Attachment, Way, attach};
use crate::skeleton::types::{tg_key, tg_path, tg_record};
use crate::skeleton::{AgentSkel, AgentSkelBuilder};
use crate::support::{BTF, require};
use crate::view::REASONS;
use crate::{AgentError, Count, FlowView, Hook, Interface, LinkLayer, PathView};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use tidegate_laws::Params;

/// What the agent is to do.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Interfaces to attach to.
    pub interfaces: Vec<Interface>,
    /// The law and its parameters.
    pub params: Params,
    /// Measure and compute, but leave every packet as it is.
    pub dry_run: bool,
    /// How to attach.
    pub hook: Hook,
}

/// What a program has cost so far, as the kernel counts it. Zero unless statistics are on
/// ([`Agent::count_cost`]).
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// Times that it ran.
    pub runs: u64,
    /// Time that it took, in ns.
    pub nanoseconds: u64,
}

/// The kernel program, loaded and attached; detached and unloaded when dropped.
pub struct Agent {
    skeleton: AgentSkel<'static>,
    // Dropped before the skeleton's programs would matter: a link holds its own reference.
    _attachments: Vec<Attachment>,
    _statistics: Option<std::os::fd::OwnedFd>,
}

impl Agent {
    /// Loads the program and attaches it. On failure nothing stays behind.
    ///
    /// Interfaces are those of the calling thread's network namespace.
    pub fn start(config: &Config) -> Result<Self, AgentError> {
        require(Path::new(BTF))?;
        let mut agent = Self {
            skeleton: load()?,
            _attachments: Vec::new(),
            _statistics: None,
        };
        agent.configure(&config.params, config.dry_run);
        for interface in &config.interfaces {
            agent.attach(interface, config.hook)?;
        }
        Ok(agent)
    }

    /// Sets law and parameters, at any time. Flows keep what they have learned.
    pub fn configure(&mut self, params: &Params, dry_run: bool) {
        let params = params.to_sys();
        let data = self
            .skeleton
            .maps
            .data_data
            .as_deref_mut()
            .expect("the program has globals");
        data.config.params.lambda_q8 = params.lambda_q8;
        data.config.params.limit = params.limit;
        data.config.params.law = params.law;
        data.config.dry_run = dry_run.into();
    }

    fn attach(&mut self, interface: &Interface, hook: Hook) -> Result<(), AgentError> {
        let path = tg_path::default();
        let paths = &self.skeleton.maps.paths;
        paths
            .update(&interface.index.to_ne_bytes(), bytes(&path), MapFlags::ANY)
            .map_err(AgentError::Map)?;
        let progs = &self.skeleton.progs;
        let (arrives, leaves) = match interface.link_layer {
            LinkLayer::Ethernet => (&progs.ethernet_arrives, &progs.ethernet_leaves),
            LinkLayer::PlainIp => (&progs.ip_arrives, &progs.ip_leaves),
        };
        for (program, way) in [(arrives, Way::Arrives), (leaves, Way::Leaves)] {
            let attachment =
                attach(program.as_fd(), interface.index, way, hook).map_err(|source| {
                    AgentError::Attach {
                        interface: interface.name.clone(),
                        source,
                    }
                })?;
            self._attachments.push(attachment);
        }
        Ok(())
    }

    /// Every flow in the table, in no particular order.
    pub fn flows(&self) -> Vec<FlowView> {
        let map = &self.skeleton.maps.flows;
        // A flow may be evicted between the listing and the look-up.
        map.keys()
            .filter_map(|key| {
                let record = map.lookup(&key, MapFlags::ANY).ok()??;
                Some(FlowView::new(
                    &value::<tg_key>(&key),
                    &value::<tg_record>(&record),
                ))
            })
            .collect()
    }

    /// Every path.
    pub fn paths(&self) -> Vec<PathView> {
        let map = &self.skeleton.maps.paths;
        map.keys()
            .filter_map(|key| {
                let path = map.lookup(&key, MapFlags::LOCK).ok()??;
                Some(PathView::new(
                    value::<u32>(&key),
                    &value::<tg_path>(&path).tide,
                ))
            })
            .collect()
    }

    /// What became of every packet, by reason.
    pub fn counts(&self) -> Result<Vec<Count>, AgentError> {
        let map = &self.skeleton.maps.counts;
        let count = |(index, reason): (usize, &&'static str)| {
            let key = (index as u32).to_ne_bytes();
            let per_cpu = map
                .lookup_percpu(&key, MapFlags::ANY)
                .map_err(AgentError::Map)?;
            let packets = per_cpu.iter().flatten().map(|v| value::<u64>(v)).sum();
            Ok(Count { reason, packets })
        };
        REASONS.iter().enumerate().map(count).collect()
    }

    /// Makes the kernel count what its programs cost, until the agent is dropped. The counting
    /// itself costs some 20 to 50 ns a packet.
    pub fn count_cost(&mut self) -> Result<(), AgentError> {
        use std::os::fd::FromRawFd;
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
        self._statistics = Some(unsafe { std::os::fd::OwnedFd::from_raw_fd(fd) });
        Ok(())
    }

    /// What the programs that see arriving and leaving packets have cost since they were loaded.
    pub fn cost(&self) -> Result<[Cost; 2], AgentError> {
        let progs = &self.skeleton.progs;
        let both = |a: &libbpf_rs::ProgramMut<'_>, b: &libbpf_rs::ProgramMut<'_>| {
            let (a, b) = (cost(a)?, cost(b)?);
            Ok(Cost {
                runs: a.runs + b.runs,
                nanoseconds: a.nanoseconds + b.nanoseconds,
            })
        };
        Ok([
            both(&progs.ethernet_arrives, &progs.ip_arrives)?,
            both(&progs.ethernet_leaves, &progs.ip_leaves)?,
        ])
    }
}

fn load() -> Result<AgentSkel<'static>, AgentError> {
    // What libbpf would print is in the error that it returns.
    libbpf_rs::set_print(None);
    // The skeleton borrows this word for as long as it lives; one word for each start is the price
    // of an agent that can be moved.
    let object = Box::leak(Box::new(MaybeUninit::uninit()));
    let open = AgentSkelBuilder::default()
        .open(object)
        .map_err(AgentError::Load)?;
    open.load().map_err(AgentError::Load)
}

fn cost(program: &libbpf_rs::ProgramMut<'_>) -> Result<Cost, AgentError> {
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

/// A map's record, from the bytes that the kernel handed out.
fn value<T: Copy + Default>(bytes: &[u8]) -> T {
    assert_eq!(
        bytes.len(),
        size_of::<T>(),
        "record of another size than the program's"
    );
    // SAFETY: as many bytes as `T` has; the generated records are plain integers, valid for any.
    unsafe { bytes.as_ptr().cast::<T>().read_unaligned() }
}

/// A record as a map wants it.
fn bytes<T: Copy>(record: &T) -> &[u8] {
    // SAFETY: the generated records are plain integers with explicit padding, all initialised.
    unsafe { std::slice::from_raw_parts((&raw const *record).cast(), size_of::<T>()) }
}
