//! A connection between the machine that receives the data and the one that sends them, and how the sender reads the
//! acknowledgements that have passed the gate. "We" are the receiver, on whichever side the gate stands.

use crate::gate::{Gate, Mode, Way};
use crate::packet::{ACK, FIN, Ip, Link, Packet, RST, SYN, option};
use std::collections::VecDeque;
use tidegate_agent::Direction;

/// The round trip of connections, unless one says otherwise.
pub const RTT_US: u64 = 40_000;
pub const MSS: usize = 1448;

const HERE: u8 = 1;
const FAR: u8 = 2;
const FAR_PORT: u16 = 443;

/// What an acknowledgement carried when it reached the wire.
#[derive(Clone, Copy, Debug)]
struct Seen {
    ack: u32,
    /// As the kernel wrote it, and as it was sent.
    kernel: u16,
    sent: u16,
}

/// One connection. Every packet that it sends through a gate is held against the promises.
#[derive(Clone)]
pub struct Connection {
    /// Where the gate stands.
    direction: Direction,
    pub link: Link,
    pub ip: Ip,
    pub vlan: Option<u16>,
    pub port: u16,
    /// Scales offered by us and by the far host.
    pub scales: [Option<u8>; 2],
    pub timestamps: bool,
    /// Whether we, and the far host, say MP_CAPABLE in the handshake.
    pub mptcp: [bool; 2],
    /// Segments that one acknowledgement covers in [`Self::download`], and the time between them.
    pub ack_every: u64,
    pub segment_us: u64,
    pub rtt_us: u64,
    /// By how much the far host's clock is ahead of ours.
    pub far_ahead_ms: u32,
    /// The unit of that clock's stamps, and of `far_ahead_ms`.
    pub far_tick_us: u64,
    /// Whether both ends echo the other's TSval, so that a TSval can be too old (RFC 7323 section 5). It would be with
    /// a clock that is set back, or a queue that vanishes between two packets.
    pub echoing: bool,
    /// Window field of the far host's segments.
    pub far_window: u16,
    /// How long the data stand in a queue on their way.
    pub queue_us: u64,
    /// Our next sequence number.
    pub seq: u32,
    /// The next byte that we expect.
    pub expected: u32,
    /// TSvals of ours on their way: when they are back, and what they were.
    echoes: VecDeque<(u64, u32)>,
    tsecr: u32,
    /// The edge that our answer to the far host's SYN promised, and that its gate has noted.
    answered: Option<u32>,
    /// The newest acknowledgement that the far host heeds.
    newest: Option<Seen>,
    /// The gate's mode at that time.
    mode: Mode,
    /// Whether a rule leaves the connection alone, as of the last packet that left the machine.
    denied: bool,
    /// Acknowledgements whose window came out lower.
    pub lowered: usize,
}

impl Connection {
    /// A connection through a gate of downloads.
    pub fn new(link: Link, ip: Ip, port: u16) -> Self {
        Self {
            direction: Direction::Down,
            link,
            ip,
            vlan: None,
            port,
            scales: [Some(7), Some(7)],
            timestamps: true,
            mptcp: [false; 2],
            ack_every: 2,
            segment_us: 1_000,
            rtt_us: RTT_US,
            far_ahead_ms: 900_000,
            far_tick_us: 1_000,
            echoing: false,
            far_window: 1_000,
            queue_us: 0,
            seq: 0xffff_0000,
            expected: 0xfffe_0000,
            echoes: VecDeque::new(),
            tsecr: 0,
            answered: None,
            newest: None,
            mode: Mode::default(),
            denied: false,
            lowered: 0,
        }
    }

    /// A connection through `gate`.
    pub fn through(gate: &Gate, link: Link, ip: Ip, port: u16) -> Self {
        Self {
            direction: gate.direction,
            ..Self::new(link, ip, port)
        }
    }

    /// The scale in force: both sides offered one, or there is none (RFC 7323 section 2.2); above
    /// 14 it counts as 14 (section 2.3).
    pub fn scale(&self) -> u8 {
        match self.scales {
            [Some(ours), Some(_)] => ours.min(14),
            _ => 0,
        }
    }

    fn packet(&self, way: Way) -> Packet {
        let here = (HERE, self.port);
        let far = (FAR, FAR_PORT);
        let (from, to) = match way {
            Way::Arrives => (far, here),
            Way::Leaves => (here, far),
        };
        let mut packet = Packet::new(self.link, self.ip, from, to);
        packet.vlan = self.vlan;
        (packet.seq, packet.ack) = match way {
            Way::Arrives => (self.expected, self.seq),
            Way::Leaves => (self.seq, self.expected),
        };
        packet
    }

    /// TSval at the other end of the link, half a round trip ago.
    pub fn far_ms(&self, now_us: u64) -> u32 {
        let ticks = (now_us - self.rtt_us / 2) / self.far_tick_us;
        (ticks as u32).wrapping_add(self.far_ahead_ms)
    }

    /// A segment of ours at `now_us`, with the window field as the kernel wrote it.
    pub fn outgoing(&self, now_us: u64, window: u16) -> Packet {
        let mut packet = self.packet(Way::Leaves);
        packet.window = window;
        if self.timestamps {
            packet.options = match self.direction {
                Direction::Down => {
                    option::timestamps(ms(now_us), self.echo(now_us - self.queue_us))
                }
                // It left half a round trip ago, and what it echoes stood in a queue before.
                Direction::Up => {
                    let sent_us = now_us - self.rtt_us - self.queue_us;
                    option::timestamps(self.far_ms(now_us), ms(sent_us))
                }
            };
        }
        packet
    }

    /// A segment of the far host's at `now_us`; before our gate it left half a round trip ago.
    pub fn incoming(&mut self, now_us: u64, payload: usize) -> Packet {
        let mut packet = self.packet(Way::Arrives);
        packet.window = self.far_window;
        packet.payload = payload;
        let left_us = match self.direction {
            Direction::Down => now_us - self.queue_us,
            Direction::Up => now_us,
        };
        while let Some((_, tsval)) = self.echoes.pop_front_if(|(back, _)| *back <= left_us) {
            self.tsecr = tsval;
        }
        if self.timestamps {
            packet.options = match self.direction {
                Direction::Down => option::timestamps(self.far_ms(left_us), self.tsecr),
                Direction::Up => option::timestamps(ms(now_us), self.echo(now_us)),
            };
        }
        packet
    }

    /// The TSval of that time as the gate's machine echoes it; 0: it echoes none.
    fn echo(&self, us: u64) -> u32 {
        if self.echoing { self.far_ms(us) } else { 0 }
    }

    /// Our SYN and the far host's answer, half a minute before anything else.
    pub fn open(&mut self, gate: &mut Gate, now_us: u64) {
        gate.at(now_us);
        for way in [Way::Leaves, Way::Arrives] {
            self.send_handshake(gate, now_us, way, way == Way::Arrives);
        }
    }

    /// The far host's SYN and our answer.
    pub fn accept(&mut self, gate: &mut Gate, now_us: u64) {
        gate.at(now_us);
        for way in [Way::Arrives, Way::Leaves] {
            self.send_handshake(gate, now_us, way, way == Way::Leaves);
        }
    }

    /// A SYN, or an answer to one, which passes as it is.
    pub fn send_handshake(&mut self, gate: &Gate, now_us: u64, way: Way, answers: bool) {
        let mut packet = match way {
            Way::Arrives => self.incoming(now_us, 0),
            Way::Leaves => self.outgoing(now_us, 64_000),
        };
        packet.flags = if answers { SYN | ACK } else { SYN };
        let scale = self.scales[usize::from(way == Way::Arrives)];
        packet
            .options
            .extend(scale.map(option::scale).unwrap_or_default());
        if self.mptcp[usize::from(way == Way::Arrives)] {
            packet.options.extend(option::other(30, 10));
        }
        let before = packet.bytes();
        assert_eq!(
            gate.pass(way, self.link, &before),
            before,
            "a handshake was changed"
        );
        self.meet_rules(gate);
        // A SYN takes one number (RFC 9293 section 3.4).
        match way {
            Way::Arrives => self.expected = self.expected.wrapping_add(1),
            Way::Leaves => {
                self.seq = self.seq.wrapping_add(1);
                self.newest = None;
                // Windows of a handshake are not scaled.
                let edge = packet.ack.wrapping_add(packet.window.into());
                let noted = self.direction == Direction::Up && answers;
                self.answered = noted.then_some(edge);
            }
        }
    }

    /// A leaving packet is checked against the rules. When a connection stops being steered, the next acknowledgement
    /// is the kernel's.
    fn meet_rules(&mut self, gate: &Gate) {
        let denied = gate.denies(self.port);
        if denied && !self.denied {
            self.newest = None;
        }
        self.denied = denied;
    }

    /// New data arrives, in a packet that comes out as it went in.
    pub fn receive(&mut self, gate: &Gate, now_us: u64, payload: usize) {
        let packet = self.incoming(now_us, payload);
        let before = packet.bytes();
        let after = gate.pass(Way::Arrives, self.link, &before);
        assert!(after == before, "data was changed");
        if self.direction == Direction::Up && payload > 0 {
            self.meet_rules(gate);
        }
        self.expected = self.expected.wrapping_add(payload as u32);
    }

    /// Sends a packet of ours and holds it against every promise. Returns the window field that
    /// came out.
    pub fn send(&mut self, gate: &Gate, now_us: u64, packet: &Packet) -> u16 {
        let before = packet.bytes();
        let after = gate.pass(Way::Leaves, self.link, &before);
        self.echoes.push_back((now_us + self.rtt_us, ms(now_us)));
        let window = window_of(packet, &after);
        assert!(window <= packet.window, "a larger window");
        assert!(packet.checksum_is_right(&after), "a wrong checksum");
        let mut as_it_was = after;
        let at = packet.tcp_offset();
        as_it_was[at + 14..at + 18].copy_from_slice(&before[at + 14..at + 18]);
        assert_eq!(
            as_it_was, before,
            "more was changed than window and checksum"
        );
        if packet.flags & (SYN | RST) == 0 {
            if self.direction == Direction::Down {
                self.meet_rules(gate);
            }
            assert!(
                !self.denied || window == packet.window,
                "denied, and lowered"
            );
            // The first of another mode is the kernel's.
            self.newest = self.newest.filter(|_| self.mode == gate.mode);
            self.mode = gate.mode;
            self.hold_against_the_last(packet, window);
        }
        window
    }

    /// The promises that concern a window and the one before it.
    fn hold_against_the_last(&mut self, packet: &Packet, sent: u16) {
        let seen = Seen {
            ack: packet.ack,
            kernel: packet.window,
            sent,
        };
        let scale = self.scale();
        let bytes = |raw: u16| u32::from(raw) << scale;
        let ahead = |from: u32, to: u32| to.wrapping_sub(from) as i32;
        self.lowered += usize::from(sent < packet.window);
        assert_eq!(sent == 0, packet.window == 0, "zero is the kernel's to say");
        let Some(last) = self.newest else {
            let edge = seen.ack.wrapping_add(bytes(sent));
            let answered = self.answered.take();
            assert!(
                sent == packet.window || answered.is_some_and(|least| ahead(least, edge) >= 0),
                "the first acknowledgement is not the kernel's"
            );
            self.newest = Some(seen);
            return;
        };
        if ahead(last.ack, seen.ack) < 0 {
            return; // overtaken: the sender ignores it
        }
        let bare = packet.payload == 0 && packet.flags & FIN == 0;
        let sack = packet.options.first() == Some(&5);
        let duplicate = bare
            && seen.ack == last.ack
            && if sack {
                last.sent != 0
            } else {
                seen.kernel == last.kernel
            };
        let untouched = last.sent == last.kernel && seen.sent == seen.kernel;
        if duplicate {
            let repeated = last.sent.min(seen.kernel);
            assert!(
                seen.sent == repeated || untouched,
                "a duplicate with another window: {last:?}, {seen:?}"
            );
        } else {
            let floor = bytes(seen.kernel).min(2 * MSS as u32);
            assert!(bytes(seen.sent) >= floor, "a silly window");
        }
        // The kernel itself may have retracted its edge; then ours may retreat as far.
        let edge = |s: Seen| s.ack.wrapping_add(bytes(s.sent));
        let kernel_edge = seen.ack.wrapping_add(bytes(seen.kernel));
        if !untouched && ahead(edge(last), kernel_edge) >= 0 {
            let moved = ahead(edge(last), edge(seen));
            assert!(
                moved >= 0,
                "an edge was retracted by {} bytes: {last:?}, {seen:?}",
                -moved
            );
        }
        self.newest = Some(seen);
    }

    /// A packet of ours has bypassed the gate, or passed it unchanged: the sender knows the kernel's window.
    pub fn told_by_the_kernel(&mut self, packet: &Packet) {
        self.newest = Some(Seen {
            ack: packet.ack,
            kernel: packet.window,
            sent: packet.window,
        });
    }

    /// Sends until the law knows the flow and lowers its windows; the kernel's window is `window`. Returns when this
    /// ended, and the last window field that came out.
    pub fn steer(&mut self, gate: &mut Gate, from_us: u64, window: u16) -> (u64, u16) {
        if self.direction == Direction::Down {
            return self.download(gate, from_us, 400_000, window);
        }
        // A queue that builds up, anew, before an uplink of 2.3 Mbit/s.
        self.segment_us = 5_000;
        self.queue_us = 0;
        let (now_us, _) = self.download(gate, from_us, 400_000, window);
        self.queue_us = 100_000;
        self.download(gate, now_us, 1_200_000, window)
    }

    /// Downloads for `duration_us`: a segment a millisecond, unless said otherwise, acknowledged with
    /// the kernel's `window`. Returns when it ended and the last window field that came out.
    pub fn download(
        &mut self,
        gate: &mut Gate,
        from_us: u64,
        duration_us: u64,
        window: u16,
    ) -> (u64, u16) {
        let mut last = window;
        let mut now_us = from_us;
        while now_us < from_us + duration_us {
            now_us += self.segment_us;
            gate.at(now_us);
            self.receive(gate, now_us, MSS);
            if (now_us / self.segment_us).is_multiple_of(self.ack_every) {
                let packet = self.outgoing(now_us, window);
                last = self.send(gate, now_us, &packet);
            }
        }
        (now_us, last)
    }
}

/// TSval of a clock that counts milliseconds.
fn ms(now_us: u64) -> u32 {
    (now_us / 1_000) as u32
}

/// The window field of a packet that was made from `packet`.
pub fn window_of(packet: &Packet, bytes: &[u8]) -> u16 {
    let at = packet.tcp_offset() + 14;
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}
