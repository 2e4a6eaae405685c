//! Loading, attaching, steering and reading the kernel program.

use crate::attach::{Attachment, Place, Way, attach, vacate};
use crate::skeleton::types::{tg_key, tg_path, tg_record, tg_upload_record};
use crate::skeleton::{AgentSkel, AgentSkelBuilder, OpenAgentSkel};
use crate::support::{BTF, require};
use crate::view::REASONS;
use crate::{
    AgentError, Count, Direction, Directions, FlowView, Hook, Interface, LinkLayer, PathView,
};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, ProgramMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use tidegate_laws::{Params, steers_uploads, sys};

/// What the agent is to do.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Interfaces to attach to.
    pub interfaces: Vec<Interface>,
    /// The law and its parameters.
    pub params: Params,
    /// Which data are steered.
    pub directions: Directions,
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

/// The kernel programs, loaded and attached; detached and unloaded when dropped.
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
            skeleton: load(config.directions)?,
            _attachments: Vec::new(),
            _statistics: None,
        };
        agent.configure(&config.params, config.dry_run);
        for interface in &config.interfaces {
            agent.add_paths(interface)?;
            for direction in Direction::ALL {
                let wanted = config.directions.include(direction);
                agent.occupy(interface, direction, wanted, config.hook)?;
            }
        }
        Ok(agent)
    }

    /// Sets law and parameters, at any time; see [`configure`].
    pub fn configure(&mut self, params: &Params, dry_run: bool) {
        configure(&mut self.skeleton, params, dry_run);
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

    /// Attaches the programs for `direction`, or, if they are not wanted, sees to it that no
    /// others of an agent's are there.
    fn occupy(
        &mut self,
        interface: &Interface,
        direction: Direction,
        wanted: bool,
        hook: Hook,
    ) -> Result<(), AgentError> {
        let [arrives, leaves] = self.programs(direction, interface.link_layer);
        let mut attachments = Vec::new();
        for (program, way) in [(arrives, Way::Arrives), (leaves, Way::Leaves)] {
            let place = Place {
                index: interface.index,
                way,
                direction,
            };
            if !wanted {
                vacate(program.as_fd(), place, hook);
                continue;
            }
            let attachment =
                attach(program.as_fd(), place, hook).map_err(|source| AgentError::Attach {
                    interface: interface.name.clone(),
                    source,
                })?;
            attachments.push(attachment);
        }
        self._attachments.append(&mut attachments);
        Ok(())
    }

    /// The programs that see arriving and leaving packets.
    fn programs(&self, direction: Direction, link: LinkLayer) -> [&ProgramMut<'static>; 2] {
        let progs = &self.skeleton.progs;
        match (direction, link) {
            (Direction::Down, LinkLayer::Ethernet) => {
                [&progs.ethernet_arrives, &progs.ethernet_leaves]
            }
            (Direction::Down, LinkLayer::PlainIp) => [&progs.ip_arrives, &progs.ip_leaves],
            (Direction::Up, LinkLayer::Ethernet) => [&progs.ethernet_acked, &progs.ethernet_sent],
            (Direction::Up, LinkLayer::PlainIp) => [&progs.ip_acked, &progs.ip_sent],
        }
    }

    /// Every flow in the tables, in no particular order.
    pub fn flows(&self) -> Vec<FlowView> {
        let maps = &self.skeleton.maps;
        let downloads = records::<tg_record>(&maps.flows)
            .map(|(key, r)| FlowView::new(Direction::Down, &key, &r.flow, &r.connection));
        let uploads = records::<tg_upload_record>(&maps.uploads)
            .map(|(key, r)| FlowView::new(Direction::Up, &key, &r.upload.flow, &r.connection));
        downloads.chain(uploads).collect()
    }

    /// Every path.
    pub fn paths(&self) -> Vec<PathView> {
        let maps = &self.skeleton.maps;
        [
            (Direction::Down, &maps.paths),
            (Direction::Up, &maps.uplinks),
        ]
        .into_iter()
        .flat_map(|(direction, map)| {
            map.keys().filter_map(move |key| {
                let path = map.lookup(&key, MapFlags::LOCK).ok()??;
                let tide = value::<tg_path>(&path).tide;
                Some(PathView::new(direction, value::<u32>(&key), &tide))
            })
        })
        .collect()
    }

    /// What became of every packet, by direction and reason.
    pub fn counts(&self) -> Result<Vec<Count>, AgentError> {
        let map = &self.skeleton.maps.counts;
        let counters = Direction::ALL
            .into_iter()
            .flat_map(|direction| REASONS.map(|reason| (direction, reason)));
        let count = |(index, (direction, reason)): (usize, (Direction, &'static str))| {
            let key = (index as u32).to_ne_bytes();
            let per_cpu = map
                .lookup_percpu(&key, MapFlags::ANY)
                .map_err(AgentError::Map)?;
            let packets = per_cpu.iter().flatten().map(|v| value::<u64>(v)).sum();
            Ok(Count {
                direction,
                reason,
                packets,
            })
        };
        counters.enumerate().map(count).collect()
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

    /// What the programs for `direction` that see arriving and leaving packets have cost since they
    /// were loaded.
    pub fn cost(&self, direction: Direction) -> Result<[Cost; 2], AgentError> {
        let both = |a: &ProgramMut<'_>, b: &ProgramMut<'_>| {
            let (a, b) = (cost(a)?, cost(b)?);
            Ok(Cost {
                runs: a.runs + b.runs,
                nanoseconds: a.nanoseconds + b.nanoseconds,
            })
        };
        let ethernet = self.programs(direction, LinkLayer::Ethernet);
        let ip = self.programs(direction, LinkLayer::PlainIp);
        Ok([both(ethernet[0], ip[0])?, both(ethernet[1], ip[1])?])
    }
}

/// Sets what loaded programs do. Flows keep what they have learned; but while no law steers uploads
/// their programs see nothing, and what they knew may be of other connections when one does again.
pub fn configure(skeleton: &mut AgentSkel<'_>, params: &Params, dry_run: bool) {
    let uploads = &skeleton.maps.uploads;
    let data = skeleton
        .maps
        .data_data
        .as_deref_mut()
        .expect("the programs have globals");
    let law = params.to_sys();
    let before = sys::tg_params {
        law: data.config.params.law,
        ..law
    };
    if params.steers_uploads() && !steers_uploads(&before) {
        for key in uploads.keys() {
            // It may have been evicted since.
            let _ = uploads.delete(&key);
        }
    }
    data.config.params.lambda_q8 = law.lambda_q8;
    data.config.params.limit = law.limit;
    data.config.params.keep = law.keep;
    data.config.params.law = law.law;
    data.config.dry_run = dry_run.into();
}

/// Every key of a table with its record.
fn records<T: Copy + Default>(map: &impl MapCore) -> impl Iterator<Item = (tg_key, T)> {
    // A flow may be evicted between the listing and the look-up.
    map.keys().filter_map(|key| {
        let record = map.lookup(&key, MapFlags::ANY).ok()??;
        Some((value::<tg_key>(&key), value::<T>(&record)))
    })
}

fn load(directions: Directions) -> Result<AgentSkel<'static>, AgentError> {
    // What libbpf would print is in the error that it returns.
    libbpf_rs::set_print(None);
    // The skeleton borrows this word for as long as it lives; one word for each start is the price
    // of an agent that can be moved.
    let object = Box::leak(Box::new(MaybeUninit::uninit()));
    let mut open = AgentSkelBuilder::default()
        .open(object)
        .map_err(AgentError::Load)?;
    without_unused_tables(&mut open, directions).map_err(AgentError::Load)?;
    open.load().map_err(AgentError::Load)
}

/// The kernel sets aside a table's memory, 16 MB for each direction, whether or not it is used.
fn without_unused_tables(
    open: &mut OpenAgentSkel<'_>,
    directions: Directions,
) -> Result<(), libbpf_rs::Error> {
    let maps = &mut open.maps;
    if !directions.include(Direction::Down) {
        maps.flows.set_max_entries(1)?;
    }
    if !directions.include(Direction::Up) {
        maps.uploads.set_max_entries(1)?;
        maps.offers.set_max_entries(1)?;
    }
    Ok(())
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
