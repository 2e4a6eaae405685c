//! `tidegate run` as a process.

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

/// The process's privileges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// All privileges of root.
    Root,
    /// CAP_NET_ADMIN, CAP_NET_RAW, CAP_PERFMON and CAP_BPF, as in `packaging/debian/tidegate.service`.
    OfTheUnit,
}

/// Numbers of the unit's capabilities (linux/capability.h).
const OF_THE_UNIT: [libc::c_ulong; 4] = [12, 13, 38, 39];

/// A program that the process holds.
#[derive(Debug)]
pub struct Program {
    id: u32,
    /// None if the kernel does not say.
    pub verified_instructions: Option<u64>,
}

/// An agent on the client's end of the link, with a law that certainly steers.
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

    /// The same, with a command that `more` changes.
    pub fn start_with(host: &Namespace, more: impl FnOnce(&mut Command) + Send) -> Self {
        Self::start_where(host, |command| {
            command.args(["--iface", Veth::INTERFACE]);
            more(command);
        })
    }

    /// The same on the interfaces that `more` names, or on those of the default route.
    pub fn start_where(host: &Namespace, more: impl FnOnce(&mut Command) + Send) -> Self {
        let mut command = tidegate();
        command.args(["run", "--json"]).stdout(Stdio::piped());
        more(&mut command);
        let mut child = host.run(|| Ok(command.spawn()?)).unwrap();
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        let (to, reports) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // The receiver is gone once the test is over.
                let _ = to.send(serde_json::from_str(&line).expect("a report"));
            }
        });
        let mut agent = Self { child, reports };
        agent.wait_for("the first report", |_| true);
        agent
    }

    /// The process's number.
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

    /// Waits until a packet of a download is counted under this reason.
    pub fn wait_for_fate(&mut self, reason: &str) {
        self.wait_for(reason, |report| {
            let counts = report["counts"].as_array().expect("a list");
            let mut lowered = counts
                .iter()
                .filter(|c| c["direction"] == "down" && c["reason"] == reason);
            lowered.any(|c| c["packets"].as_u64() > Some(0))
        });
    }

    /// The next report; earlier ones are skipped.
    pub fn report(&self) -> Value {
        while self.reports.try_recv().is_ok() {}
        let report = self.reports.recv_timeout(super::TIMEOUT);
        report.expect("a report")
    }

    /// How many windows of downloads the agent has lowered, according to its report.
    pub fn lowered(report: &Value) -> u64 {
        let counts = report["counts"].as_array().expect("a list").iter();
        let lowered = counts.filter(|c| c["direction"] == "down" && c["reason"] == "rewritten");
        lowered.filter_map(|c| c["packets"].as_u64()).sum()
    }

    /// The programs that it holds, according to its descriptors.
    pub fn programs(&self) -> Vec<Program> {
        let folder = PathBuf::from(format!("/proc/{}/fdinfo", self.child.id()));
        let infos = fs::read_dir(folder).unwrap().flatten();
        // A descriptor may have been closed since.
        let infos = infos.filter_map(|f| fs::read_to_string(f.path()).ok());
        let program = |info: String| {
            let fields = fields(&info);
            // A link's information contains its program's number, too.
            fields.get("prog_jited")?;
            Some(Program {
                id: fields.get("prog_id")?.parse().ok()?,
                verified_instructions: fields.get("verified_insns").and_then(|n| n.parse().ok()),
            })
        };
        let mut programs: Vec<_> = infos.filter_map(program).collect();
        // One of our clsact filters has its own descriptor.
        programs.sort_by_key(|p: &Program| p.id);
        programs.dedup_by_key(|p| p.id);
        programs
    }

    /// The kernel's information on each thread.
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

    /// Ends it by another signal.
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
        // After `stop` and `kill` there is no process any more; after a failed test there is.
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

/// Whether the kernel still holds the program.
pub fn is_loaded(program: &Program) -> bool {
    // The attribute of BPF_PROG_GET_FD_BY_ID: the number, and two fields that are 0.
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

/// Limits the process's capabilities to those of the unit.
fn as_the_unit() -> std::io::Result<()> {
    for capability in (0..64).filter(|c| !OF_THE_UNIT.contains(c)) {
        // A number that the kernel does not know does no harm.
        // SAFETY: plain numbers.
        unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
    }
    Ok(())
}
