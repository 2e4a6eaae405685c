//! `tidegate run` as a process of its own.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;
use tidegate_lab::{Namespace, Veth};

/// What the process may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// All that root may.
    Root,
    /// CAP_NET_ADMIN, CAP_NET_RAW, CAP_PERFMON and CAP_BPF, as `packaging/debian/tidegate.service` has it.
    OfTheUnit,
}

/// Numbers of the unit's capabilities (linux/capability.h).
const OF_THE_UNIT: [libc::c_ulong; 4] = [12, 13, 38, 39];

/// A program that the process holds.
#[derive(Debug)]
pub struct Program {
    id: u32,
    /// As far as the kernel tells.
    pub verified_instructions: Option<u64>,
}

/// An agent on the client's end of the link, under a law that certainly steers.
pub struct Agent {
    child: Child,
    reports: Receiver<Value>,
}

impl Agent {
    /// Starts it, and waits until it reports.
    pub fn start(hosts: &Veth, privilege: Privilege) -> Self {
        Self::start_with(&hosts.client, |command| {
            command.args(["--law", "drs", "--limit", "32768"]);
            if privilege == Privilege::OfTheUnit {
                // SAFETY: nothing but system calls between fork and exec.
                unsafe { command.pre_exec(as_the_unit) };
            }
        })
    }

    /// The same, by a command that `more` completes.
    pub fn start_with(host: &Namespace, more: impl FnOnce(&mut Command) + Send) -> Self {
        Self::start_where(host, |command| {
            command.args(["--iface", Veth::INTERFACE]);
            more(command);
        })
    }

    /// The same where `more`, or else the default route, says.
    pub fn start_where(host: &Namespace, more: impl FnOnce(&mut Command) + Send) -> Self {
        let mut command = tidegate();
        command.args(["run", "--json"]).stdout(Stdio::piped());
        more(&mut command);
        let mut child = host.run(|| Ok(command.spawn()?)).unwrap();
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let (to, reports) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // Nobody listens any more where the test is over.
                let _ = to.send(serde_json::from_str(&line).expect("a report"));
            }
        });
        let mut agent = Self { child, reports };
        agent.wait_for("the first report", |_| true);
        agent
    }

    /// Number of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    fn wait_for(&mut self, what: &str, holds: impl Fn(&Value) -> bool) {
        let began = Instant::now();
        loop {
            let report = self.reports.recv_timeout(super::TIMEOUT);
            let report = report.unwrap_or_else(|e| panic!("waited in vain for {what}: {e}"));
            if holds(&report) {
                return;
            }
            let late = began.elapsed() > super::TIMEOUT;
            assert!(!late, "waited in vain for {what}: {report}");
        }
    }

    /// Waits until a window was lowered.
    pub fn wait_for_steering(&mut self) {
        self.wait_for_fate("rewritten");
    }

    /// Waits until that has become of a packet of a download.
    pub fn wait_for_fate(&mut self, reason: &str) {
        self.wait_for(reason, |report| {
            let counts = report["counts"].as_array().expect("a list");
            let mut lowered = counts
                .iter()
                .filter(|c| c["direction"] == "down" && c["reason"] == reason);
            lowered.any(|c| c["packets"].as_u64() > Some(0))
        });
    }

    /// What it reports next; what it said before is past.
    pub fn report(&self) -> Value {
        while self.reports.try_recv().is_ok() {}
        let report = self.reports.recv_timeout(super::TIMEOUT);
        report.expect("a report")
    }

    /// How many windows of downloads it has lowered so far, by its report.
    pub fn lowered(report: &Value) -> u64 {
        let counts = report["counts"].as_array().expect("a list").iter();
        let lowered = counts.filter(|c| c["direction"] == "down" && c["reason"] == "rewritten");
        lowered.filter_map(|c| c["packets"].as_u64()).sum()
    }

    /// The programs that it holds, as its descriptors tell.
    pub fn programs(&self) -> Vec<Program> {
        let folder = PathBuf::from(format!("/proc/{}/fdinfo", self.child.id()));
        let infos = fs::read_dir(folder).unwrap().flatten();
        // A descriptor may have been closed since.
        let infos = infos.filter_map(|f| fs::read_to_string(f.path()).ok());
        let program = |info: String| {
            let fields = fields(&info);
            // Links tell the number of their program, too.
            fields.get("prog_jited")?;
            Some(Program {
                id: fields.get("prog_id")?.parse().ok()?,
                verified_instructions: fields.get("verified_insns").and_then(|n| n.parse().ok()),
            })
        };
        let mut programs: Vec<_> = infos.filter_map(program).collect();
        // A clsact filter of ours has a descriptor of its own.
        programs.sort_by_key(|p: &Program| p.id);
        programs.dedup_by_key(|p| p.id);
        programs
    }

    /// What the kernel tells of each of its threads.
    pub fn threads(&self) -> Vec<HashMap<String, String>> {
        let folder = PathBuf::from(format!("/proc/{}/task", self.child.id()));
        let threads = fs::read_dir(folder).unwrap().flatten();
        threads
            .map(|t| fields(&fs::read_to_string(t.path().join("status")).unwrap()))
            .collect()
    }

    /// Interrupts it, and waits for its end.
    pub fn stop(self) {
        self.end(Signal::SIGINT);
    }

    /// The same by another signal.
    pub fn end(mut self, signal: Signal) {
        kill(Pid::from_raw(self.child.id() as i32), signal).unwrap();
        assert!(self.child.wait().unwrap().success());
    }

    /// Kills it.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // After `stop` and `kill` there is nobody; after a failed test there is.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The command.
pub fn tidegate() -> Command {
    Command::new(std::env::var("TIDEGATE").unwrap_or(env!("CARGO_BIN_EXE_tidegate").into()))
}

/// Lines of the form `name: value`.
fn fields(text: &str) -> HashMap<String, String> {
    let pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect()
}

/// Whether the kernel still has it.
pub fn is_loaded(program: &Program) -> bool {
    // The attribute of BPF_PROG_GET_FD_BY_ID: the number, and two that are 0.
    const BPF_PROG_GET_FD_BY_ID: libc::c_int = 13;
    let attribute = [program.id, 0, 0];
    // SAFETY: the attribute outlives the call.
    let fd = unsafe {
        libc::syscall(
            libc::SYS_bpf,
            BPF_PROG_GET_FD_BY_ID,
            attribute.as_ptr(),
            size_of_val(&attribute),
        )
    };
    if fd >= 0 {
        // SAFETY: a new descriptor that nobody else owns.
        unsafe { libc::close(fd as libc::c_int) };
    }
    fd >= 0
}

/// Leaves what the process is to execute no more capabilities than the unit.
fn as_the_unit() -> std::io::Result<()> {
    for capability in (0..64).filter(|c| !OF_THE_UNIT.contains(c)) {
        // A number that the kernel does not know is no harm.
        // SAFETY: plain numbers.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    }
    Ok(())
}
