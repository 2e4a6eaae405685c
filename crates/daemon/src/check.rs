//! `tidegate check`: what this kernel supports, what `run` would use, and what to change.
//!
//! It tries what can be tried: it loads the agent's own programs and attaches them to the loopback device of a
//! temporary network namespace.

mod args;
mod bridges;
mod holding;
mod offload;
mod router;
mod traffic;
mod tunnels;

use crate::about::directions_in_words;
use crate::config::{RunArgs, Settings, settings};
use crate::interfaces::{Found, Wanted};
use crate::lock;
use crate::udp::{Otherwise, are_ports};
use anyhow::Result;
pub use args::CheckArgs;
use serde::Serialize;
use std::io::Write;
use std::process::ExitCode;
use tidegate_agent::{
    Agent, AgentError, BTF, Config, Directions, Hook, Interface, has_btf, leftovers, require,
    require_bpf_file_system, sees_cgroups, sees_users,
};
use tidegate_command::json;
use tidegate_laws::Law;
use tidegate_linux::netns::Namespace;
use tidegate_terminal as terminal;
use tidegate_terminal::units;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    /// `run` works, but something could be better, or is good to know.
    Note,
    /// `run` does not work.
    Fails,
}

/// The result of one check.
#[derive(Serialize)]
struct Finding {
    name: &'static str,
    status: Status,
    found: String,
    /// What to change.
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

#[derive(Serialize)]
struct Report {
    /// Whether `run` would work.
    works: bool,
    findings: Vec<Finding>,
    #[serde(rename = "use")]
    used: Option<Used>,
    /// The kinds of traffic, and whether `run` would steer them.
    traffic: Vec<traffic::Reached>,
}

/// What `run` would use.
#[derive(Serialize)]
struct Used {
    hook: &'static str,
    interfaces: Vec<String>,
    law: Law,
    directions: &'static str,
    rules: usize,
    /// How many connections the tables hold.
    connections: u32,
    /// What is done with UDP that matches no rule.
    udp: Otherwise,
    udp_rules: usize,
}

impl Finding {
    fn new(name: &'static str, status: Status, found: impl Into<String>) -> Self {
        Self {
            name,
            status,
            found: found.into(),
            advice: None,
        }
    }

    fn advise(mut self, advice: impl Into<String>) -> Self {
        self.advice = Some(advice.into());
        self
    }
}

/// Runs all checks and prints the findings; status 1 if `run` would not work.
pub fn run(args: &CheckArgs) -> Result<ExitCode> {
    let mut findings = vec![kernel(), privilege(), btf()];
    let hook = trial(&mut findings);
    findings.extend([jit(), unprivileged(), timestamps(), owners(), pinning()]);
    findings.extend([holding::queue(), holding::fq()]);
    let (mut settings, on) = looked_up(args, &mut findings).unzip();
    let wanted = settings
        .as_ref()
        .is_some_and(|s| s.udp.rules.ask_for_hold());
    let hold = holding::trial(wanted);
    if let Some(settings) = settings.as_mut().filter(|_| hold.status != Status::Ok) {
        settings.udp.rules.give_up_hold();
    }
    findings.extend([hold, running(), left()]);
    let works = findings.iter().all(|f| f.status != Status::Fails);
    let traffic = settings.as_ref().filter(|_| works);
    let traffic = traffic.map_or_else(Vec::new, |settings| {
        traffic::reached(settings, args.socket.as_deref())
    });
    let used = settings
        .zip(hook)
        .map(|(settings, hook)| used(&settings, on.unwrap_or_default(), hook));
    let report = Report {
        works,
        findings,
        used,
        traffic,
    };
    if args.json {
        json::print(&report)?;
    } else {
        print(&report, args.verbose, &mut terminal::out())?;
    }
    Ok(ExitCode::from(u8::from(!works)))
}

/// Prints the report. Findings that are in order appear only with `--verbose`.
fn print(report: &Report, verbose: bool, out: &mut impl Write) -> Result<()> {
    let told = |f: &&Finding| verbose || f.status != Status::Ok;
    let fine = report.findings.iter().filter(|f| f.status == Status::Ok);
    for finding in report.findings.iter().filter(told) {
        let mark = match finding.status {
            Status::Ok => "ok",
            Status::Note => "note",
            Status::Fails => "FAILS",
        };
        writeln!(out, "{mark:>5}  {:14} {}", finding.name, finding.found)?;
        if let Some(advice) = &finding.advice {
            writeln!(out, "{:>5}  {:14} -> {advice}", "", "")?;
        }
    }
    if !verbose {
        let rest = fine.count();
        writeln!(
            out,
            "   ok  {rest} other findings (--verbose lists them, and kinds of traffic)"
        )?;
    }
    if let Some(used) = report.used.as_ref().filter(|_| report.works) {
        let places = match &used.interfaces[..] {
            [] => "on what it waits for".to_owned(),
            names => format!("on {}", names.join(", ")),
        };
        writeln!(
            out,
            "`tidegate run` would steer {} {places} with {}, by {}, with {} rules{}",
            used.directions,
            used.law,
            used.hook,
            used.rules,
            match used.udp {
                Otherwise::Auto => "; HTTP/3 would be held",
                Otherwise::Hold => "; UDP would be held",
                Otherwise::Fallback => "; QUIC would be turned away",
                Otherwise::Leave => "",
            }
        )?;
        if verbose {
            traffic::print(&report.traffic, out)?;
        }
        return Ok(());
    }
    let reasons = report.findings.iter().filter(|f| f.status == Status::Fails);
    let reasons: Vec<_> = reasons.map(|f| f.found.as_str()).collect();
    writeln!(out, "`tidegate run` would not work: {}", reasons.join("; "))?;
    Ok(())
}

fn used(settings: &Settings, interfaces: Vec<String>, hook: &'static str) -> Used {
    let agent = &settings.agent;
    Used {
        hook,
        interfaces,
        law: agent.params.law,
        directions: directions_in_words(agent),
        rules: agent.rules.rules.len(),
        connections: tidegate_agent::connections(agent.connections).unwrap_or_default(),
        udp: settings.udp.rules.otherwise,
        udp_rules: settings.udp.rules.rules.len(),
    }
}

fn read(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned())
}

fn kernel() -> Finding {
    match require() {
        Err(error @ AgentError::TooOld(_)) => {
            Finding::new("kernel", Status::Fails, error.to_string()).advise("take a later one")
        }
        _ => {
            let release = read("/proc/sys/kernel/osrelease").unwrap_or_default();
            Finding::new("kernel", Status::Ok, release)
        }
    }
}

fn privilege() -> Finding {
    match require() {
        Err(error @ AgentError::NotPrivileged(_)) => {
            Finding::new("privilege", Status::Fails, error.to_string())
                .advise("run it as root, or with these capabilities")
        }
        Err(error @ AgentError::BpfRefused) => {
            Finding::new("privilege", Status::Fails, error.to_string())
        }
        _ => Finding::new("privilege", Status::Ok, "enough"),
    }
}

fn btf() -> Finding {
    if has_btf() {
        return Finding::new("BTF", Status::Ok, BTF);
    }
    Finding::new("BTF", Status::Note, crate::run::WITHOUT_BTF)
        .advise("a kernel with CONFIG_DEBUG_INFO_BTF=y has it")
}

/// Loads and attaches the programs by each hook. Returns the hook that `run` would use.
fn trial(findings: &mut Vec<Finding>) -> Option<&'static str> {
    let try_hook = |hook| {
        let attach = || {
            let config = Config {
                interfaces: vec![Interface::find("lo")?],
                directions: Directions::Both,
                hook,
                ..Config::default()
            };
            Agent::start(&config)?;
            Ok(())
        };
        Namespace::new()?.run(attach)
    };
    let tcx = try_hook(Hook::Tcx);
    // We only try clsact if there is no tcx: it may load a kernel module.
    let clsact = if tcx.is_ok() {
        Ok(())
    } else {
        try_hook(Hook::Clsact)
    };
    let (used, finding) = match (tcx, clsact) {
        (Ok(()), _) => (
            Some("tcx"),
            Finding::new("programs", Status::Ok, "loaded and attached by tcx"),
        ),
        (Err(_), Ok(())) => {
            let found = "loaded and attached by clsact; this kernel has no tcx (6.6)";
            let finding = Finding::new("programs", Status::Note, found).advise(
                "with clsact a killed agent leaves its filters: `tidegate stop` removes them",
            );
            (Some("clsact"), finding)
        }
        (Err(_), Err(error)) => {
            let found = format!("{error:#}").replace('\n', " ");
            let finding = Finding::new("programs", Status::Fails, found);
            let is_no_hook = error
                .downcast_ref::<AgentError>()
                .is_some_and(AgentError::is_no_hook);
            let finding = match is_no_hook {
                true => finding.advise("the kernel needs the modules sch_ingress and cls_bpf"),
                false => finding,
            };
            (None, finding)
        }
    };
    findings.push(finding);
    used
}

fn jit() -> Finding {
    match read("/proc/sys/net/core/bpf_jit_enable").as_deref() {
        Some("0") => Finding::new("JIT", Status::Note, "off: programs are interpreted, slowly")
            .advise("sysctl net.core.bpf_jit_enable=1"),
        Some(_) => Finding::new("JIT", Status::Ok, "on"),
        None => Finding::new("JIT", Status::Ok, "not shown in this network namespace"),
    }
}

fn unprivileged() -> Finding {
    match read("/proc/sys/kernel/unprivileged_bpf_disabled").as_deref() {
        Some("0") => Finding::new(
            "unprivileged",
            Status::Note,
            "any user may load BPF programs",
        )
        .advise("the agent does not need that: sysctl kernel.unprivileged_bpf_disabled=1"),
        _ => Finding::new(
            "unprivileged",
            Status::Ok,
            "users may not load BPF programs",
        ),
    }
}

fn timestamps() -> Finding {
    match read("/proc/sys/net/ipv4/tcp_timestamps").as_deref() {
        Some("0") => {
            let laws = Law::names(|law| law.needs_timestamps()).join(", ");
            let found = format!(
                "TCP timestamps are off: the laws {laws} leave flows alone, except that tide steers downloads with --stampless, and no law steers uploads"
            );
            Finding::new("timestamps", Status::Note, found)
                .advise("sysctl net.ipv4.tcp_timestamps=1")
        }
        _ => Finding::new("timestamps", Status::Ok, "on"),
    }
}

fn owners() -> Finding {
    let kinds = [
        ("uid", sees_users()),
        (
            "cgroup",
            sees_cgroups() && tidegate_agent::Cgroup::root().is_some(),
        ),
    ];
    let missing: Vec<_> = kinds.iter().filter(|k| !k.1).map(|k| k.0).collect();
    if missing.is_empty() {
        return Finding::new("owners", Status::Ok, "rules may ask for uid and cgroup");
    }
    let found = format!("rules may not ask for {}", missing.join(" and "));
    Finding::new("owners", Status::Note, found)
}

fn pinning() -> Finding {
    match require_bpf_file_system() {
        Ok(()) => Finding::new("pinning", Status::Ok, "/sys/fs/bpf is mounted"),
        Err(_) => Finding::new(
            "pinning",
            Status::Note,
            "/sys/fs/bpf is not mounted: no --pin",
        )
        .advise("mount -t bpf -o mode=700 bpf /sys/fs/bpf"),
    }
}

/// Settings of the configuration, and names of the interfaces that `run` would attach to now.
fn looked_up(args: &CheckArgs, findings: &mut Vec<Finding>) -> Option<(Settings, Vec<String>)> {
    if findings.iter().any(|f| f.status == Status::Fails) {
        return None;
    }
    let run = RunArgs {
        config: args.config.clone(),
        iface: args.iface.clone(),
        ..RunArgs::default()
    };
    let both = settings(&run).and_then(|settings| {
        let found = settings.interfaces.find()?;
        Ok((settings, found))
    });
    match both {
        Ok((mut settings, found)) => {
            if are_ports(&found.interfaces) {
                settings.udp.rules.give_up_hold();
            }
            findings.push(tables(&settings.agent));
            findings.extend(interfaces(&settings.interfaces, &found));
            findings.extend(bridges::findings(&found));
            findings.extend(tunnels::findings(&settings.interfaces, &found));
            findings.extend(router::findings(&settings, &found));
            let names = found.interfaces.into_iter().map(|i| i.name).collect();
            Some((settings, names))
        }
        Err(error) => {
            let name = if args.config.is_some() {
                "configuration"
            } else {
                "interfaces"
            };
            findings.push(Finding::new(name, Status::Fails, format!("{error:#}")));
            None
        }
    }
}

/// How many connections the tables would hold, and how much memory they take.
fn tables(config: &Config) -> Finding {
    const NAME: &str = "tables";
    match tidegate_agent::connections(config.connections) {
        Ok(connections) => {
            let bytes =
                tidegate_agent::table_bytes(connections, config.directions, config.by_device);
            let found = format!(
                "{connections} connections, {} of the kernel's memory",
                units::bytes(bytes)
            );
            Finding::new(NAME, Status::Ok, found)
        }
        Err(error) => Finding::new(NAME, Status::Fails, error.to_string()),
    }
}

/// Interfaces that `run` would attach to, leave alone, or wait for.
fn interfaces(wanted: &Wanted, found: &Found) -> Vec<Finding> {
    const NAME: &str = "interface";
    let there = found.interfaces.iter();
    let mut all: Vec<_> = there.flat_map(|i| [interface(i), holding::of(i)]).collect();
    let refused = found.refused.iter();
    all.extend(refused.map(|(link, error)| {
        Finding::new(
            NAME,
            Status::Note,
            format!("{} is left alone: {error}", link.name),
        )
    }));
    let missing = found.missing.iter();
    all.extend(missing.map(|name| {
        let message = format!("there is no interface {name}; `run` waits for it");
        Finding::new(NAME, Status::Note, message)
    }));
    if all.is_empty() {
        let message = format!("none yet; `run` waits for {}", wanted.waits_for());
        let none = Finding::new(NAME, Status::Note, message);
        all.push(match bridges::ports(found) {
            Some(advice) => none.advise(advice),
            None => none,
        });
    }
    all
}

fn interface(interface: &Interface) -> Finding {
    let found = format!("{} ({})", interface.name, interface.link_layer.name());
    if offload::merges_as_lists(&interface.name) == Some(true) {
        let found =
            format!("{found}, merges packets as lists: those that are forwarded are left alone");
        return Finding::new("interface", Status::Note, found)
            .advise(format!("ethtool -K {} rx-gro-list off", interface.name));
    }
    Finding::new("interface", Status::Ok, found)
}

fn running() -> Finding {
    match lock::holder() {
        Ok(None) => Finding::new("agent", Status::Ok, "none runs here"),
        Ok(Some(pid)) => {
            let found = format!("one runs here already, with process id {pid}");
            Finding::new("agent", Status::Note, found).advise("`tidegate stop` ends it")
        }
        Err(error) => Finding::new("agent", Status::Note, format!("{error:#}")),
    }
}

fn left() -> Finding {
    let left = leftovers().unwrap_or_default();
    if left.is_empty() {
        return Finding::new("leftovers", Status::Ok, "none");
    }
    let words: Vec<_> = left.iter().map(ToString::to_string).collect();
    Finding::new("leftovers", Status::Note, words.join("; "))
        .advise("of an agent that runs, or that was pinned or killed; `tidegate stop` removes them")
}

#[cfg(test)]
mod tests;
