//! The kernel program's state, as people and programs want to see it.

use crate::sharing::{self, GroupView, RecordView};
use crate::skeleton::types::{
    tg_connection, tg_flow, tg_interface, tg_key, tg_left, tg_left_key, tg_path,
};
use crate::tally::Carried;
use crate::words::{Reason, ScaleState};
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use tidegate_laws::Direction;
use tidegate_laws::sys::{TG_CLOCK_WINDOW_US, TG_UNLIMITED};

/// One end of a connection.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoint {
    /// Address.
    pub address: IpAddr,
    /// Port.
    pub port: u16,
}

/// What is known about the clock behind the timestamps of a flow's peer.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// Its unit is not known yet, or there are no timestamps.
    #[default]
    Unmeasured,
    /// Its unit is known.
    Understood,
    /// Its unit is not one in use, or too coarse to show a queueing delay.
    Unknown,
    /// Its timestamps have been impossible for a clock: round trips tell how long the queue is.
    Doubted,
}

impl Clock {
    fn of(flow: &tg_flow) -> Self {
        let delay = &flow.delay;
        if delay.started == 0 || delay.window_us == 0 {
            Self::Unmeasured
        } else if delay.tick_us == 0 {
            Self::Unknown
        } else if delay.doubted != 0 {
            Self::Doubted
        } else if delay.window_us == TG_CLOCK_WINDOW_US {
            Self::Understood
        } else {
            Self::Unmeasured
        }
    }
}

/// One flow: a connection's data in one direction.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq)]
pub struct FlowView {
    /// Which way its data go.
    pub direction: Direction,
    /// This machine's end.
    pub local: Endpoint,
    /// The far end.
    pub remote: Endpoint,
    /// Interface index.
    pub ifindex: u32,
    /// Last RTT sample in µs; absent before the first, and without timestamps while no law's window is in force.
    pub rtt_us: Option<u32>,
    /// Smallest RTT sample in µs.
    pub rtt_min_us: Option<u32>,
    /// RTT samples taken.
    pub samples: u32,
    /// Last forward queueing delay in µs; of the whole round trip if the peer's clock is not understood. Absent if it
    /// is not known: without a round trip, or if the peer's timestamps show an impossible delay.
    pub queue_us: Option<u32>,
    /// What is known of the clock behind the peer's timestamps.
    #[serde(default)]
    pub clock: Clock,
    /// Window that the law wants, in bytes; absent: the kernel's.
    pub wanted_bytes: Option<u32>,
    /// Window that the data's sender was last told, in bytes.
    pub window_bytes: u32,
    /// Window that the receiver's kernel wanted to advertise, in bytes.
    pub kernel_bytes: u32,
    /// Payload bytes that have arrived at the data's receiver.
    pub received_bytes: u64,
    /// Segments whose window was lowered.
    pub rewritten: u64,
    /// Whether a rule leaves it alone.
    pub denied: bool,
    /// Whether an earlier promise keeps the window above what the law wants.
    pub held: bool,
    /// Payload bytes of one segment.
    pub mss_bytes: u32,
    /// Shift count of the windows that acknowledge its data; absent where it is not known.
    pub window_scale: Option<u8>,
    /// Whether its last data carried a timestamp.
    pub timestamps: bool,
    /// FIN or RST ended its data.
    pub closed: bool,
    /// Number of the flow's device ([`crate::Device`]); absent: it is not known, or shares are by flow.
    #[serde(default)]
    pub device: Option<u32>,
    /// Number of the group of flows that it shares a queue with; absent: it is alone.
    pub group: Option<u32>,
    /// The evidence for that. Without a group: the strongest evidence that it shares a queue with another flow. Absent:
    /// it was not compared yet.
    pub score: Option<i32>,
    /// How `tide` sees its queue; absent in a group, and where `tide` has seen nothing of it.
    pub record: Option<RecordView>,
    /// When data (for an upload: their acknowledgement) last arrived, µs of CLOCK_MONOTONIC; 0: never.
    pub arrived_us: u64,
    /// When a packet was last seen, µs of CLOCK_MONOTONIC.
    pub seen_us: u64,
    /// Since when its bytes are counted, µs of CLOCK_MONOTONIC; if it changes, the count has begun anew.
    #[serde(default)]
    pub since_us: u64,
}

/// Data of one TCP connection that are left alone.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct LeftView {
    /// Which way they go.
    pub direction: Direction,
    /// This machine's end; port 0 where there is none.
    pub local: Endpoint,
    /// The far end.
    pub remote: Endpoint,
    /// Interface index.
    pub ifindex: u32,
    /// The number of what IP carries: 6 TCP, or that of a fragment or an extension header.
    pub protocol: u32,
    /// Why.
    pub reason: Reason,
    /// Packets.
    pub packets: u64,
    /// Their payload bytes.
    pub bytes: u64,
    /// When a packet was last seen, µs of CLOCK_MONOTONIC.
    pub seen_us: u64,
    /// Since when its bytes are counted, µs of CLOCK_MONOTONIC, as for a flow.
    #[serde(default)]
    pub since_us: u64,
}

/// A flow that was silent for longer than this before the path's last packet tells nothing about the queue now.
const LATELY_US: u64 = 1_000_000;
/// If all flows of a path or group have been silent for longer, its queue is unknown.
pub(crate) const STALE_US: u64 = 5_000_000;

/// An interface's downloads, or its uploads.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct PathView {
    /// Which of the two.
    pub direction: Direction,
    /// Interface index.
    pub ifindex: u32,
    /// The longest queueing delay of a flow's last packet, in µs, among flows with recent data; 0 if no flow has had
    /// data for five seconds.
    pub queue_us: u32,
    /// Flows that share a queue, as `tide` has found.
    pub groups: Vec<GroupView>,
    /// Flows with a record of their own: no other flow is known to share their queue.
    pub alone: u32,
    /// Payload bytes of TCP that were measured.
    pub measured_bytes: u64,
    /// All that goes this way over the interface, acknowledgements of the other way's data included.
    pub traffic: Vec<Carried>,
}

pub(crate) fn address(words: &[u32; 4], family: u32) -> IpAddr {
    // The words hold network byte order as it lay in the packet.
    let mut bytes = [0; 16];
    for (chunk, word) in bytes.chunks_exact_mut(4).zip(words) {
        chunk.copy_from_slice(&word.to_ne_bytes());
    }
    if family == 4 {
        Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]).into()
    } else {
        Ipv6Addr::from(bytes).into()
    }
}

/// This machine's end and the far one.
pub(crate) fn endpoints(key: &tg_key) -> (Endpoint, Endpoint) {
    let end = |words, port| Endpoint {
        address: address(words, key.family),
        port: u16::from_be(port),
    };
    (
        end(&key.local, key.local_port),
        end(&key.remote, key.remote_port),
    )
}

/// The shift count of the windows that acknowledge the data, if it is known.
fn scale(connection: &tg_connection) -> Option<u8> {
    let known = connection.scale_state == ScaleState::Known as u8;
    known.then_some(connection.scale)
}

fn nonzero(value: u32) -> Option<u32> {
    (value != 0).then_some(value)
}

fn not_open(value: u32) -> Option<u32> {
    (value != TG_UNLIMITED).then_some(value)
}

/// Whether its round trips can be trusted. Without timestamps a round trip is the time that a window of data takes, and
/// far less than a window may be in flight unless the law's window is in force. The samples may also be out of date.
fn tells_round(flow: &tg_flow, connection: &tg_connection) -> bool {
    let bound = flow.wanted != TG_UNLIMITED && flow.arrived_us <= flow.sampled_us + STALE_US;
    connection.timestamps != 0 || bound
}

impl FlowView {
    pub(crate) fn new(
        direction: Direction,
        key: &tg_key,
        flow: &tg_flow,
        connection: &tg_connection,
        interface: &tg_interface,
    ) -> Self {
        let (local, remote) = endpoints(key);
        let tells_round = tells_round(flow, connection);
        Self {
            direction,
            local,
            remote,
            ifindex: key.ifindex,
            rtt_us: nonzero(flow.rtt_us).filter(|_| tells_round),
            rtt_min_us: nonzero(flow.rtt_min_us),
            samples: flow.samples,
            queue_us: not_open(flow.queue_us).filter(|_| tells_round),
            clock: Clock::of(flow),
            wanted_bytes: not_open(flow.wanted).filter(|_| connection.denied == 0),
            window_bytes: flow.sent_bytes,
            kernel_bytes: flow.kernel_bytes,
            received_bytes: flow.received,
            rewritten: connection.rewritten,
            denied: connection.denied != 0,
            held: flow.window.held != 0,
            mss_bytes: flow.mss,
            window_scale: scale(connection),
            timestamps: connection.timestamps != 0,
            closed: connection.closed != 0,
            device: nonzero(connection.device),
            group: sharing::group_of(flow, interface),
            score: sharing::score_of(flow, interface),
            record: sharing::record_of(flow, interface),
            arrived_us: flow.arrived_us,
            seen_us: connection.seen_us,
            since_us: connection.since_us,
        }
    }
}

impl LeftView {
    pub(crate) fn new(key: &tg_left_key, left: &tg_left) -> Self {
        let (local, remote) = endpoints(&key.key);
        Self {
            direction: Direction::from_raw(key.direction).unwrap_or_default(),
            local,
            remote,
            ifindex: key.key.ifindex,
            protocol: key.protocol,
            reason: Reason::from_raw(left.reason).unwrap_or(Reason::Malformed),
            packets: left.packets,
            bytes: left.bytes,
            seen_us: left.seen_us,
            since_us: left.since_us,
        }
    }
}

impl FlowView {
    /// How `tide` sees its queue: its own record, or its group's.
    pub fn record<'a>(&'a self, paths: &'a [PathView]) -> Option<&'a RecordView> {
        let group = || {
            let of = |p: &&PathView| p.direction == self.direction && p.ifindex == self.ifindex;
            let groups = &paths.iter().find(of)?.groups;
            let group = groups.iter().find(|g| Some(g.group) == self.group);
            group.map(|g| &g.record)
        };
        self.record.as_ref().or_else(group)
    }
}

impl PathView {
    pub(crate) fn new(
        direction: Direction,
        ifindex: u32,
        path: &tg_path,
        flows: &[FlowView],
        traffic: Vec<Carried>,
        now_us: u64,
    ) -> Self {
        let of = |f: &&FlowView| f.direction == direction && f.ifindex == ifindex && !f.closed;
        let flows: Vec<_> = flows.iter().filter(of).collect();
        let last_us = flows.iter().map(|f| f.arrived_us).max().unwrap_or(0);
        let late = flows.iter().filter(|f| f.arrived_us + LATELY_US > last_us);
        let late = late.filter(|_| last_us + STALE_US >= now_us);
        Self {
            direction,
            ifindex,
            queue_us: late.filter_map(|f| f.queue_us).max().unwrap_or(0),
            groups: sharing::groups(&path.interface, &flows, now_us),
            alone: flows.iter().filter(|f| f.record.is_some()).count() as u32,
            measured_bytes: path.measured,
            traffic,
        }
    }
}

/// Whether its last data arrived so long ago that they tell nothing about the queue now.
pub(crate) fn is_stale(flow: &FlowView, now_us: u64) -> bool {
    flow.arrived_us + STALE_US < now_us
}
