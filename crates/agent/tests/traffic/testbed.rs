//! The testbeds, and the checks that all of them make.

use crate::tally;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tidegate_agent::{
    Agent, Config as AgentConfig, Direction, Directions, Hook, Interface, Reason,
};
use tidegate_lab::{EmulatedHosts, IpVersion, Namespace, Veth};
use tidegate_laws::Params;
use tidegate_link::{Config, Disorder, Loss, Rate};
use tidegate_testing::is_root;

/// Runs `act` in the client's namespace. No packet may arrive with a wrong checksum.
///
/// One test at a time, since the tests measure time. Skipped, with a message, without root.
pub fn on_testbed(act: impl FnOnce(&Veth) + Send) {
    let Some(_turn) = turn() else { return };
    let hosts = Veth::new().unwrap();
    hosts
        .client
        .run(|| {
            act(&hosts);
            Ok(())
        })
        .unwrap();
    check_hosts([&hosts.client, &hosts.server]);
}

/// No packet may have arrived with a wrong checksum. Notes how many did arrive.
pub fn check_hosts<'a>(hosts: impl IntoIterator<Item = &'a Namespace>) {
    let mut packets = 0;
    for host in hosts {
        assert_eq!(tcp_counter(host, "InCsumErrors"), 0, "a wrong checksum");
        packets += tcp_counter(host, "InSegs") + counter(host, "Udp:", "InDatagrams");
    }
    tally::note(packets);
}

/// The same over a link that loses, reorders and duplicates packets.
pub fn on_impaired_testbed(act: impl FnOnce(&EmulatedHosts) + Send) {
    let Some(_turn) = turn() else { return };
    let link = Config {
        rate: Rate::constant(200e6),
        loss: Some(Loss::Random(0.005)),
        delay: Duration::from_millis(2).into(),
        disorder: Some(Disorder {
            reorder: 0.01,
            late_by: Duration::from_millis(1),
            duplicate: 0.01,
        }),
        ..Config::default()
    };
    let hosts = EmulatedHosts::new(link.clone(), link, 1).unwrap();
    hosts
        .client()
        .run(|| {
            act(&hosts);
            Ok(())
        })
        .unwrap();
    check_hosts([hosts.client(), hosts.server()]);
    let [carried, lost] = hosts.finish().unwrap();
    assert!(lost > carried / 1_000, "{lost} lost of {carried}");
}

/// The right to use the testbed; none without root.
pub fn turn() -> Option<MutexGuard<'static, ()>> {
    static TURN: Mutex<()> = Mutex::new(());
    is_root().then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Each hook, and each IP over it.
pub const WAYS: [(Hook, IpVersion); 4] = [
    (Hook::Tcx, IpVersion::V4),
    (Hook::Tcx, IpVersion::V6),
    (Hook::Clsact, IpVersion::V4),
    (Hook::Clsact, IpVersion::V6),
];

/// An agent on the client's end of the link.
pub fn start(params: Params, hook: Hook) -> Agent {
    start_for(Directions::Both, params, hook)
}

/// An agent that steers those directions only.
pub fn start_for(directions: Directions, params: Params, hook: Hook) -> Agent {
    Agent::start(&AgentConfig {
        interfaces: vec![interface()],
        params,
        directions,
        hook,
        ..AgentConfig::default()
    })
    .unwrap()
}

/// The end of the link in the calling thread's namespace.
pub fn interface() -> Interface {
    Interface::find(Veth::INTERFACE).unwrap()
}

/// How many packets count under `reason` for data of that direction.
pub fn count(agent: &Agent, direction: Direction, reason: Reason) -> u64 {
    let counts = agent.counts().unwrap();
    let mut counts = counts.iter().filter(|c| c.direction == direction);
    let count = counts.find(|c| c.reason == reason);
    count.expect("a reason that the agent knows").packets
}

/// Waits for a condition.
pub fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "waited in vain for {what}"
        );
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A counter of a host's TCP.
pub fn tcp_counter(host: &Namespace, name: &str) -> u64 {
    counter(host, "Tcp:", name)
}

/// A counter of a host's protocol.
fn counter(host: &Namespace, protocol: &str, name: &str) -> u64 {
    let table = host
        .run(|| Ok(std::fs::read_to_string("/proc/thread-self/net/snmp")?))
        .unwrap();
    let mut rows = table.lines().filter(|row| row.starts_with(protocol));
    let mut row = || rows.next().unwrap().split_whitespace();
    let (mut names, mut values) = (row(), row());
    let at = names.position(|n| n == name).unwrap();
    values.nth(at).unwrap().parse().unwrap()
}
