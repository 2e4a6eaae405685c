//! The command with real traffic between two namespaces: it starts with the capabilities of its systemd unit, steers,
//! ends, and leaves nothing behind. Needs root, and says so if it is skipped.
//!
//! `packaging/kernels/run` runs this very executable on other kernels; there `TIDEGATE` names the
//! command.

#[allow(dead_code, reason = "it serves more tests than these")]
mod agent;
#[path = "../promises/download.rs"]
#[allow(dead_code, reason = "it serves more tests than these")]
mod download;
mod hold;
mod router;
#[path = "../../../agent/tests/support/tally.rs"]
#[allow(dead_code, reason = "it serves more tests than these")]
mod tally;
#[path = "../../../agent/tests/traffic/transfer.rs"]
#[allow(dead_code, reason = "it serves more tests than these")]
mod transfer;

use agent::{Agent, Privilege, is_loaded};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tidegate_agent::has_btf;
use tidegate_lab::{IpVersion, Veth};
use tidegate_testing::is_root;
use transfer::{Connection, FILE};

/// How many instructions the verifier may process for one program: half of what every kernel since 5.2 allows
/// (BPF_COMPLEXITY_LIMIT_INSNS).
const VERIFIER_BUDGET: u64 = 500_000;

/// A virtual machine with an emulated CPU is slow.
const TIMEOUT: Duration = Duration::from_secs(120);

/// CAP_NET_ADMIN and CAP_BPF (linux/capability.h).
const KEPT: u64 = 1 << 12 | 1 << 39;

/// A rate that leaves time for other work on an emulated CPU, in bytes a second.
const PACE: u64 = 5_000_000;

fn on_testbed(act: impl FnOnce(&Veth) + Send) {
    if !is_root() {
        return;
    }
    act(&Veth::new().unwrap());
}

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < TIMEOUT, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A connection whose server sends no faster than [`PACE`].
fn paced(hosts: &Veth) -> Connection {
    let connection = Connection::new(hosts, IpVersion::V4);
    let pace = PACE;
    // SAFETY: the option is a u64 that lives through the call.
    let status = unsafe {
        libc::setsockopt(
            connection.server.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MAX_PACING_RATE,
            (&raw const pace).cast(),
            size_of_val(&pace) as libc::socklen_t,
        )
    };
    assert_eq!(status, 0);
    connection
}

fn wait_for_more(arrived: &AtomicU64, bytes: u64) {
    let before = arrived.load(Ordering::Relaxed);
    wait_for("data", || arrived.load(Ordering::Relaxed) >= before + bytes);
}

#[test]
fn loads_steers_and_leaves_nothing() {
    on_testbed(|hosts| {
        let mut agent = Agent::start(hosts, Privilege::OfTheUnit);
        let programs = agent.programs();
        assert_eq!(programs.len(), 4, "{programs:?}");
        for program in &programs {
            let verified = program.verified_instructions;
            // Kernels before 5.16 do not report it.
            assert!(verified.is_none_or(|n| n < VERIFIER_BUDGET), "{program:?}");
        }
        let most = programs
            .iter()
            .filter_map(|p| p.verified_instructions)
            .max();
        println!(
            "verified: {}",
            most.map_or("unknown".into(), |n| n.to_string())
        );
        let connection = paced(hosts);
        connection.download_during(|_| agent.wait_for_steering());
        agent.stop();
        wait_for("the programs to go", || !programs.iter().any(is_loaded));
    });
}

#[test]
fn runs_with_what_it_needs_alone() {
    on_testbed(|hosts| {
        let agent = Agent::start(hosts, Privilege::Root);
        for thread in agent.threads() {
            for set in ["CapPrm", "CapEff", "CapBnd"] {
                let value = u64::from_str_radix(&thread[set], 16).unwrap();
                assert_eq!(value, KEPT, "{set}");
            }
            for set in ["CapInh", "CapAmb"] {
                assert_eq!(u64::from_str_radix(&thread[set], 16), Ok(0), "{set}");
            }
            assert_eq!(thread["NoNewPrivs"], "1");
        }
        agent.stop();
    });
}

/// Waits during a download until the agent steers: a connection that is older than the agent, or, without BTF to find
/// its window scale, a new one.
fn wait_until_it_steers(agent: &mut Agent, hosts: &Veth) {
    if has_btf() {
        return agent.wait_for_steering();
    }
    agent.wait_for_fate("no_scale");
    paced(hosts).download_during(|_| agent.wait_for_steering());
}

#[test]
fn killed_and_started_again() {
    on_testbed(|hosts| {
        let connection = paced(hosts);
        let mut victim = Agent::start(hosts, Privilege::OfTheUnit);
        let left = victim.programs();
        connection.download_during(|arrived| {
            wait_until_it_steers(&mut victim, hosts);
            victim.kill();
            wait_for_more(arrived, FILE / 4);
            let mut next = Agent::start(hosts, Privilege::OfTheUnit);
            let programs = next.programs();
            wait_until_it_steers(&mut next, hosts);
            wait_for("the victim's programs to go", || {
                !left.iter().any(is_loaded)
            });
            wait_for_more(arrived, FILE / 4);
            next.stop();
            wait_for("the programs to go", || !programs.iter().any(is_loaded));
        });
    });
}
