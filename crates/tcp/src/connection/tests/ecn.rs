//! ECN from the handshake to the reduction, over the same pipe.

use super::*;
use crate::EcnMode;
use crate::cc::{self, Algorithm, Recovery};

/// Payload of a full segment beside timestamps.
const MSS: u64 = 1448;

fn with(ecn: EcnMode) -> impl Fn(u32) -> Config {
    move |initial| Config {
        congestion_control: Algorithm::Reno.into(),
        ecn,
        ..config(initial)
    }
}

/// The ECN flags of SYN and SYN-ACK as numbers, if the SYN arrives with the field `arrives`; and the server, with the
/// mode that it has agreed to.
fn handshake(client: Config, server: Config, arrives: Option<Ecn>) -> (u8, u8, Connection) {
    let now = Instant::from_millis(1000);
    let mut client = Connection::connect(client, now);
    let mut syn = client.transmit(now).unwrap();
    syn.ecn = arrives.unwrap_or(syn.ecn);
    let mut server = Connection::accept(server, now, &syn).unwrap();
    let answer = server.transmit(now).unwrap();
    client.receive(now, &answer);
    let last = client.transmit(now).unwrap();
    server.receive(now, &last);
    assert_eq!(client.ecn(), server.ecn());
    (syn.flags.ace(), answer.flags.ace(), server)
}

/// RFC 3168 §6.1.1 and RFC 9768 Table 2: what each end asks for, what the other agrees to, and the result.
#[test]
fn what_both_know_is_agreed_on() {
    use EcnMode::{Accurate, Classic, Off};
    let cases = [
        (Off, Off, 0b000, 0b000, Off),
        (Off, Accurate, 0b000, 0b000, Off),
        (Classic, Off, 0b011, 0b000, Off),
        (Classic, Classic, 0b011, 0b001, Classic),
        (Classic, Accurate, 0b011, 0b001, Classic),
        (Accurate, Off, 0b111, 0b000, Off),
        (Accurate, Classic, 0b111, 0b001, Classic),
        (Accurate, Accurate, 0b111, 0b010, Accurate),
    ];
    for (asks, knows, syn, answer, agreed) in cases {
        let (flags, answered, server) = handshake(with(asks)(1), with(knows)(2), None);
        assert_eq!((flags, answered), (syn, answer), "{asks:?}, {knows:?}");
        assert_eq!(server.ecn(), agreed, "{asks:?}, {knows:?}");
    }
}

#[test]
fn accurate_ecn_says_how_the_syn_came() {
    let both = with(EcnMode::Accurate);
    let cases = [
        (Ecn::NotEct, 0b010),
        (Ecn::Ect1, 0b011),
        (Ecn::Ect0, 0b100),
        (Ecn::Ce, 0b110),
    ];
    for (arrives, answer) in cases {
        let (_, answered, _) = handshake(both(1), both(2), Some(arrives));
        assert_eq!(answered, answer, "{arrives:?}");
    }
}

/// RFC 3168 §6.1.1.1: a middlebox may drop SYNs that ask for ECN.
#[test]
fn a_syn_that_is_sent_again_asks_for_nothing() {
    let both = with(EcnMode::Accurate);
    let mut pair = Pair::new(both(1), both(2));
    pair.lose = |_, _, segment| segment.flags.has(Flags::SYN) && segment.flags.ace() != 0;
    pair.run_for(Duration::from_millis(1100));
    assert_eq!(pair.states(), [State::Established; 2]);
    assert_eq!(pair.end(SERVER).ecn(), EcnMode::Off);
}

/// The segments of client and server from the end of the handshake on.
fn conversation(ecn: EcnMode, lose: fn(usize, usize, &Segment) -> bool) -> Pair {
    let both = with(ecn);
    let mut pair = Pair::new(both(1), both(2));
    pair.run_for(Duration::from_millis(100));
    assert_eq!(pair.end(CLIENT).ecn(), ecn);
    pair.lose = lose;
    pair
}

/// Runs for `time`, with a server that reads every millisecond; returns the bytes that it read.
fn read_for(pair: &mut Pair, time: Duration) -> u64 {
    let mut read = 0;
    for _ in 0..time.as_millis() {
        pair.run_for(Duration::from_millis(1));
        let now = pair.now;
        read += pair.end(SERVER).read(now, u64::MAX);
    }
    read
}

/// RFC 3168 §6.1.4 and §6.1.5: neither acknowledgements nor retransmissions may be marked.
#[test]
fn classic_has_new_data_ecn_capable_and_nothing_else() {
    let mut pair = conversation(EcnMode::Classic, |from, n, _| from == CLIENT && n == 4);
    pair.end(CLIENT).write(20 * MSS);
    let mut seen = [[0; 4]; 2];
    let mut high = 0;
    for _ in 0..40 {
        pair.pump();
        for (to, pipe) in pair.pipes.iter().enumerate() {
            for (_, segment) in pipe {
                let again = segment.len > 0 && u64::from(segment.seq.0) < high;
                let expected = match (segment.len > 0, again) {
                    (true, false) => Ecn::Ect0,
                    _ => Ecn::NotEct,
                };
                if to == SERVER && segment.len > 0 {
                    high = high.max(u64::from(segment.seq.0) + u64::from(segment.len));
                }
                seen[to][expected as usize] += 1;
                assert_eq!(segment.ecn, expected, "{segment:?}");
            }
        }
        let arrived: Vec<_> = pair.pipes.iter_mut().map(std::mem::take).collect();
        pair.now += DELAY;
        for (to, pipe) in arrived.into_iter().enumerate() {
            for (_, segment) in pipe {
                pair.deliver(to, &segment);
            }
        }
    }
    assert!(pair.end(CLIENT).info().retransmits > 0);
    // One is lost before the test sees it, and comes again.
    assert_eq!(seen[SERVER], [1, 0, 19, 0]);
    assert!(seen[CLIENT][Ecn::NotEct as usize] > 2, "{seen:?}");
}

/// RFC 3168 §6.1.2: one reduction for all marks of a round trip; Reno's is by half.
#[test]
fn marks_reduce_the_window_once_a_round_trip_and_cost_no_data() {
    for ecn in [EcnMode::Classic, EcnMode::Accurate] {
        let mut pair = conversation(ecn, |_, _, _| false);
        pair.end(CLIENT).write(400 * MSS);
        let mut read = read_for(&mut pair, Duration::from_millis(50));
        let before = pair.end(CLIENT).info().cwnd;
        // Every segment of the next round trip.
        pair.mark = |from, _, segment| from == CLIENT && segment.len > 0;
        read += read_for(&mut pair, Duration::from_millis(15));
        pair.mark = |_, _, _| false;
        read += read_for(&mut pair, Duration::from_millis(30));
        let info = pair.end(CLIENT).info();
        let grown = 2 * before;
        assert!(
            info.ssthresh >= before / 2 && info.ssthresh <= grown / 2,
            "{ecn:?}: {info:?} from {before}"
        );
        read += read_for(&mut pair, Duration::from_millis(300));
        let after = pair.end(CLIENT).info();
        // Over this pipe an ACK may cover twenty segments, and three bits leave open how many were marked.
        let once = match ecn {
            EcnMode::Accurate => info.ssthresh / 2..=info.ssthresh,
            _ => info.ssthresh..=info.ssthresh,
        };
        assert!(once.contains(&after.ssthresh), "{ecn:?}: {after:?}");
        assert_eq!(after.recovery, Recovery::Open, "{ecn:?}");
        assert_eq!(after.retransmits, 0, "{ecn:?}");
        assert_eq!(read, 400 * MSS, "{ecn:?}");
    }
}

#[test]
fn accurate_ecn_knows_how_many_were_marked() {
    let mut pair = conversation(EcnMode::Accurate, |_, _, _| false);
    pair.end(CLIENT).write(300 * MSS);
    pair.mark = |from, n, segment| from == CLIENT && segment.len > 0 && n % 7 == 3;
    assert_eq!(read_for(&mut pair, Duration::from_secs(10)), 300 * MSS);
    // Three bits leave open eight of the first window's marks.
    let marked = pair.end(CLIENT).sender().marked();
    assert!((34..=52).contains(&marked), "{marked} of 300");
}

/// A timeout's retransmission also follows marks: the state is the graver one.
#[test]
fn a_loss_beside_marks_is_repaired() {
    for ecn in [EcnMode::Classic, EcnMode::Accurate] {
        let mut pair = conversation(ecn, |from, n, _| from == CLIENT && (30..34).contains(&n));
        pair.mark = |from, n, segment| from == CLIENT && segment.len > 0 && n % 5 == 0;
        pair.end(CLIENT).write(200 * MSS);
        let read = read_for(&mut pair, Duration::from_secs(5));
        assert_eq!(read, 200 * MSS, "{ecn:?}");
        let info = pair.end(CLIENT).info();
        assert!(info.retransmits >= 4, "{ecn:?}: {info:?}");
        assert_eq!(info.undos, 0, "{ecn:?}: {info:?}");
    }
}

/// DCTCP asks by itself; its receiver reports each change, so that its sender knows the share of marks.
#[test]
fn dctcp_learns_how_many_were_marked_without_a_counter() {
    let both = |initial| Config {
        congestion_control: Algorithm::Dctcp.into(),
        ..config(initial)
    };
    let mut pair = Pair::new(both(1), both(2));
    pair.run_for(Duration::from_millis(100));
    assert_eq!(pair.end(CLIENT).ecn(), EcnMode::Classic);
    pair.end(CLIENT).write(1000 * MSS);
    pair.mark = |from, n, segment| from == CLIENT && segment.len > 0 && n % 20 < 5;
    assert_eq!(read_for(&mut pair, Duration::from_secs(5)), 1000 * MSS);
    let marked = pair.end(CLIENT).sender().marked();
    assert!((235..=265).contains(&marked), "{marked} of 1000");
}

/// A congestion control of the caller's own: its window never changes.
#[derive(Debug)]
struct Still;

impl cc::CongestionControl for Still {
    fn ssthresh(&mut self, w: &cc::Window, _f: &cc::Flight) -> u32 {
        w.cwnd
    }

    fn cong_avoid(&mut self, _w: &mut cc::Window, _f: &cc::Flight, _acked: u32) {}
}

/// It gets the ECN that it needs, though its configuration asks for none, and its data carry its codepoint.
#[test]
fn ones_own_congestion_control_has_the_ecn_that_it_needs() {
    use EcnMode::{Accurate, Classic, Off};
    for (needs, ect, seen) in [
        (Off, Ecn::Ect1, Ecn::NotEct),
        (Classic, Ecn::Ect0, Ecn::Ect0),
        (Accurate, Ecn::Ect1, Ecn::Ect1),
    ] {
        let own = Config {
            congestion_control: cc::Factory::new(|_seed| Box::new(Still)).with_ecn(needs, ect),
            ..config(2)
        };
        let (_, _, mut server) = handshake(with(Accurate)(1), own, None);
        assert_eq!(server.ecn(), needs);
        server.write(MSS);
        let data = server.transmit(Instant::from_millis(1000)).unwrap();
        assert_eq!((data.len, data.ecn), (MSS as u32, seen), "{needs:?}");
    }
}
