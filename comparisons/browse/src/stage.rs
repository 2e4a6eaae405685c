//! Runs a plan: the files that all processes share, the hosts' addresses, and the laboratory.

use crate::outcome::Seen;
use crate::page;
use crate::plan::{self, Plan};
use anyhow::{Context, Result, bail, ensure};
use laboratory::{Link, command, quoted};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The hosts' first address, from a range for documentation (RFC 5737).
const FIRST_ADDRESS: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 1);

/// When the browser starts, and the time until it has started, and after the plan's end, in seconds.
const START_S: f64 = 1.0;
const SPARE_S: f64 = 20.0;

/// The part of the run that does not count for the link, in seconds.
const WARMUP_S: f64 = 0.5;

/// How often files and processes are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A host's name and address.
pub struct Address {
    /// The host's.
    pub name: String,
    /// Its address, which the server has.
    pub ip: Ipv4Addr,
}

impl Address {
    /// One address for each name, since different services are on different machines.
    pub fn all(names: Vec<String>) -> impl Iterator<Item = Self> {
        let first = u32::from(FIRST_ADDRESS);
        let names = (0..).zip(names);
        names.map(move |(n, name)| Self {
            name,
            ip: Ipv4Addr::from(first + n),
        })
    }

    /// The address of the call's other end, after those of all hosts.
    pub fn of_call() -> Self {
        let mut names = plan::hosts();
        names.push("call".to_owned());
        let last = Self::all(names).last();
        last.expect("there is at least that one")
    }
}

/// The result that the browser's process hands over.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Told {
    Seen(Box<Seen>),
    Failed(String),
}

/// The files that this process, the browser's and the server share.
pub struct Folder(PathBuf);

impl Folder {
    /// The folder at that path.
    pub fn at(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Writes the files for the server and the browser.
    pub fn write(&self, plan: &Plan) -> Result<()> {
        let pages = self.0.join("pages");
        fs::create_dir_all(&pages)?;
        fs::write(self.0.join("plan.json"), serde_json::to_vec(plan)?)?;
        fs::write(self.0.join("hosts"), plan::hosts().join("\n"))?;
        fs::write(pages.join("player.html"), page::player())?;
        fs::write(pages.join("download.html"), page::download())?;
        for (number, visit) in plan.visits.iter().enumerate() {
            fs::write(pages.join(format!("{number}.html")), page::visited(visit))?;
        }
        Ok(())
    }

    /// Reads the plan.
    pub fn plan(&self) -> Result<Plan> {
        let text = fs::read(self.0.join("plan.json")).context("the plan")?;
        Ok(serde_json::from_slice(&text)?)
    }

    /// Waits for the server to listen, and returns the hash of its key.
    pub fn trust(&self, patience: Duration) -> Result<String> {
        let since = Instant::now();
        loop {
            match fs::read_to_string(self.0.join("trust")) {
                Ok(trust) => return Ok(trust),
                Err(_) if since.elapsed() < patience => std::thread::sleep(POLL_INTERVAL),
                Err(error) => return Err(error).context("the server does not listen"),
            }
        }
    }

    /// The folder of the browser's profile.
    pub fn profile(&self) -> PathBuf {
        self.0.join("profile")
    }

    /// Hands over the results, or the error.
    pub fn tell(&self, seen: Result<Seen>) -> Result<()> {
        let told = match seen {
            Ok(seen) => Told::Seen(Box::new(seen)),
            Err(why) => Told::Failed(format!("{why:#}")),
        };
        let new = self.0.join("told.new");
        fs::write(&new, serde_json::to_vec(&told)?)?;
        Ok(fs::rename(new, self.told_path())?)
    }

    fn told_path(&self) -> PathBuf {
        self.0.join("told.json")
    }

    /// The handed-over results, if they are there.
    fn told(&self) -> Result<Option<Told>> {
        match fs::read(self.told_path()) {
            Ok(text) => Ok(Some(serde_json::from_slice(&text)?)),
            Err(_) => Ok(None),
        }
    }
}

/// The programs and settings for running plans.
pub struct Stage {
    /// The `tidegate` program.
    pub tidegate: PathBuf,
    /// This program.
    pub own: PathBuf,
    /// The server.
    pub server: PathBuf,
    /// Seed of the cell and of the call.
    pub seed: u64,
    /// Set when the user ends the run.
    pub stop: Arc<AtomicBool>,
}

/// The laboratory's measurements.
#[derive(Debug, Serialize)]
pub struct Observed {
    /// Mean queueing delay of the downlink's packets.
    pub queue_mean_ms: f64,
    /// 99th percentile of that delay.
    pub queue_p99_ms: f64,
    /// Throughput of the downlink, headers included.
    pub delivered_mbps: f64,
    /// Packets dropped before the downlink.
    pub drops: u64,
    /// Warnings, for example that the machine was too busy.
    pub warnings: Vec<String>,
}

impl Stage {
    /// Tries the agent on a second of pings, so that a refusal costs no more time than that.
    pub fn rehearse(&self, udp: &str) -> Result<()> {
        let folder = tempfile::tempdir()?;
        let pings = r#"{ name = "pings", does = { ping = { interval_ms = 100 } } }"#;
        let scenario = scenario(Link::Constant, self.seed, 1.0, pings, Some(udp));
        self.run(folder.path(), &scenario, || Ok(())).map(drop)
    }

    /// Runs the plan, with an agent if `udp` has its setting. All processes that it has started have ended when it
    /// returns, also if it is interrupted.
    pub fn perform(&self, plan: &Plan, link: Link, udp: Option<&str>) -> Result<(Seen, Observed)> {
        let folder = tempfile::tempdir()?;
        let files = Folder::at(folder.path());
        files.write(plan)?;
        let duration_s = START_S + plan.seconds + SPARE_S;
        let workloads = self.workloads(folder.path());
        let scenario = scenario(link, self.seed, duration_s, &workloads, udp);
        // A plan that has failed is ended early.
        let run = self.run(folder.path(), &scenario, || match files.told()? {
            Some(Told::Failed(why)) => bail!(why),
            _ => Ok(()),
        })?;
        match files.told()? {
            Some(Told::Seen(seen)) => Ok((*seen, observed(&run)?)),
            _ => bail!("the browser has not finished the plan in time"),
        }
    }

    /// Runs a scenario, and checks from time to time whether to go on.
    fn run(
        &self,
        folder: &Path,
        scenario: &str,
        goes_on: impl Fn() -> Result<()>,
    ) -> Result<Value> {
        let [file, results] = ["scenario.toml", "results.json"].map(|name| folder.join(name));
        fs::write(&file, scenario)?;
        let mut laboratory = Laboratory::start(&self.tidegate, &file, &results)?;
        while !laboratory.ended()? {
            std::thread::sleep(POLL_INTERVAL);
            ensure!(!self.stop.load(Ordering::Relaxed), Interrupted);
            goes_on()?;
        }
        laboratory.succeeded()?;
        let mut results: Value = serde_json::from_slice(&fs::read(&results)?)?;
        Ok(results["runs"][0].take())
    }

    /// The workloads: the server, the other end of the call, and the browser.
    fn workloads(&self, folder: &Path) -> String {
        let mut names = plan::hosts();
        names.push("call".to_owned());
        let addresses: String = Address::all(names)
            .map(|Address { ip, .. }| format!(" {ip}"))
            .collect();
        let [server, own, folder] = [&self.server, &self.own, folder].map(shell);
        let seed = self.seed;
        // The server's device gets the hosts' addresses beside its own.
        let server = command(&format!(
            "device=$(ip route show default | sed 's/.* dev \\([^ ]*\\).*/\\1/')
            for address in{addresses}; do ip address add $address/32 dev $device; done
            {own} echo &
            exec {server} {folder}"
        ));
        let user = command(&format!("exec {own} user {folder} {seed}"));
        format!(
            r#"{{ name = "server", does = {{ command = {{ {server}, side = "server" }} }} }},
    {{ name = "user", start_s = {START_S}, does = {{ command = {{ {user} }} }} }},"#
        )
    }
}

fn scenario(link: Link, seed: u64, duration_s: f64, workloads: &str, udp: Option<&str>) -> String {
    let directions = link.directions();
    let run = match udp {
        None => r#"{ name = "untouched" }"#.to_owned(),
        Some(udp) => {
            let udp = quoted(udp);
            format!(r#"{{ name = "steered", law = "tide", udp = {udp} }}"#)
        }
    };
    format!(
        r#"
name = "browse"
duration_s = {duration_s}
warmup_s = {WARMUP_S}
seed = {seed}
{directions}
workload = [
    {workloads}
]
run = [{run}]
"#
    )
}

/// The user has interrupted the run.
#[derive(Debug)]
pub struct Interrupted;

impl std::fmt::Display for Interrupted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("interrupted")
    }
}

impl std::error::Error for Interrupted {}

/// The request cannot be carried out.
#[derive(Debug)]
pub struct BadInput(pub String);

impl std::fmt::Display for BadInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadInput {}

/// A run of `tidegate lab`, which ends with this value.
struct Laboratory(Child);

impl Laboratory {
    fn start(tidegate: &Path, scenario: &Path, results: &Path) -> Result<Self> {
        let mut command = Command::new(tidegate);
        command
            // The commands are our own, and the server's command adds addresses, which needs root.
            .args(["lab", "--json", "--allow-commands", "--root"])
            .arg(scenario)
            .stdin(Stdio::null())
            .stdout(fs::File::create(results)?)
            // The terminal's interrupts reach only this process, which forwards the first one.
            .process_group(0);
        let own = Pid::this();
        let die_with_us = move || {
            nix::sys::prctl::set_pdeathsig(Signal::SIGTERM)?;
            match Pid::parent() == own {
                true => Ok(()),
                false => Err(nix::errno::Errno::ESRCH.into()),
            }
        };
        // SAFETY: the closure runs between fork and exec and makes two system calls, without allocating.
        unsafe { command.pre_exec(die_with_us) };
        Ok(Self(command.spawn().context("run tidegate")?))
    }

    fn ended(&mut self) -> Result<bool> {
        Ok(self.0.try_wait()?.is_some())
    }

    fn succeeded(&mut self) -> Result<()> {
        const BAD_INPUT: i32 = 2;
        let status = self.0.wait()?;
        ensure!(
            status.code() != Some(BAD_INPUT),
            BadInput("the laboratory refuses the scenario; its message is above".to_owned())
        );
        ensure!(status.success(), "tidegate lab: {status}");
        Ok(())
    }
}

impl Drop for Laboratory {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            let _ = kill(Pid::from_raw(self.0.id() as i32), Signal::SIGINT);
            let _ = self.0.wait();
        }
    }
}

fn observed(run: &Value) -> Result<Observed> {
    let number = |pointer: &str| {
        let found = run.pointer(pointer).and_then(Value::as_f64);
        found.with_context(|| format!("no {pointer} in the results"))
    };
    Ok(Observed {
        queue_mean_ms: number("/link/queue_delay_ms/mean")?,
        queue_p99_ms: number("/link/queue_delay_ms/p99")?,
        delivered_mbps: number("/link/delivered_bps")? * 1e-6,
        drops: number("/link/drops")? as u64,
        warnings: serde_json::from_value(run["health"]["warnings"].clone())?,
    })
}

/// A path quoted for the shell.
fn shell(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_addresses_of_their_own() {
        let hosts = plan::hosts().len();
        let mut all: Vec<Ipv4Addr> = Address::all(plan::hosts()).map(|a| a.ip).collect();
        all.push(Address::of_call().ip);
        all.sort();
        all.dedup();
        assert_eq!(all.len(), hosts + 1);
        // 203.0.113.0/24
        assert!(all.iter().all(|ip| ip.octets()[..3] == [203, 0, 113]));
    }

    #[test]
    fn the_shell_takes_a_path_for_one_word() {
        assert_eq!(shell(Path::new("/a b")), "'/a b'");
        assert_eq!(shell(Path::new("/it's")), r"'/it'\''s'");
    }

    #[test]
    fn what_is_told_is_what_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let files = Folder::at(folder.path());
        assert!(files.told().unwrap().is_none());
        files.tell(Err(anyhow::anyhow!("no browser"))).unwrap();
        assert!(matches!(files.told().unwrap(), Some(Told::Failed(why)) if why == "no browser"));
    }
}
