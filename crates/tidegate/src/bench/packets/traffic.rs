//! Flows with 100 Mbit/s together and a round trip of 40 ms, whose packets alternate. Queues fill and drain at random:
//! one queue for all flows, or one for each.

use super::programs::Programs;
use anyhow::Result;
use etherparse::{IpHeaders, PacketBuilder, PacketBuilderStep, TcpOptionElement};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg32;
use std::fmt;
use tidegate_agent::Direction;

/// Time between two segments on the link.
const SPACING_US: u64 = 120;

/// One-way delay in each direction.
const ONE_WAY_US: u64 = 20_000;

/// The longest queueing delay, and how long a queue takes from one random length to the next.
const QUEUE_US: u64 = 120_000;
const PHASE_US: u64 = 250_000;

const SEGMENT: usize = 1448;

/// The peer's clock is ahead of ours by this, in ms.
const AHEAD_MS: u32 = 777;

/// Window fields: a kernel's window that the law lowers, and the peer's.
const WIDE: u16 = 30_000;
const OTHER: u16 = 500;

const SCALE: u8 = 7;

/// Which of the programs gets a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Arrives,
    Leaves,
}

/// A packet, and when it passes.
pub struct Packet {
    pub way: Way,
    pub now_us: u64,
    pub bytes: Vec<u8>,
}

/// How many flows, and whether they share one queue.
#[derive(Clone, Copy, Debug)]
pub struct Mix {
    pub flows: u32,
    pub together: bool,
}

impl Mix {
    /// Whether this many flows in groups are the expected result. With many flows chance joins some, and others may
    /// still be alone.
    pub fn is_found(self, joined: usize) -> bool {
        let flows = self.flows as usize;
        if self.together {
            4 * joined >= 3 * flows
        } else {
            4 * joined <= flows
        }
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.flows, self.together) {
            (1, _) => write!(f, "1 flow"),
            (flows, true) => write!(f, "{flows} flows in one queue"),
            (flows, false) => write!(f, "{flows} flows in queues of their own"),
        }
    }
}

/// Packets of that way, in words.
pub fn name(direction: Direction, way: Way) -> &'static str {
    match (direction, way) {
        (Direction::Down, Way::Arrives) => "arriving data of a download",
        (Direction::Down, Way::Leaves) => "leaving acknowledgements of a download",
        (Direction::Up, Way::Arrives) => "arriving acknowledgements of an upload",
        (Direction::Up, Way::Leaves) => "leaving data of an upload",
    }
}

/// Generates the packets.
pub struct Traffic {
    direction: Direction,
    mix: Mix,
    begin_us: u64,
    now_us: u64,
    segments: u32,
    /// Next sequence number of the data, by flow.
    next: Vec<u32>,
}

/// A TCP header without its ports.
struct Header {
    seq: u32,
    ack: u32,
    window: u16,
    tsval: u32,
    tsecr: u32,
    scale: Option<u8>,
}

impl Traffic {
    pub fn new(direction: Direction, mix: Mix) -> Self {
        let begin_us = 10_000_000;
        Self {
            direction,
            mix,
            begin_us,
            now_us: begin_us,
            segments: 0,
            next: vec![2; mix.flows as usize],
        }
    }

    /// The handshakes of all flows, just before the first segment.
    pub fn greet(&self, programs: &Programs) -> Result<()> {
        let answered_us = self.begin_us;
        let asked_us = answered_us - 2 * ONE_WAY_US;
        for flow in 0..self.mix.flows {
            let syn = Header {
                seq: 1,
                ack: 0,
                window: WIDE,
                tsval: ms(asked_us),
                tsecr: 0,
                scale: Some(SCALE),
            };
            let answer = Header {
                ack: 2,
                tsval: ms(asked_us + ONE_WAY_US) + AHEAD_MS,
                tsecr: ms(asked_us),
                ..syn
            };
            programs.pass(&packet(flow, Way::Leaves, asked_us, &syn, 0))?;
            programs.pass(&packet(flow, Way::Arrives, answered_us, &answer, 0))?;
        }
        Ok(())
    }

    /// The next segment and its acknowledgement, as they pass here.
    pub fn segment(&mut self) -> [Packet; 2] {
        let flow = self.segments % self.mix.flows;
        self.segments += 1;
        self.now_us += SPACING_US;
        let (now_us, queue_us) = (self.now_us, self.queue_us(flow));
        let seq = self.next[flow as usize];
        let end = seq + SEGMENT as u32;
        self.next[flow as usize] = end;
        let from_here = |seq, ack, window, heard_us: u64| Header {
            seq,
            ack,
            window,
            tsval: ms(now_us),
            tsecr: ms(heard_us) + AHEAD_MS,
            scale: None,
        };
        let from_there = |seq, ack, window, stamped_us: u64, echoed_us: u64| Header {
            seq,
            ack,
            window,
            tsval: ms(stamped_us) + AHEAD_MS,
            tsecr: ms(echoed_us),
            scale: None,
        };
        match self.direction {
            Direction::Down => {
                let sent_us = now_us - ONE_WAY_US - queue_us;
                let echoed_us = self.left_us(flow, sent_us - ONE_WAY_US);
                let data = from_there(seq, 2, OTHER, sent_us, echoed_us);
                let ack = from_here(2, end, WIDE, sent_us);
                [
                    packet(flow, Way::Arrives, now_us, &data, SEGMENT),
                    packet(flow, Way::Leaves, now_us, &ack, 0),
                ]
            }
            Direction::Up => {
                let heard_us = now_us - ONE_WAY_US;
                let data = from_here(seq, 2, OTHER, heard_us);
                let echoed_us = self.left_us(flow, heard_us - ONE_WAY_US - queue_us);
                let ack = from_there(2, end, WIDE, heard_us, echoed_us);
                [
                    packet(flow, Way::Leaves, now_us, &data, SEGMENT),
                    packet(flow, Way::Arrives, now_us, &ack, 0),
                ]
            }
        }
    }

    /// When the flow's last packet before that time left.
    fn left_us(&self, flow: u32, by_us: u64) -> u64 {
        let first_us = self.begin_us + SPACING_US * u64::from(flow + 1);
        let round_us = SPACING_US * u64::from(self.mix.flows);
        match by_us.checked_sub(first_us) {
            Some(since_us) => by_us - since_us % round_us,
            None => self.begin_us - 2 * ONE_WAY_US,
        }
    }

    /// The queueing delay that the flow's packet meets now. With two separate queues, the second drains as the first
    /// fills, so that chance does not join their flows.
    fn queue_us(&self, flow: u32) -> u64 {
        let (queue, mirrored) = match self.mix.together {
            true => (0, false),
            false => (flow / 2, flow % 2 == 1),
        };
        let length_us = |phase: u64| {
            let mut random = Pcg32::seed_from_u64(phase << 32 | u64::from(queue));
            random.random_range(0..QUEUE_US)
        };
        let (phase, into_us) = (self.now_us / PHASE_US, self.now_us % PHASE_US);
        let (from_us, to_us) = (length_us(phase), length_us(phase + 1));
        let queue_us = (from_us * (PHASE_US - into_us) + to_us * into_us) / PHASE_US;
        if mirrored {
            QUEUE_US - queue_us
        } else {
            queue_us
        }
    }
}

/// Packets without a window, in words.
pub fn windowless_name(way: Way) -> &'static str {
    match way {
        Way::Arrives => "arriving datagrams",
        Way::Leaves => "leaving datagrams",
    }
}

/// How many flows one echo measures, and identifier and secret if none was set.
const FLOWS_OF_ECHO: u16 = 4;
const NOBODY: u32 = 0;

/// Time between two echoes to one server, as the rate limit of an interface allows.
const ECHOES_US: u64 = 35_000;

/// QUIC flows that begin with handshakes; each datagram is acknowledged.
pub struct Datagrams {
    flows: u16,
    /// Payload of each datagram that arrives.
    bytes: usize,
    exchanges: u64,
    /// When the next echo's answer comes; none if no server answers.
    echo_us: Option<u64>,
    echoes: u16,
}

impl Datagrams {
    pub fn new(flows: u16, bytes: usize) -> Self {
        Self {
            flows,
            bytes,
            exchanges: 0,
            echo_us: None,
            echoes: 0,
        }
    }

    /// From now on the server answers echoes, each for the next few flows.
    pub fn answer_echoes(&mut self) {
        self.echo_us = Some(self.now_us());
    }

    fn now_us(&self) -> u64 {
        10_000_000 + self.exchanges * SPACING_US
    }

    /// The next datagram and its acknowledgement; before them the answer to an echo, if one is due.
    pub fn exchange(&mut self) -> impl Iterator<Item = Packet> + use<> {
        /// A short header, and the start of a long header of version 1 (RFC 9000 sections 17.3.1 and 17.2.2).
        const SHORT: u8 = 0x40;
        const INITIAL: [u8; 6] = [0xc0, 0, 0, 0, 1, 8];
        let is_first = self.exchanges < self.flows.into();
        self.exchanges += 1;
        let now_us = self.now_us();
        let flow = (self.exchanges % u64::from(self.flows)) as u16;
        let ways = [(Way::Arrives, self.bytes), (Way::Leaves, 40)];
        let both = ways.map(|(way, bytes)| {
            let [from, to] = ends(way, flow.into());
            let udp = between(from.0, to.0).udp(from.1, to.1);
            let mut payload = vec![SHORT; bytes];
            if is_first {
                payload[..INITIAL.len()].copy_from_slice(&INITIAL);
            }
            let mut bytes = Vec::with_capacity(udp.size(payload.len()));
            udp.write(&mut bytes, &payload)
                .expect("memory can be written to");
            Packet { way, now_us, bytes }
        });
        self.echo().into_iter().chain(both)
    }

    /// The answer to an echo for the next flows, if it is due.
    fn echo(&mut self) -> Option<Packet> {
        let now_us = self.now_us();
        if now_us < self.echo_us? {
            return None;
        }
        self.echo_us = Some(now_us + ECHOES_US);
        let queue_us = QUEUE_US * (now_us % PHASE_US) / PHASE_US;
        let sent_us = (now_us - 2 * ONE_WAY_US - queue_us) as u32;
        let mut payload = [NOBODY.to_ne_bytes(), sent_us.to_ne_bytes()].concat();
        for _ in 0..FLOWS_OF_ECHO {
            let place = self.echoes % self.flows;
            payload.extend(place.to_ne_bytes());
            self.echoes = place + 1;
        }
        let [from, to] = ends(Way::Arrives, 0).map(|(address, _)| address);
        let echo = between(from, to).icmpv4_echo_reply(NOBODY as u16, 1);
        let mut bytes = Vec::with_capacity(echo.size(payload.len()));
        echo.write(&mut bytes, &payload)
            .expect("memory can be written to");
        Some(Packet {
            way: Way::Arrives,
            now_us,
            bytes,
        })
    }
}

/// A packet over IPv4 and Ethernet.
fn between(from: [u8; 4], to: [u8; 4]) -> PacketBuilderStep<IpHeaders> {
    PacketBuilder::ethernet2([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]).ipv4(from, to, 64)
}

fn ms(us: u64) -> u32 {
    (us / 1000) as u32
}

/// Source and destination of the flow's packets.
fn ends(way: Way, flow: u32) -> [([u8; 4], u16); 2] {
    /// How many ports of one address are used.
    const PORTS: u32 = 40_000;
    const HERE: ([u8; 3], u16) = ([192, 0, 2], 20_000);
    const THERE: ([u8; 4], u16) = ([198, 51, 100, 9], 443);
    let ([a, b, c], first) = HERE;
    let address = [a, b, c, 7 + (flow / PORTS) as u8];
    let here = (address, first + (flow % PORTS) as u16);
    match way {
        Way::Arrives => [THERE, here],
        Way::Leaves => [here, THERE],
    }
}

/// A TCP packet of that flow.
fn packet(flow: u32, way: Way, now_us: u64, header: &Header, payload: usize) -> Packet {
    let [from, to] = ends(way, flow);
    let mut options = match header.scale {
        Some(scale) => vec![TcpOptionElement::Noop, TcpOptionElement::WindowScale(scale)],
        None => Vec::new(),
    };
    options.extend([
        TcpOptionElement::Noop,
        TcpOptionElement::Noop,
        TcpOptionElement::Timestamp(header.tsval, header.tsecr),
    ]);
    let mut tcp = between(from.0, to.0).tcp(from.1, to.1, header.seq, header.window);
    if header.scale.is_some() {
        tcp = tcp.syn();
    }
    if header.ack != 0 {
        tcp = tcp.ack(header.ack);
    }
    let tcp = tcp.options(&options).expect("they fit into a header");
    let payload = vec![0; payload];
    let mut bytes = Vec::with_capacity(tcp.size(payload.len()));
    tcp.write(&mut bytes, &payload)
        .expect("memory can be written to");
    Packet { way, now_us, bytes }
}
