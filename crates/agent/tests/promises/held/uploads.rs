//! Uploads that may be held: leaving packets are signalled, as seldom as those of downloads. A flow that is no upload
//! has no record, and one that cannot be held does not wait.

use super::download::{HERE, THERE};
use super::programs::{APART, Fate, Programs};
use super::spoilt::{Trial, overwrite};
use super::upload::{DATAGRAM, Kind, upload};
use super::{ASKS, START_US, assert_seldom, started};
use crate::gate::Way;
use crate::packet::{Ip, Link, Packet};
use tidegate_agent::hold::types::{tg_held, tg_hold_up};
use tidegate_agent::{Direction, Ecn};

fn programs() -> Option<Programs> {
    started(Programs::of_uploads)
}

fn packet(way: Way, payload: usize) -> Packet {
    let (from, to) = match way {
        Way::Leaves => (HERE, THERE),
        Way::Arrives => (THERE, HERE),
    };
    let packet = Packet::new(Link::Ethernet, Ip::V4, from, to);
    packet.with_datagram(&vec![0x5a; payload])
}

#[test]
fn what_leaves_is_marked_or_dropped_each_seldom_and_its_queue_is_short() {
    for ip in [Ip::V4, Ip::V6] {
        for ecn in Ecn::ALL {
            let Some(mut programs) = programs() else {
                return;
            };
            let kind = Kind {
                ip,
                ecn: ecn as u8,
                ..Kind::default()
            };
            let outcome = upload(&mut programs, kind, 20_000);
            let known = programs.candidate(HERE.1, THERE.1).expect("it is bulk");
            assert_eq!(known.direction, Direction::Up);
            if ecn == Ecn::Ce {
                // It is marked already.
                assert_eq!(outcome.signals.len(), 0);
                continue;
            }
            let signals = outcome.signals.len() as u64;
            assert!(signals > 0, "{kind:?} is never signalled");
            assert!(signals * 200 < outcome.left, "{signals} signals");
            assert!(outcome.waited > 0 && outcome.queue_ms < 60, "{outcome:?}");
            assert!(outcome.longest_ms <= 2000, "{outcome:?}");
            assert!(outcome.left > 18_000, "the link is left idle: {outcome:?}");
            assert_seldom(&outcome.signals);
        }
    }
}

/// Flows that are left alone neither wait nor are signalled.
#[test]
fn who_cannot_be_held_or_shows_no_delay_or_is_no_upload_or_is_short_is_left_alone() {
    let alone = [
        Kind {
            gated: false,
            ..Kind::default()
        },
        Kind {
            answers_for_ms: 0,
            ..Kind::default()
        },
        // A call: half as much arrives as leaves.
        Kind {
            answers: DATAGRAM,
            window: 60.0,
            ..Kind::default()
        },
        Kind {
            packets: 70,
            ..Kind::default()
        },
    ];
    for kind in alone {
        let Some(mut programs) = programs() else {
            return;
        };
        let outcome = upload(&mut programs, kind, 8_000);
        assert_eq!((outcome.signals.len(), outcome.waited), (0, 0), "{kind:?}");
        assert!(outcome.left >= kind.packets.min(4_000), "{outcome:?}");
    }
}

/// Flows without a record are sent no echoes.
#[test]
fn a_call_and_what_is_short_get_no_record() {
    let Some(programs) = programs() else { return };
    for _ in 0..2000 {
        for way in [Way::Leaves, Way::Arrives] {
            programs.pass(way, &packet(way, 200));
        }
    }
    assert_eq!(programs.records().candidates(), []);
    let Some(programs) = self::programs() else {
        return;
    };
    for _ in 0..ASKS / DATAGRAM {
        programs.pass(Way::Leaves, &packet(Way::Leaves, DATAGRAM));
    }
    assert_eq!(programs.records().candidates(), []);
    programs.pass(Way::Leaves, &packet(Way::Leaves, DATAGRAM));
    assert_eq!(programs.records().candidates().len(), 1);
}

/// A connection that loaded a page may carry an upload later.
#[test]
fn a_download_may_become_an_upload() {
    let Some(programs) = programs() else { return };
    let bytes = |count: usize, way| {
        for n in 0..count / DATAGRAM {
            programs.pass(way, &packet(way, DATAGRAM));
            let back = if way == Way::Leaves {
                Way::Arrives
            } else {
                Way::Leaves
            };
            if n % 2 == 0 {
                programs.pass(back, &packet(back, 30));
            }
        }
    };
    bytes(20_000_000, Way::Arrives);
    assert_eq!(programs.records().candidates(), []);
    bytes(4_000_000, Way::Leaves);
    let flow = programs.candidate(HERE.1, THERE.1).expect("an upload");
    assert_eq!(flow.direction, Direction::Up);
}

#[test]
fn who_does_not_answer_is_hardly_signalled() {
    let Some(mut programs) = programs() else {
        return;
    };
    let kind = Kind {
        obeys: false,
        // Less than four times what it should be; more would have it tried again.
        window: 150.0,
        ..Kind::default()
    };
    let outcome = upload(&mut programs, kind, 60_000);
    assert_seldom(&outcome.signals);
    assert!(!outcome.signals.is_empty());
    assert!(
        outcome.signals.len() as u64 * 4000 < outcome.left,
        "{outcome:?}"
    );
    assert!(
        outcome.longest_ms <= 2000 && outcome.queue_ms < 60,
        "{outcome:?}"
    );
}

/// Three seconds after echoes are no longer answered, no packet waits.
#[test]
fn who_answers_no_more_is_let_go() {
    let Some(mut programs) = programs() else {
        return;
    };
    let kind = Kind {
        answers_for_ms: 6_000,
        obeys: false,
        window: 400.0,
        ..Kind::default()
    };
    let held = upload(&mut programs, kind, 5_000);
    assert!(held.waited > 1_000 && held.queue_ms < 60, "{held:?}");
    let Some(mut programs) = self::programs() else {
        return;
    };
    let silent = upload(&mut programs, kind, 11_000);
    // Its whole window is in the queue.
    assert!(silent.queue_ms > 300, "{silent:?}");
}

/// A record of random content, as a faulty law might leave it; if `eager`, of an upload whose window is far too large.
fn spoilt(held: &tg_held, noise: &[u8], eager: bool) -> tg_held {
    let mut spoilt = *held;
    overwrite(&mut spoilt.up, noise);
    spoilt.up.steered.member.share = held.up.steered.member.share;
    spoilt.up.steered.member.sharing = held.up.steered.member.sharing;
    if eager {
        let up = &mut spoilt.up;
        up.steered = held.up.steered;
        (up.steered.wanted, up.steered.recent_largest) = (1, 0);
        up.steered.echo.rtt_us = 1;
        (up.clocking.state, up.gated, up.waiting) = (1, 1, 1 << 20);
        (up.left, up.passed) = (1 << 40, 1 << 39);
        (up.ways.went, up.ways.came) = (1 << 19, 0);
        (up.rate.bytes, up.rate.us) = (1 << 30, 1);
    }
    spoilt
}

/// Whatever the law does, at most one packet in `APART` is signalled, in the way its codepoint asks for, and none waits
/// longer than two seconds.
#[test]
fn whatever_a_record_says_its_packets_are_safe() {
    let Some(mut programs) = programs() else {
        return;
    };
    upload(&mut programs, Kind::default(), 8000);
    let trial = Trial {
        way: Way::Leaves,
        packet: packet(Way::Leaves, DATAGRAM),
        bytes: size_of::<tg_hold_up>(),
        spoil: spoilt,
        asks: |records, place| vec![records.mark(place, 1500), u64::MAX],
    };
    trial.run(&mut programs);
}

/// A merged packet is several to its sender, so it is dropped less often still, even if the law wants each signalled.
#[test]
fn what_was_merged_is_signalled_the_more_seldom() {
    for (ecn, apart) in [(Ecn::NotEct, 64), (Ecn::Ect0, APART)] {
        let Some(mut programs) = programs() else {
            return;
        };
        upload(&mut programs, Kind::default(), 8000);
        let flow = programs.candidate(HERE.1, THERE.1).expect("a place");
        let packet = Packet {
            ecn: ecn as u8,
            ..packet(Way::Leaves, DATAGRAM)
        };
        let mut signals = Vec::new();
        for n in 0..1000 {
            let now_us = START_US + 9_000_000 + 1000 * n;
            programs.at(now_us);
            let mut record = spoilt(&programs.read(flow.place), &[], true);
            (record.seen_us, record.since_us) = (now_us, flow.since_us);
            programs.write(flow.place, &record);
            if programs.pass_merged(Way::Leaves, &packet, 4) != Fate::Passes {
                signals.push(n);
            }
        }
        assert!(signals.len() > 5, "{ecn:?}: {signals:?}");
        let are_apart = signals.windows(2).all(|two| two[1] - two[0] >= apart);
        assert!(are_apart, "{ecn:?}: {signals:?}");
    }
}
