//! Packets.

use crate::route::RouteId;
use crate::sprout;
use tidegate_basics::time::Instant;
use tidegate_link::{Ecn, Sequence};
use tidegate_mpath::{Data, Feedback};
use tidegate_scenario::Side;
use tidegate_tcp::{Flags, Segment};

/// Header of IPv4, in bytes.
const IP_HEADER: u64 = 20;

/// An IP packet, reduced to what matters here.
#[derive(Clone, Debug)]
pub struct Packet {
    /// What it carries.
    pub body: Body,
    /// When it arrived at its current link.
    pub arrived: Instant,
    /// Length of the IP packet.
    pub bytes: u16,
    /// Its route.
    pub route: RouteId,
    /// Number of links already crossed.
    pub hop: u8,
}

/// Contents and addressee of a packet.
#[derive(Clone, Debug)]
pub enum Body {
    /// A segment of a connection.
    Segment(ConnectionId, Segment),
    /// A datagram of an application.
    Datagram(Datagram),
    /// An echo that the law at the client asks for.
    Echo(Echo),
    /// An echo by which cake-autorate measures.
    Probe(Probe),
    /// A packet of an mPath transfer: of the application of that number.
    Mpath(u32, Message),
    /// A packet of a Sprout connection: of the application of that number.
    Sprout(u32, SproutMessage),
}

/// Packets between the ends of an mPath transfer.
#[derive(Clone, Debug)]
pub enum Message {
    /// A packet of the stream; it only counts its payload.
    Data(Data),
    /// The receiver's feedback.
    Feedback(Box<Feedback>),
}

/// Packets between the ends of a Sprout connection.
#[derive(Clone, Copy, Debug)]
pub enum SproutMessage {
    /// A packet of the stream, or a heartbeat; it only counts its payload.
    Data(sprout::Data),
    /// The receiver's forecast.
    Forecast(sprout::Forecast),
}

/// Identifies a connection, even after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionId {
    /// Its slot, which another connection takes once this one is removed.
    pub key: u32,
    /// Serial number, which tells connections of one slot apart.
    pub serial: u32,
}

/// An echo by which the law at the client measures delay.
#[derive(Clone, Copy, Debug)]
pub struct Echo {
    /// The workload whose flows it measures for.
    pub workload: u32,
    /// When it was sent.
    pub sent: Instant,
}

/// Bytes of an echo: IPv4, ICMP, and eight of its own.
pub const ECHO_BYTES: u64 = 36;

/// An echo to a reflector, by which cake-autorate measures.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Which reflector.
    pub pinger: u8,
    /// When it was sent.
    pub sent: Instant,
}

/// Bytes of a probe: IPv4, ICMP, and fping's 56.
pub const PROBE_BYTES: u64 = 84;

/// A datagram.
#[derive(Clone, Copy, Debug)]
pub struct Datagram {
    /// The application that it belongs to, at both ends.
    pub app: u32,
    /// When it was sent; for an answer, when its request was sent.
    pub sent: Instant,
}

impl Packet {
    /// A segment on its way.
    pub fn segment(connection: ConnectionId, route: RouteId, segment: Segment) -> Self {
        let bytes = IP_HEADER + segment.header_bytes() as u64 + u64::from(segment.len);
        Self::new(Body::Segment(connection, segment), bytes, route)
    }

    /// A datagram on its way, in an IP packet of `bytes`.
    pub fn datagram(datagram: Datagram, bytes: u64, route: RouteId) -> Self {
        Self::new(Body::Datagram(datagram), bytes, route)
    }

    /// An echo on its way.
    pub fn echo(echo: Echo, route: RouteId) -> Self {
        Self::new(Body::Echo(echo), ECHO_BYTES, route)
    }

    /// A probe on its way.
    pub fn probe(probe: Probe, route: RouteId) -> Self {
        Self::new(Body::Probe(probe), PROBE_BYTES, route)
    }

    /// A packet of application `app`'s transfer on its way, in an IP packet of `bytes`.
    pub fn mpath(app: u32, message: Message, bytes: u64, route: RouteId) -> Self {
        Self::new(Body::Mpath(app, message), bytes, route)
    }

    /// A packet of application `app`'s Sprout connection on its way, in an IP packet of `bytes`.
    pub fn sprout(app: u32, message: SproutMessage, bytes: u64, route: RouteId) -> Self {
        Self::new(Body::Sprout(app, message), bytes, route)
    }

    fn new(body: Body, bytes: u64, route: RouteId) -> Self {
        Self {
            body,
            arrived: Instant::ZERO,
            bytes: bytes.min(u16::MAX.into()) as u16,
            route,
            hop: 0,
        }
    }
}

impl tidegate_link::Packet for Packet {
    fn wire_bytes(&self) -> usize {
        self.bytes.into()
    }

    fn flow(&self) -> u64 {
        // Identifies an application's datagrams and a connection's segments; a link has one direction.
        match self.body {
            Body::Segment(connection, _) => u64::from(connection.serial) << 1,
            Body::Datagram(Datagram { app, .. }) | Body::Mpath(app, _) | Body::Sprout(app, _) => {
                u64::from(app) << 1 | 1
            }
            Body::Echo(echo) => !u64::from(echo.workload),
            Body::Probe(probe) => !u64::from(u32::MAX) - u64::from(probe.pinger),
        }
    }

    fn sequence(&self) -> Option<Sequence> {
        let Body::Segment(_, segment) = &self.body else {
            return None;
        };
        let (start, length) = (segment.seq.0, segment.seq_len());
        (length > 0).then(|| Sequence {
            start,
            end: start.wrapping_add(length),
            opens: segment.flags.has(Flags::SYN),
        })
    }

    fn ecn(&self) -> Ecn {
        match &self.body {
            Body::Segment(_, segment) => segment.ecn,
            _ => Ecn::NotEct,
        }
    }

    fn mark(&mut self) {
        if let Body::Segment(_, segment) = &mut self.body {
            segment.ecn = Ecn::Ce;
        }
    }

    fn duplicate(&self) -> Option<Self> {
        Some(self.clone())
    }
}

/// Index of a side in pairs: client, server.
pub const fn index(side: Side) -> usize {
    match side {
        Side::Client => 0,
        Side::Server => 1,
    }
}

/// The side of an [`index`].
pub const fn side(index: usize) -> Side {
    match index {
        0 => Side::Client,
        _ => Side::Server,
    }
}
