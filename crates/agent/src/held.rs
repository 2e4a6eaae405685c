//! The hold's programs, and the records that they share with user space.
//!
//! They are apart from the agent's own, which change nothing but windows. Records lie in memory that the kernel
//! and whoever has the map's descriptor see alike, so nobody who reads them has to ask.

use crate::attach::{Attachment, Place, Way, attach};
use crate::hold::types::{tg_echo_place, tg_held};
use crate::hold::{HoldSkel, HoldSkelBuilder};
use crate::rules::words;
use crate::view::address;
use crate::{Agent, AgentError, HoldView, Holding, Hook, Interface, LinkLayer};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, ProgramMut, RingBuffer, RingBufferBuilder};
use std::cmp::Reverse;
use std::io;
use std::mem::MaybeUninit;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::ptr::{addr_of, addr_of_mut, null_mut};
use std::sync::atomic::{Ordering, fence};
use std::time::Duration;
use tidegate_laws::{Clocked, sys};

/// Flows that can be held at once: `TG_HELD`, which the programs' map is held to.
const PLACES: usize = 256;

/// The programs, loaded and attached; detached and unloaded when dropped.
pub struct Held {
    skeleton: HoldSkel<'static>,
    records: Records,
    /// By the interface's index.
    attachments: Vec<(u32, Attachment)>,
}

impl Held {
    /// Flows that can be held at once.
    pub const PLACES: usize = PLACES;

    /// Of who has brought less there is no record.
    pub const ASKS: u64 = sys::TG_HOLD_ASKS as u64;

    /// Loads them beside those of `agent`, whose queues they share; they are attached nowhere yet. They take the answers
    /// to echoes with that identifier and secret.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn load(agent: &Agent, echo_id: u16, echo_secret: u32) -> Result<Self, AgentError> {
        let object = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = HoldSkelBuilder::default()
            .open(object)
            .map_err(AgentError::Load)?;
        let rodata = open.maps.rodata_data.as_deref_mut();
        let rodata = rodata.expect("the programs have constants");
        rodata.echo_id = echo_id.to_be();
        rodata.echo_secret = echo_secret;
        open.maps
            .paths
            .reuse_fd(agent.paths_map())
            .map_err(AgentError::Load)?;
        let skeleton = open.load().map_err(AgentError::Load)?;
        assert_eq!(skeleton.maps.held.max_entries() as usize, PLACES);
        let records = Records::map(skeleton.maps.held.as_fd(), true)?;
        Ok(Self {
            skeleton,
            records,
            attachments: Vec::new(),
        })
    }

    /// Attaches them to one more interface, behind the agent's, which are there already; by tcx alone (Linux 6.6), as a
    /// clsact filter of ours would take the place of the agent's own.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn attach(&mut self, interface: &Interface) -> Result<(), AgentError> {
        let mut both = Vec::new();
        for (program, way) in programs(&self.skeleton, interface.link_layer) {
            let place = Place {
                index: interface.index,
                way,
            };
            let attached = attach(program.as_fd(), place, Hook::Tcx);
            let attached = attached.map_err(|source| AgentError::Attach {
                interface: interface.name.clone(),
                source,
            })?;
            both.push((interface.index, attached));
        }
        self.attachments.append(&mut both);
        Ok(())
    }

    /// Detaches them from an interface, which may be gone.
    pub fn release(&mut self, index: u32) {
        self.attachments.retain(|(of, _)| *of != index);
    }

    /// Has answers count that come from this address, whatever the flow's server, or, if there is none, those of
    /// each flow's own server.
    pub fn expect_answers_of(&mut self, place: Option<IpAddr>) {
        let (family, address) = place.map_or_else(Default::default, words);
        let bss = self.skeleton.maps.bss_data.as_deref_mut();
        bss.expect("the programs have globals").echo_place = tg_echo_place { address, family };
    }

    /// What rings when a flow gets a record.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn doorbell(&self) -> Result<Doorbell, AgentError> {
        let mut builder = RingBufferBuilder::new();
        let map = &self.skeleton.maps.met;
        builder.add(map, |_| 0).map_err(AgentError::Load)?;
        builder.build().map(Doorbell).map_err(AgentError::Load)
    }

    /// The records.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// The descriptor by which another process may map the records.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.skeleton.maps.held.as_fd()
    }
}

/// Rings when a flow gets a record.
pub struct Doorbell(RingBuffer<'static>);

impl Doorbell {
    /// Waits until it rings, or has rung since the last call, or for so long.
    pub fn wait(&self, at_most: Duration) {
        // It fails where a signal comes; if it went on failing, whoever waits would never rest.
        if self.0.poll(at_most).is_err() {
            std::thread::sleep(at_most);
        }
    }
}

fn programs<'a>(
    skeleton: &'a HoldSkel<'static>,
    link: LinkLayer,
) -> [(&'a ProgramMut<'static>, Way); 2] {
    let progs = &skeleton.progs;
    let [arrives, leaves] = match link {
        LinkLayer::Ethernet => [&progs.ethernet_arrives, &progs.ethernet_leaves],
        LinkLayer::PlainIp => [&progs.ip_arrives, &progs.ip_leaves],
    };
    [(arrives, Way::Arrives), (leaves, Way::Leaves)]
}

/// A flow that has a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Which record.
    pub place: usize,
    /// When the flow got it, µs of CLOCK_MONOTONIC.
    pub since_us: u64,
    /// When something of it arrived last.
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
pub struct Records {
    memory: *mut tg_held,
    writable: bool,
}

// SAFETY: the memory is the kernel's, of which each word is read and written as one.
unsafe impl Send for Records {}

impl Records {
    /// Maps those behind the descriptor, to be read or written, too.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn map(descriptor: BorrowedFd, writable: bool) -> Result<Self, AgentError> {
        let protection = libc::PROT_READ | if writable { libc::PROT_WRITE } else { 0 };
        // SAFETY: a new mapping, at a place that the kernel chooses.
        let memory = unsafe {
            libc::mmap(
                null_mut(),
                PLACES * size_of::<tg_held>(),
                protection,
                libc::MAP_SHARED,
                descriptor.as_raw_fd(),
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(AgentError::System {
                what: "map the hold's records",
                source: io::Error::last_os_error(),
            });
        }
        Ok(Self {
            memory: memory.cast(),
            writable,
        })
    }

    fn at(&self, place: usize) -> *mut tg_held {
        assert!(place < PLACES, "there is no such record");
        // SAFETY: within the mapping.
        unsafe { self.memory.add(place) }
    }

    fn law(&self, place: usize) -> *mut sys::tg_hold {
        // SAFETY: within the mapping; both descriptions are of one C structure.
        unsafe { addr_of_mut!((*self.at(place)).hold).cast() }
    }

    /// Every flow that has a record: the newest one, where the kernel has forgotten which was the flow's.
    pub fn candidates(&self) -> Vec<Candidate> {
        let all = (0..PLACES).filter_map(|place| self.candidate(place));
        let mut all: Vec<_> = all.collect();
        let flow = |c: &Candidate| (c.interface, c.local, c.remote);
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
                since_us,
                seen_us: addr_of!((*record).seen_us).read_volatile(),
                interface: key.ifindex,
                local: end(&key.local, key.local_port),
                remote: end(&key.remote, key.remote_port),
                floor_us: addr_of!((*self.law(place)).steered.echo.floor_us).read_volatile(),
                heard_us: addr_of!((*self.law(place)).steered.echo.heard_us).read_volatile(),
            }
        };
        fence(Ordering::Acquire);
        // The kernel takes this word away before it gives the place to another.
        (self.since_us(place) == since_us).then_some(candidate)
    }

    /// Says that what leaves of the flow can be made to wait, or cannot; and the floor of another flow with the
    /// same server, if there is one.
    pub fn gate(&self, place: usize, gated: bool, floor_us: u32) {
        assert!(self.writable, "mapped to be written");
        // SAFETY: within the mapping; nobody else writes these two.
        unsafe {
            addr_of_mut!((*self.at(place)).floor_us).write_volatile(floor_us);
            addr_of_mut!((*self.law(place)).gated).write_volatile(gated.into());
        }
    }

    /// When the record was taken, µs of CLOCK_MONOTONIC; 0: it is free.
    pub fn since_us(&self, place: usize) -> u64 {
        // SAFETY: within the mapping.
        unsafe { addr_of!((*self.at(place)).since_us).read_volatile() }
    }

    /// Bytes that have arrived of the flow.
    pub fn arrived(&self, place: usize) -> u64 {
        // SAFETY: within the mapping.
        unsafe { addr_of!((*self.law(place)).arrived).read_volatile() }
    }

    /// How long, in µs, a packet has still to wait that was made when `made` bytes had arrived; 0: it may leave.
    pub fn wait_us(&self, place: usize, made: u64) -> u32 {
        // SAFETY: within the mapping; the law only reads, and of any words makes a time.
        unsafe { sys::tg_hold_wait_us(self.law(place), made) }
    }

    /// Packets of the flow that were signalled.
    pub fn signals(&self, place: usize) -> u32 {
        // SAFETY: within the mapping.
        unsafe { addr_of!((*self.law(place)).signals).read_volatile() }
    }

    /// What the law knows of the flow and does to it.
    pub fn view(&self, place: usize, now_us: u64) -> HoldView {
        // SAFETY: within the mapping; of words that are read while the kernel writes, some are older than others.
        view(&unsafe { self.law(place).read_volatile() }, now_us)
    }
}

fn view(hold: &sys::tg_hold, now_us: u64) -> HoldView {
    // SAFETY: the law only reads a live record, and of any words makes a number.
    let (bulk, here_bytes, queue_us) = unsafe {
        (
            sys::tg_hold_is_bulk(hold) != 0,
            sys::tg_hold_excess(hold),
            sys::tg_echo_queue_us(&hold.steered.echo, now_us),
        )
    };
    // SAFETY: as above.
    let wait_us = unsafe { sys::tg_hold_takes_us(hold, here_bytes.into()) };
    let sender = Clocked::from_raw(hold.clocked.state);
    let answered = hold.steered.echo.rtt_us > 0;
    let state = match sender {
        _ if here_bytes > 0 => Holding::Held,
        _ if !bulk => Holding::NotBulk,
        _ if !answered => Holding::Asked,
        Some(Clocked::Left) => Holding::NotClocked,
        Some(Clocked::New) | None => Holding::Watched,
        Some(_) => Holding::Sender,
    };
    let answer = |us| answered.then_some(us);
    HoldView {
        state,
        sender,
        queue_us: answer(queue_us),
        rtt_us: answer(hold.steered.echo.rtt_us),
        rtt_min_us: answer(hold.steered.echo.floor_us),
        wanted_bytes: (hold.steered.wanted != sys::TG_OPEN).then_some(hold.steered.wanted),
        sender_bytes: (hold.window > 0).then_some(hold.window),
        here_bytes,
        wait_us,
        waiting: 0,
        held: 0,
        signalled: hold.signals,
        group: (hold.steered.sharing.joined != 0).then_some(hold.steered.sharing.name),
    }
}

impl Drop for Records {
    fn drop(&mut self) {
        // SAFETY: the mapping that was made.
        unsafe { libc::munmap(self.memory.cast(), PLACES * size_of::<tg_held>()) };
    }
}

#[cfg(test)]
mod tests;
