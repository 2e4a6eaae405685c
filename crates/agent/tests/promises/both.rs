//! Downloads and uploads, with timestamps and without, through the programs of one CPU: each is steered as if it were
//! alone there.

use crate::connection::{Connection, MSS};
use crate::gate::Gate;
use crate::packet::{Ip, Link};
use nix::sched::{CpuSet, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;
use tidegate_agent::Direction;
use tidegate_laws::{Law, Params};
use tidegate_testing::is_root;

const START_US: u64 = 5_000_000;
/// Window field of both kernels.
const WINDOW: u16 = 500;
const SEGMENT_US: u64 = 5_000;
/// A queue stands from the second half on.
const ROUNDS: u64 = 800;
const QUEUE_US: u64 = 100_000;

/// One of the programs' maps has a value for each CPU.
fn stay_on_one_cpu() {
    let mut here = CpuSet::new();
    here.set(sched_getcpu().unwrap()).unwrap();
    sched_setaffinity(Pid::from_raw(0), &here).unwrap();
}

/// A kind of connection: which way its data go, and whether it has timestamps.
type Kind = (Direction, bool);

fn connection(gate: &Gate, (direction, timestamps): Kind, port: u16) -> Connection {
    assert_eq!(gate.direction, direction);
    let mut connection = Connection::through(gate, Link::Ethernet, Ip::V4, port);
    connection.timestamps = timestamps;
    // Less than a handshake may promise: an upload begins from that promise.
    connection.far_window = 400;
    connection
}

/// The windows that connections of these kinds are told; their packets take turns.
fn windows(gate: &mut Gate, params: &Params, kinds: &[Kind]) -> Vec<Vec<u16>> {
    gate.begin_anew();
    gate.configure(params, false);
    let mut connections = Vec::new();
    for (port, &kind) in (1_000..).zip(kinds) {
        gate.direction = kind.0;
        let mut connection = connection(gate, kind, port);
        connection.open(gate, START_US);
        connections.push(connection);
    }
    let mut windows = vec![Vec::new(); kinds.len()];
    for round in 0..ROUNDS {
        let now_us = START_US + round * SEGMENT_US;
        gate.at(now_us);
        for (connection, windows) in connections.iter_mut().zip(&mut windows) {
            gate.direction = kinds[usize::from(connection.port - 1_000)].0;
            connection.queue_us = if round < ROUNDS / 2 { 0 } else { QUEUE_US };
            connection.receive(gate, now_us, MSS);
            if round % 2 == 1 {
                let packet = connection.outgoing(now_us, WINDOW);
                windows.push(connection.send(gate, now_us, &packet));
            }
        }
    }
    windows
}

/// Whether one kind is steered independently of the other. Uploads that fill the uplink, as these do in the second
/// half, change how downloads are steered.
fn is_independent(kind: Kind, beside: Kind) -> bool {
    kind.0 != beside.0 && !(kind.0 == Direction::Down && beside == (Direction::Up, true))
}

#[test]
fn each_is_steered_as_if_it_were_alone() {
    if !is_root() {
        return;
    }
    stay_on_one_cpu();
    let kinds = Direction::ALL.map(|direction| [(direction, true), (direction, false)]);
    let kinds = kinds.concat();
    let mut gate = Gate::both();
    let mut steered = 0;
    for law in Law::ALL {
        for stampless in [false, true] {
            let params = Params {
                law,
                stampless,
                ..Params::default()
            };
            for &kind in &kinds {
                let alone = windows(&mut gate, &params, &[kind]).remove(0);
                steered += usize::from(alone.iter().any(|&window| window < WINDOW));
                for &beside in kinds.iter().filter(|&&beside| is_independent(kind, beside)) {
                    for pair in [[kind, beside], [beside, kind]] {
                        let both = windows(&mut gate, &params, &pair);
                        let own = pair.iter().position(|&k| k == kind).unwrap();
                        assert!(
                            both[own] == alone,
                            "{law:?}, stampless {stampless}: {kind:?} beside {beside:?}"
                        );
                    }
                }
            }
        }
    }
    assert!(steered >= 10, "hardly any was steered: {steered}");
}
