//! Runs a scenario: one run after another, each in its own namespaces.

use crate::address::IpVersion;
use crate::confine::Rights;
use crate::hosts::{Settings, check_congestion_control};
use crate::laboratory::Laboratory;
use crate::steer::Steer;
use crate::transport::{Control, takes_quic};
use crate::workload::CommandOutput;
use anyhow::{Context, Result, bail, ensure};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tidegate_scenario::{LinkInputs, ResultSet, Run, Scenario, Step, Workload, WorkloadKind};
use tidegate_tcp::cc::{Algorithm, Factory};
use tidegate_tcp::steer::LawFactory;

/// How a scenario is run.
pub struct Options<'a> {
    /// Attaches the agent to the hosts at which a run has a law.
    pub steer: Option<&'a dyn Steer>,
    /// Ends everything soon after it is set, from a signal handler for example.
    pub stop: Arc<AtomicBool>,
    /// Called several times a second.
    pub progress: &'a (dyn Fn(&Progress) + Sync),
    /// Whether the result holds curves over time.
    pub series: bool,
    /// Version of IP that the workloads use.
    pub ip: IpVersion,
    /// Whether the scenario's commands run, and with which rights.
    pub commands: Commands,
    /// Where their output goes.
    pub output: CommandOutput,
    /// Congestion controls of the caller's own, for workloads whose data a host of `own_tcp` sends; none for a workload:
    /// the scenario's. Results name the scenario's all the same.
    pub senders: Option<&'a Senders<'a>>,
    /// Laws of the caller's own, for workloads whose data a host of `own_tcp` receives; none for a workload: no law.
    /// Workloads that no law steers (`steered`), or that have no window, are not asked about. Results name them (`RunResult::own_law`).
    pub laws: Option<&'a Laws<'a>>,
}

/// The congestion control of the caller's own for a workload's data, if it has one; made anew for each connection.
pub type Senders<'a> = dyn Fn(&Workload) -> Option<Factory> + Sync + 'a;

/// The law of the caller's own for a workload's data at their receiver, if it has one; made anew for each connection.
pub type Laws<'a> = dyn Fn(&Workload) -> Option<LawFactory> + Sync + 'a;

/// Whether to run a scenario's commands: the scenario may come from an untrusted source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Commands {
    /// A scenario with commands is not run.
    #[default]
    Refused,
    /// They run with these rights.
    Allowed(Rights),
}

impl Default for Options<'_> {
    /// No agent, no progress, no series, IPv4, no commands.
    fn default() -> Self {
        Self {
            steer: None,
            stop: Arc::default(),
            progress: &|_| {},
            series: false,
            ip: IpVersion::default(),
            commands: Commands::default(),
            output: CommandOutput::default(),
            senders: None,
            laws: None,
        }
    }
}

/// How far a scenario has come.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Name of the current run.
    pub run: String,
    /// Its number, from 0.
    pub index: usize,
    /// How many runs there are.
    pub runs: usize,
    /// Time since the run's start.
    pub elapsed: Duration,
    /// How long the run lasts.
    pub duration: Duration,
}

/// Runs every run of `scenario`, in their order, and returns what they measured. `inputs` are the
/// scenario's own links (`Scenario::link_inputs`).
///
/// If [`Options::stop`] is set, the current run is abandoned, and the result has those before it.
///
/// # Errors
/// When the scenario has commands that [`Options::commands`] does not allow, or asks for something that only the
/// simulator has; without root or a TUN driver; when the kernel lacks a congestion control, a run has a law but no
/// agent is given, the agent fails, or data arrive corrupted.
pub fn run_scenario(
    scenario: &Scenario,
    inputs: &LinkInputs,
    options: &Options,
) -> Result<ResultSet> {
    check(scenario)?;
    if options.commands == Commands::Refused
        && let Some(command) = commands_of(scenario).into_iter().next()
    {
        return Err(command.into());
    }
    let mut results = ResultSet {
        scenario: scenario.name.clone(),
        description: scenario.description.clone(),
        seed: scenario.seed,
        runs: Vec::new(),
    };
    for (index, run) in scenario.runs.iter().enumerate() {
        let progress = Progress {
            run: run.name.clone(),
            index,
            runs: scenario.runs.len(),
            elapsed: Duration::ZERO,
            duration: Duration::from_secs_f64(scenario.duration_s),
        };
        let result = Laboratory::build(scenario, inputs, run, options)
            .and_then(|lab| lab.run(progress))
            .with_context(|| format!("run \"{}\"", run.name))?;
        match result {
            Some(result) => results.runs.push(result),
            None => break,
        }
    }
    Ok(results)
}

/// The most proxies of a transfer: each has its own namespace and threads.
const MOST_PROXIES: usize = 16;

/// The most connections of a run: each has two threads and three sockets, and a process may usually have 1024 sockets.
const MOST_CONNECTIONS: u64 = 300;

/// A value in the scenario that the laboratory refuses.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// Its place in the scenario.
    pub place: Vec<Step>,
    /// The value.
    pub value: String,
    /// What is wrong and what was expected.
    pub message: String,
}

/// The scenario's commands, each as the error that is reported if commands are not allowed. They are shown with
/// escapes, so that they cannot control a terminal.
pub fn commands_of(scenario: &Scenario) -> Vec<Refused> {
    let commands = scenario.workloads.iter().filter_map(|workload| {
        let WorkloadKind::Command { run, side } = &workload.does else {
            return None;
        };
        let name = &workload.name;
        let steps = [
            Step::Key("workload"),
            Step::Named(name.clone()),
            Step::Key("does"),
            Step::Key("command"),
            Step::Key("run"),
            Step::Nth(0),
        ];
        Some(Refused {
            place: steps.to_vec(),
            value: run.first().cloned().unwrap_or_default(),
            message: format!(
                "workload {name:?} runs a command on this machine, at the {}: {run:?}; --allow-commands allows it",
                side.name()
            ),
        })
    });
    commands.collect()
}

/// Refuses a scenario that asks for something that only the simulator has, or that this kernel lacks.
///
/// # Errors
/// The first such thing.
pub fn check(scenario: &Scenario) -> Result<()> {
    let own_tcp = |run: &Run| {
        run.own_tcp
            .as_ref()
            .unwrap_or(&scenario.hosts.own_tcp)
            .clone()
    };
    for run in &scenario.runs {
        ensure!(
            run.window.is_none() || !own_tcp(run).is_empty(),
            "run \"{}\" has a fixed window, which kernels do not have, expected own_tcp beside it",
            run.name
        );
        ensure!(
            run.cake.is_none(),
            "run \"{}\" has a shaper with CAKE, which only the simulator can run",
            run.name
        );
    }
    for Workload {
        name,
        does,
        weight,
        flow_control,
        timestamps,
        ecn,
        device,
        law,
        ..
    } in &scenario.workloads
    {
        let what = match simulated(does) {
            Some(what) => what,
            None if *weight != 1 => "weighted",
            None if law.is_some() => "steered by a law of its own",
            None if device.is_some() => "a device's",
            None if timestamps.is_some() => "told whether it uses timestamps",
            None if ecn.is_some() => "told which ECN it uses",
            None if flow_control.is_some() => "received by a flow control of its own",
            None => continue,
        };
        bail!("workload \"{name}\" is {what}, which only the simulator can run");
    }
    check_connections(scenario)?;
    for run in &scenario.runs {
        let mut by_quic = scenario.workloads.iter().filter(|w| takes_quic(run, w));
        by_quic.try_for_each(|w| Control::of(&scenario.hosts, run, w).map(drop))?;
        let settings = Settings::of(&scenario.hosts, run, scenario.seed);
        check_congestion_control(&settings.kernel_congestion_control)?;
        for workload in scenario.workloads.iter().filter(|w| !takes_quic(run, w)) {
            check_sender(workload, &settings)?;
        }
    }
    Ok(())
}

/// What a workload is that only the simulator has.
fn simulated(does: &WorkloadKind) -> Option<&'static str> {
    match does {
        WorkloadKind::Page { .. } => Some("a page"),
        WorkloadKind::Flows(_) => Some("one of flows that arrive by themselves"),
        WorkloadKind::Video { .. } | WorkloadKind::AdaptiveVideo(_) => Some("a video"),
        WorkloadKind::Datagrams { .. } => Some("a source of datagrams"),
        WorkloadKind::OnOff(_) => Some("a source that falls silent at random"),
        WorkloadKind::Sprout(_) => Some("carried by Sprout"),
        WorkloadKind::Mpath(transfer) if transfer.proxies.len() > MOST_PROXIES => {
            Some("a transfer with many proxies")
        }
        WorkloadKind::Bulk { .. }
        | WorkloadKind::Web { .. }
        | WorkloadKind::Reader { .. }
        | WorkloadKind::Chunks { .. }
        | WorkloadKind::ConstantRate { .. }
        | WorkloadKind::Ping { .. }
        | WorkloadKind::Mpath(_)
        | WorkloadKind::Mptcp { .. }
        | WorkloadKind::Command { .. } => None,
    }
}

/// Refuses a congestion control, the workload's own or the run's, that the host lacks which sends the workload's data.
/// The one opposite may take another.
fn check_sender(workload: &Workload, settings: &Settings) -> Result<()> {
    let own = &workload.congestion_control;
    let congestion_control = own.as_ref().unwrap_or(&settings.congestion_control);
    let is_ours = settings.own_tcp.contains(&workload.sender());
    let checked = match (&workload.does, is_ours) {
        (WorkloadKind::Ping { .. } | WorkloadKind::Command { .. }, _) => Ok(()),
        (_, false) => check_congestion_control(congestion_control),
        (_, true) => congestion_control
            .parse::<Algorithm>()
            .map(drop)
            .map_err(Into::into),
    };
    checked.with_context(|| format!("workload \"{}\"", workload.name))
}

fn check_connections(scenario: &Scenario) -> Result<()> {
    let flows = |workload: &Workload| match workload.does {
        WorkloadKind::Bulk { flows, .. } => flows,
        _ => 1,
    };
    let connections: u64 = scenario.workloads.iter().map(flows).sum();
    ensure!(
        connections <= MOST_CONNECTIONS,
        "{connections} connections, expected {MOST_CONNECTIONS} at most: each has threads and sockets; the simulator can \
         run more"
    );
    Ok(())
}

#[cfg(test)]
mod tests;
