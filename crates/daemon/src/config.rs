//! What `tidegate run` is to do: from the command line, the configuration file, or the defaults. The command line
//! overrides the file.

mod address;
mod args;
mod file;
#[cfg(test)]
mod tests;

use crate::devices::{self, Forwarding};
use crate::interfaces::{Wanted, is_name};
use crate::udp::{self, Otherwise, Terms};
pub use address::PageAddress;
use anyhow::Result;
pub use args::{HoldsArg, OnlyArg, RunArgs};
pub use file::File;
use file::{Action, At, Entry, UdpEntry};
use serde::Deserialize;
use std::net::SocketAddr;
use std::path::Path;
use tidegate_agent::{Cgroup, Config, Direction, Directions, Manager, Rule, Rules, Units, Verdict};
use tidegate_command::exit::BadInput;
use tidegate_laws::{Law, Params};
use tidegate_scenario::{Fair, LoadError, Udp};

/// What becomes of the programs when `run` ends in order.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum OnExit {
    /// They go.
    Detach,
    /// They stay and go on steering.
    Stay,
}

/// All settings.
pub struct Settings {
    /// The interfaces to attach to.
    pub interfaces: Wanted,
    /// The agent's settings, without interfaces: these change while it runs.
    pub agent: Config,
    /// Whether shares are by device or by flow; none: it depends on whether this machine forwards for others.
    pub fair: Option<Fair>,
    /// The devices' weights.
    pub devices: devices::Terms,
    /// What is done with traffic without a window.
    pub udp: Terms,
    /// The address that metrics are served at, if they are.
    pub metrics: Option<SocketAddr>,
    /// The address that the page is served at, if it is.
    pub page: Option<PageAddress>,
    /// The part of the time that may pass unsteered, to measure the difference; 0: none.
    pub compare: f64,
    /// Whether the programs stay if the process is killed.
    pub pin: bool,
    /// Whether they stay if it ends in order.
    pub on_exit: OnExit,
}

impl Settings {
    /// Whether shares would be settled otherwise now, because the machine has changed.
    pub fn shares_differ(&self) -> bool {
        let depends = self.fair.is_none() && self.agent.params.law.is_on_path();
        let now = || Forwarding::lasting().map(|to| to == Forwarding::Others);
        depends && now().is_some_and(|by_device| by_device != self.agent.by_device)
    }
}

/// Reads the file, if there is one; the command line overrides it.
pub fn settings(args: &RunArgs) -> Result<Settings> {
    let file = args.config.as_deref().map(File::load).transpose()?;
    let file = file.unwrap_or_default();
    let params = params(args, &file)?;
    let interfaces = interfaces(args, &file)?;
    let fair = fair(args, &file, &params)?;
    let on_exit = args.on_exit.or(file.on_exit);
    let pin = args.pin || file.pin || on_exit == Some(OnExit::Stay);
    let stay = if pin { OnExit::Stay } else { OnExit::Detach };
    Ok(Settings {
        udp: udp(args, &file, &params, &interfaces)?,
        interfaces: interfaces.clone(),
        fair,
        devices: weights(&file)?,
        agent: Config {
            params,
            directions: directions(args, &file, &params)?,
            rules: rules(&file, &params, &interfaces)?,
            by_device: shares(fair, &params),
            dry_run: args.dry_run || file.dry_run,
            connections: connections(args, &file)?,
            ..Config::default()
        },
        metrics: args.metrics.or(file.metrics),
        page: args.page.or(file.page),
        compare: compared(args, &file, &params)?,
        pin,
        on_exit: on_exit.unwrap_or(stay),
    })
}

/// The part of the time to pass unsteered for comparison; an error if nothing is steered anyway.
fn compared(args: &RunArgs, file: &File, params: &Params) -> Result<f64> {
    let part = args.compare.or(file.compare).unwrap_or(0.0);
    let steers = !params.law.is_none() && !args.dry_run && !file.dry_run;
    if part > 0.0 && !steers {
        let message = "compare does not go with law \"none\" or a dry run, in which nothing is steered; expected it without these";
        return Err(BadInput(message.into()).into());
    }
    Ok(part)
}

/// How a link is to be divided, if the user says so.
fn fair(args: &RunArgs, file: &File, params: &Params) -> Result<Option<Fair>> {
    let complaint = format!(
        "law \"{}\" divides nothing, expected {} for shares by device",
        params.law,
        Law::names(|law| law.is_on_path()).join(" or ")
    );
    match (args.fair, &file.fair) {
        (Some(Fair::Device), _) if !params.law.is_on_path() => Err(BadInput(complaint).into()),
        (Some(fair), _) => Ok(Some(fair)),
        (None, Some(fair)) if *fair.get_ref() == Fair::Device && !params.law.is_on_path() => {
            Err(file.complain(fair, complaint).into())
        }
        (None, fair) => Ok(fair.as_ref().map(|fair| *fair.get_ref())),
    }
}

/// Whether the link is divided by device: as the user says, else if this machine forwards for others.
fn shares(fair: Option<Fair>, params: &Params) -> bool {
    let forwards = || params.law.is_on_path() && Forwarding::find() == Forwarding::Others;
    fair.map_or_else(forwards, |fair| fair == Fair::Device)
}

/// A weight for each address in the lists.
fn weights(file: &File) -> Result<devices::Terms, LoadError> {
    let mut terms = Vec::new();
    for entry in &file.devices {
        let asked = entry.get_ref();
        if asked.mac.is_none() && asked.name.is_none() && asked.address.is_empty() {
            let message = "this device has neither mac nor name nor address, expected one of them";
            return Err(file.complain(entry, message.into()));
        }
        terms.extend(each(&asked.address).into_iter().map(|address| {
            devices::Term {
                mac: asked.mac,
                name: asked.name.clone(),
                address,
                weight: asked
                    .weight
                    .as_ref()
                    .map_or(1, |weight| (*weight.get_ref()).into()),
            }
        }));
    }
    Ok(devices::Terms {
        terms,
        leases: file.leases.clone(),
    })
}

/// How many connections the tables are to hold, if the user says so.
fn connections(args: &RunArgs, file: &File) -> Result<Option<u32>> {
    let possible = |wanted| tidegate_agent::connections(Some(wanted)).map_err(|e| e.to_string());
    match (args.connections, &file.connections) {
        (Some(wanted), _) => Ok(Some(possible(wanted).map_err(BadInput)?)),
        (None, Some(wanted)) => {
            let known = possible(*wanted.get_ref());
            Ok(Some(
                known.map_err(|message| file.complain(wanted, message))?,
            ))
        }
        (None, None) => Ok(None),
    }
}

fn udp(args: &RunArgs, file: &File, params: &Params, interfaces: &Wanted) -> Result<Terms> {
    let otherwise = otherwise(args, file, params)?;
    let mut rules = Vec::new();
    for entry in &file.udp_rules {
        rules.extend(udp_rules(file, entry, params, interfaces)?);
        not_too_many(file, entry, rules.len())?;
    }
    let holds = args.udp_hold.or(file.udp_hold).unwrap_or_default();
    let rules = udp::Rules {
        rules,
        otherwise,
        holds: holds.into(),
    };
    // A file may be read again with other rules, so we make both directions ready.
    let uploads = args.config.is_some() || rules.may_hold(Direction::Up);
    Ok(Terms {
        rules,
        ready: match uploads {
            true => Directions::Both,
            false => Directions::Downloads,
        },
        echo: args.udp_echo.or(file.udp_echo).unwrap_or_default(),
    })
}

/// What is done with UDP that matches no rule. By default nothing is held if the law cannot hold, or if flows are
/// steered only by rules.
fn otherwise(args: &RunArgs, file: &File, params: &Params) -> Result<Otherwise> {
    let asked = args.udp.or(file.udp).unwrap_or_default();
    let by_rule = matches!(file.default, Action::Deny);
    let only_uploads = args.only.or(file.only) == Some(OnlyArg::Uploads);
    match asked {
        Otherwise::Hold => may_hold(params).map_err(BadInput)?,
        Otherwise::Auto if by_rule || only_uploads || may_hold(params).is_err() => {
            return Ok(Otherwise::Leave);
        }
        _ => {}
    }
    Ok(asked)
}

fn may_hold(params: &Params) -> Result<(), String> {
    if params.law == Law::Tide {
        return Ok(());
    }
    Err(format!(
        "udp \"hold\" does not go with law \"{}\", expected law \"{}\" or udp \"fallback\" or \"leave\"",
        params.law,
        Law::Tide
    ))
}

/// Writes each entry out: one rule for each of its ports and prefixes.
fn udp_rules(
    file: &File,
    entry: &At<UdpEntry>,
    params: &Params,
    interfaces: &Wanted,
) -> Result<Vec<udp::Rule>, LoadError> {
    let asked = entry.get_ref();
    if asked.asks_nothing() {
        let message = "this rule asks for nothing, expected remote_port, prefix, interface or direction; for all other flows there is `udp`";
        return Err(file.complain(entry, message.into()));
    }
    if let (Some(direction), Udp::Fallback) = (&asked.direction, asked.action.get_ref()) {
        let message = "a connection that is turned away has no direction yet, expected none with action \"fallback\"";
        return Err(file.complain(direction, message.into()));
    }
    if *asked.action.get_ref() == Udp::Hold {
        may_hold(params).map_err(|message| file.complain(&asked.action, message))?;
    }
    let interface = asked.interface.as_ref();
    let interface = interface.map(|name| attached(file, name, interfaces));
    let one = udp::Rule {
        interface: interface.transpose()?,
        direction: asked.direction.as_ref().map(|at| (*at.get_ref()).into()),
        action: *asked.action.get_ref(),
        ..udp::Rule::default()
    };
    let mut all = Vec::new();
    for remote_ports in each(&asked.remote_port) {
        for remote in each(&asked.prefix) {
            all.push(udp::Rule {
                remote_ports: remote_ports.clone(),
                remote,
                ..one.clone()
            });
        }
    }
    Ok(all)
}

fn interfaces(args: &RunArgs, file: &File) -> Result<Wanted> {
    if !args.iface.is_empty() {
        return named(&args.iface);
    }
    let names = file.interfaces.iter().map(|name| {
        if is_name(name.get_ref()) {
            return Ok(name.get_ref().clone());
        }
        Err(file.complain(name, no_name(name.get_ref())))
    });
    Ok(Wanted::new(names.collect::<Result<_, _>>()?))
}

/// The interfaces of these names; those of the default routes if there are none.
pub fn named(names: &[String]) -> Result<Wanted> {
    if let Some(wrong) = names.iter().find(|name| !is_name(name)) {
        return Err(BadInput(no_name(wrong)).into());
    }
    Ok(Wanted::new(names.to_vec()))
}

fn no_name(name: &str) -> String {
    format!("no interface can be called \"{name}\", expected 1 to 15 letters, digits or signs")
}

fn params(args: &RunArgs, file: &File) -> Result<Params> {
    let default = Params::default();
    let law = args.law.or(file.law).unwrap_or(default.law);
    // In a file λ may stand ready for a change of law; on the command line it is meant for this start.
    if args.lambda.is_some() && law != Law::Drwa {
        let message = format!(
            "--lambda is drwa's and does nothing with law \"{law}\", expected --law drwa with it"
        );
        return Err(BadInput(message).into());
    }
    Ok(Params {
        law,
        lambda: args.lambda.or(file.lambda).unwrap_or(default.lambda),
        limit: args.limit.or(file.limit),
        stampless: args.stampless || file.stampless,
        ..default
    })
}

/// Which directions are steered: all that the law can steer, unless the user asks for one. With a file both are made
/// ready, since its law may change.
fn directions(args: &RunArgs, file: &File, params: &Params) -> Result<Directions> {
    match (args.only.or(file.only), params.law.steers_uploads()) {
        (None, true) => Ok(Directions::Both),
        (None, false) if args.config.is_some() => Ok(Directions::Both),
        (Some(OnlyArg::Downloads), _) | (None, false) => Ok(Directions::Downloads),
        (Some(OnlyArg::Uploads), true) => Ok(Directions::Uploads),
        (Some(OnlyArg::Uploads), false) => Err(BadInput(format!(
            "law \"{}\" steers downloads alone, expected {} for uploads",
            params.law,
            Law::names(|law| law.steers_uploads()).join(" or ")
        ))
        .into()),
    }
}

fn rules(file: &File, params: &Params, interfaces: &Wanted) -> Result<Rules, LoadError> {
    let mut rules = Vec::new();
    for entry in &file.rules {
        rules.extend(written_out(file, entry, params, interfaces)?);
        not_too_many(file, entry, rules.len())?;
    }
    let otherwise = match file.default {
        Action::Allow => Verdict::default(),
        Action::Deny => Verdict::LeftAlone,
    };
    Ok(Rules { rules, otherwise })
}

fn not_too_many<T>(file: &File, entry: &At<T>, rules: usize) -> Result<(), LoadError> {
    if rules <= Rules::MOST {
        return Ok(());
    }
    let message = format!(
        "{rules} rules up to here, with one for each port and prefix of a list, expected at most {}",
        Rules::MOST
    );
    Err(file.complain(entry, message))
}

/// Writes each entry out: one rule for each of its ports and prefixes.
fn written_out(
    file: &File,
    entry: &At<Entry>,
    params: &Params,
    interfaces: &Wanted,
) -> Result<Vec<Rule>, LoadError> {
    let asked = entry.get_ref();
    let one = Rule {
        interface: asked
            .interface
            .as_ref()
            .map(|name| attached(file, name, interfaces))
            .transpose()?,
        uid: asked.uid,
        cgroup: asked
            .cgroup
            .as_ref()
            .map(|folder| cgroup(file, folder))
            .transpose()?,
        units: units(file, asked)?,
        verdict: verdict(file, entry, params)?,
        ..Rule::default()
    };
    if one.interface.is_none()
        && one.uid.is_none()
        && one.cgroup.is_none()
        && one.units.is_none()
        && asked.asks_no_address()
    {
        let message = "this rule asks for nothing, expected remote_port, local_port, prefix, interface, uid, cgroup, unit or user_unit; for all other flows there is `default`";
        return Err(file.complain(entry, message.into()));
    }
    let mut all = Vec::new();
    for remote_ports in each(&asked.remote_port) {
        for local_ports in each(&asked.local_port) {
            for remote in each(&asked.prefix) {
                all.push(Rule {
                    remote_ports: remote_ports.clone(),
                    local_ports: local_ports.clone(),
                    remote,
                    ..one.clone()
                });
            }
        }
    }
    Ok(all)
}

/// Each element of the list, or one `None` if it is empty.
fn each<T: Clone>(list: &[T]) -> Vec<Option<T>> {
    if list.is_empty() {
        vec![None]
    } else {
        list.iter().cloned().map(Some).collect()
    }
}

/// An interface's name in a rule; an error if the agent will never be on it. A default route may lead to any interface
/// later.
fn attached(file: &File, name: &At<String>, interfaces: &Wanted) -> Result<String, LoadError> {
    let asked = name.get_ref();
    match interfaces {
        Wanted::Named(names) if !names.contains(asked) => {
            let message = format!(
                "the agent does not run on interface \"{asked}\", expected {}",
                names.join(" or ")
            );
            Err(file.complain(name, message))
        }
        Wanted::DefaultRoutes if !is_name(asked) => Err(file.complain(name, no_name(asked))),
        _ => Ok(asked.clone()),
    }
}

fn sees_cgroups(file: &File, asked: &At<String>) -> Result<(), LoadError> {
    if tidegate_agent::sees_cgroups() {
        return Ok(());
    }
    let error = tidegate_agent::AgentError::NoCgroups;
    Err(file.complain(asked, error.to_string()))
}

/// The systemd units that a rule names; they need not be running.
fn units(file: &File, asked: &Entry) -> Result<Option<Units>, LoadError> {
    let (manager, name) = match [&asked.cgroup, &asked.unit, &asked.user_unit] {
        [_, None, None] => return Ok(None),
        [None, Some(name), None] => (Manager::System, name),
        [None, None, Some(name)] => (Manager::User, name),
        [_, Some(name), _] | [_, None, Some(name)] => {
            let message =
                "a rule is about one control group, expected one of cgroup, unit and user_unit";
            return Err(file.complain(name, message.into()));
        }
    };
    sees_cgroups(file, name)?;
    let units = Units::new(name.get_ref(), manager);
    Ok(Some(units.map_err(|message| file.complain(name, message))?))
}

fn cgroup(file: &File, folder: &At<String>) -> Result<Cgroup, LoadError> {
    sees_cgroups(file, folder)?;
    let found = Cgroup::find(Path::new(folder.get_ref()));
    found.map_err(|message| file.complain(folder, message))
}

fn verdict(file: &File, entry: &At<Entry>, params: &Params) -> Result<Verdict, LoadError> {
    match (entry.get_ref().action, &entry.get_ref().weight) {
        (Action::Deny, None) => Ok(Verdict::LeftAlone),
        (Action::Deny, Some(weight)) => {
            let message = "weight of flows that are left alone, expected action = \"allow\"";
            Err(file.complain(weight, message.into()))
        }
        (Action::Allow, None) => Ok(Verdict::default()),
        (Action::Allow, Some(weight)) if !params.law.is_on_path() => {
            let message = format!(
                "law \"{}\" knows no weights, expected law {}",
                params.law,
                Law::names(|law| law.is_on_path()).join(" or ")
            );
            Err(file.complain(weight, message))
        }
        (Action::Allow, Some(weight)) => Ok(Verdict::Steered {
            weight: (*weight.get_ref()).into(),
        }),
    }
}
