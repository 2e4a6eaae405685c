//! The agent comes and goes, politely or not, and the traffic goes on.

use crate::attached::{NO_PROGRAM, PROGRAMS, attached};
use crate::downloads::flow_of;
use crate::order::decides;
use crate::testbed::{count, interface, on_testbed, start, start_for, wait_for};
use crate::transfer::{Connection, FILE};
use libbpf_rs::{TC_EGRESS, TC_INGRESS, TcHookBuilder};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use tidegate_agent::{Agent, Direction, Directions, Hook, Reason};
use tidegate_lab::{IpVersion, TcpInfo};
use tidegate_laws::{Law, Params};
use tidegate_linux::rtnetlink::clsact_filters;

/// Which hook the victim of a test is to hold.
const VICTIM: &str = "TIDEGATE_AGENT_TEST_VICTIM";

/// A law that certainly steers.
pub fn steering() -> Params {
    Params {
        law: Law::Drs,
        limit: Some(64 << 10),
        ..Params::default()
    }
}

/// Half the file is through.
fn wait_for_half(arrived: &AtomicU64) {
    wait_for("half the file", || {
        arrived.load(Ordering::Relaxed) > FILE / 2
    });
}

/// Waits for `bytes` more.
fn wait_for_more(arrived: &AtomicU64, bytes: u64) {
    let seen = arrived.load(Ordering::Relaxed);
    wait_for("more of the file", || {
        arrived.load(Ordering::Relaxed) > seen + bytes
    });
}

/// The law has had its round trips and lowered a window.
fn wait_for_steering(agent: &Agent) {
    wait_for("a window to be lowered", || {
        count(agent, Direction::Down, Reason::Rewritten) > 0
    });
}

#[test]
fn in_mid_stream_the_scale_comes_from_the_socket() {
    for version in [IpVersion::V4, IpVersion::V6] {
        on_testbed(|hosts| {
            let connection = Connection::new(hosts, version);
            connection.pace(&connection.server);
            let mut late = None;
            connection.download_during(|arrived| {
                wait_for_half(arrived);
                wait_for_steering(late.insert(start(steering(), Hook::Tcx)));
                wait_for_more(arrived, FILE / 4);
            });
            let agent = late.expect("the agent was started");
            assert_eq!(
                count(&agent, Direction::Down, Reason::Handshake),
                0,
                "the agent was not late"
            );
            assert_eq!(count(&agent, Direction::Down, Reason::NoScale), 0);
            // The kernel's window as the agent read it, field and scale, and as the kernel says.
            wait_for("the last window", || {
                let own = TcpInfo::of(&connection.client).unwrap().own_window_bytes;
                let seen = flow_of(&agent, Direction::Down, &connection).kernel_bytes;
                seen > 0xffff && own >> 10 == seen >> 10
            });
        });
    }
}

#[test]
fn in_mid_stream_an_uploads_scale_comes_from_the_socket() {
    for version in [IpVersion::V4, IpVersion::V6] {
        on_testbed(|hosts| {
            let connection = Connection::new(hosts, version);
            connection.pace(&connection.client);
            let mut late = None;
            connection.upload_during(|arrived| {
                wait_for_half(arrived);
                late = Some(start(Params::default(), Hook::Tcx));
                wait_for_more(arrived, FILE / 4);
            });
            let agent = late.expect("the agent was started");
            let counted = |reason| count(&agent, Direction::Up, reason);
            assert_eq!(counted(Reason::Handshake), 0, "the agent was not late");
            assert_eq!(counted(Reason::NoScale), 0);
            // The last window that the agent let our kernel read, and what that says it is.
            wait_for("the last window", || {
                let told = flow_of(&agent, Direction::Up, &connection).window_bytes;
                let read = TcpInfo::of(&connection.client).unwrap().peer_window_bytes;
                told > 0xffff && told == read
            });
        });
    }
}

/// After a killed agent that steered both directions, the next may steer only one.
#[test]
fn an_agent_for_one_direction_does_not_look_at_the_other() {
    for hook in [Hook::Tcx, Hook::Clsact] {
        on_testbed(|hosts| {
            for directions in [Directions::Downloads, Directions::Uploads] {
                let both = start(steering(), hook);
                if hook == Hook::Clsact {
                    // As if it had been killed.
                    std::mem::forget(both);
                } else {
                    drop(both);
                }
                let one = start_for(directions, Params::default(), hook);
                assert_eq!(attached(hook).len(), PROGRAMS, "{hook:?} {directions:?}");
                Connection::new(hosts, IpVersion::V4).exchange();
                for direction in Direction::ALL {
                    let counts = one.counts().unwrap().into_iter();
                    let of = counts.filter(|c| c.direction == direction);
                    let seen: u64 = of.map(|c| c.packets).sum();
                    let looked = seen > 0;
                    assert_eq!(looked, directions.include(direction), "{directions:?}");
                }
                drop(one);
                assert_eq!(attached(hook), NO_PROGRAM, "{hook:?} {directions:?}");
            }
        });
    }
}

#[test]
fn ten_agents_one_after_another_during_one_download() {
    agents_one_after_another(10);
}

#[test]
#[ignore = "takes a minute: ./dev soak runs it"]
fn a_hundred_agents_one_after_another_during_one_download() {
    agents_one_after_another(100);
}

fn agents_one_after_another(agents: usize) {
    for hook in [Hook::Tcx, Hook::Clsact] {
        on_testbed(|hosts| {
            let connection = Connection::new(hosts, IpVersion::V4);
            connection.pace(&connection.server);
            connection.download_during(|arrived| {
                for _ in 0..agents {
                    let agent = start(steering(), hook);
                    assert_eq!(attached(hook).len(), PROGRAMS, "{hook:?}");
                    wait_for_steering(&agent);
                    wait_for_more(arrived, 1_000_000);
                    drop(agent);
                    assert_eq!(attached(hook), NO_PROGRAM, "{hook:?}");
                }
            });
        });
    }
}

#[test]
fn an_agent_may_be_dropped_in_another_namespace() {
    for hook in [Hook::Tcx, Hook::Clsact] {
        on_testbed(|hosts| {
            let agent = start(steering(), hook);
            let dropped = hosts.server.run(move || {
                drop(agent);
                Ok(())
            });
            dropped.unwrap();
            assert_eq!(attached(hook), NO_PROGRAM, "{hook:?}");
        });
    }
}

#[test]
fn a_killed_agent_leaves_tcx_empty_and_clsact_to_the_next() {
    if let Ok(hook) = std::env::var(VICTIM) {
        return be_the_victim(&hook);
    }
    for hook in [Hook::Tcx, Hook::Clsact] {
        on_testbed(|hosts| {
            let connection = Connection::new(hosts, IpVersion::V4);
            connection.pace(&connection.server);
            connection.download_during(|arrived| {
                let leftover = kill_an_agent(hook, arrived);
                // The file goes on whether or not there is a program still.
                wait_for_more(arrived, FILE / 4);
                if hook == Hook::Tcx {
                    wait_for("the programs to go", || attached(hook).is_empty());
                    return;
                }
                assert_eq!(attached(hook), leftover);
                let next = start(steering(), hook);
                let now = attached(hook);
                assert_eq!(now.len(), PROGRAMS);
                assert!(now.iter().all(|id| !leftover.contains(id)), "not replaced");
                wait_for_steering(&next);
                wait_for_more(arrived, FILE / 4);
                drop(next);
                assert_eq!(attached(hook), NO_PROGRAM);
            });
        });
    }
}

#[test]
fn an_empty_clsact_goes_with_the_agent_that_made_it_and_no_other() {
    let filters = || clsact_filters(interface().index).unwrap();
    let whole = || {
        let mut hook = TcHookBuilder::new(std::io::stdin().as_fd()).hook(TC_INGRESS | TC_EGRESS);
        *hook.ifindex(interface().index as i32)
    };
    on_testbed(|_| {
        drop(start(steering(), Hook::Clsact));
        assert_eq!(filters(), None);
        // The clsact of another agent, which was killed.
        let killed = start(steering(), Hook::Clsact);
        killed.leave();
        assert_eq!(filters().map(|all| all.len()), Some(1));
        drop(start(steering(), Hook::Clsact));
        assert_eq!(filters(), None);
        // Another program's clsact, without a filter yet.
        whole().create().unwrap();
        drop(start(steering(), Hook::Clsact));
        assert_eq!(filters().map(|all| all.len()), Some(0));
        // Another program's filter in our clsact.
        whole().destroy().unwrap();
        let agent = start(steering(), Hook::Clsact);
        // A BPF filter, since a kernel may lack the modules of matchall and u32.
        let program = decides();
        let mut theirs = TcHookBuilder::new(program.as_fd()).hook(TC_INGRESS);
        theirs.ifindex(interface().index as i32).priority(7);
        theirs.attach().unwrap();
        drop(agent);
        assert_eq!(filters(), Some([7].into()));
    });
}

/// Starts an agent in a separate process, and kills it in mid-transfer. Returns what was attached.
fn kill_an_agent(hook: Hook, arrived: &AtomicU64) -> Vec<u32> {
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "lifecycle::a_killed_agent_leaves_tcx_empty_and_clsact_to_the_next",
        ])
        .env(VICTIM, format!("{hook:?}"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("the victim's programs", || attached(hook).len() == PROGRAMS);
    let programs = attached(hook);
    wait_for_more(arrived, FILE / 4);
    victim.kill().unwrap();
    victim.wait().unwrap();
    programs
}

/// Holds an agent until killed.
fn be_the_victim(hook: &str) {
    let hook = match hook {
        "Tcx" => Hook::Tcx,
        _ => Hook::Clsact,
    };
    let _agent = start(steering(), hook);
    std::thread::park();
}
