//! One download in the laboratory.

use crate::case::{Beside, Case, Direction, Kind, Tunnel};
use crate::{Arguments, inside};
use anyhow::{Context, Result, ensure};
use laboratory::command;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The server's name in its certificate, as in `download`.
const NAME: &str = "server";

/// The first seconds of the download, which do not count.
pub const WARMUP_S: u32 = 5;

/// When the client starts, and how long the run goes on after its end, in seconds.
const START_S: u32 = 1;
const END_S: u32 = 2;

/// Time between two echoes.
const ECHO_MS: f64 = 20.0;

/// The results of a download or upload.
#[derive(Serialize)]
pub struct Measured {
    /// Mbit/s that the receiver's application has.
    pub goodput_mbps: f64,
    /// Mbit/s in the worst five consecutive seconds: a stalled connection shows here.
    pub worst_mbps: f64,
    /// Mbit/s of the TCP beside it.
    pub tcp_mbps: Option<f64>,
    /// Round trip of UDP echoes beside it.
    pub echo_mean_ms: f64,
    /// Its 95th percentile.
    pub echo_p95_ms: f64,
    /// Round trip of pings within the tunnel.
    pub inside_mean_ms: Option<f64>,
    /// Its 95th percentile.
    pub inside_p95_ms: Option<f64>,
    /// Mean queueing delay of the data's direction.
    pub queue_mean_ms: f64,
    /// Its 95th percentile.
    pub queue_p95_ms: f64,
    /// Packets that arrived for each that left, without echoes: how seldom the client acknowledges.
    pub packets_per_ack: Option<f64>,
    /// Why the connection ended before its time.
    pub broke: Option<String>,
    /// The laboratory's warnings, for example that the machine was too busy.
    pub warnings: Vec<String>,
    /// Mbit/s of each second.
    pub each_second_mbps: Vec<f64>,
}

/// A receiver's output.
#[derive(Deserialize)]
struct Report {
    bytes: Vec<u64>,
    broke: Option<String>,
}

/// Programs and settings for all downloads.
pub struct Machine {
    tidegate: PathBuf,
    programs: PathBuf,
    seconds: u32,
    seed: u64,
    folder: TempDir,
}

impl Machine {
    /// Makes certificates and keys for all downloads.
    pub fn new(arguments: &Arguments) -> Result<Self> {
        let folder = TempDir::new()?;
        let CertifiedKey { cert, signing_key } = generate_simple_self_signed([NAME.to_owned()])?;
        fs::write(folder.path().join("certificate.pem"), cert.pem())?;
        fs::write(folder.path().join("key.pem"), signing_key.serialize_pem())?;
        Ok(Self {
            tidegate: arguments.tidegate.canonicalize().context("tidegate")?,
            programs: arguments.programs.canonicalize().context("the programs")?,
            seconds: arguments.seconds,
            seed: arguments.seed,
            folder,
        })
    }

    /// Runs a case.
    pub fn measure(&self, case: &Case, held: bool) -> Result<Measured> {
        let scenario = self.folder.path().join("scenario.toml");
        let [server, client] = match case.kind {
            Kind::Quic { stack, control } => self.quic(case, stack, control),
            Kind::Tunnel(tunnel) => self.tunnel(tunnel)?,
        };
        fs::write(&scenario, self.scenario(case, held, [&server, &client]))?;
        // Files of an earlier download.
        for file in ["report.json", "devices.txt", "ping.txt", "tcp.json"] {
            let _ = fs::remove_file(self.path(file));
        }
        let output = Command::new(&self.tidegate)
            // The commands are our own; ends of tunnels make devices.
            .args(["lab", "--json", "--allow-commands", "--root"])
            .arg(&scenario)
            .stderr(Stdio::piped())
            .output()
            .context("run tidegate")?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "tidegate lab: {complaint}");
        let results: Value = serde_json::from_slice(&output.stdout)?;
        self.read(case, &results["runs"][0])
            .with_context(|| complaint.trim().to_owned())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The commands of both ends.
    fn quic(&self, case: &Case, stack: &str, control: &str) -> [String; 2] {
        let program = self.programs.join(format!("download-{stack}"));
        let program = program.display();
        let folder = self.folder.path().display();
        let (seconds, task) = (self.seconds, case.task());
        let terms = format!("{{server}}:4433 {folder} {control} {seconds} {task}");
        // The end that receives reports.
        let report = format!(">{folder}/report.json");
        let (at_server, at_client) = match case.direction {
            Direction::Down => ("", report.as_str()),
            Direction::Up => (report.as_str(), ""),
        };
        let server = format!("exec {program} server {terms} {at_server}");
        let client = format!(
            "{program} client {terms} {at_client};
            cat /proc/net/dev >{folder}/devices.txt"
        );
        [server, client]
    }

    fn tunnel(&self, tunnel: Tunnel) -> Result<[String; 2]> {
        let (kind, program) = match tunnel {
            Tunnel::WireGuard => ("wireguard", self.programs.join("boringtun-cli")),
            Tunnel::OpenVpn => {
                let found = Command::new("openvpn").arg("--version").output();
                found.context("run openvpn, expected in the PATH: install the package openvpn")?;
                ("openvpn", "openvpn".into())
            }
        };
        for end in ["server", "client"] {
            let private = wg("genkey", "")?;
            fs::write(self.path(&format!("{end}.public")), wg("pubkey", &private)?)?;
            fs::write(self.path(&format!("{end}.private")), private)?;
        }
        let end = self.programs.join("tunnel-end");
        let (end, program) = (end.display(), program.display());
        let folder = self.folder.path().display();
        let command = |which: &str| {
            let seconds = self.seconds;
            format!("exec {end} {which} {kind} {program} {folder} {{server}} {seconds}")
        };
        Ok([command("server"), command("client")])
    }

    fn scenario(&self, case: &Case, held: bool, [server, client]: [&str; 2]) -> String {
        let duration_s = START_S + self.seconds + END_S;
        let warmup_s = START_S + WARMUP_S;
        let (directions, way) = match case.direction {
            Direction::Down => (case.link.directions(), "down"),
            Direction::Up => (case.link.exchanged(), "up"),
        };
        let seed = self.seed;
        let (server, client) = (command(server), command(client));
        let beside = match case.beside {
            Beside::Nothing => String::new(),
            Beside::Tcp => format!(
                r#"{{ name = "tcp", start_s = 1, does = {{ bulk = {{ direction = "{way}" }} }} }},"#
            ),
        };
        let run = match held {
            false => r#"{ name = "untouched" }"#,
            true => r#"{ name = "held", law = "tide", udp = "hold" }"#,
        };
        format!(
            r#"
name = "stacks"
duration_s = {duration_s}
warmup_s = {warmup_s}
seed = {seed}
{directions}
workload = [
    {{ name = "server", does = {{ command = {{ {server}, side = "server" }} }} }},
    {{ name = "client", start_s = {START_S}, does = {{ command = {{ {client} }} }} }},
    {{ name = "echo", does = {{ ping = {{ interval_ms = {ECHO_MS} }} }} }},
    {beside}
]
run = [{run}]
"#
        )
    }

    /// None if the client did not close its connection in time.
    fn packets_per_ack(&self) -> Result<Option<f64>> {
        let file = self.path("devices.txt");
        if !file.exists() {
            return Ok(None);
        }
        let devices = fs::read_to_string(&file)?;
        let (received, sent) = packets(&devices).context("no interface of the link")?;
        let echoes = f64::from(self.seconds + START_S) * 1e3 / ECHO_MS;
        Ok(Some((received - echoes) / (sent - echoes)))
    }

    fn read(&self, case: &Case, run: &Value) -> Result<Measured> {
        let flow = |name: &str| {
            let mut flows = run["flows"].as_array().into_iter().flatten();
            flows.find(|flow| flow["name"] == name)
        };
        let number = |value: &Value, pointer: &str| {
            let found = value.pointer(pointer).and_then(Value::as_f64);
            found.with_context(|| format!("no {pointer} in {value}"))
        };
        let Report { bytes, broke } = match case.kind {
            Kind::Quic { .. } => read_report(&self.path("report.json"))?,
            Kind::Tunnel(_) => Report {
                bytes: inside::tcp(&self.path("tcp.json"))?,
                broke: None,
            },
        };
        let echo = flow("echo").context("no echo")?;
        let pings = match case.kind {
            Kind::Quic { .. } => None,
            Kind::Tunnel(_) => Some(inside::pings(&self.path("ping.txt"), WARMUP_S.into())?),
        };
        let packets_per_ack = match (&case.kind, case.direction, case.beside) {
            (Kind::Quic { .. }, Direction::Down, Beside::Nothing) => self.packets_per_ack()?,
            _ => None,
        };
        let link = match case.direction {
            Direction::Down => &run["link"],
            Direction::Up => &run["uplink"],
        };
        let tcp = flow("tcp").map(|tcp| number(tcp, "/goodput_bps"));
        let each_second_mbps: Vec<f64> = bytes.iter().map(|b| *b as f64 * 8e-6).collect();
        let counted = each_second_mbps.get(WARMUP_S as usize..);
        let counted = counted.filter(|c| !c.is_empty()).context("too short")?;
        let worst = counted.windows(5).map(mean).min_by(f64::total_cmp);
        Ok(Measured {
            goodput_mbps: mean(counted),
            worst_mbps: worst.context("too short")?,
            tcp_mbps: tcp.transpose()?.map(|bps| bps * 1e-6),
            echo_mean_ms: number(echo, "/rtt_ms/mean")?,
            echo_p95_ms: number(echo, "/rtt_ms/p95")?,
            inside_mean_ms: pings.map(|(mean, _)| mean),
            inside_p95_ms: pings.map(|(_, p95)| p95),
            queue_mean_ms: number(link, "/queue_delay_ms/mean")?,
            queue_p95_ms: number(link, "/queue_delay_ms/p95")?,
            packets_per_ack,
            broke,
            warnings: serde_json::from_value(run["health"]["warnings"].clone())?,
            each_second_mbps,
        })
    }
}

/// Packets that the link's interface has received and sent, from the text of /proc/net/dev.
fn packets(devices: &str) -> Option<(f64, f64)> {
    let line = devices.lines().find(|line| line.trim().starts_with("tg"))?;
    let (_, counters) = line.split_once(':')?;
    let counters: Vec<f64> = counters
        .split_whitespace()
        .filter_map(|counter| counter.parse().ok())
        .collect();
    Some((*counters.get(1)?, *counters.get(9)?))
}

fn read_report(file: &Path) -> Result<Report> {
    let text = fs::read_to_string(file).context("the receiver's report")?;
    serde_json::from_str(&text).context("the receiver's report")
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The output of `wg`.
fn wg(what: &str, input: &str) -> Result<String> {
    let mut child = Command::new("wg")
        .arg(what)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("run wg (wireguard-tools)")?;
    let mut pipe = child.stdin.take().context("a pipe")?;
    pipe.write_all(input.as_bytes())?;
    drop(pipe);
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "wg {what}: {}", output.status);
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_the_links_interface() {
        let devices = "Inter-|   Receive\n face |bytes    packets errs drop fifo frame compressed multicast\n    \
            lo:  1 2 0 0 0 0 0 0  1 2 0 0 0 0 0 0\n   tg0: 900 30 0 0 0 0 0 0  400 10 0 0 0 0 0 0\n";
        assert_eq!(packets(devices), Some((30.0, 10.0)));
        assert_eq!(packets("lo: 1 2"), None);
    }
}
