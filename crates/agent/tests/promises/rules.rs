//! The administrator's rules: the first that matches a flow decides whether it is steered, and by what weight. The
//! events of `hostile` change rules in mid-flow.

use crate::connection::Connection;
use crate::gate::{Gate, Way};
use crate::packet::{Ip, Link};
use crate::steering::gate_with_limit;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use tidegate_agent::{Cgroup, Direction, Prefix, Reason, Rule, Rules, Verdict};
use tidegate_testing::{is_root, own_cgroups};

const START_US: u64 = 5_000_000;
/// A connection's port at the receiver of its data, and at their sender (`Connection`).
const PORT: u16 = 5_000;
const SENDER_PORT: u16 = 443;
fn denying(rule: Rule) -> Rule {
    Rule {
        verdict: Verdict::LeftAlone,
        ..rule
    }
}

fn rules(rules: impl IntoIterator<Item = Rule>) -> Rules {
    Rules {
        rules: rules.into_iter().collect(),
        otherwise: Verdict::default(),
    }
}

/// A connection through the gate, and whether its next packet that leaves the machine is denied.
struct Flow {
    gate: Gate,
    connection: Connection,
}

impl Flow {
    fn new(direction: Direction) -> Self {
        let mut gate = match direction {
            Direction::Down => gate_with_limit(20_000),
            Direction::Up => Gate::before(direction),
        };
        let mut connection = Connection::through(&gate, Link::Ethernet, Ip::V4, PORT);
        connection.open(&mut gate, START_US);
        Self { gate, connection }
    }

    /// Another connection, from the same port.
    fn reopen(&mut self, link: Link, ip: Ip) {
        self.connection = Connection::through(&self.gate, link, ip, PORT);
        self.connection.open(&mut self.gate, START_US);
    }

    fn reason(&mut self) -> Reason {
        let (way, packet) = match self.gate.direction {
            Direction::Down => {
                self.connection.expected += 100;
                (Way::Leaves, self.connection.outgoing(START_US, 500))
            }
            Direction::Up => (Way::Arrives, self.connection.incoming(START_US, 100)),
        };
        let before = packet.bytes();
        let (after, reason) = self.gate.explain(way, self.connection.link, &before);
        assert!(
            reason != Reason::Denied || after == before,
            "denied, but changed"
        );
        reason
    }

    fn is_denied_by(&mut self, those: &Rules) -> bool {
        self.gate.set_rules(those);
        self.reason() == Reason::Denied
    }

    fn assert(&mut self, rule: Rule, denied: bool) {
        let said = self.is_denied_by(&rules([denying(rule.clone())]));
        let direction = self.gate.direction;
        assert_eq!(
            said, denied,
            "{direction:?} {:?} {rule:?}",
            self.connection.ip
        );
        // The same rule the other way round.
        let only = Rules {
            rules: vec![rule],
            otherwise: Verdict::LeftAlone,
        };
        assert_eq!(self.is_denied_by(&only), !denied, "{direction:?} {only:?}");
    }
}

/// Runs `test` with a download and with an upload on every link and IP version.
fn everywhere(test: impl Fn(&mut Flow)) {
    if !is_root() {
        return;
    }
    for direction in Direction::ALL {
        let mut flow = Flow::new(direction);
        for link in [Link::Ethernet, Link::PlainIp] {
            for ip in [Ip::V4, Ip::V6] {
                flow.reopen(link, ip);
                test(&mut flow);
            }
        }
    }
}

#[test]
fn ports_of_either_end() {
    everywhere(|flow| {
        let (ours, theirs) = match flow.gate.direction {
            Direction::Down => (PORT, SENDER_PORT),
            Direction::Up => (SENDER_PORT, PORT),
        };
        for (first, last) in [
            (ours, ours),
            (ours, ours + 1),
            (ours - 1, ours),
            (ours - 1, ours + 1),
        ] {
            flow.assert(
                Rule {
                    local_ports: Some(first..=last),
                    ..Rule::default()
                },
                true,
            );
        }
        for (first, last) in [(1, ours - 1), (ours + 1, 65_535), (theirs, theirs)] {
            flow.assert(
                Rule {
                    local_ports: Some(first..=last),
                    ..Rule::default()
                },
                false,
            );
        }
        for (first, last, is) in [
            (theirs, theirs, true),
            (1, 65_535, true),
            (ours, ours, false),
        ] {
            flow.assert(
                Rule {
                    remote_ports: Some(first..=last),
                    ..Rule::default()
                },
                is,
            );
        }
    });
}

#[test]
fn prefixes_of_the_far_end() {
    everywhere(|flow| {
        let host = match flow.gate.direction {
            Direction::Down => 2,
            Direction::Up => 1,
        };
        let (address, other, zero, all): (IpAddr, IpAddr, IpAddr, u8) = match flow.connection.ip {
            Ip::V4 => (
                Ipv4Addr::new(8, 0, 0, host).into(),
                Ipv4Addr::new(8, 0, 0, host ^ 1).into(),
                Ipv4Addr::UNSPECIFIED.into(),
                32,
            ),
            Ip::V6 => {
                let v6 =
                    |host: u8| Ipv6Addr::new(0x2001, 0xdb8, 0x86dd, 0, 0, 0, 0, host.into()).into();
                (v6(host), v6(host ^ 1), Ipv6Addr::UNSPECIFIED.into(), 128)
            }
        };
        let other_family = match flow.connection.ip {
            Ip::V4 => Ipv6Addr::UNSPECIFIED.into(),
            Ip::V6 => Ipv4Addr::UNSPECIFIED.into(),
        };
        for (address, bits, is) in [
            (address, all, true),
            (other, all, false),
            (other, all - 1, host / 2 == (host ^ 1) / 2),
            (other, all - 8, true),
            (zero, 0, true),
            (zero, 1, true),
            (zero, 5, false),
            (other_family, 0, false),
        ] {
            let remote = Some(Prefix { address, bits });
            flow.assert(
                Rule {
                    remote,
                    ..Rule::default()
                },
                is,
            );
        }
    });
}

/// The test run's packets belong to a socket of root's, in the control group of this process.
#[test]
fn interfaces_users_and_control_groups() {
    everywhere(|flow| {
        let rule = Rule::default;
        for (name, is) in [("lo", true), ("elsewhere", false)] {
            let interface = Some(name.into());
            let rule = Rule {
                interface,
                ..rule()
            };
            flow.assert(rule, is);
        }
        for (uid, is) in [(0, true), (1_000, false), (65_534, false)] {
            let uid = Some(uid);
            flow.assert(Rule { uid, ..rule() }, is);
        }
        for (cgroup, is) in groups_of_this_process() {
            let cgroup = Some(cgroup);
            flow.assert(Rule { cgroup, ..rule() }, is);
        }
    });
}

/// The control groups of this process from the root down, and one for each that is none of them.
fn groups_of_this_process() -> Vec<(Cgroup, bool)> {
    own_cgroups();
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap();
    let own = own.lines().find_map(|line| line.strip_prefix("0::"));
    let own = Path::new(own.expect("a place in the hierarchy"));
    let groups = own.ancestors().flat_map(|folder| {
        let group = Cgroup::find(folder).unwrap();
        let id = group.id + (1 << 40);
        [(group, true), (Cgroup { id, ..group }, false)]
    });
    groups.collect()
}

#[test]
fn the_first_rule_that_is_about_a_flow_decides() {
    everywhere(|flow| {
        let steers = Rule::default;
        let elsewhere = || {
            denying(Rule {
                interface: Some("elsewhere".into()),
                ..steers()
            })
        };
        let denies = || denying(steers());
        assert!(!flow.is_denied_by(&rules([])));
        assert!(flow.is_denied_by(&rules([elsewhere(), denies(), steers()])));
        assert!(!flow.is_denied_by(&rules([elsewhere(), steers(), denies()])));
        let full = || (1..Rules::MOST).map(|_| elsewhere());
        assert!(flow.is_denied_by(&rules(full().chain([denies()]))));
        let none_steered = Rules {
            rules: full().collect(),
            otherwise: Verdict::LeftAlone,
        };
        assert!(flow.is_denied_by(&none_steered));
    });
}

/// A rule matches only if all of its conditions hold.
#[test]
fn a_rule_is_about_a_flow_only_in_every_respect() {
    everywhere(|flow| {
        let all = Rule {
            local_ports: Some(1..=65_535),
            remote_ports: Some(1..=65_535),
            interface: Some("lo".into()),
            uid: Some(0),
            ..Rule::default()
        };
        flow.assert(all.clone(), true);
        flow.assert(
            Rule {
                uid: Some(1),
                ..all.clone()
            },
            false,
        );
        flow.assert(
            Rule {
                interface: Some("elsewhere".into()),
                ..all.clone()
            },
            false,
        );
        flow.assert(
            Rule {
                local_ports: Some(1..=1),
                ..all.clone()
            },
            false,
        );
        flow.assert(
            Rule {
                remote_ports: Some(1..=1),
                ..all
            },
            false,
        );
    });
}

/// Both directions of a denied flow count as denied and as nothing else. A flow that new rules still allow, by any
/// weight, keeps all that is known of it.
#[test]
fn steering_ends_and_goes_on_with_the_rules() {
    if !is_root() {
        return;
    }
    for direction in Direction::ALL {
        let mut flow = Flow::new(direction);
        let Flow { gate, connection } = &mut flow;
        let (mut now_us, steered) = connection.steer(gate, START_US, 500);
        assert!(steered < 500);
        let at = |verdict| [(PORT, verdict)];
        gate.set_verdicts(&at(Verdict::Steered { weight: 1 }));
        let next;
        (now_us, next) = connection.download(gate, now_us, 2 * connection.segment_us, 500);
        assert!(next < 500, "{direction:?}: forgotten with the rules");
        gate.set_verdicts(&at(Verdict::LeftAlone));
        let window;
        (now_us, window) = connection.download(gate, now_us, 200_000, 500);
        assert_eq!(window, 500, "{direction:?}");
        let (_, reason) = gate.explain(
            Way::Arrives,
            Link::Ethernet,
            &connection.incoming(now_us, 100).bytes(),
        );
        assert_eq!(reason, Reason::Denied);
        gate.set_verdicts(&at(Verdict::Steered { weight: 5 }));
        let lowered = connection.lowered;
        connection.steer(gate, now_us, 500);
        assert!(connection.lowered > lowered, "{direction:?}: never again");
    }
}
