//! The kernel program's state, as people and programs want to see it.

use crate::Direction;
use crate::skeleton::types::{tg_connection, tg_flow, tg_key, tg_tide};
use serde::Serialize;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use tidegate_laws::sys::TG_OPEN;

/// Names of the counters, in the order of `enum tg_count` (`bpf/shared.h`).
pub const REASONS: [&str; 20] = [
    "measured",
    "rewritten",
    "unchanged",
    "no_data",
    "no_flow",
    "handshake",
    "reset",
    "no_scale",
    "denied",
    "sealed",
    "mptcp",
    "not_tcp",
    "udp",
    "not_ip",
    "fragment",
    "ip_options",
    "malformed",
    "table_full",
    "no_path",
    "chained",
];

/// How many packets met one fate.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
pub struct Count {
    /// Of the data that the packets were looked at for; each packet counts in both.
    pub direction: Direction,
    /// One of [`REASONS`].
    pub reason: &'static str,
    /// Packets, after merging by GRO and before segmentation.
    pub packets: u64,
}

/// One end of a connection.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
pub struct Endpoint {
    /// Address.
    pub address: IpAddr,
    /// Port.
    pub port: u16,
}

/// One flow: a connection's data in one direction.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FlowView {
    /// Which way its data go.
    pub direction: Direction,
    /// This machine's end.
    pub local: Endpoint,
    /// The far end.
    pub remote: Endpoint,
    /// Interface index.
    pub ifindex: u32,
    /// Last RTT sample in µs; absent before the first.
    pub rtt_us: Option<u32>,
    /// Smallest RTT sample in µs.
    pub rtt_min_us: Option<u32>,
    /// RTT samples taken.
    pub samples: u32,
    /// Last forward queueing delay in µs; absent where the peer's clock is not understood.
    pub queue_us: Option<u32>,
    /// Window that the law wants, in bytes; absent: the kernel's.
    pub wanted_bytes: Option<u32>,
    /// Window that the data's sender was last told, in bytes.
    pub window_bytes: u32,
    /// Window that the kernel at the data's receiver had meant, in bytes.
    pub kernel_bytes: u32,
    /// Payload bytes that have arrived at the data's receiver.
    pub received_bytes: u64,
    /// Segments whose window was lowered.
    pub rewritten: u64,
    /// Whether a rule leaves it alone.
    pub denied: bool,
    /// When a packet was last seen, µs of CLOCK_MONOTONIC.
    pub seen_us: u64,
}

/// The queue that an interface's downloads share, or its uploads, as `tide` sees it.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PathView {
    /// Which of the two.
    pub direction: Direction,
    /// Interface index.
    pub ifindex: u32,
    /// `starting`, `running`, `probing` or `rechecking`.
    pub state: &'static str,
    /// H in µs: the round trip without the forward queue.
    pub lag_us: u32,
    /// Forward queueing delay of the last packet, in µs.
    pub queue_us: u32,
    /// Forecast of the bytes that the link carries in one lag.
    pub forecast_bytes: u64,
    /// Mean error of that forecast, near and far, in bytes.
    pub error_bytes: [u64; 2],
    /// Flows that want more than they get.
    pub hungry: u32,
    /// Times that the floors were probed.
    pub probes: u32,
}

fn address(words: &[u32; 4], family: u32) -> IpAddr {
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

fn nonzero(value: u32) -> Option<u32> {
    (value != 0).then_some(value)
}

fn not_open(value: u32) -> Option<u32> {
    (value != TG_OPEN).then_some(value)
}

impl FlowView {
    pub(crate) fn new(
        direction: Direction,
        key: &tg_key,
        flow: &tg_flow,
        connection: &tg_connection,
    ) -> Self {
        Self {
            direction,
            local: Endpoint {
                address: address(&key.local, key.family),
                port: u16::from_be(key.local_port),
            },
            remote: Endpoint {
                address: address(&key.remote, key.family),
                port: u16::from_be(key.remote_port),
            },
            ifindex: key.ifindex,
            rtt_us: nonzero(flow.rtt_us),
            rtt_min_us: nonzero(flow.rtt_min_us),
            samples: flow.samples,
            queue_us: not_open(flow.queue_us),
            wanted_bytes: not_open(flow.wanted).filter(|_| connection.denied == 0),
            window_bytes: flow.sent_bytes,
            kernel_bytes: flow.kernel_bytes,
            received_bytes: flow.received,
            rewritten: connection.rewritten,
            denied: connection.denied != 0,
            seen_us: connection.seen_us,
        }
    }
}

impl PathView {
    pub(crate) fn new(direction: Direction, ifindex: u32, tide: &tg_tide) -> Self {
        use tidegate_laws::sys::{
            TG_TIDE_PROBING, TG_TIDE_Q, TG_TIDE_RECHECKING, TG_TIDE_STARTING,
        };
        let bytes = |rate: i64| ((rate as u128 * u128::from(tide.h_us)) >> TG_TIDE_Q) as u64;
        Self {
            direction,
            ifindex,
            state: match tide.state {
                TG_TIDE_STARTING => "starting",
                TG_TIDE_PROBING => "probing",
                TG_TIDE_RECHECKING => "rechecking",
                _ => "running",
            },
            lag_us: tide.h_us,
            queue_us: tide.standing_us,
            forecast_bytes: bytes(tide.m),
            error_bytes: [bytes(tide.d1), bytes(tide.d2)],
            hungry: tide.hungry,
            probes: tide.probes,
        }
    }
}
