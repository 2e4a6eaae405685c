//! The hold's programs beside the agent's own, by each hook: which see a packet first, and what remains of both.

use crate::attached::{at_clsact, at_tcx};
use crate::lifecycle::steering;
use crate::order::decides;
use crate::testbed::{interface, on_testbed, start};
use libbpf_rs::{TC_EGRESS, TC_INGRESS, TcHook, TcHookBuilder};
use nix::time::{ClockId, clock_gettime};
use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::time::Duration;
use tidegate_agent::{Agent, Direction, Directions, HoldPrograms, Hook, Lease, leftovers};
use tidegate_lab::{IpVersion, Veth};
use tidegate_linux::rtnetlink::clsact_filters;

/// More than makes a flow bulk, in datagrams of 1200 bytes.
const DATAGRAMS: usize = 100;

/// Both orders in which a configuration may ask for them.
const ORDERS: [[Direction; 2]; 2] = [
    [Direction::Down, Direction::Up],
    [Direction::Up, Direction::Down],
];

fn load(agent: &Agent) -> HoldPrograms {
    HoldPrograms::load(agent, Directions::Both, 7, 7).unwrap()
}

/// An agent, and the hold of both directions.
fn both(hook: Hook) -> (Agent, HoldPrograms) {
    let agent = start(steering(), hook);
    let mut hold = load(&agent);
    for direction in Direction::ALL {
        hold.attach(&interface(), direction).unwrap();
    }
    (agent, hold)
}

fn now_us() -> u64 {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap();
    Duration::from(now).as_micros() as u64
}

/// Ids of all programs on the link's end, for what arrives and for what leaves, in the order in which they run.
fn in_order(hook: Hook) -> [Vec<u32>; 2] {
    let index = interface().index as i32;
    match hook {
        Hook::Clsact => [TC_INGRESS, TC_EGRESS].map(|point| at_clsact(index, point)),
        _ => [libbpf_sys::BPF_TCX_INGRESS, libbpf_sys::BPF_TCX_EGRESS]
            .map(|point| at_tcx(index, point)),
    }
}

/// A flow that brings datagrams to the client, or from it.
fn flow(hosts: &Veth, direction: Direction, port: u16) {
    let address = (Veth::server_address(IpVersion::V4), port);
    let there = hosts.server.run(|| Ok(UdpSocket::bind(address)?)).unwrap();
    let here = UdpSocket::bind(("0.0.0.0", 0)).unwrap();
    here.connect(address).unwrap();
    here.send(&[7; 10]).unwrap();
    let (_, client) = there.recv_from(&mut [0; 10]).unwrap();
    there.connect(client).unwrap();
    let (from, to) = match direction {
        Direction::Down => (&there, &here),
        Direction::Up => (&here, &there),
    };
    for _ in 0..DATAGRAMS {
        from.send(&[7; 1200]).unwrap();
        assert_eq!(to.recv(&mut [0; 1500]).unwrap(), 1200);
    }
}

/// Bytes that the agent has counted in that direction.
fn counted(agent: &Agent, direction: Direction) -> u64 {
    let ways = agent.windowless().into_iter();
    let ways = ways.filter(|w| w.direction == direction);
    ways.map(|w| w.bytes).sum()
}

#[test]
fn the_agent_sees_a_packet_first_then_downloads_then_uploads() {
    for hook in [Hook::Tcx, Hook::Clsact] {
        for order in ORDERS {
            on_testbed(|_| {
                let agent = start(steering(), hook);
                let agents = in_order(hook);
                let mut hold = load(&agent);
                let mut seen = agents.clone();
                let mut of = [const { Vec::new() }; 2];
                for direction in order {
                    hold.attach(&interface(), direction).unwrap();
                    let now = in_order(hook);
                    let new = |way: usize| now[way].iter().find(|id| !seen[way].contains(id));
                    of[direction as usize] = vec![*new(0).unwrap(), *new(1).unwrap()];
                    seen = now;
                }
                let [down, up] = of;
                for way in [0, 1] {
                    let expected = [agents[way][0], down[way], up[way]];
                    assert_eq!(in_order(hook)[way], expected, "{hook:?} {order:?}");
                }
                // The uploads' programs go and come back, as with a reload.
                hold.release(interface().index, Direction::Up);
                assert_eq!(in_order(hook)[0], [agents[0][0], down[0]]);
                hold.attach(&interface(), Direction::Up).unwrap();
                assert_eq!(in_order(hook)[0], [agents[0][0], down[0], up[0]]);
            });
        }
    }
}

#[test]
fn all_see_what_passes_and_hide_nothing() {
    for hook in [Hook::Tcx, Hook::Clsact] {
        on_testbed(|hosts| {
            let (agent, hold) = both(hook);
            hold.renew(now_us());
            for (direction, port) in [(Direction::Down, 4433), (Direction::Up, 4434)] {
                flow(hosts, direction, port);
                let all = hold.records().candidates();
                let known = all.iter().find(|c| c.remote.port() == port);
                assert_eq!(known.unwrap().direction, direction, "{hook:?}");
                assert!(counted(&agent, direction) >= DATAGRAMS as u64 * 1200);
            }
        });
    }
}

/// Without a lease the hold does not even note flows. The agent goes on.
#[test]
fn without_a_lease_the_hold_does_nothing() {
    for hook in [Hook::Tcx, Hook::Clsact] {
        on_testbed(|hosts| {
            let (agent, hold) = both(hook);
            flow(hosts, Direction::Down, 4433);
            assert_eq!(hold.records().candidates(), [], "there never was one");
            hold.renew(now_us() - Lease::LASTS_US);
            flow(hosts, Direction::Up, 4434);
            assert_eq!(hold.records().candidates(), [], "it is over");
            // A lease by a clock that is ahead.
            hold.renew(now_us() + 60_000_000);
            flow(hosts, Direction::Down, 4435);
            assert_eq!(hold.records().candidates(), [], "it is none");
            assert!(counted(&agent, Direction::Down) >= 2 * DATAGRAMS as u64 * 1200);
        });
    }
}

fn filters() -> Option<BTreeSet<u16>> {
    clsact_filters(interface().index).unwrap()
}

fn clsact() -> TcHook {
    let mut hook = TcHookBuilder::new(std::io::stdin().as_fd()).hook(TC_INGRESS | TC_EGRESS);
    *hook.ifindex(interface().index as i32)
}

/// As if their process had been killed.
fn abandon((agent, hold): (Agent, HoldPrograms)) {
    std::mem::forget((agent, hold));
}

#[test]
fn filters_that_a_killed_agent_left_are_found_and_removed() {
    on_testbed(|_| {
        abandon(both(Hook::Clsact));
        let left = leftovers().unwrap();
        let words: Vec<_> = left.iter().map(ToString::to_string).collect();
        assert_eq!(
            words,
            [
                "clsact filter on tg0 (arrives)",
                "clsact filter on tg0 (leaves)",
                "clsact filter of the hold of downloads on tg0 (arrives)",
                "clsact filter of the hold of downloads on tg0 (leaves)",
                "clsact filter of the hold of uploads on tg0 (arrives)",
                "clsact filter of the hold of uploads on tg0 (leaves)",
            ]
        );
        assert!(left.iter().all(|left| left.remove().unwrap()));
        assert_eq!(leftovers().unwrap(), []);
        assert_eq!(filters(), None);
    });
}

/// The next agent takes each filter's place, and ends as if there had been none before.
#[test]
fn the_next_takes_the_place_of_what_a_killed_one_left() {
    on_testbed(|_| {
        abandon(both(Hook::Clsact));
        let before = in_order(Hook::Clsact);
        let left = leftovers().unwrap();
        let (agent, hold) = both(Hook::Clsact);
        let after = in_order(Hook::Clsact);
        assert_eq!(after.each_ref().map(Vec::len), [3, 3]);
        assert!(
            after
                .concat()
                .iter()
                .all(|id| !before.concat().contains(id))
        );
        // The filters that it has replaced are gone, and its own are not taken for them.
        assert!(left.iter().all(|left| !left.remove().unwrap()));
        assert_eq!(in_order(Hook::Clsact), after);
        drop(hold);
        drop(agent);
        assert_eq!(filters(), None);
    });
}

/// An agent without a hold removes a hold's leftovers.
#[test]
fn an_agent_without_a_hold_clears_up_after_one() {
    on_testbed(|_| {
        abandon(both(Hook::Clsact));
        let left = leftovers().unwrap();
        let agent = start(steering(), Hook::Clsact);
        let removed = left.iter().filter(|left| left.remove().unwrap());
        assert_eq!(removed.count(), 4);
        assert_eq!(in_order(Hook::Clsact).map(|ids| ids.len()), [1, 1]);
        drop(agent);
        assert_eq!(filters(), None);
    });
}

/// The last of the two to go takes clsact with it, unless another program had put it there before, or uses it.
#[test]
fn clsact_goes_with_the_last_filter_of_ours_unless_it_is_somebody_s() {
    let ends: [fn((Agent, HoldPrograms)); 2] = [
        |(agent, hold)| {
            drop(hold);
            drop(agent);
        },
        |(agent, hold)| {
            drop(agent);
            drop(hold);
        },
    ];
    for end in ends {
        on_testbed(|_| {
            end(both(Hook::Clsact));
            assert_eq!(filters(), None);
            clsact().create().unwrap();
            end(both(Hook::Clsact));
            assert_eq!(filters(), Some(BTreeSet::new()), "it was somebody's");
            clsact().destroy().unwrap();
            let ours = both(Hook::Clsact);
            let program = decides();
            let mut theirs = TcHookBuilder::new(program.as_fd()).hook(TC_INGRESS);
            theirs.ifindex(interface().index as i32).priority(7);
            theirs.attach().unwrap();
            end(ours);
            assert_eq!(filters(), Some([7].into()));
        });
    }
}
