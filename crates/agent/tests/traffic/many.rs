//! A thousand connections at once, and more than the tables hold.

use crate::downloads::check_counts;
use crate::lifecycle::steering;
use crate::testbed::{count, interface, on_testbed, start};
use crate::transfer::Connection;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::unistd::Pid;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;
use tidegate_agent::{Agent, Config, Direction, Hook, Reason};
use tidegate_lab::{IpVersion, Pattern, Veth};
use tidegate_laws::Params;

const CONNECTIONS: usize = 1_000;

/// Bytes of a turn, and how many turns each connection has.
const PART: usize = 8_192;
const TURNS: u64 = 12;

/// Flows that a small table holds, and many more connections that no server accepts.
const TABLE: u32 = 256;
const FLOOD: u16 = 4_000;

fn allow_files() {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, most, most).unwrap();
}

fn connections(hosts: &Veth) -> Vec<(TcpStream, TcpStream)> {
    let address = SocketAddr::new(Veth::server_address(IpVersion::V4), 0);
    let listener = hosts
        .server
        .run(|| Ok(TcpListener::bind(address)?))
        .unwrap();
    let to = listener.local_addr().unwrap();
    let connect = |_| {
        let client = TcpStream::connect(to).unwrap();
        (client, listener.accept().unwrap().0)
    };
    (0..CONNECTIONS).map(connect).collect()
}

/// Each sends a part, then each reads one, and so on: all parts are in flight at once.
fn by_turns<'a>(ends: impl Iterator<Item = (&'a TcpStream, &'a TcpStream)> + Clone) {
    let mut part = [0; PART];
    for turn in 0..TURNS {
        let position = turn * PART as u64;
        for (number, (mut from, _)) in ends.clone().enumerate() {
            Pattern::new(number as u64).fill(&mut part, position);
            from.write_all(&part).unwrap();
        }
        for (number, (_, mut to)) in ends.clone().enumerate() {
            to.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            to.read_exact(&mut part).unwrap();
            Pattern::new(number as u64).check(&part, position).unwrap();
        }
    }
}

#[test]
fn a_thousand_connections_at_once() {
    on_testbed(|hosts| {
        allow_files();
        for params in [Params::default(), steering()] {
            let agent = start(params, Hook::Tcx);
            let connections = connections(hosts);
            by_turns(connections.iter().map(|(client, server)| (server, client)));
            by_turns(connections.iter().map(|(client, server)| (client, server)));
            let known = agent.flows().into_iter();
            let known = known.filter(|f| f.direction == Direction::Down).count();
            assert!(known >= CONNECTIONS, "{known} flows known");
            check_counts(&agent, "a thousand");
        }
    });
}

fn flood_from_every_cpu() {
    let address = Veth::server_address(IpVersion::V4);
    for cpu in 0..std::thread::available_parallelism().unwrap().get() {
        let mut set = CpuSet::new();
        set.set(cpu).unwrap();
        sched_setaffinity(Pid::from_raw(0), &set).unwrap();
        for port in 1..FLOOD {
            // Refused at once, but its SYN has a record.
            drop(TcpStream::connect((address, port)));
        }
    }
}

/// Its record is lost to others, its window is the kernel's, and then it is steered again: the scale
/// comes from the socket.
#[test]
fn a_forgotten_connection_goes_on_and_is_found_again() {
    on_testbed(|hosts| {
        let agent = Agent::start(&Config {
            interfaces: vec![interface()],
            params: steering(),
            connections: Some(TABLE),
            ..Config::default()
        });
        let agent = agent.unwrap();
        let connection = Connection::new(hosts, IpVersion::V4);
        let port = connection.client.local_addr().unwrap().port();
        let known = || {
            let mut flows = agent.flows().into_iter();
            flows.any(|f| f.direction == Direction::Down && f.local.port == port)
        };
        assert!(known());
        // Each CPU keeps some of the table's records to itself.
        flood_from_every_cpu();
        assert!(!known(), "not forgotten");
        // The law steers no uploads, so none has a record.
        let tables = agent.tables(&agent.flows()).unwrap().into_iter();
        for table in tables.filter(|table| table.direction == Direction::Down) {
            let gone = u64::from(FLOOD) - u64::from(TABLE);
            assert!(table.size == TABLE && table.used <= TABLE, "{table:?}");
            assert!(table.pushed_out >= gone, "{table:?}");
        }
        let before = count(&agent, Direction::Down, Reason::Rewritten);
        connection.exchange();
        assert!(known(), "not found again");
        assert!(count(&agent, Direction::Down, Reason::Rewritten) > before);
        check_counts(&agent, "forgotten");
    });
}
