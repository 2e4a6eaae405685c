//! Files leave through a slow uplink whose queue is deep, and arrive as they were sent, by either hook,
//! over either IP, with the window lowered in acknowledgements that arrive.

use crate::downloads::{check_counts, flow_of};
use crate::testbed::{WAYS, on_testbed, start};
use crate::transfer::{Connection, FILE};
use std::process::Command;
use tidegate_agent::{Agent, Direction, Hook};
use tidegate_lab::{IpVersion, Offload, Veth};
use tidegate_laws::{Law, Params};
use tidegate_testing::skipped;

/// The uplink: a queue of the kernel's behind the agent, 80 ms deep.
pub const UPLINK: &str = "tbf rate 200mbit burst 128kb limit 2mb";

/// Bytes that may be acknowledged before the agent knows an edge.
const FIRST: u64 = 1_000_000;

fn laws() -> [Params; 2] {
    [Law::Tide, Law::Rsfc].map(|law| Params {
        law,
        ..Params::default()
    })
}

/// Runs `act` in the client's namespace, whose end of the link is slow. Skipped, with a message, if it cannot be made
/// slow.
fn on_slow_testbed(act: impl FnOnce(&Veth) + Send) {
    on_testbed(|hosts| {
        let mut tc = Command::new("tc");
        tc.args(["qdisc", "add", "dev", Veth::INTERFACE, "root"]);
        match tc.args(UPLINK.split(' ')).status() {
            Ok(status) if status.success() => act(hosts),
            other => skipped(format!("no slow uplink without tc and its tbf: {other:?}")),
        }
    });
}

#[test]
fn files_arrive_intact() {
    for (hook, version) in WAYS {
        by(hook, version);
    }
}

fn by(hook: Hook, version: IpVersion) {
    on_slow_testbed(|hosts| {
        for offload in [Offload::On, Offload::Off] {
            hosts.set_offload(offload).unwrap();
            for params in laws() {
                let agent = start(params, hook);
                let connection = Connection::new(hosts, version);
                connection.upload();
                let case = format!("{:?}, offload {offload:?}", params.law);
                check(&agent, &connection, &case);
            }
        }
    });
}

/// The connection's data are steered in both directions.
#[test]
fn both_ends_send_at_once() {
    on_slow_testbed(|hosts| {
        for params in laws() {
            let agent = start(params, Hook::Tcx);
            let connection = Connection::new(hosts, IpVersion::V4);
            connection.exchange();
            let case = format!("{:?}, both ways", params.law);
            check(&agent, &connection, &case);
            let down = flow_of(&agent, Direction::Down, &connection);
            assert!(down.received_bytes >= FILE, "{case}: {down:?}");
        }
    });
}

#[test]
fn without_timestamps_an_upload_is_left_alone() {
    on_slow_testbed(|hosts| {
        std::fs::write("/proc/sys/net/ipv4/tcp_timestamps", "0").unwrap();
        for params in laws() {
            let agent = start(params, Hook::Tcx);
            let connection = Connection::new(hosts, IpVersion::V4);
            connection.upload();
            let flow = flow_of(&agent, Direction::Up, &connection);
            assert_eq!((flow.rewritten, flow.samples), (0, 0), "{:?}", params.law);
        }
    });
}

/// Checks that the agent saw the whole file and steered it.
fn check(agent: &Agent, connection: &Connection, case: &str) {
    let flow = flow_of(agent, Direction::Up, connection);
    assert!(flow.received_bytes + FIRST >= FILE, "{case}: {flow:?}");
    assert!(flow.samples > 0, "{case}: no RTT sample, {flow:?}");
    assert!(flow.rewritten > 0, "{case}: never steered, {flow:?}");
    check_counts(agent, case);
}
