//! The hold's programs, and the records that they share with user space.
//!
//! They are separate from the agent's own, which change only windows. Records lie in memory that the kernel shares with
//! every process that has the map's descriptor, so reading them takes no system call.

mod lease;
mod mapping;
mod view;

pub use lease::Lease;

use crate::attach::{Attacher, Attachment, Place, Rank, Seat, Way};
use crate::hold::types::{tg_echo_place, tg_held};
use crate::hold::{HoldSkel, HoldSkelBuilder};
use crate::hold_up::types::tg_echo_place as tg_echo_place_up;
use crate::hold_up::{HoldUpSkel, HoldUpSkelBuilder};
use crate::rules::words;
use crate::view::address;
use crate::{Agent, AgentError, Direction, Directions, HoldView, Interface, Kind, LinkLayer};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, ProgramMut, RingBuffer, RingBufferBuilder};
use mapping::Mapping;
use std::cmp::Reverse;
use std::mem::MaybeUninit;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{addr_of, addr_of_mut};
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;
use tidegate_laws::sys;

/// Flows that can be held at once: `TG_HELD`, the size of the programs' map.
const PLACES: usize = 256;

/// The programs, loaded and attached; detached and unloaded when dropped.
pub struct HoldPrograms {
    downloads: HoldSkel<'static>,
    /// If they were asked for: the verifier takes as long for them as for all other programs together.
    uploads: Option<HoldUpSkel<'static>>,
    records: Records,
    lease: Lease,
    attacher: Attacher,
    /// The agent's programs, by link layer, which come before these.
    agents: [(LinkLayer, [OwnedFd; 2]); 2],
    /// By the interface's index and the direction that is held there.
    attachments: Vec<((u32, Direction), Attachment)>,
}

impl HoldPrograms {
    /// Flows that can be held at once.
    pub const PLACES: usize = PLACES;

    /// Bytes that a flow has to receive or send before it gets a record.
    pub const ASKS: u64 = sys::TG_HOLD_ASKS as u64;

    /// Loads the programs, not attached yet; they share the queues of `agent`. They read answers to echoes with that
    /// identifier and secret. They let everything pass until [`Self::renew`] is called. Programs for uploads are loaded
    /// only if `directions` include them, since that takes the verifier a second on a slow machine.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn load(
        agent: &Agent,
        directions: Directions,
        echo_id: u16,
        echo_secret: u32,
    ) -> Result<Self, AgentError> {
        let object = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = HoldSkelBuilder::default()
            .open(object)
            .map_err(AgentError::Load)?;
        let rodata = open.maps.rodata_data.as_deref_mut();
        let rodata = rodata.expect("the programs have constants");
        rodata.echo_id = echo_id.to_be();
        rodata.echo_secret = echo_secret;
        let maps = &mut open.maps;
        let paths = maps.paths.reuse_fd(agent.paths_map());
        let windowless = maps.windowless.reuse_fd(agent.windowless_map());
        let histograms = maps.histograms.reuse_fd(agent.histograms_map());
        let shared = paths.and(windowless).and(histograms);
        shared.map_err(AgentError::Load)?;
        let downloads = open.load().map_err(AgentError::Load)?;
        let uploads = directions.include(Direction::Up);
        let uploads = uploads
            .then(|| load_uploads(agent, &downloads))
            .transpose()?;
        assert_eq!(downloads.maps.held.max_entries() as usize, PLACES);
        let records = Records::map(downloads.maps.held.as_fd(), true)?;
        let lease = Lease::map(downloads.maps.lease.as_fd(), true)?;
        let agents = [LinkLayer::Ethernet, LinkLayer::PlainIp].map(|link| {
            let [arrives, leaves] = agent.programs(link);
            let copy = |program: &ProgramMut<'_>| program.as_fd().try_clone_to_owned();
            Ok((link, [copy(arrives)?, copy(leaves)?]))
        });
        let [ethernet, plain] = agents;
        let duplicate = |source| AgentError::System {
            what: "copy a program's descriptor",
            source,
        };
        Ok(Self {
            agents: [ethernet.map_err(duplicate)?, plain.map_err(duplicate)?],
            downloads,
            uploads,
            records,
            lease,
            attacher: agent.attacher().clone(),
            attachments: Vec::new(),
        })
    }

    /// Attaches a direction's programs to one more interface, after the agent's, which must be attached already, and by
    /// the same hook; those of uploads come after those of downloads.
    ///
    /// # Errors
    /// If the kernel refuses, and if the direction's programs were not loaded.
    pub fn attach(
        &mut self,
        interface: &Interface,
        direction: Direction,
    ) -> Result<(), AgentError> {
        let index = interface.index;
        let rank = match direction {
            Direction::Down => Rank::HoldDownloads,
            Direction::Up => Rank::HoldUploads,
        };
        let programs = self.programs(interface.link_layer, direction);
        let programs = programs.ok_or(AgentError::OtherDirections)?;
        let before = self.before(interface, direction);
        let mut both = Vec::new();
        for ((program, way), before) in programs.into_iter().zip(before) {
            let place = Place { index, way };
            let seat = Seat { place, rank };
            let attached = self.attacher.attach(program.as_fd(), seat, Some(before));
            let attached = attached.map_err(|source| AgentError::Attach {
                interface: interface.name.clone(),
                source,
            })?;
            both.push(((index, direction), attached));
        }
        self.attachments.append(&mut both);
        Ok(())
    }

    /// The programs that stand before those of a direction on an interface.
    fn before(&self, interface: &Interface, direction: Direction) -> [BorrowedFd<'_>; 2] {
        let layer = interface.link_layer;
        let downloads = (interface.index, Direction::Down);
        if direction == Direction::Up
            && self.attachments.iter().any(|(of, _)| *of == downloads)
            && let Some(programs) = self.programs(layer, Direction::Down)
        {
            return programs.map(|(program, _)| program.as_fd());
        }
        let of_layer = |(of, _): &&(LinkLayer, _)| *of == layer;
        let (_, agents) = self.agents.iter().find(of_layer).expect("both are there");
        agents.each_ref().map(AsFd::as_fd)
    }

    /// A direction's programs, if they were loaded.
    fn programs(
        &self,
        link: LinkLayer,
        direction: Direction,
    ) -> Option<[(&ProgramMut<'static>, Way); 2]> {
        let down = &self.downloads.progs;
        let up = || self.uploads.as_ref().map(|uploads| &uploads.progs);
        let [arrives, leaves] = match (direction, link) {
            (Direction::Down, LinkLayer::Ethernet) => {
                [&down.ethernet_arrives, &down.ethernet_leaves]
            }
            (Direction::Down, LinkLayer::PlainIp) => [&down.ip_arrives, &down.ip_leaves],
            (Direction::Up, LinkLayer::Ethernet) => {
                let up = up()?;
                [&up.ethernet_arrives, &up.ethernet_leaves]
            }
            (Direction::Up, LinkLayer::PlainIp) => {
                let up = up()?;
                [&up.ip_arrives, &up.ip_leaves]
            }
        };
        Some([(arrives, Way::Arrives), (leaves, Way::Leaves)])
    }

    /// Detaches those of a direction from an interface, which may be gone.
    pub fn release(&mut self, index: u32, direction: Direction) {
        self.attachments.retain(|(of, _)| *of != (index, direction));
    }

    /// Accepts answers to echoes from this address, whatever the flow's server is; without one, only from each flow's
    /// own server.
    pub fn expect_answers_of(&mut self, place: Option<IpAddr>) {
        let (family, address) = place.map_or_else(Default::default, words);
        let bss = self.downloads.maps.bss_data.as_deref_mut();
        bss.expect("the programs have globals").echo_place = tg_echo_place { address, family };
        if let Some(uploads) = &mut self.uploads {
            let bss = uploads.maps.bss_data.as_deref_mut();
            bss.expect("the programs have globals").echo_place =
                tg_echo_place_up { address, family };
        }
    }

    /// The bell that rings when a flow gets a record.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn doorbell(&self) -> Result<Doorbell, AgentError> {
        let mut builder = RingBufferBuilder::new();
        let map = &self.downloads.maps.met;
        builder.add(map, |_| 0).map_err(AgentError::Load)?;
        builder.build().map(Doorbell).map_err(AgentError::Load)
    }

    /// The records.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// Lets the programs and the gate act for another second. To be called several times a second, while all is well.
    pub fn renew(&self, now_us: u64) {
        self.lease.renew(now_us);
    }

    /// The descriptors by which another process may map the records and the lease.
    pub fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        let maps = &self.downloads.maps;
        [maps.held.as_fd(), maps.lease.as_fd()]
    }
}

/// Rings when a flow gets a record.
pub struct Doorbell(RingBuffer<'static>);

impl Doorbell {
    /// Waits until it rings, but no longer than `at_most`. Returns at once if it has rung since the last call.
    pub fn wait(&self, at_most: Duration) {
        // It fails when a signal arrives. If it kept failing, the thread would spin without this sleep.
        if self.0.poll(at_most).is_err() {
            std::thread::sleep(at_most);
        }
    }
}

/// Loads those for uploads, whose records are among those of downloads.
fn load_uploads(
    agent: &Agent,
    downloads: &HoldSkel<'static>,
) -> Result<HoldUpSkel<'static>, AgentError> {
    let object = Box::leak(Box::new(MaybeUninit::uninit()));
    let mut open = HoldUpSkelBuilder::default()
        .open(object)
        .map_err(AgentError::Load)?;
    let told = downloads.maps.rodata_data;
    let told = told.expect("the programs have constants");
    let rodata = open.maps.rodata_data.as_deref_mut();
    let rodata = rodata.expect("the programs have constants");
    (rodata.echo_id, rodata.echo_secret) = (told.echo_id, told.echo_secret);
    let maps = &mut open.maps;
    let shared = [
        maps.paths.reuse_fd(agent.paths_map()),
        maps.uplinks.reuse_fd(agent.uplinks_map()),
        maps.windowless.reuse_fd(agent.windowless_map()),
        maps.histograms.reuse_fd(agent.histograms_map()),
        maps.held.reuse_fd(downloads.maps.held.as_fd()),
        maps.met.reuse_fd(downloads.maps.met.as_fd()),
        maps.lease.reuse_fd(downloads.maps.lease.as_fd()),
    ];
    shared
        .into_iter()
        .collect::<Result<(), _>>()
        .map_err(AgentError::Load)?;
    open.load().map_err(AgentError::Load)
}

/// A flow that has a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Which record.
    pub place: usize,
    /// Which way its data go.
    pub direction: Direction,
    /// What the agent had recognised it as when it got the record.
    pub kind: Kind,
    /// When the flow got it, µs of CLOCK_MONOTONIC.
    pub since_us: u64,
    /// When a packet of it last arrived.
    pub seen_us: u64,
    /// The interface's index.
    pub interface: u32,
    /// This machine's end, or that of the host that it forwards for.
    pub local: SocketAddr,
    /// The far end.
    pub remote: SocketAddr,
    /// The round trip without a queue, in µs; 0: not known yet.
    pub floor_us: u32,
    /// When an echo came back last; 0: none has.
    pub heard_us: u64,
}

/// The records, in memory that the kernel's programs write.
pub struct Records(Mapping<tg_held>);

impl Records {
    /// Maps the descriptor's records, for reading, or for writing, too.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn map(descriptor: BorrowedFd, writable: bool) -> Result<Self, AgentError> {
        Mapping::new(descriptor, PLACES, writable, "map the hold's records").map(Self)
    }

    fn at(&self, place: usize) -> *mut tg_held {
        self.0.at(place)
    }

    fn download(&self, place: usize) -> *mut sys::tg_hold {
        // SAFETY: within the mapping; both descriptions are of one C structure.
        unsafe { addr_of_mut!((*self.at(place)).hold).cast() }
    }

    fn upload(&self, place: usize) -> *mut sys::tg_hold_up {
        // SAFETY: as above.
        unsafe { addr_of_mut!((*self.at(place)).up).cast() }
    }

    fn direction(&self, place: usize) -> Direction {
        // SAFETY: within the mapping.
        let raw = unsafe { addr_of!((*self.at(place)).direction).read_volatile() };
        Direction::from_raw(raw).unwrap_or(Direction::Down)
    }

    fn echo(&self, place: usize) -> *const sys::tg_echo {
        // SAFETY: within the mapping.
        unsafe {
            match self.direction(place) {
                Direction::Down => addr_of!((*self.download(place)).steered.echo),
                Direction::Up => addr_of!((*self.upload(place)).steered.echo),
            }
        }
    }

    /// Every flow that has a record, in either direction. If the kernel has given a flow several, the newest.
    pub fn candidates(&self) -> Vec<Candidate> {
        let all = (0..PLACES).filter_map(|place| self.candidate(place));
        let mut all: Vec<_> = all.collect();
        let flow = |c: &Candidate| (c.interface, c.local, c.remote, c.direction);
        all.sort_by_key(|c| (flow(c), Reverse(c.since_us)));
        all.dedup_by_key(|c| flow(c));
        all
    }

    /// The flow that has that record.
    pub fn candidate(&self, place: usize) -> Option<Candidate> {
        let record = self.at(place);
        let since_us = self.since_us(place);
        if since_us == 0 {
            return None;
        }
        fence(Ordering::Acquire);
        // SAFETY: within the mapping, whose words may be another flow's by now.
        let candidate = unsafe {
            let key = addr_of!((*record).key.key).read_volatile();
            let end =
                |words, port: u16| SocketAddr::new(address(words, key.family), u16::from_be(port));
            Candidate {
                place,
                direction: self.direction(place),
                kind: Kind::from_raw(addr_of!((*record).kind).read_volatile()).unwrap_or(Kind::Udp),
                since_us,
                seen_us: addr_of!((*record).seen_us).read_volatile(),
                interface: key.ifindex,
                local: end(&key.local, key.local_port),
                remote: end(&key.remote, key.remote_port),
                floor_us: addr_of!((*self.echo(place)).floor_us).read_volatile(),
                heard_us: addr_of!((*self.echo(place)).heard_us).read_volatile(),
            }
        };
        fence(Ordering::Acquire);
        // The kernel zeroes this word before it gives the place to another flow.
        (self.since_us(place) == since_us).then_some(candidate)
    }

    /// Tells the law whether leaving packets of the flow can wait; and the floor of another flow with the same server,
    /// or 0.
    pub fn gate(&self, place: usize, gated: bool, floor_us: u32) {
        assert!(self.0.is_writable(), "mapped to be written");
        let gated = u32::from(gated);
        // SAFETY: within the mapping; nobody else writes these two.
        unsafe {
            addr_of_mut!((*self.at(place)).floor_us).write_volatile(floor_us);
            match self.direction(place) {
                Direction::Down => {
                    addr_of_mut!((*self.download(place)).gated).write_volatile(gated)
                }
                Direction::Up => addr_of_mut!((*self.upload(place)).gated).write_volatile(gated),
            }
        }
    }

    /// When the record was taken, µs of CLOCK_MONOTONIC; 0: it is free.
    pub fn since_us(&self, place: usize) -> u64 {
        // SAFETY: within the mapping.
        unsafe { addr_of!((*self.at(place)).since_us).read_volatile() }
    }

    /// Bytes that have arrived of a download.
    pub fn arrived(&self, place: usize) -> u64 {
        // SAFETY: within the mapping.
        unsafe { addr_of!((*self.download(place)).arrived).read_volatile() }
    }

    /// The mark of a packet of `bytes` that comes to the gate now: for a download, how many bytes of it have arrived so
    /// far; for an upload, the packet's place among all bytes that leave.
    pub fn mark(&self, place: usize, bytes: u32) -> u64 {
        match self.direction(place) {
            Direction::Down => self.arrived(place),
            // SAFETY: within the mapping; the law only reads, and of any words makes a number.
            Direction::Up => unsafe { sys::tg_hold_up_place(self.upload(place), bytes) },
        }
    }

    /// Whether packets of the flow may wait, by what is known of its sender. A download's sender has to answer a signal
    /// first.
    pub fn may_wait(&self, place: usize) -> bool {
        match self.direction(place) {
            // SAFETY: within the mapping; the law only reads, and of any words makes a number.
            Direction::Down => unsafe {
                sys::tg_clocking_may_wait(addr_of!((*self.download(place)).clocking)) != 0
            },
            Direction::Up => true,
        }
    }

    /// How long, in µs, a packet with that mark has still to wait; 0: it may leave.
    pub fn wait_us(&self, place: usize, mark: u64) -> u32 {
        // SAFETY: within the mapping; the law only reads, and of any words makes a time.
        unsafe {
            match self.direction(place) {
                Direction::Down => sys::tg_hold_wait_us(self.download(place), mark),
                Direction::Up => sys::tg_hold_up_wait_us(self.upload(place), mark),
            }
        }
    }

    /// Tells the law how many bytes of an upload wait at the gate.
    pub fn waits(&self, place: usize, bytes: u32) {
        assert!(self.0.is_writable(), "mapped to be written");
        // SAFETY: within the mapping; nobody else writes it.
        unsafe { addr_of_mut!((*self.upload(place)).waiting).write_volatile(bytes) }
    }

    /// Packets of the flow that were signalled.
    pub fn signals(&self, place: usize) -> u32 {
        // SAFETY: within the mapping.
        unsafe {
            match self.direction(place) {
                Direction::Down => addr_of!((*self.download(place)).signals).read_volatile(),
                Direction::Up => addr_of!((*self.upload(place)).signals).read_volatile(),
            }
        }
    }

    /// What the law knows of the flow and does to it.
    pub fn view(&self, place: usize) -> HoldView {
        // SAFETY: within the mapping; while the kernel writes, some words may be older than others.
        unsafe {
            match self.direction(place) {
                Direction::Down => view::download(&self.download(place).read_volatile()),
                Direction::Up => view::upload(&self.upload(place).read_volatile()),
            }
        }
    }
}
