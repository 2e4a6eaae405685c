//! A row of the view: a measured flow, data that are left alone, or a flow without a window.

use serde::Serialize;
use std::sync::Arc;
use tidegate_agent::{
    Carried, Direction, Endpoint, FlowView, GroupView, HoldView, Kind, LeftView, Limit, Marks,
    WindowlessView,
};
use tidegate_terminal::units::share;

/// Identifies a row.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// Which way the data go.
    pub direction: Direction,
    /// This machine's end.
    pub local: Endpoint,
    /// The far end.
    pub remote: Endpoint,
    /// Interface index.
    pub ifindex: u32,
    /// The IP protocol number.
    pub protocol: u32,
}

/// Whether packets still pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Packets passed a moment ago.
    Live,
    /// No packet passed of late.
    Idle,
    /// The data are over, or the agent has forgotten them.
    Closed,
}

/// What the kernel program shows of the data.
#[derive(Clone, Debug)]
pub enum Seen {
    /// A measured flow.
    Flow(FlowView),
    /// TCP that is left alone.
    Left(LeftView),
    /// Traffic without a window.
    Windowless(WindowlessView),
}

/// A row.
#[derive(Clone, Debug)]
pub struct Row {
    /// Which data it shows.
    pub key: Key,
    /// The far end's name, if names are wanted and it is known.
    pub remote_name: Option<Arc<str>>,
    /// The interface's name.
    pub interface: String,
    /// The device's name, if shares are by device and it is known.
    pub device: Option<String>,
    /// Payload bytes so far.
    pub bytes: u64,
    /// Bits of payload a second, between the last two looks.
    pub rate_bps: Option<f64>,
    /// What limits it, or why it is left alone.
    pub limit: Limit,
    /// Whether packets still pass.
    pub state: State,
    /// When a packet was last seen, µs of CLOCK_MONOTONIC.
    pub seen_us: u64,
    /// All that the agent knows.
    pub seen: Seen,
}

/// Flows that share a queue.
#[derive(Clone, Debug, Serialize)]
pub struct GroupRow {
    /// The group as the agent shows it.
    #[serde(flatten)]
    pub view: GroupView,
    /// Bits of payload a second, all flows of the group together.
    pub rate_bps: Option<f64>,
}

/// A device, with its flows on one path.
#[derive(Clone, Debug, Serialize, PartialEq)]
pub struct DeviceRow {
    /// As in [`FlowView::device`].
    pub device: u32,
    /// Its name.
    pub label: String,
    /// Its flows that had data of late.
    pub flows: u32,
    /// Bits of payload a second, all these flows together.
    pub rate_bps: Option<f64>,
}

/// An interface in one direction.
#[derive(Clone, Debug, Serialize)]
pub struct PathRow {
    /// Which way its data go.
    pub direction: Direction,
    /// Interface index.
    pub ifindex: u32,
    /// The longest queue that a recent flow has met, in µs.
    pub queue_us: u32,
    /// Its groups.
    pub groups: Vec<GroupRow>,
    /// Devices that have flows here, the fastest first; empty where shares are by flow.
    pub devices: Vec<DeviceRow>,
    /// Flows that share no queue, as far as we know.
    pub alone: u32,
    /// Payload bytes of TCP that were measured.
    pub measured_bytes: u64,
    /// All traffic in this direction so far.
    pub traffic: Vec<Carried>,
    /// The interface's name.
    pub interface: String,
    /// Kinds of traffic seen, the most first.
    pub kinds: Vec<KindRow>,
}

/// A kind of traffic on a path.
#[derive(Clone, Copy, Debug, Serialize, PartialEq)]
pub struct KindRow {
    /// The kind.
    pub kind: Kind,
    /// Whether the law in force can steer it.
    pub reached: bool,
    /// Bits a second between the last two looks, IP headers included.
    pub rate_bps: Option<f64>,
}

impl KindRow {
    /// Its name in a line of the view.
    pub fn name(&self) -> String {
        let steered = if self.reached { "steered " } else { "" };
        format!("{steered}{}", self.kind.short())
    }
}

impl PathRow {
    /// Bits a second, all kinds together.
    pub fn rate_bps(&self) -> f64 {
        self.kinds.iter().filter_map(|k| k.rate_bps).sum()
    }

    /// The kinds that make up most of it, with their shares; empty without traffic.
    pub fn shares(&self) -> String {
        /// Nobody would read more.
        const MOST: usize = 4;
        let all = self.rate_bps();
        let telling = |k: &&KindRow| k.rate_bps.is_some_and(|bps| 200.0 * bps > all);
        let kinds = self.kinds.iter().filter(telling).take(MOST);
        let shares = kinds.map(|k| {
            let bps = k.rate_bps.unwrap_or(0.0);
            format!("{} {}", k.name(), share(bps, all))
        });
        shares.collect::<Vec<_>>().join(", ")
    }
}

/// `IPPROTO_UDP`.
const UDP: u32 = 17;

/// `IPPROTO_TCP`.
pub const TCP: u32 = 6;

impl Key {
    /// TCP, UDP or the number of another protocol.
    pub fn protocol(&self) -> String {
        match self.protocol {
            TCP => "tcp".into(),
            UDP => "udp".into(),
            1 | 58 => "icmp".into(),
            50 => "esp".into(),
            other => format!("ip {other}"),
        }
    }
}

impl Row {
    /// The flow, if it is measured.
    pub fn flow(&self) -> Option<&FlowView> {
        match &self.seen {
            Seen::Flow(flow) => Some(flow),
            Seen::Left(_) | Seen::Windowless(_) => None,
        }
    }

    /// Its packets by ECN codepoint, if they are counted.
    pub fn marks(&self) -> Option<Marks> {
        match &self.seen {
            Seen::Windowless(way) => Some(way.packets),
            Seen::Flow(_) | Seen::Left(_) => None,
        }
    }

    /// What the hold knows of it and does with it, if the hold is on its interface.
    pub fn hold(&self) -> Option<&HoldView> {
        match &self.seen {
            Seen::Windowless(way) => way.hold.as_ref(),
            Seen::Flow(_) | Seen::Left(_) => None,
        }
    }

    /// A value from a measured flow, or from a flow that may be held.
    fn of<T>(
        &self,
        flow: impl Fn(&FlowView) -> Option<T>,
        hold: impl Fn(&HoldView) -> Option<T>,
    ) -> Option<T> {
        self.flow()
            .and_then(flow)
            .or_else(|| self.hold().and_then(hold))
    }

    /// Queueing delay in µs: in the data's direction; for flows that may be held, of the round trip.
    pub fn queue_us(&self) -> Option<u32> {
        self.of(|f| f.queue_us, |h| h.queue_us)
    }

    /// Last round trip in µs.
    pub fn rtt_us(&self) -> Option<u32> {
        self.of(|f| f.rtt_us, |h| h.rtt_us)
    }

    /// Smallest round trip in µs.
    pub fn rtt_min_us(&self) -> Option<u32> {
        self.of(|f| f.rtt_min_us, |h| h.rtt_min_us)
    }

    /// How many bytes its sender may have in flight: the window it was told, or the window that the hold leaves it.
    pub fn window_bytes(&self) -> Option<u32> {
        let sent = |h: &HoldView| Some(h.sender_bytes?.saturating_sub(h.here_bytes));
        self.of(|f| Some(f.window_bytes), sent)
    }

    /// How many bytes it could have in flight without us.
    pub fn kernel_bytes(&self) -> Option<u32> {
        self.of(|f| Some(f.kernel_bytes), |h| h.sender_bytes)
    }

    /// Number of the group that it shares a queue with.
    pub fn group(&self) -> Option<u32> {
        self.of(|f| f.group, |h| h.group)
    }

    /// Whether the law sets its window.
    pub fn is_steered(&self) -> bool {
        let told = |f: &FlowView| f.wanted_bytes.is_some();
        let held = |h: &HoldView| h.state.is_steered();
        self.flow().is_some_and(told) || self.hold().is_some_and(held)
    }

    /// What limits it, in two or three words; for flows that may be held, also their kind.
    pub fn why(&self) -> String {
        match (&self.seen, self.limit) {
            (Seen::Windowless(way), Limit::Hold(state)) => {
                format!("{} {}", way.kind.short(), state.short())
            }
            (_, limit) => limit.short().into(),
        }
    }
}

/// Address and port; IPv6 in brackets, no port if the protocol has none.
pub fn endpoint(end: &Endpoint) -> String {
    match (end.address, end.port) {
        (address, 0) => address.to_string(),
        (address, port) => std::net::SocketAddr::new(address, port).to_string(),
    }
}

/// A number of flows, in words.
pub fn flows_in_words(flows: u32) -> String {
    match flows {
        1 => "1 flow".into(),
        flows => format!("{flows} flows"),
    }
}
