use super::*;
use crate::{SackBlocks, Seq, SynOptions, Timestamps};
use proptest::prelude::*;
use proptest::sample::select;
use tidegate_laws::Law;

const SCALE: u8 = 7;
const MSS: u32 = 1448;

/// Window field of the stack: 512 000 bytes when scaled.
const STACK: u16 = 4000;

fn at(us: u64) -> Instant {
    Instant::from_nanos(us * 1000)
}

fn syn(window: u16, ack: bool, scale: Option<u8>) -> Segment {
    Segment {
        flags: if ack {
            Flags::SYN.with(Flags::ACK)
        } else {
            Flags::SYN
        },
        ack: Seq(u32::from(ack)),
        window,
        timestamps: Some(Timestamps::default()),
        syn: SynOptions {
            window_scale: scale,
            ..SynOptions::default()
        },
        ..Segment::default()
    }
}

fn bare_ack(ack: u64, window: u16, us: u64) -> Segment {
    Segment {
        ack: Seq(ack as u32),
        flags: Flags::ACK,
        window,
        timestamps: Some(Timestamps {
            val: (us / 1000) as u32,
            ecr: 0,
        }),
        ..Segment::default()
    }
}

/// Arrives at `us`, half of the round trip after it left.
fn data(seq: u64, us: u64, rtt_us: u64) -> Segment {
    Segment {
        seq: Seq(seq as u32),
        flags: Flags::ACK,
        len: MSS,
        timestamps: Some(Timestamps {
            val: (us.saturating_sub(rtt_us / 2) / 1000) as u32,
            ecr: (us.saturating_sub(rtt_us) / 1000) as u32,
        }),
        ..Segment::default()
    }
}

fn params(law: Law) -> Params {
    Params {
        law,
        ..Params::default()
    }
}

/// After a handshake that we began.
fn connected(law: Law) -> (Steer, Path) {
    let (mut steer, mut path) = (Steer::new(params(law)), Path::default());
    steer.leaves(at(0), &mut syn(64_240, false, Some(SCALE)));
    steer.arrives(&mut path, None, at(40_000), &syn(65_160, true, Some(9)));
    (steer, path)
}

/// A download at a rate of 1448 bytes/ms: 500 ms at 40 ms of round trip, then `queue_ms` more of
/// queue. Returns the windows that left, with what the stack had said.
fn download(steer: &mut Steer, path: &mut Path, queue_ms: u64) -> Vec<u16> {
    let (mut seq, mut windows) = (1_u64, Vec::new());
    for ms in 41..3000 {
        let us = ms * 1000;
        let rtt = 40_000 + if ms > 500 { queue_ms * 1000 } else { 0 };
        steer.arrives(path, None, at(us), &data(seq, us, rtt));
        seq += u64::from(MSS);
        let mut segment = bare_ack(seq, STACK, us);
        steer.leaves(at(us), &mut segment);
        windows.push(segment.window);
    }
    windows
}

#[test]
fn syns_leave_as_they_are() {
    for ack in [false, true] {
        for scale in [None, Some(SCALE)] {
            let mut steer = Steer::new(params(Law::Drwa));
            let mut segment = syn(64_240, ack, scale);
            let before = segment;
            steer.leaves(at(0), &mut segment);
            assert_eq!(segment, before);
        }
    }
}

#[test]
fn drwa_holds_the_window_near_the_rate_times_the_floor() {
    let (mut steer, mut path) = connected(Law::Drwa);
    let windows = download(&mut steer, &mut path, 0);
    // 3 × 1448 bytes/ms × 40 ms.
    let expected = f64::from(3 * MSS * 40);
    let window = f64::from(*windows.last().expect("windows")) * f64::from(1 << SCALE);
    assert!(
        (window / expected - 1.0).abs() < 0.1,
        "{window} for {expected}"
    );
    assert_eq!(steer.flow().mss(), MSS);
    assert!(windows[0] == STACK, "nothing is known yet");
}

#[test]
fn without_a_law_nothing_changes() {
    let (mut steer, mut path) = connected(Law::None);
    let windows = download(&mut steer, &mut path, 200);
    assert!(windows.iter().all(|&window| window == STACK));
    assert_eq!(steer.flow().rtt_us(), Some(240_000), "but it is measured");
}

/// The scale counts only if the peer's answer has one too; without an answer, hands off.
#[test]
fn the_scale_is_what_the_handshake_agreed_on() {
    let offered = |answer: Option<Segment>| {
        let (mut steer, mut path) = (Steer::new(params(Law::Drwa)), Path::default());
        steer.leaves(at(0), &mut syn(64_240, false, Some(SCALE)));
        if let Some(answer) = answer {
            steer.arrives(&mut path, None, at(40_000), &answer);
        }
        let windows = download(&mut steer, &mut path, 0);
        *windows.last().expect("windows")
    };
    let steered = u64::from(3 * MSS * 40);
    let scaled = offered(Some(syn(65_160, true, Some(9))));
    assert!((u64::from(scaled) << SCALE).abs_diff(steered) < steered / 10);
    // 4000 bytes: the law would allow all of them.
    assert_eq!(offered(Some(syn(65_160, true, None))), STACK);
    assert_eq!(offered(None), STACK);
    let forged = Segment {
        ack: Seq(77),
        ..syn(65_160, true, Some(9))
    };
    assert_eq!(offered(Some(forged)), STACK);
}

#[test]
fn the_handshake_is_the_first_round_trip() {
    let (steer, _) = connected(Law::Tide);
    assert_eq!(steer.flow().rtt_us(), Some(40_000));
}

#[test]
fn resets_pass() {
    let (mut steer, mut path) = connected(Law::Drwa);
    download(&mut steer, &mut path, 200);
    let mut reset = bare_ack(1, STACK, 3_000_000);
    reset.flags = Flags::RST.with(Flags::ACK);
    let before = reset;
    steer.leaves(at(3_000_000), &mut reset);
    assert_eq!(reset, before);
}

#[derive(Clone, Copy, Debug)]
struct Tick {
    ms: u64,
    segments: u64,
    rtt_ms: u64,
    window: u16,
    sack: bool,
    carries: u32,
}

fn tick() -> impl Strategy<Value = Tick> {
    (
        0..30_u64,
        0..20_u64,
        20..800_u64,
        prop_oneof![Just(0), 1..=u16::MAX],
        any::<bool>(),
        prop_oneof![3 => Just(0), 1 => 1..1448_u32],
    )
        .prop_map(|(ms, segments, rtt_ms, window, sack, carries)| Tick {
            ms,
            segments,
            rtt_ms,
            window,
            sack,
            carries,
        })
}

proptest! {
    /// Whatever arrives and whatever the stack says: the window is only lowered, nothing else is touched, and the law
    /// takes back no right edge that has left.
    #[test]
    fn only_lowers_and_never_retracts(
        law in select(Law::ALL.to_vec()),
        ticks in prop::collection::vec(tick(), 1..300),
    ) {
        let (mut steer, mut path) = connected(law);
        let (mut us, mut seq, mut edge) = (41_000, 1_u64, 0_u64);
        for t in ticks {
            us += t.ms * 1000;
            for _ in 0..t.segments {
                steer.arrives(&mut path, None, at(us), &data(seq, us, t.rtt_ms * 1000));
                seq += u64::from(MSS);
            }
            // The stack itself never retracts.
            let stack = u64::from(t.window) << SCALE;
            let stack = stack.max(edge.saturating_sub(seq)).next_multiple_of(1 << SCALE);
            let mut segment = bare_ack(seq, (stack >> SCALE).min(65_535) as u16, us);
            segment.len = t.carries;
            if t.sack {
                let mut blocks = SackBlocks::default();
                blocks.push(Seq(seq as u32 + 9), Seq(seq as u32 + 99));
                segment.sack = blocks;
            }
            let before = segment;
            steer.leaves(at(us), &mut segment);
            prop_assert!(segment.window <= before.window);
            prop_assert_eq!(Segment { window: before.window, ..segment }, before);
            let promised = seq + (u64::from(segment.window) << SCALE);
            prop_assert!(promised >= edge, "{promised} < {edge}");
            edge = promised;
        }
    }
}
