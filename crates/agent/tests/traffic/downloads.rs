//! Files arrive as they were sent, whichever law steers, by either hook, over either IP.

use crate::testbed::{WAYS, count, on_testbed, start};
use crate::transfer::{Connection, FILE};
use tidegate_agent::{Agent, Direction, FlowView, Hook, Reason};
use tidegate_lab::{IpVersion, Offload};
use tidegate_laws::{Law, Params};

/// A limit far below what the kernel advertises, in bytes.
const LIMIT: u32 = 64 << 10;

fn laws() -> [Params; 5] {
    let default = Params::default();
    let drs = Params {
        law: Law::Drs,
        limit: Some(LIMIT),
        ..default
    };
    let drwa = Params {
        law: Law::Drwa,
        ..default
    };
    let rledbat = Params {
        law: Law::Rledbat,
        ..default
    };
    let rsfc = Params {
        law: Law::Rsfc,
        ..default
    };
    [default, drwa, drs, rledbat, rsfc]
}

#[test]
fn files_arrive_intact() {
    for (hook, version) in WAYS {
        by(hook, version);
    }
}

fn by(hook: Hook, version: IpVersion) {
    on_testbed(|hosts| {
        for offload in [Offload::On, Offload::Off] {
            hosts.set_offload(offload).unwrap();
            for params in laws() {
                let agent = start(params, hook);
                let connection = Connection::new(hosts, version);
                connection.download();
                let case = format!("{:?}, offload {offload:?}", params.law);
                check(&agent, &params, &connection, &case);
            }
        }
    });
}

#[test]
fn both_ends_send_at_once() {
    on_testbed(|hosts| {
        for offload in [Offload::On, Offload::Off] {
            hosts.set_offload(offload).unwrap();
            for params in laws() {
                let agent = start(params, Hook::Tcx);
                let connection = Connection::new(hosts, IpVersion::V4);
                connection.exchange();
                let case = format!("{:?}, offload {offload:?}", params.law);
                check(&agent, &params, &connection, &case);
            }
        }
    });
}

/// Checks that the agent saw the whole file, and lowered windows if the law does.
fn check(agent: &Agent, params: &Params, connection: &Connection, case: &str) {
    let flow = flow_of(agent, Direction::Down, connection);
    assert!(flow.received_bytes >= FILE, "{case}: {flow:?}");
    assert!(flow.samples > 0, "{case}: no RTT sample, {flow:?}");
    check_counts(agent, case);
    match params.law {
        Law::Drs => {
            assert!(flow.rewritten > 0, "{case}: never steered");
            assert!(flow.window_bytes <= LIMIT, "{case}: {flow:?}");
        }
        Law::Drwa | Law::Rledbat => assert!(flow.rewritten > 0, "{case}: never steered"),
        _ => {}
    }
    // The count includes earlier connections.
    let rewritten = count(agent, Direction::Down, Reason::Rewritten);
    assert!(rewritten >= flow.rewritten, "{case}");
}

/// Checks that the agent understood every packet.
pub fn check_counts(agent: &Agent, case: &str) {
    for direction in Direction::ALL {
        for unwelcome in [
            Reason::NoScale,
            Reason::Malformed,
            Reason::TableFull,
            Reason::NoPath,
        ] {
            let count = count(agent, direction, unwelcome);
            assert_eq!(count, 0, "{case}: {unwelcome}, {direction:?}");
        }
    }
}

/// The agent's view of the connection's data in that direction.
pub fn flow_of(agent: &Agent, direction: Direction, connection: &Connection) -> FlowView {
    let port = connection.client.local_addr().unwrap().port();
    let flows = agent.flows();
    let mut those = flows.iter().filter(|f| f.direction == direction);
    let flow = those.find(|f| f.local.port == port);
    *flow.unwrap_or_else(|| panic!("no flow from port {port} in {flows:?}"))
}
