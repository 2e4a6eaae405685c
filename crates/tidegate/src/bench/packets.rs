//! What the kernel programs cost per packet, by law, compared with law `none` and, if one is given, with another build.
//! We make packets and hand them in one by one (`BPF_PROG_TEST_RUN`), to each program in turn.

mod many;
pub mod programs;
mod traffic;

use super::{Row, median};
use anyhow::{Result, ensure};
use programs::{Build, Idle, Programs};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tidegate_agent::Direction;
use tidegate_laws::Law;
use traffic::{Datagrams, Mix, Packet, Traffic, Way};

/// Segments in a turn: enough that the other programs' traces in the caches do not matter.
const BLOCK: usize = 500;

/// How many blocks are counted.
const BLOCKS: usize = 151;

/// Blocks before these, twelve seconds of the link's time: flows start, and the law groups those that share a queue.
const SETTLE: usize = 200;

/// Flows of datagrams, as the hold tells them apart.
#[derive(Clone, Copy)]
struct Kind {
    name: &'static str,
    flows: u16,
    /// Payload of each datagram that arrives.
    bytes: usize,
    /// Whether the gate holds them and their servers answer echoes.
    gated: bool,
}

/// Kinds of datagrams besides TCP; short flows never become bulk while we measure.
const DATAGRAMS: [Kind; 6] = [
    Kind {
        name: "of short flows",
        flows: 7600,
        bytes: 1200,
        gated: false,
    },
    Kind {
        name: "too few for a record, 100 flows",
        flows: 100,
        bytes: 30,
        gated: false,
    },
    Kind {
        name: "of bulk without an echo, 1 flow",
        flows: 1,
        bytes: 1200,
        gated: false,
    },
    Kind {
        name: "of bulk without an echo, 100 flows",
        flows: 100,
        bytes: 1200,
        gated: false,
    },
    Kind {
        name: "of bulk at the gate, 1 flow",
        flows: 1,
        bytes: 1200,
        gated: true,
    },
    Kind {
        name: "of bulk at the gate, 100 flows",
        flows: 100,
        bytes: 1200,
        gated: true,
    },
];

/// After this many blocks each of a hundred flows has a record.
const BECOMING_BULK: usize = 8;

/// Mixes of flows to measure.
const MIXES: [Mix; 5] = [
    Mix {
        flows: 1,
        together: false,
    },
    Mix {
        flows: 2,
        together: false,
    },
    Mix {
        flows: 2,
        together: true,
    },
    Mix {
        flows: 100,
        together: false,
    },
    Mix {
        flows: 100,
        together: true,
    },
];

/// Takes three minutes; `stop` ends it early with an error.
pub fn measure(against: Option<&Path>, stop: &AtomicBool) -> Result<Vec<Row>> {
    let this = Build::read(&std::env::current_exe()?)?;
    let other = against.map(Build::read).transpose()?;
    let bench = Bench {
        this,
        other,
        idle: Idle::load()?,
        stop,
    };
    let mut rows = Vec::new();
    for direction in Direction::ALL {
        for law in Law::ALL {
            if law.is_none() || direction == Direction::Up && !law.steers_uploads() {
                continue;
            }
            // A law that steers each flow by itself does not care which flows share a queue.
            let mixes = MIXES
                .into_iter()
                .filter(|mix| law == Law::Tide || !mix.together);
            for mix in mixes {
                rows.extend(bench.compare(direction, law, mix)?);
            }
        }
        rows.extend(bench.many(direction)?);
    }
    rows.extend(bench.windowless()?);
    Ok(rows)
}

/// What the hold's programs cost per packet, compared with the agent's own and, if one is given, with another build's
/// hold. Takes a minute; `stop` ends it early with an error.
pub fn measure_hold(against: Option<&Path>, stop: &AtomicBool) -> Result<Vec<Row>> {
    let program = std::env::current_exe()?;
    let bench = Bench {
        this: Build::read(&program)?,
        other: against.map(Build::read_hold).transpose()?,
        idle: Idle::load()?,
        stop,
    };
    bench.held(&Build::read_hold(&program)?)
}

struct Bench<'a> {
    this: Build,
    other: Option<Build>,
    idle: Idle,
    stop: &'a AtomicBool,
}

/// Nanoseconds per packet in one block: for packets that arrive, and for those that leave.
type Block = [f64; 2];

impl Bench<'_> {
    /// Compares a law with law none and with the other build, all with the same packets.
    fn compare(&self, direction: Direction, law: Law, mix: Mix) -> Result<Vec<Row>> {
        let mut all = vec![
            self.this.load(direction, law)?,
            self.this.load(direction, Law::None)?,
        ];
        if let Some(other) = &self.other {
            all.push(other.load(direction, law)?);
        }
        let mut traffic = Traffic::new(direction, mix);
        for programs in &all {
            traffic.greet(programs)?;
        }
        let costs = self.costs(&all, SETTLE, || traffic.segment())?;
        if law == Law::Tide {
            let joined = all[0].joined(direction)?;
            ensure!(
                mix.is_found(joined),
                "{joined} flows are in a group, of {mix}"
            );
        }
        let name = |way| format!("{}, {law}, {mix}", traffic::name(direction, way));
        Ok(rows(name, &["law none", "the other build"], &costs))
    }

    /// What unsteered packets cost, compared with the other build.
    fn windowless(&self) -> Result<Vec<Row>> {
        let builds = [Some(&self.this), self.other.as_ref()]
            .into_iter()
            .flatten();
        let all = builds.map(|build| build.load(Direction::Down, Law::Tide));
        let all = all.collect::<Result<Vec<_>>>()?;
        let mut rows_of_all = Vec::new();
        for flows in [1, 100] {
            let mut datagrams = Datagrams::new(flows, 1200);
            let costs = self.costs(&all, 0, || datagrams.exchange())?;
            let name = |way| format!("{}, {flows} flows", traffic::windowless_name(way));
            rows_of_all.extend(rows(name, &["the other build"], &costs));
        }
        Ok(rows_of_all)
    }

    /// What the programs of `hold` cost, compared with the agent's own and the other build's, all with the same
    /// packets.
    fn held(&self, hold: &Build) -> Result<Vec<Row>> {
        let beside = ["the agent's programs", "the other build"];
        let all = self.load_beside(hold)?;
        let mut traffic = Traffic::new(Direction::Down, MIXES[0]);
        for programs in &all {
            traffic.greet(programs)?;
        }
        let costs = self.costs(&all, 0, || traffic.segment())?;
        let name = |way| format!("hold, {}", traffic::name(Direction::Down, way));
        let mut rows_of_all = rows(name, &beside, &costs);
        for kind in DATAGRAMS {
            let all = self.load_beside(hold)?;
            let mut datagrams = Datagrams::new(kind.flows, kind.bytes);
            if kind.gated {
                for number in 0..BECOMING_BULK {
                    self.block(&all, number, || datagrams.exchange())?;
                }
                all.iter().try_for_each(Programs::gate_all)?;
                datagrams.answer_echoes();
            }
            let costs = self.costs(&all, 0, || datagrams.exchange())?;
            let name = |way| format!("hold, {} {}", traffic::windowless_name(way), kind.name);
            rows_of_all.extend(rows(name, &beside, &costs));
        }
        Ok(rows_of_all)
    }

    /// Loads these programs and those they are compared with.
    fn load_beside(&self, hold: &Build) -> Result<Vec<Programs>> {
        let mut all = vec![
            hold.load_hold()?,
            self.this.load(Direction::Down, Law::Tide)?,
        ];
        if let Some(other) = &self.other {
            all.push(other.load_hold()?);
        }
        Ok(all)
    }

    /// What blocks of packets cost each of `all` in turn, after the first `settle` blocks.
    fn costs<P: IntoIterator<Item = Packet>>(
        &self,
        all: &[Programs],
        settle: usize,
        mut packets: impl FnMut() -> P,
    ) -> Result<Vec<Vec<Block>>> {
        let mut costs = vec![Vec::new(); all.len()];
        for block in 0..settle + BLOCKS {
            let each = self.block(all, block, &mut packets)?;
            if block >= settle {
                costs
                    .iter_mut()
                    .zip(each)
                    .for_each(|(of, one)| of.push(one));
            }
        }
        Ok(costs)
    }

    /// What the next block costs each of `all`; the first in turn changes with the block's number.
    fn block<P: IntoIterator<Item = Packet>>(
        &self,
        all: &[Programs],
        number: usize,
        mut packets: impl FnMut() -> P,
    ) -> Result<Vec<Block>> {
        ensure!(!self.stop.load(Ordering::Relaxed), "stopped");
        let packets: Vec<_> = (0..BLOCK).flat_map(|_| packets()).collect();
        let mut costs = vec![[0.0; 2]; all.len()];
        for turn in 0..all.len() {
            let which = (number + turn) % all.len();
            costs[which] = self.pass(&packets, &all[which])?;
        }
        Ok(costs)
    }

    /// A block's cost, without the overhead of the measurement.
    fn pass(&self, packets: &[Packet], programs: &Programs) -> Result<Block> {
        let mut spent = [Duration::ZERO; 2];
        for packet in packets {
            spent[packet.way as usize] += programs.pass(packet)?;
        }
        let idle = self.idle.cost()?;
        Ok(spent.map(|time| time.as_nanos() as f64 / BLOCK as f64 - idle))
    }
}

/// Rows that compare the first of `costs` with each of the `others`, for packets that arrive and packets that leave.
fn rows(name: impl Fn(Way) -> String, others: &[&'static str], costs: &[Vec<Block>]) -> Vec<Row> {
    let mut rows = Vec::new();
    for way in [Way::Arrives, Way::Leaves] {
        let of = |block: &Block| block[way as usize];
        let row = || {
            let ns = median(costs[0].iter().map(of).collect());
            Row::new(format!("packets: {}", name(way)), ns, "ns/packet")
        };
        let beside = |other: &[Block]| {
            let pairs = costs[0].iter().zip(other);
            median(pairs.map(|(this, other)| of(this) / of(other)).collect())
        };
        if costs.len() == 1 {
            rows.push(row());
        }
        for (what, other) in others.iter().zip(&costs[1..]) {
            rows.push(row().versus(*what, beside(other)));
        }
    }
    rows
}
