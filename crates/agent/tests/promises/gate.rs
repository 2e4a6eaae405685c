//! The agent's programs, loaded but attached to nothing: packets are handed in one by one, at times
//! that the test chooses, through `BPF_PROG_TEST_RUN`. The packets seem to come from `lo`.
//!
//! A gate stands before the machine that receives the data, where downloads are steered, or before the one that sends
//! them, where uploads are steered. A packet that arrives at one leaves the other.

use crate::packet::Link;
use crate::support::{bytes, record};
use crate::tally;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{ErrorKind, MapCore, MapFlags, ProgramInput};
use libbpf_sys::BPF_F_TEST_SKB_CHECKSUM_COMPLETE;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::mem::{MaybeUninit, offset_of};
use tidegate_agent::skeleton::types::{
    __sk_buff, tg_histograms, tg_left, tg_left_key, tg_pass, tg_path, tg_record, tg_tally,
    tg_upload_record, tg_windowless, tg_windowless_key,
};
use tidegate_agent::skeleton::{AgentSkel, AgentSkelBuilder};
use tidegate_agent::{Direction, Ecn, Interface, Kind, Reason, Rule, Rules, Verdict};
use tidegate_laws::Params;

/// `TC_ACT_UNSPEC`: the packet goes on to whatever comes next.
const PASSES: u32 = u32::MAX;
/// The loopback device is the first of its namespace.
const LO: u32 = 1;

/// Which way a packet goes, seen from the machine that receives the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Arrives,
    Leaves,
}

/// What a gate does with windows; when the mode changes, told edges may be retracted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mode {
    dry_run: bool,
    /// The law in force does not steer this gate's direction.
    open: bool,
}

/// What an interface has carried: packets and bytes.
pub type Carried = BTreeMap<(Direction, Kind, Ecn), (u64, u64)>;

fn combinations() -> impl Iterator<Item = (Direction, Kind, Ecn)> {
    let kinds = |direction| Kind::ALL.into_iter().map(move |kind| (direction, kind));
    let all = Direction::ALL.into_iter().flat_map(kinds);
    all.flat_map(|(direction, kind)| Ecn::ALL.map(|ecn| (direction, kind, ecn)))
}

/// The loaded programs and their memory.
pub struct Gate {
    skeleton: AgentSkel<'static>,
    /// Where it stands.
    pub direction: Direction,
    /// As last configured.
    pub mode: Mode,
    packets: Cell<u64>,
    /// What the rules say of connections, by port; others are steered.
    verdicts: Vec<(u16, Verdict)>,
}

impl Drop for Gate {
    fn drop(&mut self) {
        tally::note(self.packets.get());
    }
}

impl Gate {
    /// A gate on `lo`'s path, before the machine that receives the data.
    pub fn new() -> Self {
        Self::before(Direction::Down)
    }

    /// A gate on `lo`'s path.
    pub fn before(direction: Direction) -> Self {
        Self::without_path(direction).on_lo()
    }

    fn on_lo(mut self) -> Self {
        let maps = &self.skeleton.maps;
        // A download asks whether the uplink is busy.
        for paths in [&maps.paths, &maps.uplinks] {
            paths
                .update(&LO.to_ne_bytes(), bytes(&tg_path::default()), MapFlags::ANY)
                .expect("a record for lo");
        }
        tidegate_agent::begin_tally(&mut self.skeleton, LO).expect("a place for lo");
        self
    }

    /// A gate of a machine that both receives and sends: it stands where `direction` says, which may change from packet
    /// to packet.
    pub fn both() -> Self {
        Self::load(Direction::Down, [true; 2], None).on_lo()
    }

    /// A gate whose tables hold `flows` records and `scales` scales.
    pub fn with_tables(direction: Direction, flows: u32, scales: u32) -> Self {
        let served = Direction::ALL.map(|served| served == direction);
        Self::load(direction, served, Some([flows, scales])).on_lo()
    }

    /// A gate that knows no interface.
    pub fn without_path(direction: Direction) -> Self {
        let served = Direction::ALL.map(|served| served == direction);
        Self::load(direction, served, None)
    }

    /// Forgets all connections, and what their paths have shown.
    pub fn begin_anew(&mut self) {
        let maps = &self.skeleton.maps;
        for flows in [&maps.flows, &maps.uploads] {
            let keys: Vec<_> = flows.keys().collect();
            keys.iter()
                .for_each(|key| flows.delete(key).expect("there"));
        }
        for paths in [&maps.paths, &maps.uplinks] {
            paths
                .update(&LO.to_ne_bytes(), bytes(&tg_path::default()), MapFlags::ANY)
                .expect("a record for lo");
        }
    }

    fn load(direction: Direction, served: [bool; 2], tables: Option<[u32; 2]>) -> Self {
        let object = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = AgentSkelBuilder::default().open(object).expect("open");
        let rodata = open.maps.rodata_data.as_deref_mut().expect("has constants");
        rodata.injected_clock = true;
        rodata.serves = served;
        if let Some([flows, scales]) = tables {
            let maps = &mut open.maps;
            maps.flows.set_max_entries(flows).expect("before loading");
            maps.uploads.set_max_entries(flows).expect("before loading");
            maps.scales.set_max_entries(scales).expect("before loading");
        }
        let skeleton = open.load().expect("the verifier accepts the programs");
        Self {
            skeleton,
            direction,
            mode: Mode::default(),
            packets: Cell::new(0),
            verdicts: Vec::new(),
        }
    }

    /// Sets the clock.
    pub fn at(&mut self, now_us: u64) {
        let bss = self
            .skeleton
            .maps
            .bss_data
            .as_deref_mut()
            .expect("has a clock");
        bss.injected_now_us = now_us;
    }

    pub fn configure(&mut self, params: &Params, dry_run: bool) {
        tidegate_agent::configure(&mut self.skeleton, params, dry_run);
        self.mode = Mode {
            dry_run,
            open: self.direction == Direction::Up && !params.law.steers_uploads(),
        };
    }

    /// Nothing is steered before then.
    pub fn pass_until(&mut self, us: u64) {
        let data = self.skeleton.maps.data_data.as_deref_mut();
        data.expect("the programs have globals")
            .config
            .unsteered_until_us = us;
    }

    pub fn set_rules(&mut self, rules: &Rules) {
        // From there packets seem to come.
        let loopback = Interface::find("lo").expect("there is one");
        tidegate_agent::set_rules(&mut self.skeleton, rules, &[loopback]).expect("rules that fit");
    }

    /// Sets a rule for each of these connections, by port.
    pub fn set_verdicts(&mut self, verdicts: &[(u16, Verdict)]) {
        let rule = |&(port, verdict): &(u16, Verdict)| {
            let ports = Some(port..=port);
            let [local_ports, remote_ports] = match self.direction {
                Direction::Down => [ports, None],
                Direction::Up => [None, ports],
            };
            Rule {
                local_ports,
                remote_ports,
                verdict,
                ..Rule::default()
            }
        };
        let rules = Rules {
            rules: verdicts.iter().map(rule).collect(),
            otherwise: Verdict::default(),
        };
        self.verdicts = verdicts.to_vec();
        self.set_rules(&rules);
    }

    /// Whether a rule leaves that connection alone.
    pub fn denies(&self, port: u16) -> bool {
        self.verdicts.contains(&(port, Verdict::LeftAlone))
    }

    /// Runs a packet through the program that would see it and returns what comes out. It always
    /// passes and never changes its length.
    pub fn pass(&self, way: Way, link: Link, packet: &[u8]) -> Vec<u8> {
        self.run(way, link, packet, None, 0).expect("test run")
    }

    /// The same for a packet that a gateway forwards, whose sum the receiving device has computed
    /// (`CHECKSUM_COMPLETE`). The kernel compares sums after the program. None: this kernel is too old to compare.
    pub fn pass_summed(&self, way: Way, link: Link, packet: &[u8]) -> Option<Vec<u8>> {
        match self.run(way, link, packet, None, BPF_F_TEST_SKB_CHECKSUM_COMPLETE) {
            Err(e) if e.kind() == ErrorKind::InvalidInput => None,
            out => Some(out.expect("the kernel's sum is the packet's")),
        }
    }

    /// The same for a packet that GRO merged from segments of `gso_size` bytes.
    pub fn pass_merged(&self, way: Way, link: Link, packet: &[u8], gso_size: u32) -> Vec<u8> {
        let mut context = [0; size_of::<__sk_buff>()];
        let at = offset_of!(__sk_buff, gso_size);
        context[at..at + 4].copy_from_slice(&gso_size.to_ne_bytes());
        let at = offset_of!(__sk_buff, gso_segs);
        let segments = (packet.len() as u32).div_ceil(gso_size);
        context[at..at + 4].copy_from_slice(&segments.to_ne_bytes());
        self.run(way, link, packet, Some(&mut context), 0)
            .expect("test run")
    }

    /// The same for a packet that the machine forwards, from another interface.
    pub fn pass_forwarded(&self, way: Way, link: Link, packet: &[u8]) -> Vec<u8> {
        let mut context = [0; size_of::<__sk_buff>()];
        let at = offset_of!(__sk_buff, ingress_ifindex);
        context[at..at + 4].copy_from_slice(&LO.to_ne_bytes());
        self.run(way, link, packet, Some(&mut context), 0)
            .expect("test run")
    }

    fn run(
        &self,
        way: Way,
        link: Link,
        packet: &[u8],
        context: Option<&mut [u8]>,
        flags: u32,
    ) -> Result<Vec<u8>, libbpf_rs::Error> {
        let progs = &self.skeleton.progs;
        let arrives = (way == Way::Arrives) == (self.direction == Direction::Down);
        let program = match (link, arrives) {
            (Link::Ethernet, true) => &progs.ethernet_arrives,
            (Link::Ethernet, false) => &progs.ethernet_leaves,
            (Link::PlainIp, true) => &progs.ip_arrives,
            (Link::PlainIp, false) => &progs.ip_leaves,
        };
        // Room for more than goes in, or growth would be cut off unseen.
        let mut out = vec![0; packet.len() + 64];
        let input = ProgramInput {
            context_in: context,
            data_in: Some(packet),
            data_out: Some(&mut out),
            flags,
            ..ProgramInput::default()
        };
        self.packets.set(self.packets.get() + 1);
        let output = program.test_run(input)?;
        assert_eq!(output.return_value, PASSES, "a packet that does not pass");
        let length = output.data.expect("data comes out").len();
        assert_eq!(length, packet.len(), "a packet of another length");
        out.truncate(length);
        Ok(out)
    }

    /// Packets of its direction counted so far, by reason.
    pub fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; Reason::ALL.len()];
        for tally in self.all_tallies() {
            let counted = &tally.counts[self.direction as usize];
            for (sum, counter) in counts.iter_mut().zip(counted) {
                *sum += counter.packets;
            }
        }
        if self.direction == Direction::Down {
            for (reason, way, denied) in [
                (Reason::Measured, 0, 0),
                (Reason::Unchanged, 1, 0),
                (Reason::Denied, 0, 1),
                (Reason::Denied, 1, 1),
            ] {
                counts[reason as usize] += self.passes(way, denied).map(|p| p.packets).sum::<u64>();
            }
        }
        counts
    }

    /// Packets that passed `way` on the fast path, of flows that a rule leaves alone or of others.
    fn passes(&self, way: usize, denied: usize) -> impl Iterator<Item = tg_pass> {
        let of = move |tally: tg_tally| tally.passed[way][denied].concat();
        self.all_tallies().flat_map(of)
    }

    /// The tallies of `lo`, which has the first place, and of interfaces without a place, by CPU.
    fn all_tallies(&self) -> impl Iterator<Item = tg_tally> {
        let places = [0, self.skeleton.maps.tallies.max_entries() - 1];
        places.into_iter().flat_map(|place| self.tallies(place))
    }

    fn tallies(&self, place: u32) -> Vec<tg_tally> {
        let tallies = &self.skeleton.maps.tallies;
        let cpus = tallies.lookup_percpu(&place.to_ne_bytes(), MapFlags::ANY);
        let cpus = cpus.expect("readable").expect("an array has every key");
        cpus.iter().map(|cpu| record(cpu)).collect()
    }

    /// Payload of downloads that passed on the fast path and counts as measured.
    pub fn passed(&self) -> u64 {
        self.passes(0, 0).map(|p| p.payload).sum()
    }

    /// How many packets the histograms count with a queue, and how many with a window.
    pub fn shown(&self) -> (u64, u64) {
        let histograms = &self.skeleton.maps.histograms;
        let key = (self.direction as u32).to_ne_bytes();
        let cpus = histograms.lookup_percpu(&key, MapFlags::ANY);
        let cpus = cpus.expect("readable").expect("an array has every key");
        let seen = cpus.iter().map(|cpu| record::<tg_histograms>(cpu));
        seen.fold((0, 0), |(queues, windows), seen| {
            let sum = |slots: [u64; 62]| slots.iter().sum::<u64>();
            (
                queues + sum(seen.queue_us.slots),
                windows + sum(seen.window_bytes.slots),
            )
        })
    }

    /// The connections that it remembers to have left alone.
    pub fn left(&self) -> Vec<(tg_left_key, tg_left)> {
        let left = &self.skeleton.maps.left;
        let entry = |key: Vec<u8>| {
            let value = left.lookup(&key, MapFlags::ANY).expect("readable");
            (record(&key), record(&value.expect("nobody deletes it")))
        };
        left.keys().map(entry).collect()
    }

    /// What it knows of flows without a window.
    pub fn windowless(&self) -> Vec<(tg_windowless_key, tg_windowless)> {
        let flows = &self.skeleton.maps.windowless;
        let entry = |key: Vec<u8>| {
            let value = flows.lookup(&key, MapFlags::ANY).expect("readable");
            (record(&key), record(&value.expect("nobody deletes it")))
        };
        flows.keys().map(entry).collect()
    }

    /// Forgets them.
    pub fn forget_windowless(&self) {
        let flows = &self.skeleton.maps.windowless;
        let keys: Vec<_> = flows.keys().collect();
        for key in keys {
            flows.delete(&key).expect("nobody else deletes it");
        }
    }

    /// What `lo` has carried, packets and bytes, by the way that they went, kind and codepoint.
    pub fn carried(&self) -> Carried {
        let mut carried = Carried::new();
        for tally in self.tallies(0) {
            let seen = tally.traffic;
            for (direction, kind, ecn) in combinations() {
                let c = seen[direction as usize][kind as usize][ecn as usize];
                if c.packets > 0 {
                    let sum = carried.entry((direction, kind, ecn)).or_default();
                    *sum = (sum.0 + c.packets, sum.1 + c.bytes);
                }
            }
        }
        carried
    }

    /// The record of `lo`'s path.
    pub fn path(&self) -> tg_path {
        let maps = &self.skeleton.maps;
        let paths = match self.direction {
            Direction::Down => &maps.paths,
            Direction::Up => &maps.uplinks,
        };
        let path = paths.lookup(&LO.to_ne_bytes(), MapFlags::LOCK);
        record(&path.expect("readable").expect("there is one for lo"))
    }

    fn only_record(&self) -> Vec<u8> {
        let maps = &self.skeleton.maps;
        let map = match self.direction {
            Direction::Down => &maps.flows,
            Direction::Up => &maps.uploads,
        };
        let key = map.keys().next().expect("a flow");
        let value = map.lookup(&key, MapFlags::ANY).expect("readable");
        value.expect("nobody deletes it")
    }

    /// Whether the data of its one flow have ended.
    pub fn closed(&self) -> bool {
        let value = self.only_record();
        let connection = match self.direction {
            Direction::Down => record::<tg_record>(&value).connection,
            Direction::Up => record::<tg_upload_record>(&value).connection,
        };
        connection.closed != 0
    }

    /// All that the laws have learned of its one flow, and of the path.
    pub fn learned(&self) -> Vec<u8> {
        let value = self.only_record();
        let flow = match self.direction {
            Direction::Down => bytes(&record::<tg_record>(&value).flow).to_vec(),
            Direction::Up => bytes(&record::<tg_upload_record>(&value).upload).to_vec(),
        };
        [&flow, bytes(&self.path().interface)].concat()
    }

    /// Like [`Self::pass`]; also returns the one reason under which the packet was counted.
    pub fn explain(&self, way: Way, link: Link, packet: &[u8]) -> (Vec<u8>, Reason) {
        let before = self.counts();
        let out = self.pass(way, link, packet);
        let after = self.counts();
        let counted: Vec<_> = Reason::ALL
            .into_iter()
            .zip(before.iter().zip(&after))
            .filter(|(_, (before, after))| before != after)
            .collect();
        let [(reason, (before, after))] = counted[..] else {
            panic!("expected one reason, got {counted:?}");
        };
        assert_eq!(after - before, 1, "counted more than once as {reason}");
        (out, reason)
    }
}
