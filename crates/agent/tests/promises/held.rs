//! The promises of the hold: which flows are signalled, how and how often, which never are, and that a stranger cannot
//! influence a flow.

mod download;
mod programs;
mod spoilt;
mod upload;
mod uploads;

use crate::gate::Way;
use crate::packet::{ACK, Ip, Link, Packet};
use download::{HERE, Kind, THERE, download};
use programs::{APART, Fate, Programs, answer};
use spoilt::{Trial, overwrite};
use tidegate_agent::hold::types::{tg_held, tg_hold};
use tidegate_agent::{Candidate, Ecn};
use tidegate_testing::is_root;

const START_US: u64 = 5_000_000;

/// Bytes after which a flow gets a record, and places for them.
const ASKS: usize = 16 * 1448;
const PLACES: u16 = 256;

/// How long a lease lasts.
const LEASE_US: u64 = 1_000_000;

/// After this time another flow may take the place.
const IDLE_US: u64 = 10_000_000;

fn programs() -> Option<Programs> {
    started(Programs::new)
}

/// The programs from `load`, with the clock at the start; none without root.
fn started(load: fn() -> Programs) -> Option<Programs> {
    is_root().then(|| {
        let mut programs = load();
        programs.at(START_US);
        programs
    })
}

fn arriving(port: u16, payload: usize) -> Packet {
    let packet = Packet::new(Link::Ethernet, Ip::V4, THERE, (HERE.0, port));
    packet.with_datagram(&vec![0x5a; payload])
}

/// A flow that has got a record.
fn bulk(programs: &Programs, port: u16) -> Option<Candidate> {
    for _ in 0..=ASKS / 1200 {
        assert_eq!(
            programs.pass(Way::Arrives, &arriving(port, 1200)),
            Fate::Passes
        );
    }
    programs.candidate(port, THERE.1)
}

/// Checks that signals are far apart. For each: how many packets there had been, when, and the round trip, in ms.
fn assert_seldom(signals: &[(u64, u64, u64)]) {
    let mut before = (0, 0);
    for (packets, at_ms, round_ms) in signals {
        assert!(packets - before.0 >= APART, "{signals:?}");
        assert!(at_ms - before.1 >= 2 * round_ms, "{signals:?}");
        before = (*packets, *at_ms);
    }
}

#[test]
fn what_understands_marks_is_marked_and_the_rest_dropped_each_seldom() {
    for link in [Link::Ethernet, Link::PlainIp] {
        for ip in [Ip::V4, Ip::V6] {
            for ecn in Ecn::ALL {
                // The test run takes every packet's first 14 bytes for Ethernet's header, and would mark behind them.
                if link == Link::PlainIp && ecn != Ecn::NotEct {
                    continue;
                }
                let Some(mut programs) = programs() else {
                    return;
                };
                let kind = Kind {
                    link,
                    ip,
                    ecn: ecn as u8,
                    ..Kind::default()
                };
                let outcome = download(&mut programs, kind, 20_000);
                let signals = outcome.signals.len();
                let known = programs.candidate(HERE.1, THERE.1).expect("it is bulk");
                if ecn == Ecn::Ce {
                    // It is marked already.
                    assert_eq!(signals, 0);
                    assert!(programs.records().signals(known.place) > 0);
                    continue;
                }
                assert!(signals > 0, "{kind:?} is never signalled");
                assert!(signals as u64 * 200 < outcome.arrived, "{signals} signals");
                assert!(
                    outcome.waited > 0 && outcome.queue_ms < 300,
                    "{kind:?}: {outcome:?}"
                );
                assert!(outcome.longest_ms <= 2000);
                assert_seldom(&outcome.signals);
            }
        }
    }
}

/// Flows that are left alone neither wait nor are signalled.
#[test]
fn who_cannot_be_held_or_shows_no_delay_or_is_no_download_is_left_alone() {
    let alone = [
        Kind {
            gated: false,
            ..Kind::default()
        },
        Kind {
            answers_for_ms: 0,
            ..Kind::default()
        },
        // As much leaves as arrives.
        Kind {
            leaves: 1200,
            ..Kind::default()
        },
    ];
    for kind in alone {
        let Some(mut programs) = programs() else {
            return;
        };
        let outcome = download(&mut programs, kind, 10_000);
        assert!(programs.candidate(HERE.1, THERE.1).is_some(), "it is seen");
        assert_eq!((outcome.signals.len(), outcome.waited), (0, 0), "{kind:?}");
    }
}

/// A sender that does not slow down is tried again after a while, and signalled less often.
#[test]
fn who_does_not_answer_is_hardly_signalled() {
    let Some(mut programs) = programs() else {
        return;
    };
    let kind = Kind {
        obeys: false,
        ..Kind::default()
    };
    let outcome = download(&mut programs, kind, 40_000);
    assert_seldom(&outcome.signals);
    assert!(
        outcome.signals.len() as u64 * 4000 < outcome.arrived,
        "{outcome:?}"
    );
    assert!(outcome.longest_ms <= 2000, "{outcome:?}");
}

/// Merged packets are dropped together, so this happens less often still.
#[test]
fn what_was_merged_is_signalled_the_more_seldom() {
    for (ecn, apart) in [(Ecn::NotEct, 64), (Ecn::Ect0, APART)] {
        let Some(mut programs) = programs() else {
            return;
        };
        let kind = Kind {
            ecn: ecn as u8,
            merged: 2,
            ..Kind::default()
        };
        let outcome = download(&mut programs, kind, 30_000);
        assert!(!outcome.signals.is_empty());
        let came = outcome.signals.iter().map(|(came, ..)| *came);
        let came: Vec<_> = std::iter::once(0).chain(came).collect();
        assert!(
            came.windows(2).all(|two| two[1] - two[0] >= apart),
            "{came:?}"
        );
    }
}

/// A record of random content, as a faulty law might leave it; if `eager`, of a flow that is clocked and known to
/// answer.
fn spoilt(held: &tg_held, noise: &[u8], eager: bool) -> tg_held {
    let mut spoilt = *held;
    overwrite(&mut spoilt.hold, noise);
    spoilt.hold.steered.member.share = held.hold.steered.member.share;
    spoilt.hold.steered.member.sharing = held.hold.steered.member.sharing;
    if eager {
        spoilt.hold.clocking = held.hold.clocking;
        (spoilt.hold.clocking.state, spoilt.hold.clocking.answers) = (1, 2);
        spoilt.hold.steered.echo = held.hold.steered.echo;
        spoilt.hold.steered.member.own = held.hold.steered.member.own;
        spoilt.hold.steered.echo.rtt_us = 1;
        // Without an echo no packet waits or is signalled.
        spoilt.hold.steered.echo.heard_us = held.seen_us;
        spoilt.hold.steered.recent_largest = 0;
        spoilt.hold.gated = 1;
        spoilt.hold.arrived = u64::MAX / 2;
        (spoilt.hold.ways.came, spoilt.hold.ways.went) = (1 << 19, 0);
        (
            spoilt.hold.window,
            spoilt.hold.rate.bytes,
            spoilt.hold.rate.us,
        ) = (1 << 30, 1 << 30, 1);
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
    download(&mut programs, Kind::default(), 8000);
    let trial = Trial {
        way: Way::Arrives,
        packet: arriving(HERE.1, 1200),
        bytes: size_of::<tg_hold>(),
        spoil: spoilt,
        asks: |_, _| vec![0],
    };
    trial.run(&mut programs);
}

/// Once user space has been gone for a second, a flow that the law would signal passes unread and unchanged: a clsact
/// filter outlives user space.
#[test]
fn without_user_space_nothing_is_signalled_or_learnt() {
    const GONE_US: u64 = START_US + 9_000_000;
    let Some(mut programs) = programs() else {
        return;
    };
    download(&mut programs, Kind::default(), 8000);
    let flow = programs.candidate(HERE.1, THERE.1).expect("a place");
    let clean = programs.read(flow.place);
    // What becomes of packets that arrive a millisecond apart; `at` sets the clock.
    let signals = |programs: &mut Programs, from_us: u64, at: fn(&mut Programs, u64)| {
        let comes = |n: u64| {
            at(programs, from_us + 1000 * n);
            // Its echoes are answered.
            let heard = tg_held {
                seen_us: from_us,
                ..clean
            };
            let record = spoilt(&heard, &[], true);
            programs.write(flow.place, &record);
            let before = programs.record(flow.place);
            let fate = programs.pass(Way::Arrives, &arriving(HERE.1, 1200));
            (fate, before == programs.record(flow.place))
        };
        (0..900).map(comes).collect::<Vec<_>>()
    };
    let there = signals(&mut programs, GONE_US - 900_000, Programs::at);
    let signalled = there.iter().filter(|(fate, _)| *fate != Fate::Passes);
    assert!(signalled.count() > 10, "the law is not eager");
    programs.at(GONE_US);
    // Within the second all is as it was.
    let still = signals(&mut programs, GONE_US, Programs::abandoned_at);
    assert!(still.iter().any(|(fate, _)| *fate != Fate::Passes));
    let gone = signals(&mut programs, GONE_US + LEASE_US, Programs::abandoned_at);
    assert!(gone.iter().all(|what| *what == (Fate::Passes, true)));
    // Nor does a new flow get a record.
    for _ in 0..100 {
        programs.pass(Way::Arrives, &arriving(HERE.1 + 1, 1200));
    }
    assert_eq!(programs.candidate(HERE.1 + 1, THERE.1), None);
    // It comes back.
    let back = signals(&mut programs, GONE_US + 9_000_000, Programs::at);
    assert!(back.iter().any(|(fate, _)| *fate != Fate::Passes));
}

/// Packets that the gate cannot hold never get a record, however many there are.
#[test]
fn what_is_no_whole_datagram_of_udp_is_not_held() {
    let Some(programs) = programs() else { return };
    let plain = |ip, but: fn(&mut Packet)| {
        let packet = Packet::new(Link::Ethernet, ip, THERE, HERE);
        let mut packet = packet.with_datagram(&[0x5a; 1200]);
        but(&mut packet);
        packet
    };
    let lies = |packet: &mut Packet| {
        let udp = packet.instead.as_mut().expect("a datagram");
        udp[4..6].copy_from_slice(&2000_u16.to_be_bytes());
    };
    let mut segment = Packet::new(Link::Ethernet, Ip::V4, THERE, HERE);
    segment.flags = ACK;
    segment.payload = 1200;
    let never = [
        plain(Ip::V4, |p| p.fragment = 0x2000),
        plain(Ip::V4, |p| p.fragment = 0x0010),
        plain(Ip::V6, |p| p.protocol = 44),
        plain(Ip::V4, |p| p.ip_options = vec![1; 4]),
        plain(Ip::V6, |p| p.protocol = 60),
        plain(Ip::V4, |p| p.vlan = Some(7)),
        plain(Ip::V4, |p| p.ethertype = Some(0x0806)),
        plain(Ip::V4, |p| p.protocol = 47),
        plain(Ip::V4, |p| p.protocol = 1),
        plain(Ip::V4, lies),
        segment,
    ];
    for packet in never {
        for _ in 0..100 {
            for way in [Way::Arrives, Way::Leaves] {
                assert_eq!(programs.pass(way, &packet), Fate::Passes);
            }
        }
        assert_eq!(programs.known().len(), 0, "{packet:?} is a flow");
    }
    assert!(bulk(&programs, HERE.1).is_some());
}

#[test]
fn what_is_short_gets_no_record() {
    let Some(programs) = programs() else { return };
    for _ in 0..ASKS / 1200 - 1 {
        programs.pass(Way::Arrives, &arriving(HERE.1, 1200));
    }
    assert_eq!(programs.records().candidates(), []);
}

/// An answer counts only if it is from the flow's server and has the echo's secret.
#[test]
fn a_stranger_moves_nothing() {
    for ip in [Ip::V4, Ip::V6] {
        let Some(mut programs) = programs() else {
            return;
        };
        let from = |host| Packet::new(Link::Ethernet, ip, (host, 0), (HERE.0, 0));
        for _ in 0..=ASKS / 1200 {
            let data = Packet::new(Link::Ethernet, ip, THERE, HERE);
            programs.pass(Way::Arrives, &data.with_datagram(&[0x5a; 1200]));
        }
        let place = programs.candidate(HERE.1, THERE.1).expect("bulk").place;
        let places = [place as u16, 300, u16::MAX, u16::MAX];
        let sent_us = START_US;
        programs.at(START_US + 50_000);
        let right = answer(from(THERE.0), sent_us, places);
        let changed = |at: usize, to: &[u8]| {
            let mut packet = right.clone();
            let echo = packet.instead.as_mut().expect("an echo");
            echo[at..at + to.len()].copy_from_slice(to);
            packet
        };
        let request = if ip == Ip::V4 { 8 } else { 128 };
        let future_us = (START_US as u32 + 50_001).to_ne_bytes();
        let old_us = (START_US as u32).wrapping_sub(60_000_000).to_ne_bytes();
        let mut short = right.clone();
        short.instead.as_mut().expect("an echo").truncate(20);
        let mut strange = vec![
            answer(from(9), sent_us, places),
            changed(0, &[request]),
            changed(1, &[1]),
            changed(4, &[0, 0]),
            changed(8, &[0; 4]),
            changed(12, &future_us),
            changed(12, &old_us),
            changed(16, &[0xff, 0xff]),
            short,
            Packet {
                protocol: 47,
                ..right.clone()
            },
        ];
        // The other version's answers.
        let other = if ip == Ip::V4 { 129 } else { 0 };
        strange.push(changed(0, &[other]));
        // Any other secret.
        strange.extend((0..32).map(|bit| changed(8, &(programs::SECRET ^ 1 << bit).to_ne_bytes())));
        let before = programs.record(place);
        for packet in strange {
            programs.pass(Way::Arrives, &packet);
            assert!(programs.record(place) == before, "{packet:?} was believed");
        }
        programs.pass(Way::Arrives, &right);
        let floor_us = programs.candidate(HERE.1, THERE.1).expect("bulk").floor_us;
        assert_eq!(floor_us, 50_000);
    }
}

/// More flows than places: those that come later are left alone, until one is idle.
#[test]
fn without_a_place_a_flow_is_left_alone() {
    let Some(mut programs) = programs() else {
        return;
    };
    for port in 0..PLACES {
        assert!(bulk(&programs, 20_000 + port).is_some(), "{port}");
    }
    assert_eq!(programs.records().candidates().len(), usize::from(PLACES));
    assert_eq!(bulk(&programs, HERE.1), None);
    // All but one go on.
    programs.at(START_US + IDLE_US - 1);
    for port in 1..PLACES {
        programs.pass(Way::Arrives, &arriving(20_000 + port, 1200));
    }
    assert_eq!(bulk(&programs, HERE.1), None);
    let idle = programs
        .candidate(20_000, THERE.1)
        .expect("it has its place");
    programs.records().gate(idle.place, true, 77);
    programs.at(START_US + IDLE_US);
    // A few places are tried with each packet.
    let taken = (0..PLACES)
        .find_map(|_| bulk(&programs, HERE.1))
        .expect("a place is free");
    assert_eq!(
        (taken.place, taken.since_us),
        (idle.place, START_US + IDLE_US)
    );
    let fresh = programs.read(taken.place);
    assert_eq!(
        (fresh.hold.gated, fresh.floor_us),
        (0, 0),
        "of the one before"
    );
    assert_eq!(programs.candidate(20_000, THERE.1), None);
    // That one comes back, and has none.
    assert_eq!(bulk(&programs, 20_000), None);
    assert!(programs.read(taken.place).hold.arrived < 1_000_000);
}

/// A flow that the table has forgotten gets a new record; its old one no longer counts.
#[test]
fn a_flow_that_was_forgotten_has_one_record() {
    let Some(mut programs) = programs() else {
        return;
    };
    let before = bulk(&programs, HERE.1).expect("a place");
    programs.forget(HERE.1);
    programs.at(START_US + 1000);
    let after = bulk(&programs, HERE.1).expect("a place");
    assert_ne!(before.place, after.place);
    assert_eq!(after.since_us, START_US + 1000);
}
