//! Senders, a link and this machine, in the tests' own time.

use crate::connection::{Connection, MSS, RTT_US};
use crate::gate::{Gate, Way};
use crate::packet::{Ip, Link, option};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tidegate_agent::Direction;
use tidegate_laws::Law;

/// Port of the first flow; the others have the next ones.
pub const PORT: u16 = 20_000;
/// 20 Mbit/s, in bytes a second.
const RATE: u64 = 2_500_000;
const ONE_WAY_US: u64 = RTT_US / 2;
/// The kernel's window for a flow, in bytes: at first, and once it has grown by twice what arrived.
const KERNEL_FIRST: u32 = 1 << 16;
const KERNEL_LAST: u32 = 1 << 20;
/// By then the senders' slow start and the laws' first rounds are over. A sender learns of its overshoot a round trip
/// later than the receiver, a round trip through the queue that it has made.
const STEADY_US: [u64; 2] = [1_500_000, 4_000_000];
/// By then `tide` has found that flows which begin at once share their queue.
const FOUND_US: u64 = 16_000_000;
/// How long steering is suspended in tests of that.
const PASSES_US: u64 = 12_000_000;
/// How long is measured then.
const MEASURED_US: u64 = 1_000_000;

/// How a flow begins.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    pub link: Link,
    pub ip: Ip,
    /// Scale of our windows.
    pub scale: u8,
    /// How much later than the first flow, in µs.
    pub after_us: u64,
    /// How far the sender's clock is ahead of ours, in ms.
    pub clock: u32,
}

/// The outcome, once steady.
#[derive(Debug, Default)]
pub struct Outcome {
    pub acks: usize,
    /// Those of them with a window below the kernel's.
    pub lowered: usize,
    /// Mean queueing delay of arrived segments.
    pub queue_us: u64,
    pub utilisation: f64,
    /// Bytes that arrived, by flow.
    pub bytes: Vec<u32>,
}

/// What is in flight. Bytes are counted from the connection's first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Data {
        tsval: u32,
        tsecr: u32,
        queue_us: u64,
    },
    Ack(Ack),
}

/// An acknowledgement, its window field as the kernel wrote it or, behind the gate, as it came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ack {
    ack: u32,
    raw: u16,
    tsval: u32,
    tsecr: u32,
    payload: usize,
}

/// A sender in slow start for ever that keeps to the window, and its receiver here.
struct Flow {
    here: Connection,
    clock: u32,
    // The sender.
    cwnd: u32,
    una: u32,
    sent: u32,
    edge: u32,
    tsecr: u32,
    // The receiver.
    first: u32,
    arrived: u32,
    acked: u32,
    echo: u32,
}

struct Transfers<'a> {
    gate: &'a mut Gate,
    steady_us: u64,
    noise: std::iter::Cycle<std::slice::Iter<'a, u8>>,
    flows: Vec<Flow>,
    /// By time, then by the order of insertion.
    events: BinaryHeap<Reverse<(u64, usize, usize, Event)>>,
    order: usize,
    /// When the link will have emptied its queue.
    free_us: u64,
    delays_us: Vec<u64>,
    /// Begin and end of the time without steering.
    passes: Option<[u64; 2]>,
    outcome: Outcome,
}

/// Runs transfers side by side, with the gate at their receiver or at their sender; `noise` drives the random choices.
pub fn transfers(
    gate: &mut Gate,
    law: Law,
    begin_us: u64,
    starts: &[Start],
    noise: &[u8],
) -> Outcome {
    let steady_us = begin_us
        + match law {
            Law::Tide => FOUND_US,
            _ => STEADY_US[gate.direction as usize],
        };
    measured(gate, begin_us, steady_us, None, starts, noise)
}

/// The same under `tide`, with steering suspended for a while in the steady state: measured at the end of that time,
/// and after `again_us` of steering.
pub fn transfers_that_pass(
    gate: &mut Gate,
    begin_us: u64,
    again_us: u64,
    starts: &[Start],
    noise: &[u8],
) -> [Outcome; 2] {
    // One after the other, the second on a path that is idle again.
    let trials = [
        (0, PASSES_US - MEASURED_US),
        (80_000_000, PASSES_US + again_us),
    ];
    trials.map(|(later_us, after_us)| {
        let begin_us = begin_us + later_us;
        let from_us = begin_us + FOUND_US;
        let passes = Some([from_us, from_us + PASSES_US]);
        measured(gate, begin_us, from_us + after_us, passes, starts, noise)
    })
}

fn measured(
    gate: &mut Gate,
    begin_us: u64,
    steady_us: u64,
    passes: Option<[u64; 2]>,
    starts: &[Start],
    noise: &[u8],
) -> Outcome {
    let mut transfers = Transfers {
        gate,
        steady_us,
        noise: noise.iter().cycle(),
        flows: Vec::new(),
        events: BinaryHeap::new(),
        order: 0,
        free_us: 0,
        delays_us: Vec::new(),
        passes,
        outcome: Outcome {
            bytes: vec![0; starts.len()],
            ..Outcome::default()
        },
    };
    for (port, start) in (PORT..).zip(starts) {
        transfers.connect(begin_us, port, start);
    }
    transfers.run(steady_us + MEASURED_US)
}

impl Transfers<'_> {
    fn connect(&mut self, begin_us: u64, port: u16, start: &Start) {
        let mut here = Connection::through(self.gate, start.link, start.ip, port);
        here.scales = [Some(start.scale), Some(7)];
        // Without timestamps: the answer's would be those of another clock.
        here.timestamps = false;
        here.open(self.gate, begin_us);
        here.timestamps = true;
        let first = here.expected;
        self.flows.push(Flow {
            here,
            clock: start.clock,
            cwnd: 10 * MSS as u32,
            una: 0,
            sent: 0,
            edge: 0,
            tsecr: 0,
            first,
            arrived: 0,
            acked: 0,
            echo: 0,
        });
        // The request.
        self.acknowledge(begin_us + start.after_us, self.flows.len() - 1);
    }

    fn run(mut self, end_us: u64) -> Outcome {
        while let Some(Reverse((now_us, _, of, event))) = self.events.pop() {
            if now_us > end_us {
                break;
            }
            if let Some([_, until_us]) = self.passes.take_if(|[from_us, _]| now_us >= *from_us) {
                self.gate.pass_until(until_us);
            }
            match event {
                Event::Data {
                    tsval,
                    tsecr,
                    queue_us,
                } => {
                    self.data_arrives(now_us, of, tsval, tsecr);
                    if now_us > self.steady_us {
                        self.delays_us.push(queue_us);
                        self.outcome.bytes[of] += MSS as u32;
                    }
                }
                Event::Ack(ack) => {
                    self.ack_arrives(now_us, of, ack);
                    self.send(now_us, of);
                }
            }
        }
        let arrived = self.delays_us.len() as u64;
        let carried = (end_us - self.steady_us) * RATE / 1_000_000;
        self.outcome.queue_us = self.delays_us.iter().sum::<u64>() / arrived.max(1);
        self.outcome.utilisation = (arrived * MSS as u64) as f64 / carried as f64;
        self.outcome
    }

    fn push(&mut self, at_us: u64, of: usize, event: Event) {
        self.order += 1;
        self.events.push(Reverse((at_us, self.order, of, event)));
    }

    fn ack_arrives(&mut self, now_us: u64, of: usize, mut ack: Ack) {
        if self.gate.direction == Direction::Up {
            ack.raw = self.pass(now_us, of, &ack);
        }
        let flow = &mut self.flows[of];
        flow.cwnd += ack.ack - flow.una;
        flow.una = ack.ack;
        flow.edge = ack.ack + (u32::from(ack.raw) << flow.here.scale());
        flow.tsecr = ack.tsval;
    }

    /// Sends what window and cwnd allow.
    fn send(&mut self, now_us: u64, of: usize) {
        loop {
            let flow = &mut self.flows[of];
            let end = flow.sent + MSS as u32;
            if end > flow.edge || end > flow.una + flow.cwnd {
                return;
            }
            flow.sent = end;
            let (tsval, tsecr) = (ms(now_us).wrapping_add(flow.clock), flow.tsecr);
            let event = Event::Data {
                tsval,
                tsecr,
                queue_us: self.free_us.saturating_sub(now_us),
            };
            if self.gate.direction == Direction::Up {
                self.pass_data(now_us, of, tsval, tsecr);
            }
            self.free_us = self.free_us.max(now_us) + MSS as u64 * 1_000_000 / RATE;
            self.push(self.free_us + ONE_WAY_US, of, event);
        }
    }

    /// A segment meets the gate.
    fn pass_data(&mut self, now_us: u64, of: usize, tsval: u32, tsecr: u32) {
        let mut data = self.flows[of].here.incoming(now_us, MSS);
        data.options = option::timestamps(tsval, tsecr);
        if self.gate.direction == Direction::Up {
            let flow = &self.flows[of];
            data.seq = flow.first.wrapping_add(flow.sent - MSS as u32);
        }
        self.gate.at(now_us);
        self.gate.pass(Way::Arrives, data.link, &data.bytes());
    }

    /// Acknowledges every other segment at once, and a few of the others.
    fn data_arrives(&mut self, now_us: u64, of: usize, tsval: u32, tsecr: u32) {
        if self.gate.direction == Direction::Down {
            self.pass_data(now_us, of, tsval, tsecr);
        }
        let flow = &mut self.flows[of];
        flow.arrived += MSS as u32;
        flow.here.expected = flow.first.wrapping_add(flow.arrived);
        flow.echo = tsval;
        if flow.arrived - flow.acked >= 2 * MSS as u32 || self.chance(20) {
            self.acknowledge(now_us, of);
        }
    }

    fn chance(&mut self, in_256: u8) -> bool {
        self.noise.next().is_some_and(|&n| n < in_256)
    }

    /// An acknowledgement leaves, now and then with data.
    fn acknowledge(&mut self, now_us: u64, of: usize) {
        let payload = if self.chance(30) { 300 } else { 0 };
        let flow = &mut self.flows[of];
        let kernel = KERNEL_LAST.min(KERNEL_FIRST + 2 * flow.arrived);
        flow.acked = flow.arrived;
        let mut ack = Ack {
            ack: flow.acked,
            raw: (kernel >> flow.here.scale()) as u16,
            tsval: ms(now_us),
            tsecr: flow.echo,
            payload,
        };
        if self.gate.direction == Direction::Down {
            ack.raw = self.pass(now_us, of, &ack);
        }
        self.push(now_us + ONE_WAY_US, of, Event::Ack(ack));
    }

    /// An acknowledgement meets the gate. Returns the window field that comes out.
    fn pass(&mut self, now_us: u64, of: usize, ack: &Ack) -> u16 {
        let flow = &mut self.flows[of];
        let mut packet = flow.here.outgoing(now_us, ack.raw);
        packet.ack = flow.first.wrapping_add(ack.ack);
        packet.options = option::timestamps(ack.tsval, ack.tsecr);
        packet.payload = ack.payload;
        self.gate.at(now_us);
        let window = flow.here.send(self.gate, now_us, &packet);
        flow.here.seq = flow.here.seq.wrapping_add(ack.payload as u32);
        if now_us > self.steady_us {
            self.outcome.acks += 1;
            self.outcome.lowered += usize::from(window < packet.window);
        }
        window
    }
}

/// TSval of a clock that counts milliseconds.
fn ms(now_us: u64) -> u32 {
    (now_us / 1_000) as u32
}
