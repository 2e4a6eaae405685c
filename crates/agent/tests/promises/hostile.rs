//! Several flows at once, under every law, with anything that peers, kernels and users may do to them: each packet is
//! held against the promises as it leaves (`Connection::send`).

use crate::connection::{Connection, MSS};
use crate::gate::Gate;
use crate::packet::{FIN, Ip, Link, RST, option};
use proptest::prelude::*;
use proptest::strategy::Union;
use proptest::test_runner::{Config, RngSeed};
use std::cell::RefCell;
use tidegate_agent::{Direction, Verdict};
use tidegate_laws::{Law, Params};
use tidegate_testing::is_root;

const FLOWS: u16 = 3;
/// That of the first flow; the others have the next.
const PORT: u16 = 60_000;

/// What happens next. `flow` counts modulo [`FLOWS`].
#[derive(Clone, Debug)]
enum Event {
    /// Some time passes, in µs.
    Wait(u64),
    /// An ordinary download of some segments.
    Download {
        flow: u16,
        segments: u64,
    },
    /// Segments arrive, 100 µs apart.
    Data {
        flow: u16,
        segments: u64,
        len: usize,
    },
    /// A segment arrives that had arrived before.
    Again {
        flow: u16,
    },
    /// An acknowledgement leaves, with a window that fits the kernel's buffer, or with any other.
    Ack {
        flow: u16,
        window: Window,
        sack: bool,
        behind: u32,
    },
    /// A segment of ours leaves.
    Send {
        flow: u16,
        payload: usize,
        fin: bool,
    },
    /// The last acknowledgement leaves again, `times` times.
    Repeat {
        flow: u16,
        times: usize,
    },
    /// A new connection takes the port.
    Reopen {
        flow: u16,
        scales: [Option<u8>; 2],
        passive: bool,
    },
    Reset {
        flow: u16,
    },
    /// The queue that an upload's data meet, in µs.
    Queue {
        flow: u16,
        us: u64,
    },
    Configure {
        params: Params,
        dry_run: bool,
    },
    /// Other rules: a weight for each flow, or none.
    Rules {
        weights: [Option<u32>; FLOWS as usize],
    },
}

/// The kernel's window.
#[derive(Clone, Copy, Debug)]
enum Window {
    /// As wide as it ever was.
    Full,
    /// Exactly what was left of the one before.
    Closing,
    Any(u16),
}

/// Mostly laws that steer that way.
fn params(direction: Direction) -> impl Strategy<Value = Params> {
    let weight = move |law: Law| match direction {
        Direction::Up if !law.steers_uploads() => 1,
        _ => 4,
    };
    let law = Union::new_weighted(Law::ALL.map(|law| (weight(law), Just(law))).to_vec());
    let limit = prop::option::of(1u32..200_000);
    let params = (law, 0.5f64..4.0, limit, any::<bool>());
    params.prop_map(|(law, lambda, limit, keep_minima)| Params {
        stampless: true,
        law,
        lambda,
        limit,
        keep_minima,
    })
}

fn weights() -> impl Strategy<Value = [Option<u32>; FLOWS as usize]> {
    let weight = || prop::option::weighted(0.6, 1u32..=100);
    [weight(), weight(), weight()]
}

fn event(direction: Direction) -> impl Strategy<Value = Event> {
    let flow = || 0..FLOWS;
    let window = prop_oneof![
        6 => Just(Window::Full),
        2 => Just(Window::Closing),
        1 => any::<u16>().prop_map(Window::Any),
        1 => (0u16..40).prop_map(Window::Any),
    ];
    let scale = || prop::option::weighted(0.9, 0u8..=15);
    let wait = prop_oneof![5 => 1_000u64..50_000, 1 => 0u64..15_000_000];
    prop_oneof![
        4 => wait.prop_map(Event::Wait),
        4 => (flow(), 1u64..100).prop_map(|(flow, segments)| Event::Download { flow, segments }),
        8 => (flow(), 1u64..40, 1usize..=MSS).prop_map(|(flow, segments, len)| {
            // Most are full.
            Event::Data { flow, segments, len: if len % 4 == 0 { len } else { MSS } }
        }),
        1 => flow().prop_map(|flow| Event::Again { flow }),
        12 => (flow(), window, prop::bool::weighted(0.2), prop_oneof![9 => Just(0u32), 1 => 0u32..50_000])
            .prop_map(|(flow, window, sack, behind)| Event::Ack { flow, window, sack, behind }),
        2 => (flow(), 0usize..=MSS, prop::bool::weighted(0.1))
            .prop_map(|(flow, payload, fin)| Event::Send { flow, payload, fin }),
        2 => (flow(), 1usize..4).prop_map(|(flow, times)| Event::Repeat { flow, times }),
        1 => (flow(), [scale(), scale()], any::<bool>())
            .prop_map(|(flow, scales, passive)| Event::Reopen { flow, scales, passive }),
        1 => flow().prop_map(|flow| Event::Reset { flow }),
        2 => (flow(), 0u64..300_000).prop_map(|(flow, us)| Event::Queue { flow, us }),
        1 => (params(direction), prop::bool::weighted(0.2))
            .prop_map(|(params, dry_run)| Event::Configure { params, dry_run }),
        2 => weights().prop_map(|weights| Event::Rules { weights }),
    ]
}

fn verdicts(weights: [Option<u32>; FLOWS as usize]) -> Vec<(u16, Verdict)> {
    let verdict = |weight: Option<u32>| {
        weight.map_or(Verdict::LeftAlone, |weight| Verdict::Steered { weight })
    };
    (PORT..).zip(weights.map(verdict)).collect()
}

/// The machine: its connections, and its kernel's state for each.
struct Machine<'a> {
    gate: &'a mut Gate,
    now_us: u64,
    connections: Vec<Connection>,
    /// The kernel's window and the acknowledgement that it went with, by connection.
    kernels: Vec<(u16, u32)>,
}

impl<'a> Machine<'a> {
    fn new(gate: &'a mut Gate, now_us: u64, kinds: [(Link, Ip, bool); FLOWS as usize]) -> Self {
        gate.at(now_us);
        let connections = (PORT..).zip(kinds).map(|(port, (link, ip, timestamps))| {
            let mut connection = Connection::through(gate, link, ip, port);
            connection.timestamps = timestamps;
            connection.open(gate, now_us);
            connection
        });
        let connections: Vec<_> = connections.collect();
        let kernels = connections.iter().map(|c| (500, c.expected)).collect();
        let mut machine = Self {
            gate,
            now_us,
            connections,
            kernels,
        };
        if machine.gate.direction == Direction::Up {
            (0..FLOWS).for_each(|flow| machine.steer(flow));
        }
        machine
    }

    /// Builds a queue, since an upload is steered only behind one, and random events hardly make it.
    fn steer(&mut self, flow: u16) {
        let raw = self.kernel_window(flow, Window::Full, 0);
        let connection = &mut self.connections[usize::from(flow)];
        (self.now_us, _) = connection.steer(self.gate, self.now_us, raw);
        self.kernels[usize::from(flow)] = (raw, connection.expected);
    }

    fn wait(&mut self, us: u64) {
        self.now_us += us;
        self.gate.at(self.now_us);
    }

    fn happens(&mut self, event: &Event) {
        match *event {
            Event::Wait(us) => self.wait(us),
            Event::Download { flow, segments } => {
                let raw = self.kernel_window(flow, Window::Full, 0);
                let connection = &mut self.connections[usize::from(flow)];
                let us = segments * connection.segment_us;
                (self.now_us, _) = connection.download(self.gate, self.now_us, us, raw);
                self.kernels[usize::from(flow)] = (raw, connection.expected);
            }
            Event::Data {
                flow,
                segments,
                len,
            } => {
                for _ in 0..segments {
                    self.wait(100);
                    self.connections[usize::from(flow)].receive(self.gate, self.now_us, len);
                }
            }
            Event::Again { flow } => {
                let connection = &mut self.connections[usize::from(flow)];
                connection.expected = connection.expected.wrapping_sub(MSS as u32);
                connection.receive(self.gate, self.now_us, MSS);
            }
            Event::Ack {
                flow,
                window,
                sack,
                behind,
            } => self.acknowledge(flow, window, sack, behind),
            Event::Send { flow, payload, fin } => self.send(flow, payload, fin),
            Event::Repeat { flow, times } => {
                for _ in 0..times {
                    let (raw, _) = self.kernels[usize::from(flow)];
                    self.acknowledge(flow, Window::Any(raw), false, 0);
                }
            }
            Event::Reopen {
                flow,
                scales,
                passive,
            } => self.reopen(flow, scales, passive),
            Event::Reset { flow } => {
                let connection = &mut self.connections[usize::from(flow)];
                let mut packet = connection.outgoing(self.now_us, 0);
                packet.flags |= RST;
                connection.send(self.gate, self.now_us, &packet);
            }
            Event::Queue { flow, us } => self.connections[usize::from(flow)].queue_us = us,
            Event::Configure {
                ref params,
                dry_run,
            } => self.gate.configure(params, dry_run),
            Event::Rules { weights } => self.gate.set_verdicts(&verdicts(weights)),
        }
    }

    /// The window field that the kernel writes with an acknowledgement of `ack`.
    fn kernel_window(&mut self, flow: u16, window: Window, ack: u32) -> u16 {
        let (last, at) = self.kernels[usize::from(flow)];
        let scale = self.connections[usize::from(flow)].scale();
        let raw = match window {
            Window::Full if self.gate.direction == Direction::Up => (65_535u32 >> scale) as u16,
            Window::Full => 60_000,
            Window::Any(raw) => raw,
            Window::Closing => {
                let left = (u32::from(last) << scale).saturating_sub(ack.wrapping_sub(at));
                left.div_ceil(1 << scale) as u16
            }
        };
        self.kernels[usize::from(flow)] = (raw, ack);
        raw
    }

    fn acknowledge(&mut self, flow: u16, window: Window, sack: bool, behind: u32) {
        let ack = self.connections[usize::from(flow)].expected;
        let raw = self.kernel_window(flow, window, ack);
        let connection = &mut self.connections[usize::from(flow)];
        let mut packet = connection.outgoing(self.now_us, raw);
        packet.ack = ack.wrapping_sub(behind);
        if sack {
            packet.options = [option::sack(1, 2), packet.options].concat();
        }
        connection.send(self.gate, self.now_us, &packet);
    }

    fn send(&mut self, flow: u16, payload: usize, fin: bool) {
        let ack = self.connections[usize::from(flow)].expected;
        let raw = self.kernel_window(flow, Window::Full, ack);
        let connection = &mut self.connections[usize::from(flow)];
        let mut packet = connection.outgoing(self.now_us, raw);
        packet.payload = payload;
        packet.flags |= if fin { FIN } else { 0 };
        connection.send(self.gate, self.now_us, &packet);
        connection.seq = connection.seq.wrapping_add(payload as u32);
    }

    fn reopen(&mut self, flow: u16, scales: [Option<u8>; 2], passive: bool) {
        let old = &self.connections[usize::from(flow)];
        let mut connection = Connection::through(self.gate, old.link, old.ip, old.port);
        connection.timestamps = old.timestamps;
        connection.queue_us = old.queue_us;
        connection.segment_us = old.segment_us;
        connection.lowered = old.lowered;
        connection.scales = scales;
        if passive {
            // An answer offers one only to a SYN that did (RFC 7323 section 2.2).
            connection.scales[0] = scales[1].and(scales[0]);
        }
        connection.expected = old.expected.wrapping_add(1 << 30);
        if passive {
            connection.accept(self.gate, self.now_us);
        } else {
            connection.open(self.gate, self.now_us);
        }
        self.kernels[usize::from(flow)] = (500, connection.expected);
        self.connections[usize::from(flow)] = connection;
    }
}

#[test]
fn the_promises_hold_for_downloads_under_every_law() {
    if is_root() {
        the_promises_hold(Direction::Down);
    }
}

#[test]
fn the_promises_hold_for_uploads_under_every_law() {
    if is_root() {
        the_promises_hold(Direction::Up);
    }
}

fn the_promises_hold(direction: Direction) {
    let gate = RefCell::new((Gate::before(direction), 10_000_000));
    let lowered = RefCell::new(0);
    let link = || prop_oneof![Just(Link::Ethernet), Just(Link::PlainIp)];
    let ip = || prop_oneof![Just(Ip::V4), Just(Ip::V6)];
    let kind = || (link(), ip(), prop::bool::weighted(0.8));
    let config = Config {
        cases: 200,
        rng_seed: RngSeed::Fixed(0x7464),
        failure_persistence: None,
        ..Config::default()
    };
    let events = prop::collection::vec(event(direction), 1..120);
    proptest!(config, |(kinds in [kind(), kind(), kind()], first in params(direction), events in events)| {
        let (gate, now_us) = &mut *gate.borrow_mut();
        gate.configure(&first, false);
        gate.set_verdicts(&[]);
        let mut machine = Machine::new(gate, *now_us, kinds);
        for event in &events {
            machine.happens(event);
        }
        *lowered.borrow_mut() += machine.connections.iter().map(|c| c.lowered).sum::<usize>();
        // Long enough for the path to be idle, so that each case begins alike.
        *now_us = machine.now_us + 60_000_000;
    });
    let lowered = lowered.into_inner();
    assert!(lowered > 5_000, "hardly anything was steered: {lowered}");
}
