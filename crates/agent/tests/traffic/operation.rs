//! What an administrator does while traffic flows: other rules, other interfaces, programs that outlive
//! their process.

use crate::attached::{NO_PROGRAM, PROGRAMS, attached};
use crate::testbed::{count, interface, on_testbed, start, wait_for};
use crate::transfer::{Connection, FILE};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use tidegate_agent::{
    Agent, Cgroup, Config, Direction, Hook, Interface, Prefix, Reason, Rule, Rules, Verdict,
    leftovers, pin_folder,
};
use tidegate_lab::{IpVersion, TcpInfo, Veth};
use tidegate_laws::{Law, Params};
use tidegate_testing::{own_bpf_file_system, own_cgroups};

/// Which hook the victim of a test is to hold.
const VICTIM: &str = "TIDEGATE_PINNED_TEST_VICTIM";
/// A limit far below what the kernel advertises, in bytes.
const LIMIT: u32 = 64 << 10;

/// A law that certainly steers.
fn steering() -> Params {
    Params {
        law: Law::Drs,
        limit: Some(LIMIT),
        ..Params::default()
    }
}

fn config(rules: Rules) -> Config {
    Config {
        interfaces: vec![interface()],
        params: steering(),
        rules,
        ..Config::default()
    }
}

/// Rules that leave alone the flows that `rule` matches.
fn denying(rule: Rule) -> Rules {
    let verdict = Verdict::LeftAlone;
    Rules {
        rules: vec![Rule { verdict, ..rule }],
        otherwise: Verdict::default(),
    }
}

fn wait_for_count(agent: &Agent, reason: Reason, above: u64) {
    wait_for(reason.name(), || {
        count(agent, Direction::Down, reason) > above
    });
}

/// How many packets have been counted under `reason` so far.
fn so_far(agent: &Agent, reason: Reason) -> u64 {
    count(agent, Direction::Down, reason)
}

/// Waits for `bytes` more.
fn wait_for_more(arrived: &AtomicU64, bytes: u64) {
    let seen = arrived.load(Ordering::Relaxed);
    wait_for("more of the file", || {
        arrived.load(Ordering::Relaxed) > seen + bytes
    });
}

#[test]
fn rules_that_change_in_mid_transfer_begin_and_end_the_steering() {
    for version in [IpVersion::V4, IpVersion::V6] {
        on_testbed(|hosts| {
            let mut agent = start(steering(), Hook::Tcx);
            let connection = Connection::new(hosts, version);
            connection.pace(&connection.server);
            let address = Veth::server_address(version);
            let bits = if address.is_ipv4() { 30 } else { 64 };
            let server = Rule {
                remote: Some(Prefix { address, bits }),
                ..Rule::default()
            };
            connection.download_during(|arrived| {
                for _ in 0..5 {
                    wait_for_count(&agent, Reason::Rewritten, so_far(&agent, Reason::Rewritten));
                    agent.reload(&config(denying(server.clone()))).unwrap();
                    wait_for_count(&agent, Reason::Denied, so_far(&agent, Reason::Denied) + 10);
                    let steered = so_far(&agent, Reason::Rewritten);
                    wait_for_more(arrived, FILE / 20);
                    assert_eq!(
                        so_far(&agent, Reason::Rewritten),
                        steered,
                        "denied, and steered"
                    );
                    agent.reload(&config(Rules::default())).unwrap();
                }
                wait_for_count(&agent, Reason::Rewritten, so_far(&agent, Reason::Rewritten));
            });
        });
    }
}

/// A modem is pulled out, and has another index when it comes back.
#[test]
fn a_rule_about_an_interface_that_returned_holds_again() {
    on_testbed(|hosts| {
        let rule = Rule {
            interface: Some(interface().name),
            ..Rule::default()
        };
        let was = Interface {
            index: 1,
            ..interface()
        };
        let config = Config {
            interfaces: vec![was.clone()],
            ..config(denying(rule))
        };
        let mut agent = Agent::start(&config).unwrap();
        assert_eq!(so_far(&agent, Reason::Denied), 0);
        agent.release(was.index);
        agent.attach(&interface()).unwrap();
        Connection::new(hosts, IpVersion::V4).download();
        assert!(so_far(&agent, Reason::Denied) > 0, "the rule does not hold");
        assert_eq!(so_far(&agent, Reason::Rewritten), 0);
    });
}

/// The sockets of the tests are root's.
#[test]
fn a_rule_about_a_user_is_about_that_users_sockets() {
    on_testbed(|hosts| {
        let mut agent = start(steering(), Hook::Tcx);
        for (uid, denied) in [(12_345, false), (0, true)] {
            let owner = Rule {
                uid: Some(uid),
                ..Rule::default()
            };
            agent.reload(&config(denying(owner))).unwrap();
            let before = so_far(&agent, Reason::Denied);
            Connection::new(hosts, IpVersion::V4).download();
            assert_eq!(
                so_far(&agent, Reason::Denied) > before,
                denied,
                "user {uid}"
            );
        }
    });
}

/// A control group of the unified hierarchy, made for the test, below the one of this process.
struct Group(PathBuf);

impl Group {
    fn new() -> Self {
        own_cgroups();
        let own = std::fs::read_to_string("/proc/self/cgroup").unwrap();
        let own = own.lines().find_map(|line| line.strip_prefix("0::/"));
        let own = Cgroup::root()
            .unwrap()
            .join(own.expect("a place in the hierarchy"));
        let group = Self(own.join(format!("tidegate-test-{}", std::process::id())));
        std::fs::create_dir(&group.0).unwrap();
        group
    }

    /// Moves this process into the group during `act`: sockets that it makes then belong to the group.
    fn run<T>(&self, act: impl FnOnce() -> T) -> T {
        let join = |group: &Path| {
            let pid = std::process::id().to_string();
            std::fs::write(group.join("cgroup.procs"), pid).unwrap();
        };
        join(&self.0);
        let out = act();
        join(&self.before());
        out
    }

    /// Where the process was.
    fn before(&self) -> PathBuf {
        self.0.parent().unwrap().into()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.0);
    }
}

#[test]
fn a_rule_about_a_control_group_is_about_its_sockets() {
    on_testbed(|hosts| {
        let group = Group::new();
        let mut agent = start(steering(), Hook::Tcx);
        let owner = Rule {
            cgroup: Some(Cgroup::find(&group.0).unwrap()),
            ..Rule::default()
        };
        agent.reload(&config(denying(owner))).unwrap();
        Connection::new(hosts, IpVersion::V4).download();
        assert_eq!(so_far(&agent, Reason::Denied), 0, "of another group");
        let connection = group.run(|| Connection::new(hosts, IpVersion::V4));
        connection.download();
        assert!(so_far(&agent, Reason::Denied) > 0, "of this group");
    });
}

#[test]
fn interfaces_come_and_go_with_the_configuration() {
    for hook in [Hook::Tcx, Hook::Clsact] {
        on_testbed(|_| {
            let mut agent = start(steering(), hook);
            assert_eq!(attached(hook).len(), PROGRAMS);
            let with = |interfaces| Config {
                interfaces,
                ..config(Rules::default())
            };
            let lo = || Interface::find("lo").unwrap();
            agent.reload(&with(vec![lo(), interface()])).unwrap();
            let before = attached(hook);
            assert_eq!(before.len(), PROGRAMS);
            let nowhere = Interface {
                index: 9_999,
                ..lo()
            };
            assert!(agent.reload(&with(vec![lo(), nowhere])).is_err());
            assert_eq!(attached(hook), before, "{hook:?}: not all as it was");
            agent.reload(&with(vec![lo()])).unwrap();
            assert_eq!(attached(hook), NO_PROGRAM, "{hook:?}");
            agent.reload(&with(vec![interface()])).unwrap();
            assert_eq!(attached(hook).len(), PROGRAMS);
        });
    }
}

#[test]
fn what_is_pinned_steers_on_when_its_process_is_killed() {
    if let Ok(hook) = std::env::var(VICTIM) {
        return be_the_victim(&hook);
    }
    for hook in [Hook::Tcx, Hook::Clsact] {
        on_testbed(|hosts| {
            own_bpf_file_system();
            let connection = Connection::new(hosts, IpVersion::V4);
            connection.pace(&connection.server);
            connection.download_during(|arrived| {
                let pinned = kill_a_pinned_agent(hook, arrived);
                wait_for_more(arrived, FILE / 4);
                assert_eq!(attached(hook), pinned, "{hook:?}: detached");
                // A window promised before the agent came falls only as data arrive.
                wait_for("the law's window at the server", || {
                    TcpInfo::of(&connection.server).unwrap().peer_window_bytes <= LIMIT
                });
                let left = leftovers().unwrap();
                assert!(left.iter().any(|l| l.to_string().contains("/sys/fs/bpf")));
                let next = start(steering(), hook);
                for leftover in &left {
                    leftover.remove().unwrap();
                }
                // The kernel detaches a link some time after its last name is removed.
                wait_for("the programs of the killed agent to go", || {
                    attached(hook).len() == PROGRAMS
                });
                let now = attached(hook);
                assert!(now.iter().all(|id| !pinned.contains(id)), "not replaced");
                wait_for_count(&next, Reason::Rewritten, 0);
                drop(next);
                assert_eq!(attached(hook), NO_PROGRAM);
                assert_eq!(leftovers().unwrap(), []);
            });
        });
    }
}

/// A pinned agent that ends in order leaves nothing, unless it is told to.
#[test]
fn a_pinned_agent_takes_its_names_back_or_leaves_them() {
    on_testbed(|_| {
        own_bpf_file_system();
        for stays in [false, true] {
            let mut agent = start(steering(), Hook::Tcx);
            agent.pin().unwrap();
            agent.pin().unwrap();
            if stays {
                agent.leave();
            } else {
                drop(agent);
            }
            assert_eq!(attached(Hook::Tcx).len(), if stays { PROGRAMS } else { 0 });
            let left = leftovers().unwrap();
            assert_eq!(left.len(), usize::from(stays));
            for leftover in left {
                assert!(leftover.remove().unwrap());
                assert!(!leftover.remove().unwrap(), "removed twice");
            }
            wait_for("the programs to go", || attached(Hook::Tcx).is_empty());
        }
    });
}

/// Starts a pinned agent in a separate process, and kills it in mid-transfer once it has steered. Returns what was
/// attached.
fn kill_a_pinned_agent(hook: Hook, arrived: &AtomicU64) -> Vec<u32> {
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "operation::what_is_pinned_steers_on_when_its_process_is_killed",
        ])
        .env(VICTIM, format!("{hook:?}"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let links = if hook == Hook::Tcx { PROGRAMS } else { 0 };
    wait_for("the victim's pins", || {
        let Ok(pins) = pin_folder().unwrap().read_dir() else {
            return false;
        };
        let is_link = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with("link-");
        pins.flatten().filter(|p| is_link(&p.file_name())).count() == links
    });
    assert_eq!(attached(hook).len(), PROGRAMS);
    wait_for_more(arrived, FILE / 4);
    victim.kill().unwrap();
    victim.wait().unwrap();
    attached(hook)
}

/// Holds a pinned agent until killed.
fn be_the_victim(hook: &str) {
    let hook = match hook {
        "Tcx" => Hook::Tcx,
        _ => Hook::Clsact,
    };
    let mut agent = start(steering(), hook);
    agent.pin().unwrap();
    std::thread::park();
}
