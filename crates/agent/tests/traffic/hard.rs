//! A link that loses, reorders and duplicates, in both directions at once.

use crate::downloads::check_counts;
use crate::testbed::{count, on_impaired_testbed, start};
use crate::transfer::Connection;
use tidegate_agent::{Direction, Hook, Reason};
use tidegate_lab::{EmulatedHosts, IpVersion};
use tidegate_laws::Params;

#[test]
fn files_arrive_intact_both_ways() {
    for version in [IpVersion::V4, IpVersion::V6] {
        on_impaired_testbed(|hosts| exchange(hosts, version, Hook::Tcx));
    }
}

#[test]
fn so_they_do_without_timestamps() {
    on_impaired_testbed(|hosts| {
        std::fs::write("/proc/sys/net/ipv4/tcp_timestamps", "0").unwrap();
        exchange(hosts, IpVersion::V4, Hook::Clsact);
    });
}

fn exchange(hosts: &EmulatedHosts, version: IpVersion, hook: Hook) {
    let agent = start(Params::default(), hook);
    let address = EmulatedHosts::server_address(version);
    let connection = Connection::between(hosts.client(), hosts.server(), address);
    connection.exchange();
    for direction in Direction::ALL {
        assert!(
            count(&agent, direction, Reason::Measured) > 0,
            "{direction:?}"
        );
    }
    check_counts(&agent, &format!("{version:?}"));
}
