//! Flows that have no window, and the names of each kind of traffic.

use crate::HoldView;
use crate::skeleton::types::{tg_windowless, tg_windowless_key};
use crate::view::{Endpoint, endpoints};
use crate::words::{Ecn, Kind, Origin};
use serde::{Deserialize, Serialize};
use tidegate_laws::{Direction, Law};

/// Packets by codepoint.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Marks {
    /// Congestion can be told by a loss alone.
    pub not_ect: u64,
    /// ECT(0).
    pub ect_0: u64,
    /// ECT(1).
    pub ect_1: u64,
    /// Marked.
    pub ce: u64,
}

/// One direction of a flow that has no window: all packets of one protocol between two ends.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq)]
pub struct WindowlessView {
    /// Which way.
    pub direction: Direction,
    /// This machine's end, or that of the host that it forwards for; port 0 where there is none.
    pub local: Endpoint,
    /// The far end.
    pub remote: Endpoint,
    /// Interface index.
    pub ifindex: u32,
    /// The number of what IP carries: 17 UDP.
    pub protocol: u32,
    /// What the flow is.
    pub kind: Kind,
    /// Whether this machine sends it or forwards it.
    pub origin: Origin,
    /// Packets on the wire.
    pub packets: Marks,
    /// Their payload bytes.
    pub bytes: u64,
    /// When the flow's first packet was seen, µs of CLOCK_MONOTONIC.
    pub first_us: u64,
    /// When its last was, either way.
    pub seen_us: u64,
    /// What the hold does about it; absent if the hold does not apply.
    pub hold: Option<HoldView>,
}

impl Marks {
    /// From the numbers of packets by [`Ecn::ALL`].
    pub const fn new(packets: [u64; 4]) -> Self {
        Self {
            not_ect: packets[Ecn::NotEct as usize],
            ect_0: packets[Ecn::Ect0 as usize],
            ect_1: packets[Ecn::Ect1 as usize],
            ce: packets[Ecn::Ce as usize],
        }
    }

    /// All packets.
    pub const fn sum(self) -> u64 {
        self.not_ect + self.ect_0 + self.ect_1 + self.ce
    }
}

impl WindowlessView {
    /// The views of both directions.
    pub(crate) fn both(key: &tg_windowless_key, flow: &tg_windowless) -> [Self; 2] {
        let (local, remote) = endpoints(&key.key);
        Direction::ALL.map(|direction| {
            let way = &flow.ways[direction as usize];
            Self {
                direction,
                local,
                remote,
                ifindex: key.key.ifindex,
                protocol: key.protocol,
                kind: Kind::from_raw(flow.kind).unwrap_or(Kind::Other),
                origin: Origin::from_raw(flow.origin).unwrap_or(Origin::Unknown),
                packets: Marks::new(way.packets),
                bytes: way.bytes,
                first_us: flow.first_us,
                seen_us: flow.seen_us,
                hold: None,
            }
        })
    }
}

impl Kind {
    /// In a word or two, for a line or a column.
    pub const fn short(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::NoTimestamps => "unstamped TCP",
            Self::TcpLeft => "TCP left alone",
            Self::Quic => "QUIC",
            Self::MaybeQuic => "QUIC?",
            Self::Wireguard => "WireGuard",
            Self::Ipsec => "IPsec",
            Self::Openvpn => "OpenVPN",
            Self::Gtp => "GTP-U",
            Self::Vxlan => "VXLAN",
            Self::Gre => "GRE",
            Self::IpInIp => "IP in IP",
            Self::Udp => "UDP",
            Self::Other => "other",
        }
    }

    /// The same, within a sentence.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::MaybeQuic => "probably QUIC",
            Self::NoTimestamps => "TCP without timestamps",
            Self::TcpLeft => "other TCP",
            Self::Udp => "UDP of an unknown kind",
            known => known.short(),
        }
    }

    /// Whether the hold looks at it: everything that IP carries as UDP.
    pub const fn may_be_held(self) -> bool {
        matches!(
            self,
            Self::Quic
                | Self::MaybeQuic
                | Self::Wireguard
                | Self::Openvpn
                | Self::Gtp
                | Self::Vxlan
                | Self::Udp
        )
    }

    /// Whether what goes `direction` can be steered by its window under `law`.
    pub fn is_reached(self, law: Law, direction: Direction) -> bool {
        let steers = !law.is_none() && (direction == Direction::Down || law.steers_uploads());
        let stamps = law.needs_timestamps() || direction == Direction::Up;
        match self {
            Self::Tcp => steers,
            Self::NoTimestamps => steers && !stamps,
            _ => false,
        }
    }
}
