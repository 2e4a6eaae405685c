//! Loading, attaching, steering and reading the kernel program.

use crate::attach::{Attachment, Place, Way, attach};
use crate::pin::{self, make_folder, pin};
use crate::skeleton::types::{
    tg_connection, tg_flow, tg_histograms, tg_key, tg_left, tg_left_key, tg_path, tg_record,
    tg_seldom, tg_seldom_set, tg_tally, tg_upload_record, tg_windowless, tg_windowless_key,
};
use crate::skeleton::{AgentSkel, AgentSkelBuilder};
use crate::support::{require, sees_cgroups};
use crate::tables::{self, TableView};
use crate::tally;
use crate::view::endpoints;
use crate::{
    AgentError, Carried, Count, Direction, Directions, Endpoint, FlowView, Histograms, Hook,
    Interface, LeftView, LinkLayer, Owners, PathView, Reason, Rules, WindowlessView,
};
use libbpf_rs::skel::{OpenSkel, Skel, SkelBuilder};
use libbpf_rs::{ErrorKind, MapCore, MapFlags, ProgramMut};
use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use tidegate_laws::{Law, Params};

/// What the agent is to do.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Interfaces to attach to.
    pub interfaces: Vec<Interface>,
    /// The law and its parameters.
    pub params: Params,
    /// Which data are steered.
    pub directions: Directions,
    /// Which flows are steered.
    pub rules: Rules,
    /// Shares are by device: the programs have to be told which device each connection belongs to ([`Agent::owners`]).
    pub by_device: bool,
    /// Measure and compute, but leave every packet as it is.
    pub dry_run: bool,
    /// How to attach.
    pub hook: Hook,
    /// Connections that the tables hold; if absent, as many as suit the machine's memory. The kernel sets aside about
    /// 4.5 kB for each; a further connection takes the place of the least recently seen.
    pub connections: Option<u32>,
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
    directions: Directions,
    by_device: bool,
    connections: u32,
    hook: Hook,
    /// In force.
    rules: Rules,
    /// Those that it is on.
    interfaces: Vec<Interface>,
    // Dropped before the skeleton's programs would matter: a link holds its own reference.
    attachments: Vec<(Place, Attachment)>,
    pins: Option<Pins>,
    _statistics: Option<OwnedFd>,
}

impl Agent {
    /// Loads the program and attaches it. On failure nothing stays behind.
    ///
    /// Interfaces are those of the calling thread's network namespace.
    pub fn start(config: &Config) -> Result<Self, AgentError> {
        require()?;
        let connections = tables::connections(config.connections)?;
        let mut agent = Self {
            skeleton: load(config, connections)?,
            directions: config.directions,
            by_device: config.by_device,
            connections,
            hook: config.hook,
            rules: config.rules.clone(),
            interfaces: Vec::new(),
            attachments: Vec::new(),
            pins: None,
            _statistics: None,
        };
        agent.configure(&config.params, config.dry_run);
        set_rules(&mut agent.skeleton, &config.rules, &[])?;
        for interface in &config.interfaces {
            agent.attach(interface)?;
        }
        Ok(agent)
    }

    /// Applies `config` if all of it is possible; otherwise nothing changes. Flows keep their measurements. Directions,
    /// tables and hook stay those of the start.
    pub fn reload(&mut self, config: &Config) -> Result<(), AgentError> {
        if config.directions != self.directions {
            return Err(AgentError::OtherDirections);
        }
        if config.by_device != self.by_device {
            return Err(AgentError::OtherShares);
        }
        if tables::connections(config.connections)? != self.connections {
            return Err(AgentError::OtherTables(self.connections));
        }
        let before = self.interfaces.clone();
        let new = |i: &&Interface| before.iter().all(|known| known.index != i.index);
        let mut added = Vec::new();
        let mut changed = Ok(());
        for interface in config.interfaces.iter().filter(new) {
            if changed.is_ok() {
                added.push(interface.index);
                changed = self.attach(interface);
            }
        }
        let set =
            |agent: &mut Self| set_rules(&mut agent.skeleton, &config.rules, &agent.interfaces);
        if let Err(error) = changed.and_then(|()| set(self)) {
            self.remove(&added);
            return Err(error);
        }
        self.rules.clone_from(&config.rules);
        self.configure(&config.params, config.dry_run);
        let wanted = |index: &u32| config.interfaces.iter().any(|i| i.index == *index);
        let gone = before.iter().map(|i| i.index).filter(|i| !wanted(i));
        self.remove(&gone.collect::<Vec<_>>());
        Ok(())
    }

    /// Gives programs, maps and links names in the BPF file system: they stay if the process is killed.
    /// Dropped in order, the agent takes the names back.
    pub fn pin(&mut self) -> Result<(), AgentError> {
        let folder = make_folder()?;
        let pins = self.pins.get_or_insert_with(|| Pins(folder));
        let folder = &pins.0;
        for program in self.skeleton.object().progs() {
            let name = program.name().to_string_lossy().into_owned();
            pin_once(program.as_fd(), &folder.join(format!("program-{name}")))?;
        }
        for map in self.skeleton.object().maps() {
            // The file system does not take the dots of ".data" and the like.
            let name = map.name().to_string_lossy().replace('.', "-");
            pin_once(map.as_fd(), &folder.join(format!("map-{name}")))?;
        }
        for (place, attachment) in &mut self.attachments {
            attachment.pin(*place, folder)?;
        }
        Ok(())
    }

    /// Ends, and leaves the programs attached: pinned before, or the kernel detaches tcx links.
    pub fn leave(mut self) {
        std::mem::forget(self.pins.take());
        for (_, attachment) in self.attachments.drain(..) {
            attachment.leave();
        }
    }

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
            let earlier = attachments.last().map(|(_, attachment)| attachment);
            let attachment = attach(program.as_fd(), place, self.hook, earlier);
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
    fn remove(&mut self, interfaces: &[u32]) {
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

    /// Tells the programs which device each connection belongs to.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn owners(&self) -> Result<Owners, AgentError> {
        Owners::new(&self.skeleton)
    }

    /// The map of the queues of what arrives, for other programs.
    pub(crate) fn paths_map(&self) -> BorrowedFd<'_> {
        self.skeleton.maps.paths.as_fd()
    }

    /// Likewise of what leaves.
    pub(crate) fn uplinks_map(&self) -> BorrowedFd<'_> {
        self.skeleton.maps.uplinks.as_fd()
    }

    /// The programs that see arriving and leaving packets.
    pub(crate) fn programs(&self, link: LinkLayer) -> [&ProgramMut<'static>; 2] {
        let progs = &self.skeleton.progs;
        match link {
            LinkLayer::Ethernet => [&progs.ethernet_arrives, &progs.ethernet_leaves],
            LinkLayer::PlainIp => [&progs.ip_arrives, &progs.ip_leaves],
        }
    }

    /// Every flow in the tables, in no particular order.
    pub fn flows(&self) -> Vec<FlowView> {
        let maps = &self.skeleton.maps;
        let paths: HashMap<_, _> = self.path_records().collect();
        // An interface that has gone may have left flows behind.
        let nothing = tg_path::default();
        let view = |direction, key: &tg_key, flow: &tg_flow, connection: &tg_connection| {
            let path = paths.get(&(direction, key.ifindex)).unwrap_or(&nothing);
            FlowView::new(direction, key, flow, connection, &path.interface)
        };
        let downloads = records::<tg_key, tg_record>(&maps.flows)
            .map(|(key, r)| view(Direction::Down, &key, &r.flow, &r.connection));
        let uploads = records::<tg_key, tg_upload_record>(&maps.uploads)
            .map(|(key, r)| view(Direction::Up, &key, &r.upload.flow, &r.connection));
        let mut flows: Vec<_> = downloads.chain(uploads).collect();
        self.add_passed(&mut flows);
        flows
    }

    /// Adds bytes and packets of downloads that passed since a program last looked at them (`bpf/seldom.h`).
    fn add_passed(&self, flows: &mut [FlowView]) {
        let passed: HashMap<_, _> = self.passed(Reason::Measured).collect();
        for flow in flows.iter_mut().filter(|f| f.direction == Direction::Down) {
            let key = (flow.ifindex, (flow.local, flow.remote));
            flow.received_bytes += passed.get(&key).map_or(0, |s| u64::from(s.bytes));
        }
    }

    /// What came of downloads since the last look at them, and is counted for that reason: by interface and ends.
    fn passed(&self, reason: Reason) -> impl Iterator<Item = (Ends, tg_seldom)> {
        let map = &self.skeleton.maps.seldom;
        // One system call for all: a look at every place would be thousands.
        let sets = map.lookup_batch(map.max_entries(), MapFlags::ANY, MapFlags::ANY);
        let sets = sets.into_iter().flatten();
        let passed = sets.flat_map(|(_, set)| value::<tg_seldom_set>(&set).of);
        let passed = passed.filter(move |s| s.packets > 0 && s.reason == reason as u32);
        passed.map(|s| ((s.key.ifindex, endpoints(&s.key)), s))
    }

    /// The tables of the directions that are served; `flows` are those of [`Agent::flows`].
    pub fn tables(&self, flows: &[FlowView]) -> Result<Vec<TableView>, AgentError> {
        let served = Direction::ALL.into_iter();
        let served = served.filter(|direction| self.directions.include(*direction));
        let view = |direction: Direction| {
            let key = (direction as u32).to_ne_bytes();
            let cpus = self.skeleton.maps.made.lookup_percpu(&key, MapFlags::ANY);
            let cpus = cpus.map_err(AgentError::Map)?;
            let made: u64 = cpus.iter().flatten().map(|cpu| value::<u64>(cpu)).sum();
            let used = flows.iter().filter(|f| f.direction == direction).count();
            Ok(TableView {
                direction,
                size: self.connections,
                used: used as u32,
                pushed_out: made.saturating_sub(used as u64),
            })
        };
        served.map(view).collect()
    }

    /// Every path; `flows` are those of [`Agent::flows`].
    pub fn paths(&self, flows: &[FlowView], now_us: u64) -> Vec<PathView> {
        let view = |((direction, ifindex), mut path): (_, tg_path)| {
            let tallies = self.tallies_of(ifindex);
            let traffic = tally::carried(direction, &tallies);
            path.measured += tally::passed(direction, &tallies);
            PathView::new(direction, ifindex, &path, flows, traffic, now_us)
        };
        self.path_records().map(view).collect()
    }

    /// Payload bytes of TCP that were measured on all interfaces that it is on, by [`Direction::ALL`].
    pub fn measured_bytes(&self) -> [u64; 2] {
        let mut sums = [0; 2];
        for ((direction, ifindex), path) in self.path_records() {
            let passed = tally::passed(direction, &self.tallies_of(ifindex));
            sums[direction as usize] += path.measured + passed;
        }
        sums
    }

    /// Nothing is steered before this time, of `CLOCK_MONOTONIC` in µs, so that the difference can be measured. Flows
    /// keep what they have learnt meanwhile, and afterwards the programs steer again by themselves.
    pub fn pass_until(&mut self, us: u64) {
        let data = self.skeleton.maps.data_data.as_deref_mut();
        let data = data.expect("the programs have globals");
        data.config.unsteered_until_us = us;
    }

    /// All that went `direction` over an interface.
    pub fn traffic(&self, direction: Direction, ifindex: u32) -> Vec<Carried> {
        tally::carried(direction, &self.tallies_of(ifindex))
    }

    /// The packets of an interface, by CPU; none where it has no place.
    fn tallies_of(&self, ifindex: u32) -> Vec<tg_tally> {
        let data = self.skeleton.maps.data_data.as_deref();
        let mut places = data.expect("the programs have globals").interfaces.iter();
        let place = places.position(|held| *held == ifindex);
        let tallies = place.and_then(|place| self.tallies(place as u32).ok());
        tallies.unwrap_or_default()
    }

    /// The paths by direction and interface, each as it was at one moment.
    fn path_records(&self) -> impl Iterator<Item = ((Direction, u32), tg_path)> {
        let maps = &self.skeleton.maps;
        [
            (Direction::Down, &maps.paths),
            (Direction::Up, &maps.uplinks),
        ]
        .into_iter()
        .flat_map(|(direction, map)| {
            map.keys().filter_map(move |key| {
                let path = map.lookup(&key, MapFlags::LOCK).ok()??;
                Some(((direction, value::<u32>(&key)), value::<tg_path>(&path)))
            })
        })
    }

    /// Every flow that has no window, each way in which something went, in no particular order.
    pub fn windowless(&self) -> Vec<WindowlessView> {
        records::<tg_windowless_key, tg_windowless>(&self.skeleton.maps.windowless)
            .flat_map(|(key, flow)| WindowlessView::both(&key, &flow))
            .filter(|way| way.packets.sum() > 0)
            .collect()
    }

    /// Every TCP connection whose data are left alone, in no particular order.
    pub fn left(&self) -> Vec<LeftView> {
        let mut left: Vec<_> = records::<tg_left_key, tg_left>(&self.skeleton.maps.left)
            .map(|(key, left)| LeftView::new(&key, &left))
            .collect();
        let passed: HashMap<_, _> = self.passed(Reason::Denied).collect();
        for view in left.iter_mut().filter(|l| l.direction == Direction::Down) {
            if let Some(more) = passed.get(&(view.ifindex, (view.local, view.remote))) {
                view.packets += u64::from(more.packets);
                view.bytes += u64::from(more.bytes);
            }
        }
        left
    }

    /// How queueing delays and windows were distributed, by [`Direction::ALL`].
    pub fn histograms(&self) -> Result<[Histograms; 2], AgentError> {
        let of = |direction: Direction| {
            let key = (direction as u32).to_ne_bytes();
            let map = &self.skeleton.maps.histograms;
            let per_cpu = map
                .lookup_percpu(&key, MapFlags::ANY)
                .map_err(AgentError::Map)?;
            let records = per_cpu.iter().flatten().map(|v| value::<tg_histograms>(v));
            Ok(Histograms::sum(records))
        };
        Ok([of(Direction::Down)?, of(Direction::Up)?])
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
        Ok(cpus.iter().flatten().map(|cpu| value(cpu)).collect())
    }

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

    /// What the programs that see arriving and leaving packets have cost since they were loaded.
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

/// Names of programs and maps; removed when dropped.
struct Pins(PathBuf);

impl Drop for Pins {
    fn drop(&mut self) {
        // Somebody may have removed them.
        let _ = pin::clear(&self.0);
    }
}

fn pin_once(fd: BorrowedFd<'_>, path: &Path) -> Result<(), AgentError> {
    if path.exists() { Ok(()) } else { pin(fd, path) }
}

/// Sets what loaded programs do. Flows keep what they have learned, except uploads while no law steers them: their
/// programs see nothing then, and their records may belong to other connections when a law steers uploads again.
pub fn configure(skeleton: &mut AgentSkel<'_>, params: &Params, dry_run: bool) {
    let uploads = &skeleton.maps.uploads;
    let data = skeleton
        .maps
        .data_data
        .as_deref_mut()
        .expect("the programs have globals");
    let law = params.to_sys();
    let before = Law::from_raw(data.config.params.law);
    if params.law.steers_uploads() && !before.is_some_and(Law::steers_uploads) {
        clear(uploads);
        // Those of downloads that live are noted again.
        clear(&skeleton.maps.scales);
        forget_made(&skeleton.maps.made, Direction::Up);
    }
    data.config.params.lambda_q8 = law.lambda_q8;
    data.config.params.limit = law.limit;
    data.config.params.keep = law.keep;
    data.config.params.stampless = law.stampless;
    data.config.params.law = law.law;
    data.config.dry_run = dry_run.into();
}

/// Forgets every record of a table.
fn clear(table: &impl MapCore) {
    for key in table.keys() {
        // It may have been evicted since.
        let _ = table.delete(&key);
    }
}

/// Notes that no record of that direction is left.
fn forget_made(made: &impl MapCore, direction: Direction) {
    let key = (direction as u32).to_ne_bytes();
    if let Ok(Some(cpus)) = made.lookup_percpu(&key, MapFlags::ANY) {
        let none = vec![vec![0; size_of::<u64>()]; cpus.len()];
        // If that fails, only the shown number of pushed-out records is wrong.
        let _ = made.update_percpu(&key, &none, MapFlags::ANY);
    }
}

/// Gives loaded programs, which are on the interfaces `attached`, new `rules`; they are applied to a flow at its next
/// packet that leaves.
pub fn set_rules(
    skeleton: &mut AgentSkel<'_>,
    rules: &Rules,
    attached: &[Interface],
) -> Result<(), AgentError> {
    let rodata = skeleton.maps.rodata_data;
    let sees_cgroups = rodata.expect("the programs have constants").sees_cgroups;
    if rules.ask_cgroups() && !sees_cgroups {
        return Err(AgentError::NoCgroups);
    }
    let data = skeleton.maps.data_data.as_deref_mut();
    let generation = &mut data.expect("the programs have globals").config.rules;
    let next = *generation + 1;
    skeleton
        .maps
        .rule_sets
        .update(
            &(next % 2).to_ne_bytes(),
            bytes(&rules.to_sys(attached)?),
            MapFlags::ANY,
        )
        .map_err(AgentError::Map)?;
    // All at once: a reader of this word finds that set complete.
    *generation = next;
    Ok(())
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
        traffic: tg_tally::default().traffic,
        ..value(cpu)
    };
    let blank: Vec<_> = cpus.iter().map(|cpu| bytes(&blank(cpu)).to_vec()).collect();
    map.update_percpu(&key, &blank, MapFlags::ANY)
        .map_err(AgentError::Map)?;
    places[place] = ifindex;
    Ok(())
}

/// No more.
fn end_tally(skeleton: &mut AgentSkel<'_>, ifindex: u32) {
    let data = skeleton.maps.data_data.as_deref_mut();
    let places = &mut data.expect("the programs have globals").interfaces;
    for held in places.iter_mut().filter(|held| **held == ifindex) {
        *held = 0;
    }
}

/// An interface, with this machine's end of a connection and the far one.
type Ends = (u32, (Endpoint, Endpoint));

/// Every key of a table with its record.
fn records<K: Copy + Default, T: Copy + Default>(
    map: &impl MapCore,
) -> impl Iterator<Item = (K, T)> {
    // A flow may be evicted between the listing and the look-up.
    map.keys().filter_map(|key| {
        let record = map.lookup(&key, MapFlags::ANY).ok()??;
        Some((value::<K>(&key), value::<T>(&record)))
    })
}

fn load(config: &Config, connections: u32) -> Result<AgentSkel<'static>, AgentError> {
    let directions = config.directions;
    // What libbpf would print is in the error that it returns.
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
            megabytes: tables::table_bytes(connections, directions).div_ceil(1_000_000),
        },
        _ => AgentError::Load(error),
    })
}

/// Makes the kernel count how long BPF programs run, all of the machine's, as long as what is returned is held. The counting
/// itself costs some 20 to 50 ns a packet.
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
pub(crate) fn bytes<T: Copy>(record: &T) -> &[u8] {
    // SAFETY: the generated records are plain integers with explicit padding, all initialised.
    unsafe { std::slice::from_raw_parts((&raw const *record).cast(), size_of::<T>()) }
}
