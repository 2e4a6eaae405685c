//! The agent in a process of its own, started as `tidegate run`, and the resources it holds.

use anyhow::{Context, Result, bail, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, SysconfVar, sysconf};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io::{BufRead, BufReader};
use std::os::fd::{FromRawFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};
use tidegate_lab::{EmulatedHosts, Namespace, die_with_parent};

/// How long the idle agent's CPU use is measured.
const REST: Duration = Duration::from_secs(10);

/// How long we wait for the kernel to remove unreferenced objects.
const REMOVAL: Duration = Duration::from_secs(10);

/// Resources of the agent's process.
#[derive(Clone, Debug, Default)]
pub struct Resources {
    /// Resident memory in bytes.
    pub rss: u64,
    /// Open descriptors.
    pub descriptors: usize,
    /// Memory of its maps in the kernel, in bytes.
    pub maps: u64,
    /// CPU time so far.
    pub cpu: Duration,
    /// CPU time of its programs so far, while the kernel counts it ([`tidegate_agent::count_program_time`]).
    pub programs_cpu: Duration,
    /// How often the programs have run while that was counted.
    pub programs_runs: u64,
    /// Ids of its programs and maps.
    programs: Vec<u32>,
    map_ids: Vec<u32>,
}

/// `tidegate run` at the client's end of the link. It is killed when this is dropped, or when this process ends.
pub struct AgentProcess {
    child: Child,
    /// Dropping it ends the thread that has started the process.
    _parent: Sender<Infallible>,
}

impl AgentProcess {
    /// Starts it, and waits until it steers, or under law none, watches.
    pub fn start(host: &Namespace) -> Result<Self> {
        host.run(|| Self::start_here(&[]))
    }

    /// Starts it in the calling thread's namespace, with more arguments.
    pub fn start_here(arguments: &[&str]) -> Result<Self> {
        Self::follow_here(&[&["--iface", EmulatedHosts::INTERFACE], arguments].concat())
    }

    /// The same on the interfaces of the default routes, unless the arguments name others.
    pub fn follow_here(arguments: &[&str]) -> Result<Self> {
        let program = std::env::current_exe()?;
        let mut command = Command::new(program);
        command.arg("run").args(arguments).stdout(Stdio::piped());
        let mut agent = Self::spawn(command)?;
        let out = agent
            .child
            .stdout
            .as_mut()
            .context("standard output is a pipe")?;
        // What it has to say about the interfaces may come first.
        let mut said = Vec::new();
        for line in BufReader::new(out).lines() {
            let line = line?;
            if ["steering", "watching"]
                .iter()
                .any(|verb| line.starts_with(verb))
            {
                return Ok(agent);
            }
            said.push(line);
        }
        bail!("the agent does not begin: {}", said.join("\n"))
    }

    /// Spawns the process from a thread that lives as long as it does: PR_SET_PDEATHSIG refers to the parent thread,
    /// not the parent process.
    fn spawn(mut command: Command) -> Result<Self> {
        die_with_parent(&mut command);
        let (parent, stays) = channel::<Infallible>();
        let (spawned, begun) = channel();
        thread::spawn(move || {
            let _ = spawned.send(command.spawn());
            let _ = stays.recv();
        });
        Ok(Self {
            child: begun.recv()??,
            _parent: parent,
        })
    }

    /// The process's number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The number of a child of the process; none if it has none.
    pub fn child(&self) -> Result<Option<u32>> {
        let parent = |stat: &str| {
            stat.rsplit_once(')')?
                .1
                .split_whitespace()
                .nth(1)?
                .parse()
                .ok()
        };
        for process in std::fs::read_dir("/proc")? {
            let process = process?;
            let Ok(id) = process.file_name().to_string_lossy().parse() else {
                continue;
            };
            let stat = std::fs::read_to_string(process.path().join("stat")).unwrap_or_default();
            if parent(&stat) == Some(self.id()) {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }

    /// An error if the process has ended.
    pub fn ensure_alive(&mut self) -> Result<()> {
        if let Some(status) = self.child.try_wait()? {
            bail!("the agent ended: {status}");
        }
        Ok(())
    }

    /// The resources that it holds now.
    pub fn resources(&self) -> Result<Resources> {
        let pid = self.child.id();
        let read = |file: &str| {
            let path = format!("/proc/{pid}/{file}");
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))
        };
        let mut resources = Resources {
            rss: field(&read("status")?, "VmRSS:").context("no resident memory")? << 10,
            cpu: cpu(&read("stat")?)?,
            ..Resources::default()
        };
        let mut maps = BTreeMap::new();
        for entry in std::fs::read_dir(format!("/proc/{pid}/fdinfo"))? {
            // The descriptor may have been closed meanwhile.
            let Ok(info) = std::fs::read_to_string(entry?.path()) else {
                continue;
            };
            resources.descriptors += 1;
            if let Some(id) = field(&info, "map_id:") {
                maps.insert(id as u32, field(&info, "memlock:").unwrap_or_default());
            } else if let Some(id) = field(&info, "prog_id:") {
                // The same program may be open twice.
                if !resources.programs.contains(&(id as u32)) {
                    let ns = field(&info, "run_time_ns:").unwrap_or_default();
                    resources.programs_cpu += Duration::from_nanos(ns);
                    resources.programs_runs += field(&info, "run_cnt:").unwrap_or_default();
                }
                resources.programs.push(id as u32);
            }
        }
        resources.maps = maps.values().sum();
        resources.map_ids = maps.into_keys().collect();
        Ok(resources)
    }

    /// Its share of a CPU without traffic.
    pub fn cpu_at_rest(&self) -> Result<f64> {
        let before = self.resources()?.cpu;
        std::thread::sleep(REST);
        Ok((self.resources()?.cpu - before).as_secs_f64() / REST.as_secs_f64())
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        kill(Pid::from_raw(self.id() as i32), signal).context("signal the agent")
    }

    /// Kills it. Returns what it held.
    pub fn kill(&mut self) -> Result<Resources> {
        let held = self.resources()?;
        self.child.kill().context("kill the agent")?;
        self.child.wait().context("wait for the agent")?;
        Ok(held)
    }

    /// Interrupts it as a user would. Returns how many of its programs and maps stay behind.
    pub fn stop(mut self) -> Result<usize> {
        let held = self.resources()?;
        self.signal(Signal::SIGINT)?;
        let status = self.child.wait()?;
        ensure!(status.success(), "the agent ended badly: {status}");
        let began = Instant::now();
        loop {
            let left = held.left();
            if left == 0 || began.elapsed() > REMOVAL {
                return Ok(left);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Resources {
    /// How many of its programs and maps still exist in the kernel.
    pub fn left(&self) -> usize {
        // SAFETY: both take a number and return a new descriptor, or less than 0.
        let program = |&id: &u32| unsafe { libbpf_sys::bpf_prog_get_fd_by_id(id) };
        // SAFETY: as above.
        let map = |&id: &u32| unsafe { libbpf_sys::bpf_map_get_fd_by_id(id) };
        let programs = self.programs.iter().map(program);
        let held = programs
            .chain(self.map_ids.iter().map(map))
            .filter(|&fd| fd >= 0);
        // SAFETY: each is a new descriptor that nobody else owns.
        let held = held.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
        held.collect::<Vec<_>>().len()
    }
}

/// The number after `name` in a file with lines such as "memlock: 4096".
fn field(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.split_whitespace().next()?.parse().ok()
}

/// Fields 14 and 15 of proc_pid_stat(5). The second field may contain anything between its parentheses.
fn cpu(stat: &str) -> Result<Duration> {
    let (_, rest) = stat
        .rsplit_once(')')
        .context("/proc/PID/stat has no name")?;
    let ticks: u64 = rest
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    let per_second = sysconf(SysconfVar::CLK_TCK)?.context("no clock ticks")?;
    Ok(Duration::from_secs_f64(ticks as f64 / per_second as f64))
}
