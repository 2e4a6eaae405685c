//! The hold's programs, loaded but attached to nothing: packets are handed in one by one, at times that the test
//! chooses, and each is held against the promises for all packets.

use crate::gate::Way;
use crate::packet::{Ip, Link, Packet};
use crate::support::{bytes, record};
use crate::tally;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{MapCore, MapFlags, ProgramInput};
use std::cell::Cell;
use std::mem::{MaybeUninit, offset_of};
use std::os::fd::AsFd;
use tidegate_agent::hold::types::{tg_candidate, tg_held, tg_path, tg_windowless_key};
use tidegate_agent::hold::{HoldSkel, HoldSkelBuilder};
use tidegate_agent::hold_up::{HoldUpSkel, HoldUpSkelBuilder};
use tidegate_agent::skeleton::types::__sk_buff;
use tidegate_agent::{Candidate, Ecn};
use tidegate_agent::{Lease, Records};

/// `TC_ACT_UNSPEC` and `TC_ACT_SHOT`.
const PASSES: u32 = u32::MAX;
const DROPPED: u32 = 2;

/// Packets seem to come from the loopback device, the first of its namespace.
const LO: u32 = 1;

/// Identifier and secret of the agent's echoes.
pub const ECHO_ID: u16 = 0x1234;
pub const SECRET: u32 = 0x5ec2_e700;

/// At most one packet in this many, as merged, is signalled.
pub const APART: u64 = 32;

/// What becomes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    Passes,
    Marked,
    Dropped,
}

/// The programs of one direction.
enum Skeleton {
    Downloads(HoldSkel<'static>),
    Uploads(HoldUpSkel<'static>),
}

/// With the same expression for each.
macro_rules! of {
    ($skeleton:expr, $either:ident => $what:expr) => {
        match $skeleton {
            Skeleton::Downloads($either) => $what,
            Skeleton::Uploads($either) => $what,
        }
    };
}

/// The loaded programs and their memory.
pub struct Programs {
    skeleton: Skeleton,
    records: Records,
    lease: Lease,
    packets: Cell<u64>,
}

impl Drop for Programs {
    fn drop(&mut self) {
        tally::note(self.packets.get());
    }
}

impl Programs {
    pub fn new() -> Self {
        let object = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = HoldSkelBuilder::default().open(object).expect("open");
        let rodata = open.maps.rodata_data.as_deref_mut().expect("has constants");
        (rodata.echo_id, rodata.echo_secret) = (ECHO_ID.to_be(), SECRET);
        rodata.injected_clock = true;
        let skeleton = open.load().expect("the verifier accepts the programs");
        Self::with(Skeleton::Downloads(skeleton))
    }

    pub fn of_uploads() -> Self {
        let object = Box::leak(Box::new(MaybeUninit::uninit()));
        let mut open = HoldUpSkelBuilder::default().open(object).expect("open");
        let rodata = open.maps.rodata_data.as_deref_mut().expect("has constants");
        (rodata.echo_id, rodata.echo_secret) = (ECHO_ID.to_be(), SECRET);
        rodata.injected_clock = true;
        let skeleton = open.load().expect("the verifier accepts the programs");
        add_path(&skeleton.maps.uplinks);
        Self::with(Skeleton::Uploads(skeleton))
    }

    fn with(skeleton: Skeleton) -> Self {
        of!(&skeleton, either => add_path(&either.maps.paths));
        let descriptor = of!(&skeleton, either => either.maps.held.as_fd());
        let records = Records::map(descriptor, true).expect("mapped");
        let descriptor = of!(&skeleton, either => either.maps.lease.as_fd());
        let lease = Lease::map(descriptor, true).expect("mapped");
        Self {
            skeleton,
            records,
            lease,
            packets: Cell::new(0),
        }
    }

    /// Sets the clock, and renews the lease as a live agent does.
    pub fn at(&mut self, now_us: u64) {
        self.lease.renew(now_us);
        self.abandoned_at(now_us);
    }

    /// Sets only the clock: the lease was last renewed by [`Self::at`].
    pub fn abandoned_at(&mut self, now_us: u64) {
        let clock = of!(&mut self.skeleton, either => {
            let bss = either.maps.bss_data.as_deref_mut();
            &mut bss.expect("has a clock").injected_now_us
        });
        *clock = now_us;
    }

    /// What becomes of a packet that goes this way. Checks that a packet passes unchanged, or changes only by its mark;
    /// that packets of ends that understand marks are not dropped, and others are not marked.
    pub fn pass(&self, way: Way, packet: &Packet) -> Fate {
        self.pass_merged(way, packet, 1)
    }

    /// The same for a packet that GRO has merged from `of`.
    pub fn pass_merged(&self, way: Way, packet: &Packet, of: u32) -> Fate {
        let before = packet.bytes();
        let (verdict, after) = self.run(way, packet.link, &before, of);
        let fate = match verdict {
            PASSES if after == before => Fate::Passes,
            PASSES => {
                assert_eq!(after, marked(packet).bytes(), "no mark, but a change");
                Fate::Marked
            }
            DROPPED => Fate::Dropped,
            other => panic!("{other} is neither of both"),
        };
        let ecn = Ecn::from_raw(packet.ecn.into()).expect("two bits");
        match (ecn, fate) {
            (_, Fate::Passes) | (Ecn::NotEct, Fate::Dropped) => {}
            (Ecn::Ect0 | Ecn::Ect1, Fate::Marked) => {}
            _ => panic!("{ecn:?} is {fate:?}"),
        }
        fate
    }

    fn run(&self, way: Way, link: Link, packet: &[u8], merged: u32) -> (u32, Vec<u8>) {
        let program = of!(&self.skeleton, either => match (link, way) {
            (Link::Ethernet, Way::Arrives) => &either.progs.ethernet_arrives,
            (Link::Ethernet, Way::Leaves) => &either.progs.ethernet_leaves,
            (Link::PlainIp, Way::Arrives) => &either.progs.ip_arrives,
            (Link::PlainIp, Way::Leaves) => &either.progs.ip_leaves,
        });
        let mut context = [0; size_of::<__sk_buff>()];
        let mut set = |at: usize, value: u32| {
            context[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        };
        if merged > 1 {
            set(offset_of!(__sk_buff, gso_size), 1200);
            set(offset_of!(__sk_buff, gso_segs), merged);
        }
        // Room for more than goes in, or growth would be cut off unseen.
        let mut out = vec![0; packet.len() + 64];
        let input = ProgramInput {
            context_in: Some(&mut context),
            data_in: Some(packet),
            data_out: Some(&mut out),
            ..ProgramInput::default()
        };
        self.packets.set(self.packets.get() + 1);
        let output = program.test_run(input).expect("test run");
        let (verdict, length) = (output.return_value, output.data.expect("data").len());
        assert_eq!(length, packet.len(), "a packet of another length");
        out.truncate(length);
        (verdict, out)
    }

    /// The records that user space sees.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// The flow of these ports, if it has a record.
    pub fn candidate(&self, local: u16, remote: u16) -> Option<Candidate> {
        let all = self.records.candidates().into_iter();
        let mut of = all.filter(|c| (c.local.port(), c.remote.port()) == (local, remote));
        let found = of.next();
        assert_eq!(of.next(), None, "a flow has two records");
        found
    }

    /// A whole record, as bytes.
    pub fn record(&self, place: usize) -> Vec<u8> {
        let held = of!(&self.skeleton, either => &either.maps.held);
        let found = held.lookup(&(place as u32).to_ne_bytes(), MapFlags::ANY);
        found.expect("readable").expect("an array has every key")
    }

    pub fn read(&self, place: usize) -> tg_held {
        record(&self.record(place))
    }

    pub fn write(&self, place: usize, held: &tg_held) {
        let key = (place as u32).to_ne_bytes();
        let map = of!(&self.skeleton, either => &either.maps.held);
        map.update(&key, bytes(held), MapFlags::ANY)
            .expect("writable");
    }

    /// Forgets a flow, as the kernel's table does when it is full; its record stays.
    pub fn forget(&self, local: u16) {
        let candidates = of!(&self.skeleton, either => &either.maps.candidates);
        let keys: Vec<_> = candidates.keys().collect();
        for key in keys {
            if record::<tg_windowless_key>(&key).key.local_port == local.to_be() {
                candidates.delete(&key).expect("it is there");
            }
        }
    }

    /// What is known of flows without a record.
    pub fn known(&self) -> Vec<tg_candidate> {
        let candidates = of!(&self.skeleton, either => &either.maps.candidates);
        let value = |key: Vec<u8>| candidates.lookup(&key, MapFlags::ANY).expect("readable");
        candidates
            .keys()
            .filter_map(value)
            .map(|value| record(&value))
            .collect()
    }
}

/// A record for lo.
fn add_path(paths: &impl MapCore) {
    let path = tg_path::default();
    let added = paths.update(&LO.to_ne_bytes(), bytes(&path), MapFlags::ANY);
    added.expect("a record for lo");
}

/// The packet with congestion experienced.
fn marked(packet: &Packet) -> Packet {
    Packet {
        ecn: Ecn::Ce as u8,
        ..packet.clone()
    }
}

/// An answer to an echo that was sent at `sent_us`, for these places.
pub fn answer(packet: Packet, sent_us: u64, places: [u16; 4]) -> Packet {
    let kind = match packet.ip {
        Ip::V4 => 0,
        Ip::V6 => 129,
    };
    let mut echo = vec![kind, 0, 0, 0];
    echo.extend(ECHO_ID.to_be_bytes());
    echo.extend([0, 1]);
    echo.extend(SECRET.to_ne_bytes());
    echo.extend((sent_us as u32).to_ne_bytes());
    echo.extend(places.iter().flat_map(|place| place.to_ne_bytes()));
    Packet {
        protocol: if packet.ip == Ip::V4 { 1 } else { 58 },
        instead: Some(echo),
        ..packet
    }
}
