//! Rules that name systemd units, with the agent as a process, control groups named like units, and programs in them.
//! Needs root and bash, and says so if it is skipped.

#[path = "sight/running.rs"]
#[allow(dead_code, reason = "it serves more tests than these")]
mod running;

use running::{Running, TIDEGATE, json};
use std::fs;
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidegate_agent::Cgroup;
use tidegate_lab::{IpVersion, Veth};
use tidegate_testing::{has_program, is_root, own_cgroups};

/// Time limit on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(20);

/// How long we watch that a flow stays as it is: several looks at the units.
const WATCH: Duration = Duration::from_secs(3);

/// A slice of the machine's control group hierarchy for the test's groups.
struct Slice(PathBuf);

impl Slice {
    /// Each test has a thread of its own.
    fn new() -> Self {
        own_cgroups();
        let name = format!("tidegatetest{}.slice", nix::unistd::gettid());
        let slice = Self(Cgroup::root().unwrap().join(name));
        fs::create_dir(&slice.0).unwrap();
        slice
    }

    fn make(&self, below: &str) -> PathBuf {
        let folder = self.0.join(below);
        fs::create_dir_all(&folder).unwrap();
        folder
    }
}

impl Drop for Slice {
    fn drop(&mut self) {
        remove(&self.0);
    }
}

/// Removes a group and those below it. A program that has just ended may still be in it.
fn remove(group: &Path) {
    for entry in fs::read_dir(group).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            remove(&entry.path());
        }
    }
    let began = Instant::now();
    while fs::remove_dir(group).is_err() && began.elapsed() < Duration::from_secs(5) {
        thread::sleep(Duration::from_millis(10));
    }
}

/// A program that downloads, in a control group or in the test's own.
struct Program {
    child: Child,
    remote: SocketAddr,
}

impl Program {
    fn start(hosts: &Veth, group: Option<&Path>) -> Self {
        let at = (Veth::server_address(IpVersion::V4), 0);
        let listener = hosts.server.run(|| Ok(TcpListener::bind(at)?)).unwrap();
        let remote = listener.local_addr().unwrap();
        let join = group.map_or(String::new(), |group| {
            format!("echo $$ > {}/cgroup.procs; ", group.display())
        });
        let (ip, port) = (remote.ip(), remote.port());
        let script = format!("{join}exec 3<>/dev/tcp/{ip}/{port}; exec cat <&3");
        let child = Command::new("bash")
            .args(["-ec", &script])
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        thread::spawn(move || {
            let (mut to, _) = listener.accept().unwrap();
            while to.write_all(&[7; 10_000]).is_ok() {
                thread::sleep(Duration::from_millis(5));
            }
        });
        Self { child, remote }
    }

    /// Whether a rule leaves it alone; none while the agent has not seen it.
    fn is_denied(&self, agent: &Running) -> Option<bool> {
        let look = json(&agent.top(&["--json"]));
        let port = self.remote.port();
        let of = |list: &str| {
            let all = look[list].as_array().unwrap().clone();
            let is_it = |row: &serde_json::Value| {
                row["remote"]["port"] == port && row["direction"] == "down"
            };
            all.into_iter().find(is_it)
        };
        let left = of("left").filter(|row| row["reason"] == "denied" && row["state"] == "live");
        let known = of("flows").is_some();
        match left {
            // What it carried before it was denied stays known.
            Some(row) => Some(row["rate_bps"].as_f64() > Some(0.0)),
            None => known.then_some(false),
        }
    }

    fn await_denied(&self, agent: &Running) {
        let began = Instant::now();
        while self.is_denied(agent) != Some(true) {
            assert!(began.elapsed() < TIMEOUT, "never denied");
        }
    }

    fn stays_steered(&self, agent: &Running) {
        let began = Instant::now();
        while self.is_denied(agent).is_none() {
            assert!(began.elapsed() < TIMEOUT, "never seen");
        }
        let began = Instant::now();
        while began.elapsed() < WATCH {
            assert_eq!(self.is_denied(agent), Some(false));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs `act` between two hosts; the agent on one of them reads `file`.
fn with(file: &str, act: impl FnOnce(&Veth, &Slice, &mut Running) + Send) {
    if !is_root() || !has_program("bash", "bash") {
        return;
    }
    let hosts = Veth::new().unwrap();
    let work = || {
        let slice = Slice::new();
        let folder = TempDir::new()?;
        let path = folder.path().join("tidegate.toml");
        fs::write(&path, file)?;
        let args = ["--iface", Veth::INTERFACE, "--config"];
        let args = [&args[..], &[path.to_str().unwrap()]].concat();
        let mut agent = Running::start_by(Command::new(TIDEGATE), &args);
        act(&hosts, &slice, &mut agent);
        agent.interrupt();
        Ok(())
    };
    hosts.client.run(work).unwrap();
}

#[test]
fn a_unit_that_starts_after_the_agent_is_known_and_so_is_its_next_start() {
    let file = "[[rule]]\nunit = \"tgbackup.service\"\naction = \"deny\"\n";
    with(file, |hosts, slice, agent| {
        let other = Program::start(hosts, None);
        for _ in 0..2 {
            let unit = slice.make("tgbackup.service");
            let backup = Program::start(hosts, Some(&unit));
            backup.await_denied(agent);
            drop(backup);
            remove(&unit);
        }
        other.stays_steered(agent);
        // A program in another unit that has named its group like the rule's unit.
        let impostor = slice.make("other.scope/tgbackup.service");
        Program::start(hosts, Some(&impostor)).stays_steered(agent);
    });
}

#[test]
fn a_program_of_a_users_session_is_a_user_s_unit_alone() {
    let file = "[[rule]]\nuser_unit = \"app-*tggame*\"\naction = \"deny\"\n";
    with(file, |hosts, slice, agent| {
        let of_user = slice.make("user@7.service/app.slice/app-tggame-1.scope");
        let of_machine = slice.make("app-tggame-2.scope");
        let game = Program::start(hosts, Some(&of_user));
        game.await_denied(agent);
        Program::start(hosts, Some(&of_machine)).stays_steered(agent);
    });
}
