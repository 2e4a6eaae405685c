//! Forged segments: the programs learn nothing from those that TCP drops, and believe those that it accepts (RFC 9293
//! section 3.10.7, RFC 5961, RFC 7323 section 5).

use crate::connection::{Connection, MSS};
use crate::gate::{Gate, Way};
use crate::packet::{FIN, Ip, Link, Packet, RST, SYN, option};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::cell::RefCell;
use tidegate_agent::{Direction, Reason};
use tidegate_testing::is_root;

const START_US: u64 = 5_000_000;
/// Window field of the kernel that acknowledges, 64 kB, and of the other one.
const WINDOW: u16 = 500;
const SEGMENT_US: u64 = 5_000;
const ROUNDS: u64 = 240;
const QUEUE_US: u64 = 100_000;
/// How far ahead, and behind, an upload's peer may be: a window, but no less than this.
const REACH: u32 = 1 << 20;
/// The largest window that a download's peer may have told, whatever its scale.
const MOST: u32 = 1_000 << 14;

/// What is out of range in a forged segment, and how far beyond the bound.
#[derive(Clone, Copy, Debug)]
enum Wrong {
    Ahead(u32),
    Behind(u32),
    AcknowledgesAhead(u32),
    AcknowledgesBehind(u32),
    Stale(u32),
    /// No number, but it is a SYN.
    Syn,
}

/// A forged segment, which arrives after this many rounds.
#[derive(Clone, Copy, Debug)]
struct Forged {
    round: u64,
    wrong: Wrong,
    payload: usize,
    window: u16,
    fin: bool,
    rst: bool,
    /// An option that would end the steering, or have the window pass unread.
    option: Option<u8>,
    tsecr: u32,
}

fn forged() -> impl Strategy<Value = Forged> {
    let by = || prop_oneof![0u32..4, 0u32..1 << 29];
    let wrong = prop_oneof![
        by().prop_map(Wrong::Ahead),
        by().prop_map(Wrong::Behind),
        by().prop_map(Wrong::AcknowledgesAhead),
        by().prop_map(Wrong::AcknowledgesBehind),
        by().prop_map(Wrong::Stale),
        Just(Wrong::Syn),
    ];
    let flags = (any::<bool>(), prop::bool::weighted(0.3));
    let option = prop::option::weighted(0.3, prop::sample::select(vec![19u8, 30]));
    let rest = (0usize..=MSS, any::<u16>(), flags, option, any::<u32>());
    (2..ROUNDS, wrong, rest).prop_map(
        |(round, wrong, (payload, window, (fin, rst), option, tsecr))| Forged {
            round,
            wrong,
            payload,
            window,
            fin,
            // TCP looks at nothing but the number.
            rst: rst && matches!(wrong, Wrong::Ahead(_) | Wrong::Behind(_)),
            option,
            tsecr,
        },
    )
}

/// What is known on both sides of a connection when a segment is forged.
#[derive(Clone, Copy)]
struct Known {
    now_us: u64,
    /// The newest acknowledgement that has left the receiver of the data.
    acknowledged: u32,
    /// The newest TSval of the peer's that was echoed.
    recent: u32,
}

/// The segment, in the name of the end that is not behind the gate.
fn packet_of(
    f: &Forged,
    connection: &mut Connection,
    known: Known,
    direction: Direction,
) -> (Way, Packet) {
    let way = match direction {
        Direction::Down => Way::Arrives,
        Direction::Up => Way::Leaves,
    };
    let mut packet = match direction {
        Direction::Down => connection.clone().incoming(known.now_us, f.payload),
        Direction::Up => connection.outgoing(known.now_us, f.window),
    };
    packet.payload = f.payload;
    packet.window = match direction {
        Direction::Down => f.window.min(1_000),
        Direction::Up => f.window,
    };
    let length = f.payload as u32 + u32::from(f.fin);
    let edge = known.acknowledged.wrapping_add(u32::from(WINDOW) << 7);
    // The peer's numbers, and those of ours that it acknowledges.
    let sent = match direction {
        Direction::Down => connection.seq,
        Direction::Up => connection.expected,
    };
    match (f.wrong, direction) {
        (Wrong::Ahead(by), Direction::Down) => packet.seq = edge.wrapping_add(1 + by),
        (Wrong::Behind(by), Direction::Down) => {
            packet.seq = known.acknowledged.wrapping_sub(1 + by + length);
        }
        (Wrong::Ahead(by), Direction::Up) => {
            packet.seq = connection.seq.wrapping_add(REACH + 1 + by);
        }
        (Wrong::Behind(by), Direction::Up) => {
            packet.seq = connection.seq.wrapping_sub(REACH + 1 + by + length);
        }
        (Wrong::AcknowledgesAhead(by), _) => packet.ack = sent.wrapping_add(1 + by),
        (Wrong::AcknowledgesBehind(by), Direction::Down) => {
            packet.ack = sent.wrapping_sub(MOST + 1 + by);
        }
        // Old, and so without a window, from the first on.
        (Wrong::AcknowledgesBehind(by), Direction::Up) => {
            packet.ack = known.acknowledged.wrapping_sub(1 + by);
        }
        (Wrong::Stale(_) | Wrong::Syn, _) => {}
    }
    let tsval = match f.wrong {
        Wrong::Stale(by) => known.recent.wrapping_sub(2 + by),
        _ => known.recent,
    };
    packet.options = option::timestamps(tsval, f.tsecr);
    if let Some(kind) = f.option {
        packet.options.extend(option::other(kind, 10));
    }
    packet.flags |= if f.fin { FIN } else { 0 };
    packet.flags |= if f.rst { RST } else { 0 };
    packet.flags |= if matches!(f.wrong, Wrong::Syn) {
        SYN
    } else {
        0
    };
    (way, packet)
}

/// A connection's windows, and all that was learned from it, while `forged` segments arrive.
fn run(gate: &mut Gate, forged: &[Forged]) -> (Vec<u16>, Vec<u8>) {
    gate.begin_anew();
    let direction = gate.direction;
    let mut connection = Connection::through(gate, Link::Ethernet, Ip::V4, 1_000);
    connection.echoing = true;
    connection.open(gate, START_US);
    let mut windows = Vec::new();
    let (mut acknowledged, mut recent) = (connection.expected, connection.far_ms(START_US));
    for round in 0..ROUNDS {
        let now_us = START_US + round * SEGMENT_US;
        gate.at(now_us);
        // It grows gradually, as a real queue does.
        connection.queue_us = QUEUE_US * round.saturating_sub(ROUNDS / 2).min(50) / 50;
        connection.receive(gate, now_us, MSS);
        if round % 2 == 1 {
            let packet = connection.outgoing(now_us, WINDOW);
            windows.push(connection.send(gate, now_us, &packet));
            acknowledged = packet.ack;
            recent = connection.far_ms(now_us - connection.queue_us);
        }
        if direction == Direction::Up {
            recent = connection.far_ms(now_us);
        }
        for f in forged.iter().filter(|f| f.round == round) {
            let known = Known {
                now_us,
                acknowledged,
                recent,
            };
            let (way, packet) = packet_of(f, &mut connection, known, direction);
            let before = packet.bytes();
            let after = gate.pass(way, Link::Ethernet, &before);
            assert_eq!(after, before, "{f:?} was changed");
        }
    }
    assert!(!gate.closed(), "{forged:?} has ended it");
    (windows, gate.learned())
}

#[test]
fn what_tcp_drops_teaches_nothing() {
    if !is_root() {
        return;
    }
    for direction in Direction::ALL {
        let gate = RefCell::new(Gate::before(direction));
        let alone = run(&mut gate.borrow_mut(), &[]);
        let lowered = alone.0.iter().filter(|&&window| window < WINDOW).count();
        assert!(lowered > 20, "{direction:?}: never steered");
        let config = Config {
            cases: 200,
            rng_seed: RngSeed::Fixed(0x7464),
            failure_persistence: None,
            ..Config::default()
        };
        proptest!(config, |(forged in prop::collection::vec(forged(), 1..40))| {
            let beside = run(&mut gate.borrow_mut(), &forged);
            prop_assert_eq!(&beside.0, &alone.0, "other windows");
            prop_assert!(beside.1 == alone.1, "something was learned");
        });
    }
}

/// A connection that is steered, and when.
fn steered(gate: &mut Gate) -> (Connection, u64) {
    let mut connection = Connection::through(gate, Link::Ethernet, Ip::V6, 1_001);
    connection.echoing = true;
    connection.open(gate, START_US);
    let (now_us, _) = connection.download(gate, START_US, 400_000, WINDOW);
    (connection, now_us)
}

/// Retransmissions, reordered segments, probes, the first byte and the last of the window are all measured.
#[test]
fn data_that_tcp_accepts_are_believed() {
    if !is_root() {
        return;
    }
    let mut gate = Gate::new();
    let (mut connection, now_us) = steered(&mut gate);
    let packet = connection.outgoing(now_us, WINDOW);
    connection.send(&gate, now_us, &packet);
    let (next, edge) = (packet.ack, packet.ack.wrapping_add(u32::from(WINDOW) << 7));
    let data = |seq: u32, payload: usize| {
        let mut packet = connection.clone().incoming(now_us, payload);
        packet.seq = seq;
        packet.bytes()
    };
    let reason = |bytes: &[u8]| gate.explain(Way::Arrives, Link::Ethernet, bytes).1;
    for (seq, payload) in [
        // The last byte is new, and all are old but acknowledged by nothing yet.
        (next.wrapping_sub(MSS as u32 - 1), MSS),
        (next, MSS),
        // A keepalive's byte, and a retransmission of what was acknowledged last.
        (next.wrapping_sub(1), 1),
        (next.wrapping_sub(MSS as u32), MSS),
        (next.wrapping_add(9 * MSS as u32), MSS),
        (next.wrapping_add(MSS as u32), MSS),
        (edge, 1),
    ] {
        let by = seq.wrapping_sub(next) as i32;
        assert_eq!(reason(&data(seq, payload)), Reason::Measured, "{by}");
    }
    for (seq, payload) in [
        (next.wrapping_sub(2), 1),
        (next.wrapping_sub(MSS as u32 + 1), MSS),
        (edge.wrapping_add(1), 1),
    ] {
        let by = seq.wrapping_sub(next) as i32;
        assert_eq!(reason(&data(seq, payload)), Reason::Unacceptable, "{by}");
    }
    let mut without_ack = connection.clone().incoming(now_us, MSS);
    without_ack.flags = 0;
    assert_eq!(reason(&without_ack.bytes()), Reason::Unacceptable);
}

/// A FIN or RST is believed if TCP would accept it, and otherwise not.
#[test]
fn an_end_is_believed_where_tcp_would_end() {
    if !is_root() {
        return;
    }
    for direction in Direction::ALL {
        for (flag, inside) in [(RST, true), (RST, false), (FIN, true), (FIN, false)] {
            if direction == Direction::Up && flag == FIN {
                continue; // the peer's FIN ends no upload
            }
            let mut gate = Gate::before(direction);
            let (mut connection, now_us) = steered(&mut gate);
            let mut end = match direction {
                Direction::Down => connection.incoming(now_us, 0),
                Direction::Up => connection.outgoing(now_us, WINDOW),
            };
            let way = match direction {
                Direction::Down => Way::Arrives,
                Direction::Up => Way::Leaves,
            };
            end.flags |= flag;
            if !inside {
                end.seq = end.seq.wrapping_add(0x4000_0000);
            }
            let (_, reason) = gate.explain(way, Link::Ethernet, &end.bytes());
            assert_eq!(gate.closed(), inside, "{direction:?} {flag} {inside}");
            assert_eq!(reason == Reason::Unacceptable, !inside);
        }
    }
}

/// An upload's data leave unseen for a while, as with a flowtable. Acknowledgements of them are refused and pass
/// unchanged; later ones, when data are seen again, do not retract their edge (the connection checks each against the
/// last).
#[test]
fn what_acknowledged_unseen_data_is_not_retracted() {
    if !is_root() {
        return;
    }
    let mut gate = Gate::before(Direction::Up);
    let mut connection = Connection::through(&gate, Link::Ethernet, Ip::V4, 1_002);
    connection.echoing = true;
    connection.open(&mut gate, START_US);
    let (mut now_us, window) = connection.steer(&mut gate, START_US, WINDOW);
    assert!(window < WINDOW / 2, "never steered: {window}");
    for _ in 0..50 {
        now_us += SEGMENT_US;
        gate.at(now_us);
        connection.expected = connection.expected.wrapping_add(MSS as u32);
        let packet = connection.outgoing(now_us, WINDOW);
        let (after, reason) = gate.explain(Way::Leaves, Link::Ethernet, &packet.bytes());
        assert_eq!((after, reason), (packet.bytes(), Reason::Unacceptable));
        connection.told_by_the_kernel(&packet);
    }
    let lowered = connection.lowered;
    connection.download(&mut gate, now_us, 1_000_000, WINDOW);
    assert!(connection.lowered > lowered, "not steered again");
}
